"""EXPLAIN of an event query: what was understood, the automaton with the formula of every edge, how many runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sparkrex.modes.events.display import array_variables, event_text
from sparkrex.modes.events.nfab.automaton import compile_automaton
from sparkrex.modes.events.pattern import Kleene, children, has_any_order, positive_variables
from sparkrex.modes.events.plan import Strategy
from sparkrex.syntax.units import WindowUnit, whole_units
from sparkrex.tree_text import Branch, stages

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.modes.events.plan import EventQuery, EventWindow

@dataclass(frozen=True, slots=True)
class EventsExplained:
    """An event query and what its matcher says of itself; what it counted and the stages, if it was run.

    `equalities` partition the stream, `refusals` say why others do not.
    """

    query: EventQuery
    algorithm: str
    matcher: tuple[str, ...]
    counted: Mapping[str, int] = field(default_factory=dict)
    laps: Sequence[tuple[str, float, str]] = ()
    equalities: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()

    def lines(self, host: str) -> list[str]:
        """The text, as a tree."""
        query = self.query
        keys = ", ".join(key.name for key in query.partition_by) or "none: one partition"
        found = [
            Branch(f"partition by {keys}"),
            *map(Branch, query.gap_lines()),
            *(Branch(f"partition by equalities: {text}") for text in self.equalities),
            *(Branch(f"no partition by equalities: {reason}") for reason in self.refusals),
            Branch(_order_text(query)),
            Branch(f"pattern {query.pattern}"),
            Branch(f"within {window_text(query.window)}" if query.window is not None else "within no window"),
        ]
        arrays = array_variables(query.pattern)
        if query.relevant is not None:
            found.append(Branch(f"only events with {event_text(query.relevant, arrays)}"))
        if query.measures is None:
            found.append(Branch("return the events"))
        found += [
            Branch(f"return {measure.name} = {event_text(measure.expression, arrays)}")
            for measure in query.measures or ()
        ]
        found.append(Branch(runs_text(query)))
        found.append(Branch(f"matcher {self.algorithm}", _nest_lines(self.matcher)))
        if self.laps:
            counted = ", ".join(f"{number:,} {what}" for what, number in self.counted.items())
            found += [Branch(f"counted {counted}"), stages(self.laps)]
        mode = "non-overlapping matches" if query.is_non_overlapping else "all matches"
        return Branch(f"MatchEvents {query.strategy.value}, {mode}", tuple(found)).lines()


def _nest_lines(lines: Sequence[str]) -> tuple[Branch, ...]:
    """Lines, of which indented ones belong to the one above."""
    found: list[Branch] = []
    for line in lines:
        if line.startswith(" ") and found:
            found[-1] = Branch(found[-1].text, (*found[-1].below, Branch(line.strip())))
        else:
            found.append(Branch(line))
    return tuple(found)


def _order_text(query: EventQuery) -> str:
    time, *tie_break = (str(key.column) for key in query.order_by)
    text = f"order by {time}"
    if tie_break:
        text += f", then {', '.join(tie_break)}"
    return text + (", tied events do not follow each other" if query.has_strict_ties else "")


def window_text(window: EventWindow) -> str:
    """The window in the largest unit that fits."""
    if window.unit is WindowUnit.EVENTS:
        return f"{window.size} events of a partition"
    if window.unit is WindowUnit.NUMBER:
        return f"{window.size} of the time column"
    return whole_units(int(window.size))


def runs_text(query: EventQuery) -> str:
    """How many runs there may be at a time, by the paper's Corollary 4.3."""
    inside = "a partition" if query.window is None else "a partition inside the window"
    loops = list(_loops(query.pattern))
    if query.strategy is Strategy.ANY and loops:
        return (
            f"warning: runs may be exponential in the events of {inside} (Corollary 4.3), because skip_till_any_match "
            f"may take or pass over every event of {loops[0]}"
        )
    if has_any_order(query.pattern):
        # A place for every variable and one for the later events of an array, in whatever order they are filled.
        n_states = len(positive_variables(query.pattern)) + len(loops) + 1
    else:
        n_states = len(compile_automaton(query.pattern, query.source).edges)
    return f"runs at most polynomial in the events of {inside}, of degree {n_states} (Corollary 4.3)"


def _loops(pattern: EventPattern) -> Iterator[Kleene]:
    """Repetitions without an upper bound."""
    pending = [pattern]
    while pending:
        node = pending.pop()
        if isinstance(node, Kleene) and node.maximum is None:
            yield node
        pending.extend(reversed(children(node)))
