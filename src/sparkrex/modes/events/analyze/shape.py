"""How the variables of an event pattern stand to each other: what comes first, what repeats, what may be absent."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from sparkrex.modes.events.pattern import (
    Absent,
    AllOf,
    AnyOf,
    Event,
    EventPattern,
    Kleene,
    Sequence,
    allows_empty,
    children,
    has_any_order,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sparkrex.modes.events.language.syntax import Component, PatternText


@dataclass(frozen=True, slots=True)
class _Step:
    """On the way from the whole pattern to a variable: a node, and which of its parts the way goes on through."""

    node: EventPattern
    part: int


class PatternShape:
    """The variables of a pattern, by name, and their places in it."""

    def __init__(self, text: PatternText) -> None:
        self.pattern = text.pattern
        self.components: Mapping[str, Component] = {part.variable.text: part for part in text.components}

    @cached_property
    def positive(self) -> tuple[str, ...]:
        """The variables that a match binds, in order of appearance."""
        return tuple(name for name, part in self.components.items() if not part.is_negated)

    @cached_property
    def has_any_order(self) -> bool:
        """Whether AND is anywhere in the pattern."""
        return has_any_order(self.pattern)

    @cached_property
    def _paths(self) -> dict[str, tuple[_Step, ...]]:
        found: dict[str, tuple[_Step, ...]] = {}
        pending: list[tuple[EventPattern, tuple[_Step, ...]]] = [(self.pattern, ())]
        while pending:
            node, path = pending.pop()
            if isinstance(node, Event):
                found[node.variable] = path
            pending += [(part, (*path, _Step(node, place))) for place, part in enumerate(children(node))]
        return found

    def share_loop(self, one: str, other: str) -> bool:
        """Whether a repetition goes over both, so that events of either may come after events of the other."""
        return any(isinstance(step.node, Kleene) and step.node.maximum != 1 for step in self._common(one, other))

    def are_alternatives(self, one: str, other: str) -> bool:
        """Whether one way through the pattern meets only one of the two."""
        return isinstance(self._parting(one, other)[0].node, AnyOf)

    def stands_before(self, one: str, other: str) -> bool:
        """Whether `one` is written before `other`."""
        names = list(self.components)
        return names.index(one) < names.index(other)

    def may_mingle(self, one: str, other: str) -> bool:
        """Whether AND leaves open which of the two comes first."""
        return one != other and isinstance(self._parting(one, other)[0].node, AllOf)

    def can_begin(self, variable: str) -> bool:
        """Whether the variable's first event can be the match's."""
        return all(
            not isinstance(step.node, Sequence) or all(map(allows_empty, step.node.items[: step.part]))
            for step in self._paths[variable]
        )

    def can_follow(self, variable: str) -> bool:
        """Whether other events of the match can come before the variable's first."""
        for step in self._paths[variable]:
            if isinstance(step.node, Sequence) and any(binds_something(item) for item in step.node.items[: step.part]):
                return True
            if isinstance(step.node, AllOf) and sum(map(binds_something, step.node.items)) > 1:
                return True
            is_loop_of_many = isinstance(step.node, Kleene) and not isinstance(step.node.body, Event)
            if is_loop_of_many and isinstance(step.node, Kleene) and step.node.maximum != 1:
                return True
        return False

    def _common(self, one: str, other: str) -> tuple[_Step, ...]:
        """The steps to the node where the ways to the two part, without that one."""
        common = []
        for here, there in zip(self._paths[one], self._paths[other], strict=False):
            if here != there:
                break
            common.append(here)
        return tuple(common)

    def _parting(self, one: str, other: str) -> tuple[_Step, _Step]:
        length = len(self._common(one, other))
        return self._paths[one][length], self._paths[other][length]


def binds_something(pattern: EventPattern) -> bool:
    """Whether a match can have an event of the pattern: everything but a negated component."""
    return not isinstance(pattern, Absent)
