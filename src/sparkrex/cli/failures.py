"""The ways a command ends that are no errors of a query."""

from __future__ import annotations


class UsageError(Exception):
    """The command cannot be carried out as it was given: exit code 2."""


class Failed(Exception):  # noqa: N818  it is the outcome of a run, told in its own words
    """Files or Spark failed while the query ran: exit code 3, or 70 if the fault is ours."""

    def __init__(self, message: str, *, is_internal: bool = False) -> None:
        super().__init__(message)
        self.is_internal = is_internal


class SparkLost(Failed):
    """Spark's process has ended while the command needed it."""


class Stopped(Exception):  # noqa: N818  it is no error
    """A signal ended a stream, and all is well: exit code 128 and the signal's number."""

    def __init__(self, message: str, signal: int) -> None:
        super().__init__(message)
        self.signal = signal


class ReaderGone(Exception):  # noqa: N818  it is no error
    """Whoever reads standard output wants no more of it: the command ends in silence, with 0."""
