"""Which expressions can fail, and which operands guard others.

A part that can fail (a division, a cast, a call) may be evaluated only where its guard lets it be reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.ir.scalar import Call, walk

if TYPE_CHECKING:
    from sparkrex.ir.scalar import Expression

# Functions that never fail, whatever their operands. Sums and products may leave their type's range.
_SAFE = {
    "eq", "ne", "lt", "le", "gt", "ge", "is_distinct_from", "is_not_distinct_from", "and", "or", "not", "is_null",
    "is_true", "is_false", "between", "in", "like", "ilike", "case", "coalesce", "nullif", "greatest", "least",
    "greatest_strict", "least_strict", "struct_field", "lower", "upper", "length", "trim", "substring", "concat",
    "dpipe", "soundex", "initcap", "reverse", "left", "right", "replace", "starts_with", "ends_with", "contains",
    "strposition",
    "regexp_like", "regexplike", "abs", "round", "floor", "ceil", "sign", "isnan", "hash", "xxhash64", "md5", "sha",
    "year", "month", "day", "hour", "minute", "second", "extract", "dayofweek", "dayofmonth", "dayofyear", "quarter",
}


def can_fail(expression: Expression) -> bool:
    """Whether evaluating it can raise an error for some values."""
    return any(isinstance(node, Call) and node.function not in _SAFE for node in walk(expression))


def guards(expression: Call) -> tuple[bool, ...]:
    """For every operand, whether earlier operands decide if it is evaluated."""
    n_operands = len(expression.operands)
    if expression.function in ("and", "or", "coalesce", "case"):
        return (False,) + (True,) * (n_operands - 1)
    return (False,) * n_operands
