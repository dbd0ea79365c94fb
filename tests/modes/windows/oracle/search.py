"""The definition: what every row of a partition has for its match.

    skipped_to = first row
    for each row r:
        a row before skipped_to is unmatched
        else the frame is r .. end(r), cut at the partition's end, and the pattern is tried at r; under SEEK, while
        there is no match, at the rows after it, up to the frame's last
        no match, or an empty one: skipped_to = r + 1
        a match s .. e: PAST LAST ROW goes to e + 1, TO NEXT ROW to r + 1, TO FIRST or LAST to the variable's row, which
        must exist and not be s

The frame is all that conditions and measures can see: navigation out of it is NULL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from tests.modes.rows.oracle.errors import CannotEvaluate, OracleError
from tests.modes.rows.oracle.expressions import View, mapped_indices, value, value_of_row
from tests.modes.rows.oracle.words import Mapping as Mapped
from tests.modes.rows.oracle.words import Words, future_of_labels
from tests.modes.windows.oracle.spec import Skip

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tests.modes.windows.oracle.spec import Window

    Row: TypeAlias = Mapping[str, Any]

# Conditions that read the mapping can make a search exponential; beyond this the oracle has no opinion.
MOST_TESTS = 50_000


@dataclass(frozen=True, slots=True)
class Unmatched:
    """The row was skipped, or no match was found for it."""


@dataclass(frozen=True, slots=True)
class Empty:
    """An empty match."""

    frame: Sequence[Row]
    start: int


@dataclass(frozen=True, slots=True)
class Matched:
    """A match of rows: `labels` from `start` on, both in the frame, whose first row is `row` of the partition."""

    frame: Sequence[Row]
    start: int
    labels: tuple[str, ...]
    row: int

    @property
    def rows(self) -> Sequence[Row]:
        """The reduced frame."""
        return self.frame[self.start : self.start + len(self.labels)]


Found: TypeAlias = Unmatched | Empty | Matched


def search(window: Window, ordered: Sequence[Row]) -> list[Found]:
    """What is found for each row of a partition in its order."""
    # An end that is NULL or negative is an error on every row, also on one that would be skipped.
    ends = [_end(window, ordered, row) for row in range(len(ordered))]
    found: list[Found] = []
    skipped_to = 0
    for row, end in enumerate(ends):
        if row < skipped_to:
            found.append(Unmatched())
            continue
        match = _try(window, ordered[row : end + 1], row)
        found.append(match)
        skipped_to = _next(window, match) if isinstance(match, Matched) else row + 1
    return found


def _end(window: Window, ordered: Sequence[Row], row: int) -> int:
    last = len(ordered) - 1
    if window.end is None:
        return last
    n_following = window.end if isinstance(window.end, int) else value_of_row(window.end, ordered[row], window.dialect)
    if n_following is None or n_following < 0:
        raise OracleError("END", f"the frame of a row ends {n_following} rows after it")
    return min(row + int(n_following), last)


def _try(window: Window, frame: Sequence[Row], row: int) -> Found:
    for start in range(len(frame)) if window.seeks else (0,):
        mapping = _preferred(window, frame, start)
        if mapping is not None:
            return Matched(frame, start, mapping.labels, row) if mapping.labels else Empty(frame, start)
    return Unmatched()


def _preferred(window: Window, frame: Sequence[Row], start: int) -> Mapped | None:
    n_tests = 0

    def holds(labels: tuple[str, ...]) -> bool:
        nonlocal n_tests
        n_tests += 1
        if n_tests > MOST_TESTS:
            raise CannotEvaluate(f"{window.pattern}: more than {MOST_TESTS} tests of conditions from one start row")
        condition = window.definitions.get(labels[-1])
        if condition is None:
            return True
        return value(condition, View(frame, start, labels, labels, None, window.dialect)) is True

    try:
        return next(Words(len(frame), start, holds, future_of_labels).of(window.pattern, Mapped()), None)
    except RecursionError as problem:
        raise CannotEvaluate("a match too long for recursion") from problem


def _next(window: Window, match: Matched) -> int:
    start = match.row + match.start
    if window.skip is Skip.PAST_LAST_ROW:
        return start + len(match.labels)
    if window.skip is Skip.TO_NEXT_ROW:
        return match.row + 1
    indices = mapped_indices(match.labels, window.skip_to)
    if not indices:
        raise OracleError("REX402", "no row of the match is mapped to the variable of AFTER MATCH SKIP")
    index = indices[0] if window.skip is Skip.TO_FIRST else indices[-1]
    if index == 0:
        raise OracleError("REX401", "AFTER MATCH SKIP goes to the first row of the match")
    return start + index


def measure(window: Window, name: str, found: Found) -> Any:
    """A measure's value for a row; None for NULL."""
    match found:
        case Unmatched():
            return None
        case Empty(frame, start):
            return value(window.measures[name], View(frame, start, (), (), None, window.dialect))
        case Matched(frame, start, labels):
            return value(window.measures[name], View(frame, start, labels, labels, None, window.dialect))
