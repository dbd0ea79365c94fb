"""Spreads and regression in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from sparkrex.modes.segments.kernels.gathered import R2_SIGNED, SLOPE


def squares(x: list[Any], y: list[Any]) -> Fraction:
    """The sum of products of distances from the means."""
    a, b = ([Fraction(value) for value in values] for values in (x, y))
    products = sum((p * q for p, q in zip(a, b, strict=True)), Fraction(0))
    return products - sum(a, Fraction(0)) * sum(b, Fraction(0)) / len(a)


def variance(values: list[Any], lost: int, is_root: bool) -> float | None:
    """The sum of squares about the mean divided by n - lost, or its root; None unless n > lost."""
    if len(values) <= lost:
        return None
    found = float(squares(values, values) / (len(values) - lost))
    return math.sqrt(found) if is_root else found


def regression(kind: int, x: list[Any], y: list[Any]) -> float | None:
    """R^2, signed R^2 or slope; NULL as the page of segments says."""
    if len(x) < 2 or len(set(x)) == 1:
        return None
    xx, yy, xy = squares(x, x), squares(y, y), squares(x, y)
    if kind == SLOPE:
        return float(xy / xx)
    if len(set(y)) == 1:
        return None
    r2 = float(xy * xy / xx / yy)
    return -r2 if kind == R2_SIGNED and xy < 0 else r2


def correlation(x: list[Any], y: list[Any]) -> float | None:
    """Pearson's coefficient; None if either does not vary."""
    if len(set(x)) < 2 or len(set(y)) < 2:
        return None
    return float(squares(x, y)) / math.sqrt(squares(x, x) * squares(y, y))
