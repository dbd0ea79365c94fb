"""Lines of keys: the values that comparisons read, as integers in one order.

The two sides of a comparison have a line each, over the events of the type that the side's item has: keys of one
comparison mean the same on both sides, those of different comparisons need not.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkrex.modes.workload.symbols import Symbols
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Source, Span

Side = tuple["Expression", "Expression | None"]
"""What is read of an event, and the test of its type."""


@dataclass(slots=True)
class Lines:
    """The lines of a plan: number n and n + 1 are the two sides of a comparison."""

    symbols: Symbols
    source: Source
    span: Span
    pairs: dict[tuple[Side, Side], tuple[int, Source, Span]] = field(default_factory=dict)

    def number(
        self, left: tuple[Expression, int], right: tuple[Expression, int], source: Source | None, span: Span | None
    ) -> int:
        """The line of the left side; each side is an expression and a label."""
        sides = tuple((expression, self.symbols.leaves[label].type) for expression, label in (left, right))
        found = self.pairs.get((sides[0], sides[1]))
        if found is None:
            found = self.pairs[sides[0], sides[1]] = (
                2 * len(self.pairs), source or self.source, span if source is not None and span else self.span
            )
        return found[0]
