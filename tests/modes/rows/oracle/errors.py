"""The two ways in which the oracle gives no rows."""

from __future__ import annotations


class CannotEvaluate(Exception):  # noqa: N818  # it is no error: the oracle has no opinion
    """The oracle does not know a function or a type; a comparison must leave the case out."""


class OracleError(Exception):
    """The definition itself demands an error, under the code that the engine must give."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code
        self.message = message

    def __str__(self) -> str:
        return f"{self.code}: {self.message}"
