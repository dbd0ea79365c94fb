"""The components of a trend pattern, each with a variable of its own, and the names that mean them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError
from sparkrex.modes.trends.language.syntax import Component
from sparkrex.syntax.items import Name

if TYPE_CHECKING:
    from sparkrex.source import Source
    from sparkrex.syntax.names import NameRules


@dataclass(frozen=True, slots=True)
class _Found:
    """A component on a side of `&`; `key` is the folded name of a variable that the text gives."""

    component: Component
    side: int
    key: str | None


class Components:
    """Takes the components of a pattern in order of appearance.

    A component without a variable is called by its type; where that is taken on its side of `&`, by the type with a
    number, which no text can write. The two sides may share a variable, so that their trends can be the same trend: it
    must mean the same on both.
    """

    def __init__(self, source: Source, rules: NameRules) -> None:
        self.source = source
        self.rules = rules
        self.is_negated = False
        self._side = 0
        self._found: list[_Found] = []

    def begin_side(self) -> None:
        """What follows is on the other side of `&`."""
        self._side += 1

    def add(self, kind: Name, written: Name, *, is_quoted: bool) -> Name:
        """A component with a variable; gives the variable as the pattern first spells it."""
        key = self.rules.fold(written.text, is_quoted=is_quoted)
        same = [found for found in self._found if found.key == key or found.component.variable.text == written.text]
        if any(found.side == self._side for found in same):
            raise AnalysisError(
                "REX205", f"variable {written.text} is given twice", self.source, written.span,
                hint="every component has a variable of its own",
            )
        for found in same:
            self._check_shared(found.component, kind, written)
        variable = Name(same[0].component.variable.text if same else written.text, written.span)
        self._put(Component(kind, variable, True, self.is_negated), key)
        return variable

    def add_unnamed(self, kind: Name) -> Name:
        """A component without one; gives the variable that it has in the plan."""
        name, number = kind.text, 1
        while not self._is_free(name, kind):
            number += 1
            name = f"{kind.text}#{number}"
        variable = Name(name, kind.span)
        self._put(Component(kind, variable, False, self.is_negated), None)
        return variable

    def all(self) -> tuple[Component, ...]:
        """Of both sides."""
        return tuple(found.component for found in self._found)

    def names(self) -> dict[str, tuple[str, ...]]:
        """What expressions can refer to: variables that the text gives, and types, which mean all their components."""
        names: dict[str, list[str]] = {}
        for part in self.all():
            if part.is_named:
                names[part.variable.text] = [part.variable.text]
        variables = set(names)
        for part in self.all():
            if part.type.text not in variables:
                known = names.setdefault(part.type.text, [])
                if part.variable.text not in known:
                    known.append(part.variable.text)
        return {name: tuple(meant) for name, meant in names.items()}

    def _put(self, component: Component, key: str | None) -> None:
        self._found.append(_Found(component, self._side, key))

    def _is_free(self, name: str, kind: Name) -> bool:
        """Whether a component without a variable can have this one."""
        for found in self._found:
            if found.component.variable.text == name:
                is_same = not found.component.is_named and found.component.type.text == kind.text
                if found.side == self._side or not is_same or found.component.is_negated != self.is_negated:
                    return False
        return True

    def _check_shared(self, other: Component, kind: Name, written: Name) -> None:
        if other.type.text != kind.text:
            raise AnalysisError(
                "REX205", f"{written.text} is of type {other.type.text} on the other side of &", self.source,
                written.span, hint="a variable of both sides has one type",
            )
        if other.is_negated != self.is_negated:
            raise AnalysisError(
                "REX205", f"{written.text} is negated on one side of & only", self.source, written.span,
                hint="use another variable here",
            )
