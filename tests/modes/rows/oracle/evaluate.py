"""A whole MATCH_RECOGNIZE: search every partition, skip, give rows.

1. Partition and order the rows (`ordering`).
2. From each start row take the first word of the pattern (`words`), conditions evaluated by `expressions`.
3. Go on where AFTER MATCH SKIP says; after an empty match, or none, at the next row. A start without a match has timed
   out if the rows of its window are a beginning of one.
4. Give the rows that ROWS PER MATCH asks for, with the measures.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, assert_never

from tests.modes.rows.oracle.errors import CannotEvaluate, OracleError
from tests.modes.rows.oracle.expressions import View, mapped_indices, reads_mapping, value, value_of_row
from tests.modes.rows.oracle.ordering import partitions
from tests.modes.rows.oracle.words import Future, LacksRow, Mapping, Words, future_of_labels, future_of_length

from sparkrex.languages.match_recognize.traverse import variables
from sparkrex.modes.plan import RowsPerMatch, SkipTo

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from collections.abc import Mapping as Row

    from sparkrex.modes.rows.plan import MatchRecognize

# Conditions that read the mapping can make the search exponential; beyond this the oracle has no opinion.
MOST_TESTS = 50_000


@dataclass(frozen=True, slots=True)
class OracleMatch:
    """A match: `rows` are row numbers of the input, `start` is a position in the ordered partition.

    `rows`, `labels` and `excluded` have an entry for each mapped row; they are empty in an empty match.
    """

    partition: int
    rows: tuple[int, ...]
    start: int
    labels: tuple[str, ...]
    excluded: tuple[bool, ...]
    number: int


@dataclass(frozen=True, slots=True)
class Unmatched:
    """A start row that begins no match and lies in no earlier one."""

    start: int


@dataclass(frozen=True, slots=True)
class Timeout:
    """A start row whose window ended before its match did: the rows of the window, mapped to a beginning."""

    start: int
    labels: tuple[str, ...]


def evaluate(
    plan: MatchRecognize, rows: Sequence[Row[str, Any]], *, dialect: str = "spark"
) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
    """Names and rows of the result, in the order that the documentation promises."""
    result: list[tuple[Any, ...]] = []
    for number, partition in enumerate(partitions(plan, rows, dialect)):
        ordered = [rows[place] for place in partition]
        for found in _search(plan, ordered, partition, number, dialect):
            result += _output(plan, ordered, found, dialect)
    return plan.output_columns(), result


def find_matches(
    plan: MatchRecognize, rows: Sequence[Row[str, Any]], *, dialect: str = "spark", future: Future | None = None
) -> list[OracleMatch]:
    """All matches, partitions by first appearance, then in order of search."""
    return [
        found
        for number, partition in enumerate(partitions(plan, rows, dialect))
        for found in _search(plan, [rows[place] for place in partition], partition, number, dialect, future)
        if isinstance(found, OracleMatch)
    ]


def _search(
    plan: MatchRecognize, ordered: Sequence[Row[str, Any]], partition: Sequence[int], partition_number: int,
    dialect: str, future: Future | None = None,
) -> Iterator[OracleMatch | Unmatched | Timeout]:
    start = 0
    match_number = 0
    matched: set[int] = set()
    while start < len(ordered):
        mapping = _preferred(plan, ordered, start, match_number + 1, dialect, future or _future(plan))
        if mapping is None:
            if start not in matched:
                yield Unmatched(start)
            timeout = _timeout(plan, ordered, start, match_number + 1, dialect, future or _future(plan))
            if timeout is not None:
                yield timeout
            start += 1
            continue
        match_number += 1
        positions = range(start, start + len(mapping.labels))
        matched.update(positions)
        match = OracleMatch(
            partition_number, tuple(partition[position] for position in positions), start,
            mapping.labels, mapping.excluded, match_number,
        )
        yield match
        start = _next_start(plan, match)


def _timeout(
    plan: MatchRecognize, ordered: Sequence[Row[str, Any]], start: int, match_number: int, dialect: str, future: Future
) -> Timeout | None:
    """What has timed out at a start row at which no match begins."""
    if plan.timeout is None:
        return None
    inside = []
    for row in range(start, len(ordered)):
        labels = ("",) * (row - start + 1)  # the bound reads times only: any will do
        if value(plan.timeout, View(ordered, start, labels, labels, match_number, dialect)) is True:
            inside.append(row)
    if not inside:
        return None
    try:
        _preferred(plan, ordered, start, match_number, dialect, future, inside[-1] + 1)
    except LacksRow as found:
        return Timeout(start, found.mapping.labels)
    return None


def _preferred(
    plan: MatchRecognize, ordered: Sequence[Row[str, Any]], start: int, match_number: int, dialect: str, future: Future,
    window_end: int | None = None,
) -> Mapping | None:
    n_tests = 0

    def holds(labels: tuple[str, ...]) -> bool:
        nonlocal n_tests
        n_tests += 1
        if n_tests > MOST_TESTS:
            raise CannotEvaluate(f"{plan.pattern}: more than {MOST_TESTS} tests of conditions from one start row")
        condition = plan.definition(labels[-1])
        if condition is None:
            return True
        return value(condition, View(ordered, start, labels, labels, match_number, dialect)) is True

    try:
        return next(Words(len(ordered), start, holds, future, window_end=window_end).of(plan.pattern, Mapping()), None)
    except RecursionError as problem:
        raise CannotEvaluate("a match too long for recursion") from problem


def _future(plan: MatchRecognize) -> Future:
    conditions = ((name, plan.definition(name)) for name in variables(plan.pattern))
    if any(condition is not None and reads_mapping(condition, name) for name, condition in conditions):
        return future_of_labels
    return future_of_length


def _next_start(plan: MatchRecognize, match: OracleMatch) -> int:
    skip = plan.skip
    if not match.labels or skip.to is SkipTo.NEXT_ROW:
        return match.start + 1
    if skip.to is SkipTo.PAST_LAST_ROW:
        return match.start + len(match.labels)
    indices = mapped_indices(match.labels, skip.variables)
    if not indices:
        raise OracleError("REX402", f"{skip}: no row of match {match.number} is mapped to {skip.name}")
    index = indices[0] if skip.to is SkipTo.FIRST else indices[-1]
    if index == 0:
        raise OracleError("REX401", f"{skip}: that is the first row of match {match.number}")
    return match.start + index


def _output(
    plan: MatchRecognize, ordered: Sequence[Row[str, Any]], found: OracleMatch | Unmatched | Timeout, dialect: str
) -> Iterator[tuple[Any, ...]]:
    mode = plan.rows_per_match
    if isinstance(found, Unmatched):
        if mode is RowsPerMatch.ALL_WITH_UNMATCHED:
            yield _row(plan, ordered[found.start], None, dialect)
        return
    if isinstance(found, Timeout):
        view = View(ordered, found.start, found.labels, found.labels, None, dialect, is_timeout=True)
        yield _row(plan, ordered[found.start], view, dialect)
        return
    view = View(ordered, found.start, found.labels, found.labels, found.number, dialect)
    match mode:
        case RowsPerMatch.ONE:
            yield _row(plan, ordered[found.start], view, dialect)
        case RowsPerMatch.ALL_SHOW_EMPTY | RowsPerMatch.ALL_OMIT_EMPTY | RowsPerMatch.ALL_WITH_UNMATCHED:
            if not found.labels and mode is not RowsPerMatch.ALL_OMIT_EMPTY:
                yield _row(plan, ordered[found.start], view, dialect)
            for index, is_excluded in enumerate(found.excluded):
                if not is_excluded:
                    yield _row(plan, ordered[found.start + index], view.at(index), dialect)
        case _:
            assert_never(mode)


def _row(plan: MatchRecognize, row: Row[str, Any], view: View | None, dialect: str) -> tuple[Any, ...]:
    """Partition columns, order columns, measures, the rest; without a view all measures are NULL."""
    return (
        *(value_of_row(key.expression, row, dialect) for key in plan.partition_by),
        *(row[column] for column in plan.order_columns()),
        *(None if view is None else value(measure.expression, view) for measure in plan.measures),
        *(row[column] for column in plan.rest_columns()),
    )
