"""What every row pattern matcher is given and gives. Matchers keep nothing: the runner knows where each slot stands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from sparkrex.modes.rows.ahead import Ahead, ahead_in_program
from sparkrex.modes.rows.silence import barred_variables, find_silences

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.errors import ExecutionError
    from sparkrex.matching.matches import Matches
    from sparkrex.matching.waking import Moment
    from sparkrex.modes.rows.deadlines import ReadAt
    from sparkrex.modes.rows.pieces import CutNotes
    from sparkrex.modes.rows.problem import Problem


@dataclass(frozen=True, eq=False, slots=True)
class Partitions:
    """Where the search stands in each partition of a frame.

    `begins` says that the first row there is the partition's first, `ends` that no row will come behind the last.
    `start` is the position from which on matches may start, `number` that of the next match; both are replaced by where
    the search stands afterwards. `horizon`, if it is known, is ordered before every row to come.

    `failures`, if not None, takes the start rows at which the search failed, with the reason; it goes on at the next
    row. At the rows of `given_up` no match starts: only `backtrack` and `interpreter` are given any.

    `asked`, uint8 by row of the frame, is there if starts are on their own and a later one may be decided before an
    earlier one: a search is made from the rows where it is set, and it is cleared where one is decided. `start` follows
    from it (`stand_at_first_asked`), and numbers mean nothing.
    """

    offsets: NDArray[np.int64]
    begins: NDArray[np.bool_]
    ends: NDArray[np.bool_]
    start: NDArray[np.int64]
    number: NDArray[np.int64]
    horizon: pa.Scalar | None = None
    failures: list[tuple[int, ExecutionError]] | None = None
    given_up: frozenset[int] = frozenset()
    asked: NDArray[np.uint8] | None = None

    @staticmethod
    def whole(offsets: NDArray[np.int64]) -> Partitions:
        """Partitions that begin and end here."""
        always = np.ones(len(offsets) - 1, np.bool_)
        return Partitions(offsets, always, always, offsets[:-1].copy(), np.ones(len(offsets) - 1, np.int64))

    def copy(self) -> Partitions:
        """Where the search stands now, whatever becomes of it."""
        asked = None if self.asked is None else self.asked.copy()
        return replace(self, start=self.start.copy(), number=self.number.copy(), asked=asked)

    def asked_between(self, begin: int, end: int) -> NDArray[np.uint8]:
        """What kernels take for some rows of the frame: no entries where starts are searched in order."""
        return np.empty(0, np.uint8) if self.asked is None else self.asked[begin:end]

    def stand_at_first_asked(self) -> None:
        """Every search stands at its first start that is still asked for, or at the partition's end."""
        assert self.asked is not None  # else searches say where they stand
        places = np.flatnonzero(self.asked)
        at = np.searchsorted(places, self.offsets[:-1])
        self.start[:] = np.minimum(np.append(places, self.offsets[-1])[at], self.offsets[1:])

    def go_back(self, before: Partitions) -> None:
        """The search stands where it stood before, and nothing has failed."""
        self.start[:], self.number[:] = before.start, before.number
        if self.asked is not None and before.asked is not None:
            self.asked[:] = before.asked
        if self.failures is not None:
            self.failures.clear()

    def fail(self, error: ExecutionError) -> None:
        """A search has failed at the row of an error: that stops all, or is noted."""
        if self.failures is None:
            raise error
        assert error.row is not None  # who searches knows from where
        self.failures.append((error.row, error))


class GivesUpError(Exception):
    """The matcher cannot go on with these rows; the next one in rank can. Nothing has changed."""


class Matcher(ABC):
    """A row pattern matcher for one problem. A new one is a subclass and a line in `choose.MATCHERS`."""

    name: ClassVar[str]
    other_names: ClassVar[tuple[str, ...]] = ()
    """Other names that the setting `matcher` has for it, which ask for one of its ways."""
    slower: ClassVar[str] = "slower"
    """Why one before it in rank is better."""
    takes_asked: ClassVar[bool] = False
    """Whether it knows of `Partitions.asked`: without, matches come in order of their starts."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self.cut: CutNotes | None = None
        """How partitions were cut for threads in the last search, if they were."""

    @property
    @abstractmethod
    def refusal(self) -> str | None:
        """Why it does not support the problem, None if it does."""

    @property
    @abstractmethod
    def reason(self) -> str:
        """Why it supports the problem."""

    @property
    def uncut(self) -> str | None:
        """Why the rows of one partition are searched by one thread; None if threads share them (see `pieces`)."""
        return "this matcher goes from its first row to its last"

    @abstractmethod
    def find(self, frame: Columns, partitions: Partitions) -> Matches:
        """The matches that these rows decide. Changes `partitions`."""

    @cached_property
    def silences(self) -> dict[str, list[Moment]]:
        """See `silence`."""
        return find_silences(self.problem)

    @cached_property
    def ahead(self) -> Ahead:
        """What stands ahead of every place of the search."""
        return ahead_in_program(self.problem.program)

    def barred(self, frame: Columns, partitions: Partitions) -> NDArray[np.uint8]:
        """For each partition and variable whether the next row cannot be mapped to it."""
        problem = self.problem
        return barred_variables(self.silences, problem.program.variables, frame, partitions, problem.evaluator)

    @cached_property
    def known_moments(self) -> frozenset[Moment]:
        """The moments of the problem: conditions are compiled to find them, and streams ask at every call."""
        return frozenset(self.moments())

    def moments(self) -> set[Moment]:
        """When the horizon may decide something, by rows that are held back."""
        return {moment for moments in self.silences.values() for moment in moments}

    @cached_property
    def limits(self) -> dict[str, list[ReadAt]]:
        """By variable, where the bounds on the time of its rows are read; see `deadlines`."""
        return {}

    @abstractmethod
    def describe(self) -> list[str]:
        """What EXPLAIN prints about it."""

    def check(self) -> None:  # noqa: B027  # most have nothing to check
        """Fail, before any row is read, if a condition can never be evaluated."""
