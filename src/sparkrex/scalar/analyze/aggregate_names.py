"""Which nodes are aggregates, and the engine's names of those it knows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.syntax.scalar_text import row_pattern_function

if TYPE_CHECKING:
    from sparkrex.scalar.analyze.scope import Scope

_BY_CLASS: dict[type[exp.Expr], str] = {
    exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max",
    exp.Stddev: "stddev_samp", exp.StddevSamp: "stddev_samp", exp.StddevPop: "stddev_pop",
    exp.Variance: "var_samp", exp.VariancePop: "var_pop", exp.ArrayAgg: "array_agg", exp.GroupConcat: "string_agg",
    exp.ArgMax: "max_by", exp.ArgMin: "min_by", exp.LogicalAnd: "bool_and", exp.LogicalOr: "bool_or",
    exp.CountIf: "count_if", exp.ArrayUniqueAgg: "array_agg",
}
# Functions that sqlglot has no class for in every dialect, by the name they are written with.
_BY_WRITTEN_NAME = {
    "map_agg": "map_agg", "string_agg": "string_agg", "min_by": "min_by", "max_by": "max_by", "arg_min": "min_by",
    "arg_max": "max_by", "bool_and": "bool_and", "bool_or": "bool_or", "count_if": "count_if", "list": "array_agg",
    "every": "bool_and", "some": "bool_or", "mean": "avg", "std": "stddev_samp", "var": "var_samp",
}


def is_aggregate(node: exp.Expr, scope: Scope) -> bool:
    """Whether the node is an aggregate, with FILTER, WITHIN GROUP or IGNORE NULLS around it or without."""
    match node:
        case exp.Filter() | exp.WithinGroup() | exp.IgnoreNulls() | exp.RespectNulls():
            return is_aggregate(node.this, scope)
        case exp.Anonymous():
            if row_pattern_function(node) is not None:
                return False  # ours: the host, which may not be loaded yet, is not asked
            name = node.name.lower()
            return name in _BY_WRITTEN_NAME or name in scope.aggregate_names
        case exp.AnonymousAggFunc() | exp.AggFunc():
            return True
        case _:
            return False


def aggregate_name(call: exp.Expr) -> str | None:
    """The engine's name of an aggregate, None if only the host knows it."""
    if isinstance(call, exp.Anonymous):
        return _BY_WRITTEN_NAME.get(call.name.lower())
    return _BY_CLASS.get(type(call))
