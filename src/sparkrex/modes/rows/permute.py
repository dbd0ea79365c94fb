"""PERMUTE as the compiler of patterns writes it: which orders may share code, and how many are written one by one.

PERMUTE(P, Q, R) is `P Q R | P R Q | Q P R | ...`. Behind P both orders of the rest could be tried at one place, which
is `P (Q R | R Q)`: that is the same if P can match in one way only. If P has a choice it is not. In the alternation the
order comes first, so a less preferred way of P with Q R behind it comes before a preferred way of P with R Q.
"""

from __future__ import annotations

from math import comb, factorial
from typing import TYPE_CHECKING, assert_never

from sparkrex.languages.match_recognize.row_pattern import (
    Alternation,
    Anchor,
    Concatenation,
    Conjunction,
    Empty,
    Exclusion,
    Negation,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

MOST_ORDERS = 50_000
"""Eight parts that all have a choice: 40,320 orders, compiled in a second or two."""


def has_choice(pattern: RowPattern) -> bool:
    """Whether the pattern may match the rows from one place on in more than one way, as far as its form tells."""
    match pattern:
        case Variable() | Anchor() | Empty():
            return False
        case Exclusion(body):
            return has_choice(body)
        case Concatenation(items):
            return any(map(has_choice, items))
        case Permutation(items):
            return len(items) > 1 or has_choice(items[0])
        case Quantified(body, minimum, maximum):
            return minimum != maximum or has_choice(body)
        case Alternation() | Conjunction() | Negation():
            return True
        case _:
            assert_never(pattern)


def count_orders(items: Sequence[RowPattern]) -> int:
    """How many orders are fixed before they are tried: those of the rest, wherever a part with a choice comes first.

    Parts without a choice may stand before it in any order, and share what follows: only their set counts.
    """
    n_choosing = sum(map(has_choice, items))
    n_others = len(items) - n_choosing
    orders = 0
    for n_before in range(n_others + 1):
        n_rest = len(items) - n_before - 1
        if n_rest > 1:
            orders += comb(n_others, n_before) * n_choosing * factorial(n_rest)
    return orders
