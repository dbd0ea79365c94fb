"""Aggregates over the rows of a match, in row order unless ORDER BY says otherwise.

Each takes the list of its arguments' values, one tuple a row, after FILTER, DISTINCT and ORDER BY. NULLs are left out
as each aggregate demands. Over no values an aggregate is NULL, a count is 0.
"""

from __future__ import annotations

import math
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from tests.modes.rows.oracle.arithmetic import EXACT, fit
from tests.modes.rows.oracle.casting import to_text
from tests.modes.rows.oracle.comparing import compare, distinct, is_number, is_same, sort
from tests.modes.rows.oracle.errors import CannotEvaluate

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sparkrex.scalar.expression import Aggregate

# In these dialects array_agg leaves NULLs out.
_SKIPPING_NULLS = frozenset({"spark", "databricks", "snowflake"})


def aggregate(
    expression: Aggregate, inputs: Sequence[tuple[tuple[Any, ...], Sequence[Any]]], dialect: str
) -> Any:
    """The value; `inputs` has each row's arguments and keys of ORDER BY, for the rows that FILTER keeps."""
    if expression.is_distinct:
        inputs = distinct(inputs, [arguments for arguments, _ in inputs])
    directions = [(item.is_descending, item.nulls_first) for item in expression.order_by]
    inputs = sort(inputs, [keys for _, keys in inputs], directions)
    rows = [arguments for arguments, _ in inputs]
    if expression.function == "count":
        return sum(None not in arguments for arguments in rows)
    if expression.function == "count_if":
        return sum(arguments[0] is True for arguments in rows)
    if expression.function in _OF_ROWS:
        return _OF_ROWS[expression.function](rows, dialect)
    if expression.function in _OF_VALUES and len(expression.arguments) == 1:
        values = [arguments[0] for arguments in rows if arguments[0] is not None]
        return _OF_VALUES[expression.function](values, dialect) if values else None
    raise CannotEvaluate(f"aggregate {expression.function} of {len(expression.arguments)} arguments")


def _sum(values: list[Any], dialect: str) -> Any:
    if all(isinstance(number, bool | int) for number in values):
        total = sum(values)
        # DuckDB sums integers in 128 bits, the others in 64.
        return total if dialect == "duckdb" else fit(total)
    if all(isinstance(length, timedelta) for length in values):
        return sum(values, timedelta())
    if not all(is_number(number) for number in values):
        raise CannotEvaluate(f"sum of {type(values[0]).__name__}")
    if any(isinstance(number, float) for number in values):
        double = 0.0
        for number in values:
            double += float(number)
        return double
    exact = Decimal(0)
    for number in values:
        exact = EXACT.add(exact, number)
    return exact


def _avg(values: list[Any], dialect: str) -> Any:
    if all(isinstance(length, timedelta) for length in values):
        return sum(values, timedelta()) / len(values)
    if any(isinstance(number, float) for number in values):
        return _sum(values, dialect) / len(values)
    return float(_mean(values))


def _mean(values: list[Any]) -> Fraction:
    if not all(is_number(number) for number in values):
        raise CannotEvaluate(f"a mean of {type(values[0]).__name__}")
    return sum(map(Fraction, values), Fraction(0)) / len(values)


def _spread(is_sample: bool, is_root: bool) -> Callable[[list[Any], str], float | None]:
    def spread(values: list[Any], dialect: str) -> float | None:
        n_degrees = len(values) - is_sample
        if n_degrees == 0:
            return None
        if any(isinstance(number, float) and not math.isfinite(number) for number in values):
            raise CannotEvaluate("a spread of infinities")
        mean = _mean(values)
        variance = sum(((Fraction(number) - mean) ** 2 for number in values), Fraction(0)) / n_degrees
        return math.sqrt(variance) if is_root else float(variance)

    return spread


def _extreme(sign: int) -> Callable[[list[Any], str], Any]:
    def choose(values: list[Any], dialect: str) -> Any:
        best = values[0]
        for candidate in values:
            if compare(candidate, best) * sign > 0:
                best = candidate
        return best

    return choose


def _median(values: list[Any], dialect: str) -> float:
    if not all(is_number(number) for number in values):
        raise CannotEvaluate(f"median of {type(values[0]).__name__}")
    ordered = sort(values, [(number,) for number in values], [(False, False)])
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    if any(isinstance(number, float) for number in (low, high)):
        return float(low) + (float(high) - float(low)) / 2 if low != high else float(low)
    return float((Fraction(low) + Fraction(high)) / 2)


def _mode(values: list[Any], dialect: str) -> Any:
    """The most frequent value, of equals the one that came first."""
    return max(values, key=lambda candidate: sum(is_same(candidate, other) for other in values))


def _array(rows: list[tuple[Any, ...]], dialect: str) -> list[Any] | None:
    if dialect in _SKIPPING_NULLS:
        rows = [row for row in rows if row[0] is not None]
    return [row[0] for row in rows] or None


def _text(rows: list[tuple[Any, ...]], dialect: str) -> str | None:
    kept = [row for row in rows if row[0] is not None]
    if not kept:
        return None
    separator = kept[0][1] if len(kept[0]) > 1 else ","
    return None if separator is None else str(separator).join(to_text(row[0]) for row in kept)


def _map(rows: list[tuple[Any, ...]], dialect: str) -> dict[Any, Any] | None:
    """Entries in order; rows without a key are left out and of equal keys the first counts."""
    kept = [row for row in rows if row[0] is not None]
    return dict(distinct(kept, [row[:1] for row in kept])) or None


def _by(is_descending: bool) -> Callable[[list[tuple[Any, ...]], str], Any]:
    def best(rows: list[tuple[Any, ...]], dialect: str) -> Any:
        # The sort is stable, so of equal keys the first row's value is the answer.
        kept = [row for row in rows if row[1] is not None and not (row[0] is None and dialect == "duckdb")]
        ordered = sort(kept, [(row[1],) for row in kept], [(is_descending, False)])
        if not ordered:
            return None
        if len(ordered[0]) == 2:
            return ordered[0][0]
        return [row[0] for row in ordered[: ordered[0][2]]]

    return best


_OF_ROWS: dict[str, Callable[[list[tuple[Any, ...]], str], Any]] = {
    "array_agg": _array,
    "string_agg": _text,
    "map_agg": _map,
    "min_by": _by(is_descending=False),
    "max_by": _by(is_descending=True),
    "first": lambda rows, dialect: rows[0][0] if rows else None,
    "last": lambda rows, dialect: rows[-1][0] if rows else None,
}

_OF_VALUES: dict[str, Callable[[list[Any], str], Any]] = {
    "sum": _sum,
    "avg": _avg,
    "min": _extreme(-1),
    "max": _extreme(1),
    "stddev_samp": _spread(is_sample=True, is_root=True),
    "stddev_pop": _spread(is_sample=False, is_root=True),
    "var_samp": _spread(is_sample=True, is_root=False),
    "var_pop": _spread(is_sample=False, is_root=False),
    "bool_and": lambda values, dialect: all(values),
    "bool_or": lambda values, dialect: any(values),
    "median": _median,
    "mode": _mode,
    "anyvalue": lambda values, dialect: values[0],
}
