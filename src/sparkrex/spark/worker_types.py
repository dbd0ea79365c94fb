"""Functions whose value in a worker is Spark's for some types only: refused for the others, before any job."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from pyspark.sql.types import DecimalType, DoubleType, FloatType, StringType, TimestampNTZType, TimestampType

from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, Expression, Literal, parts, walk

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql.types import DataType

    from sparkrex.modes.plan import Plan

# Aggregates for which Spark reads strings as numbers.
_OF_NUMBERS = ("sum", "avg", "stddev_samp", "stddev_pop", "var_samp", "var_pop")
_REAL_AGGREGATES = ("avg", "stddev_samp", "stddev_pop", "var_samp", "var_pop", "median")
_REAL_FUNCTIONS = ("divide", "sqrt", "pow", "safedivide")


def refuse_types(plan: Plan, types: Mapping[str, DataType]) -> None:
    """Refuse what Spark would compute from columns of these types but the workers would not, or not so."""
    is_spark = plan.dialect.startswith(("spark", "databricks"))
    expressions = [measure.expression for measure in plan.returned()]
    if not plan.tests_doubles:
        expressions += plan.tested()
    for node in (node for expression in expressions for node in walk(expression)):
        match node:
            case Aggregate(function, (ColumnAt(_, column), *_)) if (
                function in _OF_NUMBERS and isinstance(types[column], StringType)
            ):
                raise AnalysisError(
                    "REX214", f"{function} needs numbers, not strings", plan.source, node.span,
                    hint=f"{function}(CAST(... AS DOUBLE))",
                )
            case Call("divide" | "integer_divide") if is_spark and _is_decimal(node, types):
                raise UnsupportedError(
                    "REX301", "division of decimals over several rows of the match is not supported on Spark yet",
                    plan.source, node.span, hint="cast one side to DOUBLE",
                )
            case Call("cast" | "try_cast", (operand, Literal("TEXT"))) if _is_written_otherwise(operand, types):
                raise UnsupportedError(
                    "REX301", "a double or timestamp over several rows of the match as a string is not supported yet",
                    plan.source, node.span, hint="cast it per row, in a subquery",
                )
            case Call("cast" | "try_cast", (operand, Literal(kind))) if kind != "TEXT" and _is_text(operand, types):
                raise UnsupportedError(
                    "REX301", f"a string as {kind} over several rows of the match is not supported on Spark yet",
                    plan.source, node.span, hint="cast it per row, in a subquery",
                )


def _is_text(expression: Expression, types: Mapping[str, DataType]) -> bool:
    """Whether the value may be a string that is read from a column."""
    match expression:
        case ColumnAt(_, column):
            return isinstance(types[column], StringType)
        case Call("eq" | "ne" | "lt" | "le" | "gt" | "ge" | "is_null" | "length"):
            return False
        case Aggregate("count" | "count_if" | "array_agg" | "map_agg"):
            return False
        case Call() | Aggregate():
            return any(_is_text(part, types) for part in parts(expression))
        case _:
            return False


def _is_decimal(expression: Expression, types: Mapping[str, DataType]) -> bool:
    """Whether Spark computes it as a decimal."""
    match expression:
        case Literal(value):
            return isinstance(value, Decimal)
        case ColumnAt(_, column):
            return isinstance(types[column], DecimalType)
        case Call("cast" | "try_cast", (_, Literal(kind))):
            return str(kind).startswith("DECIMAL")
        case Call() | Aggregate():
            return not _is_real(expression, types) and any(_is_decimal(part, types) for part in parts(expression))
        case _:
            return False


def _is_real(expression: Expression, types: Mapping[str, DataType]) -> bool:
    """Whether a double or float takes part."""
    return any(
        (isinstance(node, ColumnAt) and isinstance(types[node.column], DoubleType | FloatType))
        or (isinstance(node, Literal) and isinstance(node.value, float))
        or (isinstance(node, Call) and node.function == "cast" and node.operands[-1] == Literal("DOUBLE"))
        for node in walk(expression)
    )


def _is_written_otherwise(expression: Expression, types: Mapping[str, DataType]) -> bool:
    """Whether Spark and DuckDB may write the value differently: as doubles and timestamps they do."""
    return _is_real(expression, types) or any(
        (isinstance(node, ColumnAt) and isinstance(types[node.column], TimestampType | TimestampNTZType))
        or (isinstance(node, Aggregate) and node.function in _REAL_AGGREGATES)
        or (isinstance(node, Call) and node.function in _REAL_FUNCTIONS)
        for node in walk(expression)
    )
