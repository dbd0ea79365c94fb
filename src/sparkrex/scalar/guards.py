"""Which expressions can fail, and which operands guard others.

A part that can fail (a division, a cast, a call) may be evaluated only where its guard lets it be reached.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, walk

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Expression

FINER_THAN_MICROSECONDS = "rex: finer than microseconds"
"""The host's error, by its text, where a time in nanoseconds cannot be computed with."""

# Functions that never fail, whatever their operands. Sums and products may leave their type's range; what takes dates
# and times may be given a string that is none, so there the types decide (`scalar.analyze.failing`).
_SAFE = {
    "eq", "ne", "lt", "le", "gt", "ge", "is_distinct_from", "is_not_distinct_from", "and", "or", "not", "is_null",
    "is_true", "is_false", "between", "in", "case", "coalesce", "nullif", "nvl2", "greatest", "least",
    "greatest_strict", "least_strict", "exists", "is", "if", "dot", "isnull", "isnotnull", "equal_null", "struct_field",
    "interval",
    "like", "ilike", "regexplike", "regexp_like", "lower", "upper", "initcap", "length", "bytelength", "bit_length",
    "octet_length", "trim", "ltrim", "rtrim", "pad", "substring", "left", "right", "replace", "translate", "reverse",
    "concat", "concatws", "dpipe", "split", "substringindex", "startswith", "starts_with", "endswith", "ends_with",
    "contains", "strposition", "ascii", "unicode", "soundex", "levenshtein", "hash", "xxhash64", "crc32", "md5", "sha",
    "sha1", "sha2", "lowerhex", "hex", "tobase64",
    "round", "floor", "ceil", "sign", "isnan", "nanvl", "exp", "cbrt", "typeof",
    "rand", "randn", "uuid", "currentdate", "currenttimestamp",
    "arraycontains", "array_contains", "arraysize", "array_size", "array_position", "safedivide", "trycast", "try_cast",
}


def can_fail(expression: Expression) -> bool:
    """Whether evaluating it can raise an error for some values."""
    return any(fails_itself(node) for node in walk(expression) if isinstance(node, Call))


def fails_itself(call: Call) -> bool:
    """Whether the call can raise an error, its operands left aside."""
    return call.function not in _SAFE if call.can_fail is None else call.can_fail


def is_safe_name(function: str) -> bool:
    """Whether a function never fails, whatever the types of its operands."""
    return function in _SAFE


def guards(expression: Call) -> tuple[bool, ...]:
    """For every operand, whether earlier operands decide if it is evaluated."""
    n_operands = len(expression.operands)
    if expression.function in ("and", "or", "coalesce", "case"):
        return (False,) + (True,) * (n_operands - 1)
    return (False,) * n_operands
