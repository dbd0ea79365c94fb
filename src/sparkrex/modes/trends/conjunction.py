"""`P & Q`: unordered pairs of a trend of each side, none paired with itself.

With x trends of the first side and y of the second there are x * y pairs, of which z have a trend of both sides twice,
if there are z such trends, and every two of those z come in both orders: x * y - z - z * (z - 1) / 2 are left. That is
at least half of x * y as soon as it is not 0 or a few, so that logarithms lose nothing by the difference.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.modes.trends.automaton import BOTH, FIRST, SECOND
from sparkrex.modes.trends.plan import Counts

if TYPE_CHECKING:
    from numpy.typing import NDArray

_TOO_LARGE = 1 << 127


def count_pairs(numbers: NDArray[Any], counts: Counts) -> NDArray[Any]:
    """Numbers of pairs. `numbers` has for each unit the trends of every class; of the result, each is a number."""
    found = np.zeros((len(numbers), 3), numbers.dtype)
    for unit, kinds in enumerate(numbers):
        if counts is Counts.LOG:
            found[unit] = _log_pairs(*(_fraction(kinds[kind]) for kind in (FIRST, SECOND, BOTH)))
        elif counts is Counts.TEXT:
            found[unit, 0] = _pairs(*(kinds[kind, 0] for kind in (FIRST, SECOND, BOTH)))
        else:
            found[unit] = _exact_pairs(kinds)
    return found


def _pairs(first: int, second: int, both: int) -> int:
    return first * second - both - both * (both - 1) // 2


def _exact_pairs(kinds: NDArray[np.int64]) -> tuple[int, int, int]:
    parts = [(int(kinds[kind, 1]) << 64) + int(np.uint64(kinds[kind, 0])) for kind in (FIRST, SECOND, BOTH)]
    is_lost = (kinds[FIRST, 2] and kinds[SECOND].any()) or (kinds[SECOND, 2] and kinds[FIRST].any())
    pairs = _pairs(*parts)
    return (0, 0, 1) if is_lost or pairs >= _TOO_LARGE else (_signed(pairs), pairs >> 64, 0)


def _signed(number: int) -> int:
    low = number & (1 << 64) - 1
    return low - (1 << 64) if low >> 63 else low


def _fraction(line: NDArray[np.float64]) -> tuple[Fraction, int]:
    return Fraction(float(line[0])) + Fraction(float(line[1])), int(line[2])


def _log_pairs(
    first: tuple[Fraction, int], second: tuple[Fraction, int], both: tuple[Fraction, int]
) -> tuple[float, float, float]:
    """The same by fractions with exponents: x * y - z * z / 2 - z / 2; what is 2^-1024 of the largest is left out."""
    one = (Fraction(1, 1 << 512 * both[1]) if 0 <= both[1] <= 2 else Fraction(0)) / 2
    terms = [
        (first[0] * second[0], first[1] + second[1]), (-both[0] * both[0] / 2, 2 * both[1]),
        (-both[0] * one, 2 * both[1]),
    ]
    exponent = max((power for value, power in terms if value), default=0)
    total = sum(
        (value / (1 << 512 * (exponent - power)) for value, power in terms if value and exponent - power <= 4),
        Fraction(0),
    )
    if not total:
        return 0.0, 0.0, 0.0
    while abs(total) >= 2**256:
        total, exponent = total / 2**512, exponent + 1
    while abs(total) < Fraction(1, 2**256):
        total, exponent = total * 2**512, exponent - 1
    high = float(total)
    return high, float(total - Fraction(high)), float(exponent)
