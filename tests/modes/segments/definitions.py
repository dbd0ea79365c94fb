"""The aggregates over segments by their definitions: exact fractions, no prefix sums, no cleverness.

Each takes the rows of a segment as tuples of its arguments' values and follows SQL's rule for NULLs: a row in which an
argument is NULL is left out. Over no rows an aggregate is NULL, a count is 0. A Boolean aggregate gives a bool.
"""

from __future__ import annotations

import math
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


def number(value: Any) -> Any:
    """Dates count as days, timestamps as microseconds since 1970; numbers as they are, decimals exactly."""
    match value:
        case bool():
            return int(value)
        case Decimal():
            return Fraction(value)
        case datetime():
            moment = value if value.tzinfo else value.replace(tzinfo=UTC)
            return (moment - datetime(1970, 1, 1, tzinfo=UTC)) // datetime.resolution
        case date():
            return value.toordinal() - date(1970, 1, 1).toordinal()
        case _:
            return value


def rank(value: Any) -> tuple[bool, Any]:
    """A value by its place in SQL's order: NaN is above every number, and equal to itself."""
    return (True, 0) if isinstance(value, float) and math.isnan(value) else (False, value)


def has_nan(values: Iterable[Any]) -> bool:
    """Whether NaN is among the values: then whatever adds them up is NaN."""
    return any(isinstance(value, float) and math.isnan(value) for value in values)


def aggregate(function: str, rows: Sequence[tuple[Any, ...]]) -> Any:
    """The value of an aggregate over one segment's rows, None for NULL."""
    if function == "count":
        return sum(None not in row for row in rows)
    if function in ("first", "last"):
        # Not an aggregate by nature: the row at the end, NULL or not.
        return (rows[0] if function == "first" else rows[-1])[0] if rows else None
    kept = [tuple(map(number, row)) for row in rows if None not in row]
    return _DEFINITIONS[function](kept) if kept else None


def is_known(function: str) -> bool:
    """Whether `aggregate` can evaluate it."""
    return function in ("count", "first", "last") or function in _DEFINITIONS


def corr(left: Sequence[Any], right: Sequence[Any]) -> float | None:
    """Correlation of two segments, paired by position."""
    if len(left) != len(right) or len(left) < 2:
        return None
    pairs = [(number(x), number(y)) for x, y in zip(left, right, strict=True) if x is not None and y is not None]
    moments = _moments(pairs)
    if moments is None:
        return None
    covariance, variance_x, variance_y = moments
    return math.copysign(math.sqrt(covariance**2 / (variance_x * variance_y)), covariance) if covariance else 0.0


def zscore_outlier(context: Sequence[Any], n: int) -> float | None:
    """How far the last value of `context`, at most n rows, lies from their mean, in population standard deviations."""
    if len(context) < n or context[-1] is None:
        return None
    if has_nan(context):
        return math.nan
    values = [Fraction(number(value)) for value in context if value is not None]
    mean = sum(values) / len(values)
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    if variance == 0:
        return None
    distance = values[-1] - mean
    return math.copysign(math.sqrt(distance**2 / variance), distance)


def _moments(pairs: Sequence[tuple[Any, ...]]) -> tuple[Any, Any, Any] | None:
    """Covariance and variances (times n); None if there are fewer than two pairs or a variance is 0."""
    if len(pairs) < 2:
        return None
    covariance, variance_x, variance_y = _centred(pairs)
    return None if variance_x == 0 or variance_y == 0 else (covariance, variance_x, variance_y)


def _centred(pairs: Sequence[tuple[Any, ...]]) -> tuple[Any, Any, Any]:
    distances = [_distances([pair[k] for pair in pairs]) for k in (0, 1)]
    variances = (sum(one**2 for one in values) for values in distances)
    return (sum(x * y for x, y in zip(*distances, strict=True)), *variances)


