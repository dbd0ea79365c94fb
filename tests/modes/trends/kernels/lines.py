"""Numbers of trends as lines of arrays, from Python's numbers and back."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

LIMIT = 2**127
"""An exact number is below it, and not below its negative."""


def exact_lines(values: Sequence[int], is_large: Sequence[bool] = ()) -> NDArray[np.int64]:
    """Exact numbers; those that do not fit, or are said to be too large, are."""
    lines = np.zeros((len(values), 3), np.int64)
    for place, value in enumerate(values):
        bits = value % 2**128
        lines[place, 0] = _signed(bits % 2**64)
        lines[place, 1] = _signed(bits >> 64)
        lines[place, 2] = not -LIMIT <= value < LIMIT
    lines[: len(is_large), 2] |= np.array(is_large, np.int64)
    return lines


def _signed(bits: int) -> int:
    return bits - 2**64 if bits >= 2**63 else bits


def exact_values(lines: NDArray[np.int64]) -> list[int | None]:
    """What exact numbers stand for; None for those that are too large."""
    return [
        None if is_large else int(high) * 2**64 + int(low) % 2**64 for low, high, is_large in lines.tolist()
    ]


def log_lines(values: Sequence[Fraction | int]) -> NDArray[np.float64]:
    """Numbers with an exponent, as near as they can be."""
    lines = np.zeros((len(values), 3), np.float64)
    for place, value in enumerate(map(Fraction, values)):
        exponent, size = 0, abs(value)
        while size >= 2**256:
            size /= 2**512
            exponent += 1
        while 0 < size < Fraction(1, 2**256):
            size *= 2**512
            exponent -= 1
        high = float(size)
        rest = float(size - Fraction(high))
        sign = -1 if value < 0 else 1
        lines[place] = sign * high, sign * rest, exponent
    return lines


def log_values(lines: NDArray[np.float64]) -> list[Fraction]:
    """What numbers with an exponent stand for."""
    return [
        (Fraction(high) + Fraction(low)) * Fraction(2) ** (512 * int(power)) for high, low, power in lines.tolist()
    ]


def object_lines(values: Sequence[Any]) -> NDArray[Any]:
    """Numbers of all digits."""
    lines = np.zeros((len(values), 3), object)
    lines[:, 0] = values
    return lines


def is_close(found: Fraction, expected: Fraction, size: Fraction | int = 0) -> bool:
    """Whether a number is right to 95 bits, of itself or of the numbers that were added."""
    return abs(found - expected) <= max(abs(expected), Fraction(size)) / 2**95
