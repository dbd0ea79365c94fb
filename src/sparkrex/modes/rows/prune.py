"""What is left of a pattern when no row can be mapped to some of its variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.languages.match_recognize.row_pattern import (
    Alternation,
    Concatenation,
    Empty,
    Exclusion,
    Permutation,
    Quantified,
    Variable,
    alternation,
    concatenation,
)

if TYPE_CHECKING:
    from collections.abc import Collection

    from sparkrex.languages.match_recognize.row_pattern import RowPattern


def prune_pattern(pattern: RowPattern, impossible: Collection[str]) -> RowPattern | None:
    """The pattern without ways that need a row of these variables; None if no way is left.

    The matches are the same, and so is which of them is preferred: a way that fails wherever it is tried only costs
    time, and the others keep their order.

    - `A | B` without B is `A`; `A B` without B is nothing, and so is `PERMUTE(A, B)`.
    - `A B*` without B is `A`: no repetition is the one that is left.
    """
    match pattern:
        case Variable(name):
            return None if name in impossible else pattern
        case Concatenation(items):
            parts = [prune_pattern(item, impossible) for item in items]
            left = [part for part in parts if part is not None]
            return concatenation(*left) if len(left) == len(parts) else None
        case Alternation(options):
            options = tuple(part for part in (prune_pattern(o, impossible) for o in options) if part is not None)
            return alternation(*options) if options else None
        case Quantified(body, minimum, maximum, is_greedy):
            inner = prune_pattern(body, impossible)
            if inner is None:
                return None if minimum else Empty()
            return Quantified(inner, minimum, maximum, is_greedy, span=pattern.span)
        case Permutation(items):
            parts = [prune_pattern(item, impossible) for item in items]
            left = [part for part in parts if part is not None]
            return Permutation(tuple(left), span=pattern.span) if len(left) == len(parts) else None
        case Exclusion(body):
            inner = prune_pattern(body, impossible)
            return None if inner is None else Exclusion(inner, span=pattern.span)
        case _:
            return pattern