def _distances(values: Sequence[Any]) -> list[Any]:
    """From the mean, exactly; NaN if that is NaN."""
    if has_nan(values):
        return [math.nan] * len(values)
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    return [value - mean for value in exact]


def _r2(rows: Sequence[tuple[Any, ...]]) -> float | None:
    moments = _moments(rows)
    return None if moments is None else float(moments[0] ** 2 / (moments[1] * moments[2]))


def _r2_signed(rows: Sequence[tuple[Any, ...]]) -> float | None:
    moments = _moments(rows)
    if moments is None:
        return None
    covariance, variance_x, variance_y = moments
    return float((1 if covariance > 0 else -1) * covariance**2 / (variance_x * variance_y))


def _slope(rows: Sequence[tuple[Any, ...]]) -> float | None:
    if len(rows) < 2:
        return None
    covariance, variance_x, _ = _centred(rows)
    return None if variance_x == 0 else float(covariance / variance_x)


def _mann_kendall(rows: Sequence[tuple[Any, ...]]) -> float | None:
    values = [rank(row[0]) for row in rows]
    n = len(values)
    s = sum((later > earlier) - (later < earlier) for k, later in enumerate(values) for earlier in values[:k])
    ties = [values.count(value) for value in set(values)]
    variance = Fraction(n * (n - 1) * (2 * n + 5) - sum(t * (t - 1) * (2 * t + 5) for t in ties), 18)
    if variance == 0:
        return None
    # The continuity correction moves S towards 0 by one.
    return float((s - (s > 0) + (s < 0)) / math.sqrt(variance))


def _equal_up_down_ticks(rows: Sequence[tuple[Any, ...]]) -> bool:
    values = [rank(row[0]) for row in rows]
    steps = list(pairwise(values))
    return bool(sum(b > a for a, b in steps) == sum(b < a for a, b in steps))


def _spread(is_sample: bool, is_root: bool) -> Callable[[Sequence[tuple[Any, ...]]], float | None]:
    def spread(rows: Sequence[tuple[Any, ...]]) -> float | None:
        if len(rows) <= is_sample:
            return None
        distances = _distances([row[0] for row in rows])
        variance = sum(distance**2 for distance in distances) / (len(rows) - is_sample)
        return math.sqrt(variance) if is_root else float(variance)

    return spread


def _median(rows: Sequence[tuple[Any, ...]]) -> float:
    ordered = sorted((row[0] for row in rows), key=rank)
    middle = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    return math.nan if has_nan(middle) else float(sum(map(Fraction, middle)) / 2)


def _avg(rows: Sequence[tuple[Any, ...]]) -> float:
    values = [row[0] for row in rows]
    return math.nan if has_nan(values) else float(sum(map(Fraction, values)) / len(values))


def _sum(rows: Sequence[tuple[Any, ...]]) -> Any:
    values = [row[0] for row in rows]
    return math.fsum(values) if any(isinstance(value, float) for value in values) else sum(values)


_DEFINITIONS: dict[str, Callable[[Sequence[tuple[Any, ...]]], Any]] = {
    "linear_reg_r2": _r2,
    "linear_reg_r2_signed": _r2_signed,
    "linear_reg_slope": _slope,
    "mann_kendall_test": _mann_kendall,
    "equal_up_down_ticks": _equal_up_down_ticks,
    "sum": _sum,
    "avg": _avg,
    "min": lambda rows: min((row[0] for row in rows), key=rank),
    "max": lambda rows: max((row[0] for row in rows), key=rank),
    "range": lambda rows: max((row[0] for row in rows), key=rank) - min((row[0] for row in rows), key=rank),
    "median": _median,
    "stddev": _spread(is_sample=True, is_root=True),
    "stddev_samp": _spread(is_sample=True, is_root=True),
    "stddev_pop": _spread(is_sample=False, is_root=True),
    "var": _spread(is_sample=True, is_root=False),
    "var_samp": _spread(is_sample=True, is_root=False),
    "var_pop": _spread(is_sample=False, is_root=False),
}
