"""What operators mean in the query's dialect, where dialects differ, and syntax that is kept for the host.

A call carries the dialect's meaning as attributes; how a host is asked for it is the renderer's matter. Everything else
is translated by sqlglot, which refuses rather than guesses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.errors import UnsupportedError as SqlglotUnsupported

from sparkrex.errors import UnsupportedError
from sparkrex.scalar.expression import Difference, Fraction, OnZero
from sparkrex.scalar.forms import OWN
from sparkrex.scalar.host_syntax import HostSyntax
from sparkrex.scalar.units import Units

if TYPE_CHECKING:
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Span

# Dialects in which a zero divisor is an error whatever its type.
_ERROR_ON_ZERO = {"spark", "spark2", "databricks", "snowflake", "oracle", "postgres", "redshift", "bigquery", "tsql"}

BINARY: dict[type[exp.Expr], str] = {
    exp.Add: "add",
    exp.Sub: "subtract",
    exp.Mul: "multiply",
    exp.EQ: "eq",
    exp.NEQ: "ne",
    exp.LT: "lt",
    exp.LTE: "le",
    exp.GT: "gt",
    exp.GTE: "ge",
    exp.NullSafeEQ: "is_not_distinct_from",
    exp.NullSafeNEQ: "is_distinct_from",
    exp.Like: "like",
    exp.ILike: "ilike",
    exp.Nullif: "nullif",
}


def division(scope: Scope, is_integer: bool) -> tuple[str, OnZero | None]:
    """Name of `/`, and what it is by zero.

    Two integers are divided to an integer where the dialect's division is typed (Trino, Postgres), truncating.
    """
    if scope.dialect.TYPED_DIVISION and is_integer:
        return "integer_divide", OnZero.FAILS
    if scope.dialect_name in _ERROR_ON_ZERO:
        return "divide", OnZero.FAILS
    return "divide", OnZero.INFINITE if scope.dialect.TYPED_DIVISION else None


def modulo(scope: Scope) -> OnZero | None:
    """What `%` is by zero: an error except in DuckDB. Its sign is that of the dividend everywhere."""
    return None if scope.dialect_name == "duckdb" else OnZero.FAILS


def date_difference(scope: Scope) -> Difference:
    """What `date - date` is: an interval in Spark and Trino, a number of days elsewhere."""
    is_interval = scope.dialect_name.startswith(("spark", "databricks")) or scope.dialect_name in ("trino", "presto")
    return Difference.INTERVAL if is_interval else Difference.DAYS


def units_between(node: exp.TimestampDiff | exp.DateDiff, scope: Scope) -> Units | None:
    """What a difference in a named unit counts; None if it names none that we know, or counts as only DuckDB does."""
    unit = node.args.get("unit")
    if scope.dialect_name == "duckdb" and unit is not None and unit.name.upper() == "WEEK":
        return None
    if not isinstance(unit, exp.Var) or unit.name.upper() not in _UNITS:
        return None
    if _is_java(scope) or (isinstance(node, exp.TimestampDiff) and scope.dialect_name in ("mysql", "bigquery")):
        return Units.WHOLE
    return Units.WHOLE_TO_LAST_DAY if scope.dialect_name in ("trino", "presto", "athena") else Units.BEGUN


_UNITS = {"MICROSECOND", "MILLISECOND", "SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"}


def fraction(scope: Scope) -> Fraction:
    """What a cast to an integer does with the fraction."""
    return Fraction.CUT_OFF if _is_java(scope) else Fraction.ROUNDED


def _is_java(scope: Scope) -> bool:
    """Whether numbers and times are as Java has them."""
    return scope.dialect_name.startswith(("spark", "databricks")) or scope.dialect_name == "flink"


def host_name(node: exp.Expr) -> str:
    """The name of a call of what only the host knows: DuckDB's function `divide`, say, is not our division."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else node.key
    return f"{name}()" if name in OWN else name


def syntax_of(tree: exp.Expr, scope: Scope, n_operands: int, span: Span) -> HostSyntax:
    """A tree whose operands are stand-ins, as syntax that the query's host can be asked."""
    try:
        return HostSyntax.of(tree, scope.dialect, scope.host_dialect, n_operands)
    except SqlglotUnsupported as error:
        raise UnsupportedError(
            "REX301", f"this cannot be translated from {scope.dialect_name} to {scope.host_dialect}", scope.source,
            span, notes=(str(error).strip(),), hint="write it with functions that both know",
        ) from error
