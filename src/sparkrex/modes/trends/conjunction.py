"""`P & Q`: unordered pairs of a trend of each side, none paired with itself.

With x trends of the first side only, y of the second only and z of both there are x * y + (x + y) * z + z * (z - 1) / 2
such pairs. Nothing is subtracted but 1, so that logarithms stay exact.
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
            continue
        if counts is Counts.TEXT:
            found[unit, 0] = _pairs(*(kinds[kind, 0] for kind in (FIRST, SECOND, BOTH)))
            continue
        parts = [int(kinds[kind, 1]) << 64 | int(np.uint64(kinds[kind, 0])) for kind in (FIRST, SECOND, BOTH)]
        pairs = _pairs(*parts)
        is_lost = any(kinds[kind, 2] and _counts(kind, kinds) for kind in (FIRST, SECOND, BOTH))
        is_lost = is_lost or pairs >= _TOO_LARGE
        found[unit] = (0, 0, 1) if is_lost else (_signed(pairs), pairs >> 64, 0)
    return found


def _pairs(first: int, second: int, both: int) -> int:
    return first * second + (first + second) * both + both * (both - 1) // 2


def _counts(kind: int, kinds: NDArray[Any]) -> bool:
    """Whether a class that is too large is paired with anything: with others, or among itself."""
    others = {FIRST: (SECOND, BOTH), SECOND: (FIRST, BOTH), BOTH: (BOTH,)}[kind]
    return any(kinds[other].any() for other in others)


def _signed(number: int) -> int:
    low = number & (1 << 64) - 1
    return low - (1 << 64) if low >> 63 else low


def _fraction(line: NDArray[np.float64]) -> tuple[Fraction, int]:
    return Fraction(float(line[0])) + Fraction(float(line[1])), int(line[2])


def _log_pairs(
    first: tuple[Fraction, int], second: tuple[Fraction, int], both: tuple[Fraction, int]
) -> tuple[float, float, float]:
    """The sum of the products, each with its exponent; one that is 2^-1024 of the largest or less is left out."""
    less_one = both[0] - (Fraction(1, 1 << 512 * both[1]) if 0 <= both[1] <= 2 else 0)
    terms = [
        (one[0] * other[0], one[1] + other[1])
        for one, other in ((first, second), (first, both), (second, both), (both, (less_one / 2, both[1])))
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
