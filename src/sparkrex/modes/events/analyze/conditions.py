"""Conditions of an event query, gathered by role and variable, and joined."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.events.analyze.placement import Placement, Role
from sparkrex.modes.plan import Definition
from sparkrex.scalar.expression import EACH_ROW, Call, ColumnAt, End, Expression, Literal, Target

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.events.analyze.shape import PatternShape
    from sparkrex.source import Span


class Conditions:
    """What is tested of the events of every variable."""

    def __init__(self, shape: PatternShape) -> None:
        self.shape = shape
        self._found: dict[Placement, list[Expression]] = {}

    def add(self, placement: Placement, condition: Expression) -> None:
        """One more condition."""
        self._found.setdefault(placement, []).append(condition)

    def add_to_events(self, variable: str, condition: Expression) -> None:
        """A condition of every event of a variable, the negated ones too."""
        component = self.shape.components[variable]
        if component.is_negated:
            self.add(Placement(Role.ABSENT, variable), condition)
            return
        self.add(Placement(Role.BEGIN, variable), condition)
        if component.is_repeated:
            self.add(Placement(Role.TAKE, variable), condition)

    def add_equivalence(self, column: str, span: Span) -> None:
        """Under strict contiguity: all events have the value of the match's first, which is not NULL."""
        own = ColumnAt(EACH_ROW, column, span=span)
        first = ColumnAt(Target(frozenset(self.shape.positive), end=End.FIRST), column, span=span)
        same = Call("eq", (own, first), span=span)
        for variable, component in self.shape.components.items():
            if component.is_negated:
                self.add(Placement(Role.ABSENT, variable), same)
                continue
            begin: Expression = same
            if self.shape.can_begin(variable):
                is_null = Call("is_null", (own,), span=span)
                begin = Call("not", (is_null,), span=span)
                if self.shape.can_follow(variable):
                    either = Call("coalesce", (first, own), span=span)
                    begin = Call("eq", (own, either), span=span)
            self.add(Placement(Role.BEGIN, variable), begin)
            if component.is_repeated:
                self.add(Placement(Role.TAKE, variable), same)

    def definitions(self, role: Role) -> tuple[Definition, ...]:
        """The conditions of a role, at most one a variable."""
        return tuple(
            Definition(variable, joined("and", parts))
            for variable in self.shape.components
            if (parts := self._found.get(Placement(role, variable)))
        )


def joined(function: str, parts: Sequence[Expression]) -> Expression:
    """Conditions under AND or OR; a single one is itself."""
    if len(parts) == 1:
        return parts[0]
    return Call(function, tuple(parts))


def is_true(expression: Expression) -> bool:
    """Whether the condition is the word TRUE."""
    return isinstance(expression, Literal) and expression.value is True
