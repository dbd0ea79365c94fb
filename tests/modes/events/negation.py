"""Negated components: events that must be absent around a complete match.

They take no part in finding it. Where an event is looked for depends on what the match has selected for the items
before and after the negated one: strictly between the last before and the first after; with nothing before, back to
where a window that ends in the match's last event begins; with nothing after, on to where a window that begins in its
first event ends. In AND it is looked for strictly between the first and the last event of the match.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.modes.events.windows import spans_at_most

from sparkrex.modes.events.pattern import Absent, AllOf, Sequence

if TYPE_CHECKING:
    from tests.modes.events.strategies import Candidate, Stream


def is_disqualified(stream: Stream, match: Candidate) -> bool:
    """Whether an event that must be absent is there."""
    pattern = stream.query.pattern
    items = pattern.items if isinstance(pattern, Sequence | AllOf) else ()
    return any(
        _lies_in_gap(stream, match, number, row) and stream.forbids(item.event.variable, match, row)
        for number, item in enumerate(items) if isinstance(item, Absent)
        for row in range(len(stream.rows))
    )


def _lies_in_gap(stream: Stream, match: Candidate, item: int, row: int) -> bool:
    """Whether the event at `row` is where the negated item number `item` looks."""
    if isinstance(stream.query.pattern, AllOf):
        return _precedes(stream, match[0].row, row) and _precedes(stream, row, match[-1].row)
    before = [selected.row for selected in match if selected.place.path[0] < item]
    after = [selected.row for selected in match if selected.place.path[0] > item]
    is_after_the_items_before = (
        _precedes(stream, max(before), row) if before else spans_at_most(stream, row, match[-1].row)
    )
    is_before_the_items_after = (
        _precedes(stream, row, min(after)) if after else spans_at_most(stream, match[0].row, row)
    )
    return is_after_the_items_before and is_before_the_items_after


def _precedes(stream: Stream, earlier: int, later: int) -> bool:
    """Whether one event comes before another; with strict ties, earlier in time."""
    return earlier < later and not (stream.query.has_strict_ties and stream.is_tied(earlier, later))
