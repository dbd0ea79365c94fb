"""Patterns of a workload: as text in the language of event queries, and how many matches are to be expected of them."""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial, prod
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ONCE, KLEENE, NEGATED = "", "KL", "NOT"
MAX_KLEENE = 20
"""Events of a Kleene's type in a window; a pattern that meets more is stopped by the engine."""


@dataclass(frozen=True, slots=True)
class Condition:
    """`left.attribute < right.attribute` for events of two types; it holds for such a share of pairs."""

    left: str
    right: str
    attribute: str
    selectivity: float


@dataclass(frozen=True, slots=True)
class Component:
    """A type of events, and whether a match has one of them, an array of them, or none."""

    type: str
    kind: str = ONCE


@dataclass(frozen=True, slots=True)
class Window:
    """So many minutes, or so many events."""

    size: int
    unit: str = "minutes"


@dataclass(frozen=True, slots=True)
class Pattern:
    """SEQ or AND of components, which differ in their types, with conditions on those that are no Kleene.

    With a `key`, all events of a match have the same value of that column.
    """

    form: str
    components: tuple[Component, ...]
    conditions: tuple[Condition, ...]
    window: Window
    key: str | None = None

    @property
    def positive(self) -> tuple[Component, ...]:
        """What a match has events of."""
        return tuple(component for component in self.components if component.kind != NEGATED)

    def text(self) -> str:
        """The pattern as an event query."""
        variables = {component.type: f"e{place}" for place, component in enumerate(self.components, 1)}
        parts = [_component_text(component, variables[component.type]) for component in self.components]
        conditions = [f"[{self.key}]"] if self.key else []
        conditions += [
            f"{variables[one.left]}.{one.attribute} < {variables[one.right]}.{one.attribute}" for one in self.conditions
        ]
        where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
        return f"PATTERN {self.form}({', '.join(parts)}){where} WITHIN {self.window.size} {self.window.unit}"

    def expected_matches(self, per_window: Mapping[str, float], n_keys: int = 1) -> float:
        """How many matches come with every window of time, if events come at random and conditions are independent.

        n events of given types and order stand within a window W of each other in W^(n-1) / (n-1)! ways for each first
        event; in any order there are n! times as many. What a negated component rejects is not taken off, so this is
        an upper bound then.
        """
        negated = {one.type for one in self.components if one.kind == NEGATED}
        single = prod(per_window[one.type] for one in self.positive if one.kind == ONCE)
        single *= prod(one.selectivity for one in self.conditions if not {one.left, one.right} & negated)
        n_single = sum(one.kind == ONCE for one in self.positive)
        repeated = [per_window[one.type] for one in self.positive if one.kind == KLEENE]
        total = 0.0
        for length in range(1, MAX_KLEENE + 1) if repeated else (0,):
            n_events = n_single + length
            arrays = prod(number**length for number in repeated)
            ways = n_events / factorial(length) if self.form == "AND" else 1 / factorial(n_events - 1)
            total += single * arrays * ways * float(n_keys) ** (1 - n_events)
        return total

    def pairs(self) -> Iterator[tuple[object, ...]]:
        """What can be shared at least: two components with all that holds between them."""
        positive = self.positive
        for place, one in enumerate(positive):
            for other in positive[place + 1 :]:
                types = {one.type, other.type}
                held = frozenset(one for one in self.conditions if {one.left, one.right} == types)
                sides = (one, other) if self.form == "SEQ" else frozenset((one, other))
                yield self.form, self.window.unit, self.key, sides, held


def _component_text(component: Component, variable: str) -> str:
    text = f"{component.type} {variable}"
    return f"{component.kind}({text})" if component.kind else text


def density(patterns: list[Pattern]) -> float:
    """The density of the multi-pattern graph: with which share of the others a pattern has something in common."""
    holders: dict[tuple[object, ...], set[int]] = {}
    for number, pattern in enumerate(patterns):
        for pair in pattern.pairs():
            holders.setdefault(pair, set()).add(number)
    n_neighbours = [
        len(set().union(*(holders[pair] for pair in pattern.pairs())) - {number})
        for number, pattern in enumerate(patterns)
    ]
    return sum(n_neighbours) / (len(patterns) * max(len(patterns) - 1, 1))
