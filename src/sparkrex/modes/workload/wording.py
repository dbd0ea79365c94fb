"""Leaves and conditions of a workload in words, for EXPLAIN: events by their type, `A.floor = B.floor`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparkrex.modes.events.display import event_text
from sparkrex.modes.workload.clause import BEFORE, DIFFERENT
from sparkrex.modes.workload.conditions import named_type
from sparkrex.modes.workload.kernels.links import FIRST, LAST, LATER
from sparkrex.modes.workload.symbols import Comparison
from sparkrex.scalar.expression import Target
from sparkrex.scalar.targets import with_targets

if TYPE_CHECKING:
    from sparkrex.modes.workload.symbols import Formula, Symbols
    from sparkrex.scalar.expression import Expression

_SIGNS = {"lt": "<", "le": "<=", "eq": "=", "ne": "<>", "ge": ">=", "gt": ">"}
_NONE: frozenset[str] = frozenset()


class Wording:
    """The words of one workload's symbols."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols

    def leaf(self, label: Any) -> str:
        """The events of a leaf: their type, and what must hold of each."""
        leaf = self.symbols.leaves[label]
        text = self.type(label)
        conditions = [event_text(condition, _NONE) for condition in leaf.own]
        conditions += [f"later ones {event_text(condition, _NONE)}" for condition in leaf.later]
        if leaf.is_kleene:
            text = f"KL({text})"
        return f"{text} with {' AND '.join(conditions)}" if conditions else text

    def type(self, label: Any) -> str:
        """The type of the events of a leaf."""
        condition = self.symbols.leaves[label].type
        if condition is None:
            return "any event"
        named = named_type(condition)
        return event_text(condition, _NONE) if named is None else named[1]

    def key(self, key: Any) -> str:
        """What must hold between items."""
        if key == BEFORE:
            return "before"
        if key == DIFFERENT:
            return "another event"
        condition = self.symbols.conditions[key]
        return self._comparison(condition) if isinstance(condition, Comparison) else self._formula(condition)

    def _comparison(self, condition: Comparison) -> str:
        left = self._side(condition.left, condition.leaves[0], condition.left_reads)
        right = self._side(condition.right, condition.leaves[1], condition.right_reads)
        return f"{left} {_SIGNS[condition.operator]} {right}"

    def _formula(self, condition: Formula) -> str:
        names = {
            str(place): self._name(label, reads)
            for place, (label, reads) in enumerate(zip(condition.leaves, condition.reads, strict=True))
        }
        return event_text(_named(condition.expression, names), _NONE)

    def _side(self, side: Expression, label: int, reads: int) -> str:
        name = self._name(label, reads)
        return event_text(with_targets(side, lambda *_: Target(frozenset((name,)))), _NONE)

    def _name(self, label: int, reads: int) -> str:
        index = {FIRST: "[1]", LAST: "[LEN]", LATER: "[i]"}.get(reads, "")
        return f"{self.type(label)}{index}"


def _named(expression: Expression, names: dict[str, str]) -> Expression:
    def named(target: Target, _: object) -> Target:
        (place,) = target.variables or ("",)
        return Target(frozenset((names[place],)))

    return with_targets(expression, named)
