"""Random row patterns as SQL text, with all operators."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.modes.rows.property.draws import Draw

QUANTIFIERS = ("?", "*", "+", "{1}", "{2}", "{0,1}", "{1,2}", "{,2}", "{0,2}", "{2,3}", "{1,}", "{2,}", "{,3}")


@dataclass(slots=True)
class Pattern:
    """The text of a pattern and what occurs in it."""

    text: str
    variables: list[str] = field(default_factory=list)
    operators: set[str] = field(default_factory=set)

    @property
    def has_exclusion(self) -> bool:
        return "exclusion" in self.operators


class PatternWriter:
    """Writes one pattern and notes what it used."""

    def __init__(self, draw: Draw, names: Sequence[str], *, allows_exclusion: bool) -> None:
        self._draw = draw
        self._names = names
        self._allows_exclusion = allows_exclusion
        self._variables: dict[str, None] = {}
        self._operators: set[str] = set()

    def write(self) -> Pattern:
        """A whole pattern."""
        shape = self._draw.weighted(((50, "any"), (13, "optional"), (9, "or empty"), (20, "several"), (8, "permute")))
        if shape == "several":
            # Sequences of quantified variables are what people write; pure recursion gives too few of them.
            self._operators.add("concatenation")
            text = " ".join(self._quantified(self._variable()) for _ in range(self._draw.integer(2, 4)))
        elif shape == "permute":
            self._operators.add("permute")
            text = self._permutation(1, is_excluded=False)
        else:
            text = self._alternation(self._draw.integer(0, 2))
        if shape == "optional":
            self._operators.update(("group", "quantifier"))
            text = f"({text}){self._draw.choice(('?', '*', '??', '{,2}', '*?'))}"
        elif shape == "or empty":
            self._operators.update(("alternation", "empty"))
            text = f"{text} | ()"
        return self._finish(text)

    def write_towards(self, target: str) -> Pattern:
        """A pattern in which `target` is mapped after the first row, so that AFTER MATCH SKIP can go there."""
        self._operators.update(("concatenation", "quantifier"))
        others = [name for name in self._names if name != target]
        first = self._name(self._draw.choice(others or self._names))
        middle = self._alternation(0) if self._draw.chance(20) else ""
        body = self._name(target) + self._draw.choice(("", "+", "{1,2}", "+?"))
        last = self._quantified(self._variable()) if self._draw.chance(40) else ""
        middle = f"({middle})" if middle else ""
        return self._finish(" ".join(filter(None, (first, middle, body, last))))

    def _finish(self, text: str) -> Pattern:
        if not self._variables:
            text = f"{text} {self._quantified(self._variable())}" if "|" not in text else f"({text}) {self._variable()}"
        return Pattern(text, list(self._variables), self._operators)

    def _alternation(self, depth: int, *, is_excluded: bool = False) -> str:
        count = self._draw.weighted(((70, 1), (22, 2), (8, 3)))
        if count > 1:
            self._operators.add("alternation")
        return " | ".join(self._sequence(depth, is_excluded=is_excluded) for _ in range(count))

    def _sequence(self, depth: int, *, is_excluded: bool) -> str:
        count = self._draw.weighted(((40, 1), (38, 2), (18, 3), (4, 4)))
        if count > 1:
            self._operators.add("concatenation")
        return " ".join(self._item(depth, is_excluded=is_excluded) for _ in range(count))

    def _item(self, depth: int, *, is_excluded: bool) -> str:
        kinds = [(62, "variable"), (2, "empty"), (3, "anchor")]
        if depth > 0:
            kinds += [(18, "group"), (8, "permute")]
            # An exclusion inside an exclusion means nothing more than the outer one.
            if self._allows_exclusion and not is_excluded:
                kinds.append((9, "exclusion"))
        kind = self._draw.weighted(kinds)
        if kind == "variable":
            return self._quantified(self._variable())
        self._operators.add(kind)
        if kind == "empty":
            return self._quantified("()", percent=20)
        if kind == "anchor":
            return self._quantified(self._draw.choice(("^", "$")), percent=15)
        if kind == "group":
            return self._quantified(f"({self._alternation(depth - 1, is_excluded=is_excluded)})", percent=65)
        if kind == "permute":
            return self._permutation(depth, is_excluded=is_excluded)
        return self._quantified(f"{{- {self._alternation(depth - 1, is_excluded=True)} -}}", percent=15)

    def _permutation(self, depth: int, *, is_excluded: bool) -> str:
        # Parts that have a choice, and variables that occur in several parts, make the order of the orders visible.
        items = []
        for _ in range(self._draw.weighted(((30, 2), (60, 3), (10, 4)))):
            kind = self._draw.weighted(((72, "variable"), (14, "alternation"), (14, "item")))
            if kind == "variable":
                items.append(self._quantified(self._variable(), percent=45))
            elif kind == "alternation":
                items.append(self._alternation(0, is_excluded=is_excluded))
            else:
                items.append(self._item(depth - 1, is_excluded=is_excluded))
        return self._quantified(f"PERMUTE({', '.join(items)})", percent=15)

    def _variable(self) -> str:
        return self._name(self._draw.choice(self._names))

    def _name(self, name: str) -> str:
        self._variables.setdefault(name)
        # Unquoted names fold: `a` is A.
        return name.lower() if self._draw.chance(4) else name

    def _quantified(self, primary: str, percent: int = 45) -> str:
        if not self._draw.chance(percent):
            return primary
        self._operators.add("quantifier")
        if self._draw.chance(25):
            self._operators.add("reluctant")
            return primary + self._draw.choice(QUANTIFIERS) + "?"
        return primary + self._draw.choice(QUANTIFIERS)
