"""Values as SQL compares and adds them: a comparison with NULL does not hold; NaN equals itself and is above all."""

from __future__ import annotations

import math
import operator
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

COMPARISONS: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}


def is_nan(value: Any) -> bool:
    """Whether it is a number that is none."""
    return isinstance(value, float) and math.isnan(value)


def ordered(value: Any) -> tuple[bool, Any]:
    """What a value that is not NULL is ordered by."""
    return is_nan(value), 0 if is_nan(value) else value


def holds(left: Any, comparison: str, right: Any) -> bool:
    """Whether `left comparison right` is true."""
    if left is None or right is None:
        return False
    return COMPARISONS[comparison](ordered(left), ordered(right))


def total(values: Iterable[Any]) -> int | float | Fraction:
    """The exact sum of numbers; a float only if it is NaN or infinite."""
    numbers = list(values)
    special = [number for number in numbers if isinstance(number, float) and not math.isfinite(number)]
    if special:
        return math.fsum(special) if len({*map(str, special)}) == 1 else math.nan
    exact = sum(map(Fraction, numbers), Fraction(0))
    return int(exact) if all(isinstance(number, int) for number in numbers) else exact
