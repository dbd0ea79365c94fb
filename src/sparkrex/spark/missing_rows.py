"""The value of a row-local expression where there is no target row: that over a row of NULLs.

Most expressions are NULL there, which the engine knows by itself; the others get a column of their own. A user's
function is taken to be NULL without being asked: it need not know what to do with NULL if the data has none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.scalar.expression import Call, ColumnAt, Expression, Literal
from sparkrex.scalar.render.spark import SPARK
from sparkrex.spark.versions import function_names

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.scalar.render.renderer import Leaf

# NULL if any operand is.
_OF_ANY = {
    "add", "subtract", "multiply", "divide", "integer_divide", "modulo", "negate", "abs", "eq", "ne", "lt", "le", "gt",
    "ge", "not", "like", "ilike", "regexplike", "dpipe", "cast", "try_cast", "struct_field", "lower", "upper", "length",
    "trim", "substring", "initcap", "reverse", "round", "floor", "ceil", "sign", "soundex", "tsordstodate", "year",
    "month", "day", "dayofmonth", "dayofweek", "dayofyear", "weekofyear", "quarter", "hour", "minute", "second",
    "datediff", "timestampdiff", "timestamptrunc", "datetrunc",
}
# NULL if all operands are.
_OF_ALL = {"and", "or", "coalesce", "greatest", "least"}
# NULL if the first operand is.
_OF_FIRST = {"between", "in", "nullif"}
_KNOWN = {kind.key for kind in exp.ALL_FUNCTIONS} | function_names()


def is_null_for_null(expression: Expression) -> bool:
    """Whether the expression is known to be NULL where all columns are."""
    match expression:
        case ColumnAt():
            return True
        case Literal(value):
            return value is None
        case Call(name, operands) if operands:
            if name in _OF_ALL:
                return all(map(is_null_for_null, operands))
            if name in _OF_FIRST:
                return is_null_for_null(operands[0])
            return (name in _OF_ANY or _is_users(expression)) and any(map(is_null_for_null, operands))
        case _:
            return False


def over_a_missing_row(expression: Expression, leaf: Callable[[Leaf], str]) -> str:
    """The expression in Spark's SQL with every part that is NULL there as a NULL of its type."""
    if is_null_for_null(expression):
        # Spark drops the first branch when it plans, so nothing in it is evaluated.
        return f"if(false, {SPARK.render(expression, leaf)}, NULL)"
    if not isinstance(expression, Call):
        return SPARK.render(expression, leaf)
    operands = [over_a_missing_row(operand, leaf) for operand in expression.operands]
    return SPARK.call(expression, operands)


def _is_users(call: Call) -> bool:
    """Whether the function is neither an operator nor one of Spark's own."""
    return call.syntax is not None and call.syntax.is_unknown_function() and call.function not in _KNOWN
