"""The text of PATTERN as the algebra of row patterns.

An exclusion has no effect in a window, so it is its body.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.modes.rows.oracle.errors import CannotEvaluate

from sparkrex.languages.match_recognize.row_pattern import (
    Empty,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
    alternation,
    concatenation,
)

if TYPE_CHECKING:
    from tests.modes.windows.oracle.tokens import Token, Tokens


def read_pattern(parts: Tokens) -> RowPattern:
    """The pattern inside PATTERN's parentheses."""
    reader = _Reader(parts)
    pattern = reader.alternation()
    if reader.next is not None:
        raise CannotEvaluate(f"pattern at {reader.next.text}")
    return pattern


@dataclass(slots=True)
class _Reader:
    parts: Tokens
    place: int = 0

    @property
    def next(self) -> Token | None:
        return self.parts[self.place] if self.place < len(self.parts) else None

    def sees(self, *texts: str) -> bool:
        return self.next is not None and self.next.upper in texts

    def take(self, text: str) -> bool:
        if not self.sees(text):
            return False
        self.place += 1
        return True

    def need(self, text: str) -> None:
        if not self.take(text):
            raise CannotEvaluate(f"pattern without {text}")

    def alternation(self) -> RowPattern:
        options = [self.sequence()]
        while self.take("|"):
            options.append(self.sequence())
        return alternation(*options)

    def sequence(self) -> RowPattern:
        items = []
        while self.next is not None and not self.sees("|", ")", ",", "-}"):
            items.append(self.quantified())
        if not items:
            raise CannotEvaluate("an option without items")
        return concatenation(*items)

    def quantified(self) -> RowPattern:
        body = self.primary()
        bounds = self.bounds()
        if bounds is None:
            return body
        return Quantified(body, *bounds, is_greedy=not self.take("?"))

    def bounds(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(sign):
                return bounds
        if not self.take("{"):
            return None
        minimum = self.number()
        if not self.take(","):
            self.need("}")
            return minimum or 0, minimum
        maximum = self.number()
        self.need("}")
        return minimum or 0, maximum

    def number(self) -> int | None:
        if self.next is None or self.next.kind != "number":
            return None
        self.place += 1
        return int(self.parts[self.place - 1].text)

    def primary(self) -> RowPattern:
        part = self.next
        assert part is not None
        self.place += 1
        if part.text == "(":
            if self.take(")"):
                return Empty()
            pattern = self.alternation()
            self.need(")")
            return pattern
        if part.text == "{-":
            pattern = self.alternation()
            self.need("-}")
            return pattern
        if part.upper == "PERMUTE" and self.sees("("):
            self.place += 1
            items = [self.alternation()]
            while self.take(","):
                items.append(self.alternation())
            self.need(")")
            return Permutation(tuple(items))
        if part.is_name:
            return Variable(part.name)
        raise CannotEvaluate(f"pattern at {part.text}")
