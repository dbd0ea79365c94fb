"""What Spark's workers evaluate, and the refusal of everything else.

Workers combine rows of the match with the engine and DuckDB. Only what has Spark's value there is let through:
operators and aggregates, which `tests/spark/test_worker_functions.py` compares with Spark's own, and the functions that
`proven_functions` lists, whose types are looked at in `worker_expressions`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sparkrex.errors import UnsupportedError
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, Expression, Literal, walk
from sparkrex.spark.proven_functions import forms_of, proven_functions

if TYPE_CHECKING:
    from collections.abc import Collection

    from sparkrex.modes.plan import Plan

# Operators, and what the engine itself computes.
_OPERATORS = {
    "add", "subtract", "multiply", "divide", "integer_divide", "modulo", "negate", "abs", "eq", "ne", "lt", "le", "gt",
    "ge", "is_distinct_from", "is_not_distinct_from", "between", "in", "and", "or", "not", "is_null", "is_true",
    "is_false", "case", "coalesce", "nullif", "greatest", "least", "greatest_strict", "least_strict", "like", "ilike",
    "dpipe", "concat", "interval", "struct_field", "or_empty", "bitwiseand", "bitwiseor", "bitwisexor", "bitwisenot",
}
# What workers were let evaluate before there was a table: for versions of Spark that the table was not made with.
_COMPARED_BY_HAND = {
    "lower", "upper", "length", "trim", "pad", "left", "right", "replace", "translate", "reverse", "repeat", "concatws",
    "contains", "startswith", "endswith", "strposition", "ascii", "initcap", "md5", "sha2",
    "round", "sqrt", "pow", "safedivide",
    "year", "month", "day", "dayofmonth", "dayofyear", "weekofyear", "quarter", "hour", "minute", "second", "lastday",
    "tsordstodate", "tsordsadd", "addmonths", "datediff", "timestampdiff", "timestamptrunc",
    "arraysize", "cardinality", "arraymax", "arrayslice", "arraysort",
}
# Casts to other types are compared with Spark's nowhere, or known to differ.
_CASTS = {"DOUBLE", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "TEXT"}
_AGGREGATES = {
    "count", "sum", "avg", "min", "max", "stddev_samp", "stddev_pop", "var_samp", "var_pop", "array_agg", "string_agg",
    "map_agg", "min_by", "max_by", "bool_and", "bool_or", "count_if", "median", "covar_pop", "covarpop", "covarsamp",
    "covar_samp", "percentile", "bitwiseandagg", "bitwiseoragg", "bitwisexoragg",
}

# Those that a hint lists: the others are sqlglot's names for some of them.
_WRITTEN = {
    "count", "sum", "avg", "min", "max", "stddev_samp", "stddev_pop", "var_samp", "var_pop", "array_agg", "min_by",
    "max_by", "bool_and", "bool_or", "count_if", "median", "percentile",
}


def is_known_to_workers(expression: Expression) -> bool:
    """Whether the workers evaluate every function in it as Spark does, for some types at least."""
    return all(_is_known(node) for node in walk(expression) if isinstance(node, Call | Aggregate))


def _is_known(node: Call | Aggregate) -> bool:
    if isinstance(node, Aggregate):
        return node.function in _AGGREGATES
    if is_operator(node) or is_plain_cast(node):
        return True
    return any(form.text in proven_functions().forms for form in forms_of(node))


def is_operator(call: Call) -> bool:
    """Whether the engine computes it itself, or it has been proven already."""
    match call:
        case Call("cast", (Literal(str()), Literal("DATE" | "TIMESTAMP"))):
            return True  # a date or time, written as SQL writes it
        case Call("timestampdiff", syntax=None):
            return True
        case _:
            return call.function in _OPERATORS or (call.syntax is not None and call.syntax.is_proven)


def is_plain_cast(call: Call) -> bool:
    """Whether it is a cast between numbers, dates and times, of which DuckDB makes what Spark does under ANSI rules."""
    match call:
        case Call("cast" | "try_cast", (_, Literal(kind))):
            return str(kind) in _CASTS or str(kind).startswith("DECIMAL")
        case _:
            return False


def was_compared_by_hand(call: Call) -> bool:
    """Whether workers may evaluate it as DuckDB does where there is no table for this version of Spark."""
    match call:
        case Call("substring", (_, Literal(start), *_)):
            return bool(start != 0)  # Spark counts from 0 as from 1
        case _:
            return call.function in _COMPARED_BY_HAND


def is_aggregate_of_spark(function: str) -> bool:
    """Whether workers compute an aggregate as Spark does."""
    return function in _AGGREGATES


def refuse_worker_calls(plan: Plan, functions: Collection[str] = ()) -> None:
    """Refuse what the workers would evaluate otherwise than Spark does, or not at all.

    What reads one row gets here only after a condition on another row, and only if it can fail. In dialect duckdb
    nothing is refused: there DuckDB's value is the right one. `functions` are names of Python functions that workers
    have.
    """
    if plan.dialect == "duckdb":
        return
    expressions = [*(measure.expression for measure in plan.returned()), *plan.tested()]
    for node in (node for expression in expressions for node in walk(expression)):
        if not isinstance(node, Call | Aggregate) or _is_known(node):
            continue
        if node.function in functions or (isinstance(node, Aggregate) and plan.has_own_aggregate(node.function)):
            continue
        name = written_name(node, plan)
        targets = {part.target for part in walk(node) if isinstance(part, ColumnAt)}
        command_hint: str | None = None
        if isinstance(node, Aggregate):
            message = f"the aggregate {name} is not supported on Spark yet"
            listed = ", ".join(sorted(_WRITTEN))
            hint = f"conditions may use {listed}, and a function given by functions= of array_agg(...); MEASURES any"
            command_hint = f"conditions may use {listed}; MEASURES any"
        elif len(targets) == 1:
            message = f"{name} can fail, and the condition in front of it reads another row: Spark cannot evaluate it"
            inside = f"FROM (SELECT *, ... AS x FROM t) {plan.keyword} (...)"
            hint = f"it reads one row: project it in the input, {inside}"
        else:
            message = f"{name} over several rows of the match is not supported on Spark yet"
            hint = _help(node)
            command_hint = INSTEAD_IN_COMMAND if hint == INSTEAD else None
        raise UnsupportedError(
            "REX301", message, plan.source, node.span or plan.span, hint=hint, command_hint=command_hint
        )


def _help(call: Call) -> str:
    """What to write instead of a function that workers do not have."""
    if call.function in ("pow", "power"):
        return "write it as a product: x * x; powers differ in the last bit, and so do ln and exp"
    return INSTEAD


INSTEAD = 'give it as a Python function: rex.sql(..., functions={"f": f}); MEASURES may use every function of Spark\'s'
"""What helps where a worker lacks a function of Spark's."""
INSTEAD_IN_COMMAND = "MEASURES may use every function of Spark's; in memory, without --master, all of DuckDB's may"


def written_name(node: Call | Aggregate, plan: Plan) -> str:
    """The function as the user wrote it."""
    if node.span is None:
        return node.function
    text = plan.source.text[node.span.start : node.span.end]
    found = re.match(r"\s*(\w+)\s*\(", text)
    return found[1] if found else text
