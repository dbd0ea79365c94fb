"""EXPLAIN of a trend query: what was understood, the automaton, at which granularity trends are counted, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.modes.trends.automaton import BOTH, NEGATED, START, make_automaton
from sparkrex.modes.trends.choose import BY_EVENT, BY_GAP, BY_OPEN, BY_RANK, BY_STATE, choose, refusals
from sparkrex.modes.trends.comparisons import Comparisons
from sparkrex.modes.trends.plan import Counts, RowTime, Semantics, TrendAggregate
from sparkrex.scalar.expression import Call, ColumnAt
from sparkrex.scalar.forms import written
from sparkrex.syntax.units import WindowUnit, whole_units
from sparkrex.tree_text import Branch, stages

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.trends.automaton import Automaton, Test
    from sparkrex.modes.trends.plan import Adjacent, TrendQuery, TrendWindow
    from sparkrex.scalar.expression import Expression

_HOW = {
    BY_STATE: "one place per state, events are not kept",
    BY_GAP: "one place per state and gap between negated parts, events are not kept",
    BY_RANK: "Fenwick trees over the ranks of compared values, O(log n) per event",
    BY_OPEN: "one place per state and compared value, for events that no relevant one has followed yet",
    BY_EVENT: "one entry per event that others may follow, all of which are looked at",
}
_GRANULARITY = {
    Semantics.ANY: {
        BY_STATE: "type-grained", BY_GAP: "type-grained", BY_RANK: "mixed-grained", BY_EVENT: "mixed-grained",
    },
    Semantics.NEXT: {BY_STATE: "type-grained, of open events", BY_GAP: "type-grained, of open events"},
    Semantics.CONTIGUOUS: {BY_STATE: "pattern-grained", BY_GAP: "pattern-grained"},
}
_KINDS = {0: "a trend", 1: "a trend of the second side", BOTH: "a trend of both sides"}


@dataclass(frozen=True, slots=True)
class TrendsExplained:
    """A trend query; `asked` is the algorithm that settings name. With stages if it was run."""

    query: TrendQuery
    asked: str | None = None
    laps: Sequence[tuple[str, float, str]] = ()

    def lines(self, host: str) -> list[str]:
        """The text, as a tree."""
        query = self.query
        automaton = make_automaton(query)
        comparisons = Comparisons.of(query)
        found = [
            Branch(_partition_text(query)), *map(Branch, query.gap_lines()), Branch(_order_text(query)),
            Branch("pattern " + " & ".join(map(str, query.patterns))),
            Branch("within " + ("no window" if query.window is None else _window_text(query.window))),
        ]
        found += [Branch(f"{one.variable} is an event with {event_text(one.condition)}") for one in query.definitions]
        found += [Branch(f"adjacent {_adjacent_text(one)}") for one in query.adjacent]
        if query.minimum_length > 1:
            found.append(Branch(f"at least {query.minimum_length} events"))
        found += [Branch(f"return {item.name} = {_item_text(item.value)}") for item in query.items]
        found.append(Branch("automaton", tuple(map(Branch, _automaton_lines(automaton)))))
        chosen = self.asked or choose(query, automaton, comparisons)
        granularity = _GRANULARITY[query.semantics].get(chosen, "event-grained")
        refused = refusals(query, automaton, comparisons)
        found.append(Branch(
            f"count {chosen}, {granularity}: {_HOW[chosen]}",
            tuple(Branch(f"not {name}: {reason}") for name, reason in refused.items()),
        ))
        found.append(Branch(_NUMBERS[query.counts]))
        if query.needs_merge():
            found.append(Branch("merge the partitions of a group, window by window"))
        if self.laps:
            found.append(stages(self.laps))
        return Branch(f"MatchTrends {query.semantics.value}", tuple(found)).lines()


_NUMBERS = {
    Counts.EXACT: "numbers of 128 bits, exact to 38 digits",
    Counts.LOG: "numbers as logarithms to base 10, by pairs of doubles with an exponent",
    Counts.TEXT: "numbers with all digits",
}


def _partition_text(query: TrendQuery) -> str:
    keys = ", ".join(key.name for key in query.partition_by)
    if not keys:
        return "partition by none: one partition"
    groups = ", ".join(query.group_by)
    return f"partition by {keys}" + (f", group by {groups}" if groups else ", all of them one group")


def _order_text(query: TrendQuery) -> str:
    time, *tie_break = (str(key.column) for key in query.order_by)
    text = f"order by {time}" + (f", then {', '.join(tie_break)}" if tie_break else "")
    return text + (", tied events do not follow each other" if query.has_strict_ties else "")


def _window_text(window: TrendWindow) -> str:
    size, slide = (_size_text(part, window.unit) for part in (window.size, window.slide))
    origin = "" if not window.origin else f", counted from {_size_text(window.origin, window.unit)}"
    return f"{size}, sliding by {slide}{origin}"


def _size_text(size: object, unit: WindowUnit) -> str:
    if unit is WindowUnit.TIME:
        return whole_units(int(str(size)))
    return f"{size} events" if unit is WindowUnit.EVENTS else f"{size} {unit.value}"


def event_text(expression: Expression) -> str:
    """An expression of one event."""
    match expression:
        case ColumnAt(column=column):
            return column
        case Call():
            return written(expression, [event_text(part) for part in expression.operands])
        case _:
            return str(expression)


def _adjacent_text(one: Adjacent) -> str:
    left, right = event_text(one.left), event_text(one.right)
    return f"{one.before} then {one.after}: {left} {one.operator} the next event's {right}"


def _item_text(value: str | TrendAggregate | RowTime) -> str:
    if not isinstance(value, TrendAggregate):
        return str(value)
    if not value.variables:
        return value.function.value
    inner = "" if value.argument is None else f": {event_text(value.argument)}"
    return f"{value.function.value}({', '.join(sorted(value.variables))}{inner})"


def _automaton_lines(automaton: Automaton) -> list[str]:
    names = {START: "start"} | {number: f"{number} ({name})" for number, name in enumerate(automaton.states, 1)}
    lines = [
        f"{names[edge.source]} -> {names[edge.target]}{_test_text(edge.test, 'in between')}" for edge in automaton.edges
    ]
    for end in automaton.ends:
        kind = _KINDS.get(end.kind) or f"a trend of negated part {end.kind - NEGATED + 1}"
        lines.append(f"{names[end.state]} ends {kind}{_test_text(end.test, 'after it')}")
    return lines


def _test_text(test: Test, where: str) -> str:
    parts = [f"no trend of negated part {number + 1} {where}" for number in sorted(test.open)]
    parts += [f"a trend of negated part {number + 1} {where}" for number in sorted(test.blocked)]
    return f" if {' and '.join(parts)}" if parts else ""
