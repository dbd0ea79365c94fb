"""SQL templates: what the host is asked to compute for an operator or function.

Operators whose meaning differs between dialects are written out here in the query's dialect's meaning; everything else
is translated by sqlglot, which refuses rather than guesses.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import ErrorLevel, exp
from sqlglot.errors import UnsupportedError as SqlglotUnsupported

from sparkrex.errors import UnsupportedError

if TYPE_CHECKING:
    from sparkrex.analyze.scope import Scope
    from sparkrex.source import Span

_MONTHS = {"MONTH": 1, "QUARTER": 3, "YEAR": 12}
_OPERAND = "rex_operand_{}_0b1e7_"  # no literal of a query looks like this
# Dialects in which a zero divisor is an error whatever its type.
_ERROR_ON_ZERO = {"spark", "spark2", "databricks", "snowflake", "oracle", "postgres", "redshift", "bigquery", "tsql"}

BINARY: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Add: ("add", "({0} + {1})"),
    exp.Sub: ("subtract", "({0} - {1})"),
    exp.Mul: ("multiply", "({0} * {1})"),
    exp.EQ: ("eq", "({0} = {1})"),
    exp.NEQ: ("ne", "({0} <> {1})"),
    exp.LT: ("lt", "({0} < {1})"),
    exp.LTE: ("le", "({0} <= {1})"),
    exp.GT: ("gt", "({0} > {1})"),
    exp.GTE: ("ge", "({0} >= {1})"),
    exp.NullSafeEQ: ("is_not_distinct_from", "({0} IS NOT DISTINCT FROM {1})"),
    exp.NullSafeNEQ: ("is_distinct_from", "({0} IS DISTINCT FROM {1})"),
}


def division(scope: Scope, is_integer: bool, host: str) -> tuple[str, str]:
    """Name and template of `/` in the query's dialect.

    Two integers are divided to an integer where the dialect's division is typed (Trino, Postgres), truncating.
    """
    zero = "error('division by zero')" if host == "duckdb" else "raise_error('division by zero')"
    if scope.dialect.TYPED_DIVISION and is_integer:
        operator = "//" if host == "duckdb" else "div"
        return "integer_divide", f"(CASE WHEN {{1}} = 0 THEN {zero} ELSE {{0}} {operator} {{1}} END)"
    if host == "duckdb" and scope.dialect_name in _ERROR_ON_ZERO:
        return "divide", f"(CASE WHEN {{1}} = 0 THEN {zero} ELSE {{0}} / {{1}} END)"
    if host == "duckdb" and scope.dialect.TYPED_DIVISION:
        # With integer division on, DuckDB fails on a zero double too; here it is infinity, or NaN.
        return "divide", "(CASE WHEN {1} = 0 THEN {0} * CAST('inf' AS DOUBLE) ELSE {0} / {1} END)"
    return "divide", "({0} / {1})"


def date_difference(scope: Scope, host: str) -> str:
    """Template of `date - date`: an interval in Spark and Trino, a number of days elsewhere."""
    is_interval = scope.dialect_name.startswith(("spark", "databricks")) or scope.dialect_name in ("trino", "presto")
    if host == "duckdb":
        return "to_days(CAST({0} - {1} AS INTEGER))" if is_interval else "({0} - {1})"
    return "({0} - {1})" if is_interval else "DATEDIFF({0}, {1})"


def counts_whole_units(node: exp.TimestampDiff | exp.DateDiff, scope: Scope) -> bool:
    """Whether it is Spark's or Flink's difference in a unit, which counts whole units; others count boundaries."""
    return _is_java(scope) and isinstance(node.args.get("unit"), exp.Var)


def _is_java(scope: Scope) -> bool:
    """Whether numbers and times are as Java has them."""
    return scope.dialect_name.startswith(("spark", "databricks")) or scope.dialect_name == "flink"


def whole_units(unit: str, host: str) -> str:
    """Template of the number of whole units from {0} to {1}."""
    if host != "duckdb":
        return f"TIMESTAMPDIFF({unit}, {{0}}, {{1}})"
    if unit.upper() not in _MONTHS:
        return f"DATE_SUB('{unit}', {{0}}, {{1}})"
    # DuckDB takes the last day of a short month for a whole month; Spark compares days and times.
    start, end = "CAST({0} AS TIMESTAMP)", "CAST({1} AS TIMESTAMP)"
    before, behind = (f"({time} - DATE_TRUNC('month', {time}))" for time in (start, end))
    months = (
        f"(DATE_DIFF('month', {start}, {end}) + CASE WHEN {start} < {end} AND {behind} < {before} THEN -1 "
        f"WHEN {start} > {end} AND {behind} > {before} THEN 1 ELSE 0 END)"
    )
    return f"({months} // {_MONTHS[unit.upper()]})"


def modulo(scope: Scope, host: str) -> tuple[str, str]:
    """Name and template of `%`: the sign of the dividend everywhere; a zero divisor is an error except in DuckDB."""
    if host == "duckdb" and scope.dialect_name != "duckdb":
        return "modulo", "(CASE WHEN {1} = 0 THEN error('division by zero') ELSE {0} % {1} END)"
    return "modulo", "({0} % {1})"


def cast(word: str, kind: str, scope: Scope, *, is_to_integer: bool) -> str:
    """Template of CAST: Spark and Flink cut the fraction off where others, and DuckDB, round to an integer."""
    if is_to_integer and _is_java(scope) and scope.host_dialect == "duckdb":
        return f"{word}(TRUNC({{0}}) AS {kind})"
    if is_to_integer and not _is_java(scope) and scope.host_dialect == "spark":
        return f"{word}(ROUND({{0}}) AS {kind})"
    return f"{word}({{0}} AS {kind})"


def extreme(node: exp.Greatest | exp.Least, host: str) -> tuple[str, str]:
    """Name and template of GREATEST and LEAST: in some dialects a NULL argument makes the result NULL."""
    name = "greatest" if isinstance(node, exp.Greatest) else "least"
    n_arguments = 1 + len(node.expressions)
    template = function_template(name.upper(), n_arguments)
    if node.args.get("ignore_nulls", True):
        return name, template
    if host == "duckdb":
        nulls = " OR ".join(f"{{{i}}} IS NULL" for i in range(n_arguments))
        template = f"(CASE WHEN {nulls} THEN NULL ELSE {template} END)"
    return f"{name}_strict", template


def function_template(name: str, n_arguments: int) -> str:
    """The template of a plain call: `name({0}, {1})`."""
    return f"{name}({', '.join(f'{{{i}}}' for i in range(n_arguments))})"


def operand(position: int, type_: exp.DataType | None) -> exp.Column:
    """A stand-in for an operand, typed so that sqlglot translates what depends on types."""
    column = exp.column(_OPERAND.format(position))
    column.type = type_
    return column


def template_of(node: exp.Expr, scope: Scope, n_operands: int, span: Span) -> str:
    """The host's SQL of a node whose operands are stand-ins, as a format template."""
    try:
        text = node.sql(dialect=scope.host_dialect, unsupported_level=ErrorLevel.RAISE)
    except SqlglotUnsupported as error:
        if not scope.translates_all:
            return function_template(f"rex_unsupported_{node.key}", n_operands)
        raise UnsupportedError(
            "REX301", f"this cannot be translated from {scope.dialect_name} to {scope.host_dialect}", scope.source,
            span, notes=(str(error).strip(),), hint="write it with functions that both know",
        ) from error
    text = text.replace("{", "{{").replace("}", "}}")
    for position in range(n_operands):
        text = text.replace(_OPERAND.format(position), f"{{{position}}}")
    return text
