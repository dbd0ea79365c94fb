"""The answer to an event query by brute force, straight from its definition.

1. Rows form partitions by the equivalence tests, ordered by time and tie-break columns.
2. In each, every subsequence is a candidate that the strategy allows step by step (`strategies`, `positions`; with AND
   `any_order`).
3. A candidate is a match of the positive components if the pattern may end there, what is said of the last array holds,
   and it lies within the window (`windows`).
4. A match is rejected if an event is there that must be absent (`negation`).
5. The same events with the same variables are one match; NON-OVERLAPPING keeps some of them (`overlap`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.modes.events.any_order import AnyOrderStream
from tests.modes.events.negation import is_disqualified
from tests.modes.events.overlap import without_overlaps
from tests.modes.events.strategies import Candidate, Stream
from tests.modes.events.windows import spans_at_most
from tests.modes.rows.oracle.expressions import View, value, value_of_row

from sparkrex.modes.events.pattern import has_any_order, positive_variables

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.modes.events.plan import EventQuery

Match = tuple[tuple[int, ...], tuple[str, ...]]
"""The numbers of the input rows of a match's events, in their order, and the variable of each."""


class TiedEvents(Exception):  # noqa: N818  # the query's own error, not one of the oracle
    """Two events of a partition are equal in time and all tie-break columns."""


@dataclass(frozen=True, slots=True)
class Partition:
    """The input rows of a partition, in order."""

    rows: tuple[int, ...]
    stream: Stream


def find_matches(query: EventQuery, rows: Sequence[Mapping[str, Any]]) -> list[Match]:
    """All matches, partitions in order of appearance, each in order of last event, first event, length, events."""
    return [
        (tuple(partition.rows[selected.row] for selected in match), _variables(match))
        for partition in partitions(query, rows)
        for match in matches_in(partition.stream)
    ]


def evaluate(query: EventQuery, rows: Sequence[Mapping[str, Any]]) -> list[tuple[Any, ...]]:
    """The expressions of RETURN, a tuple a match."""
    assert query.measures is not None
    result = []
    for number, (events, variables) in enumerate(find_matches(query, rows), 1):
        view = View([rows[row] for row in events], 0, variables, variables, number, query.dialect)
        result.append(tuple(value(measure.expression, view) for measure in query.measures))
    return result


def partitions(query: EventQuery, rows: Sequence[Mapping[str, Any]]) -> list[Partition]:
    """Events that agree in the equivalence tests; one that is NULL in any is in no partition."""
    groups: dict[tuple[Any, ...], list[int]] = {}
    for number, row in enumerate(rows):
        key = tuple(value_of_row(one.expression, row, query.dialect) for one in query.partition_by)
        if None not in key:
            groups.setdefault(key, []).append(number)
    found = []
    for group in groups.values():
        keys = {
            number: tuple(value_of_row(one.expression, rows[number], query.dialect) for one in query.order_by)
            for number in group
        }
        # NaN is greater than every number, and one value.
        comparable = {number: tuple((one != one, 0 if one != one else one) for one in keys[number]) for number in group}
        if len(set(comparable.values())) < len(group):
            raise TiedEvents
        ordered = sorted(group, key=lambda number, keys=comparable: keys[number])  # type: ignore[misc]
        kind = AnyOrderStream if has_any_order(query.pattern) else Stream
        stream = kind(query, [rows[number] for number in ordered], [keys[number][0] for number in ordered])
        found.append(Partition(tuple(ordered), stream))
    return found


def matches_in(stream: Stream) -> list[Candidate]:
    """The matches in one partition, as the query's output mode wants them."""
    found: dict[Any, Candidate] = {}
    for candidate in stream.legal():
        if is_match(stream, candidate):
            found.setdefault((tuple(selected.row for selected in candidate), _variables(candidate)), candidate)
    names = positive_variables(stream.query.pattern)
    ordered = sorted(found.values(), key=lambda match: rank(match, names))
    return list(without_overlaps(stream, ordered)) if stream.query.is_non_overlapping else ordered


def is_match(stream: Stream, candidate: Candidate) -> bool:
    """Whether a legal candidate is complete, within the window, and not disqualified."""
    return (
        stream.next_of(candidate).can_end
        and stream.may_end(candidate)
        and spans_at_most(stream, candidate[0].row, candidate[-1].row)
        and not is_disqualified(stream, candidate)
    )


def rank(match: Candidate, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Completes first, starts first, is shorter, has the smaller rows, then variables that stand earlier."""
    rows = tuple(selected.row for selected in match)
    return rows[-1], rows[0], len(rows), rows, tuple(names.index(variable) for variable in _variables(match))


def _variables(match: Candidate) -> tuple[str, ...]:
    return tuple(selected.place.variable for selected in match)
