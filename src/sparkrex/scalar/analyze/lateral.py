"""Lateral aliases: a measure that refers to an earlier one of the same list, in dialects that let a SELECT do so.

`sum(x) AS total, total / count(*) AS mean` is read as if the earlier measure's expression stood in the later one. A
column of the input of that name comes first, as in those dialects. What the alias stands for is a value of the whole
match, so aggregates and navigation, which go to other rows, cannot take it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.scalar.analyze.aggregate_names import is_aggregate
from sparkrex.scalar.analyze.opaque import is_volatile
from sparkrex.scalar.analyze.spans import span_of_node
from sparkrex.syntax.scalar_text import row_pattern_function

if TYPE_CHECKING:
    from sparkrex.languages.match_recognize.syntax import Clause
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.syntax.items import MeasureItem

_DIALECTS = ("duckdb", "spark", "databricks", "snowflake")


def written_out(clause: Clause, scope: Scope) -> tuple[MeasureItem, ...]:
    """The measures, with references to earlier ones replaced by what those stand for."""
    if scope.dialect_name not in _DIALECTS:
        return clause.measures
    columns = {column.name.lower() for column in scope.columns}
    earlier: dict[str, exp.Expression] = {}
    measures = []
    for item in clause.measures:
        tree = _replace_aliases(item, earlier, scope)
        measures.append(replace(item, expression=replace(item.expression, tree=tree)))
        if item.name.lower() not in columns:
            earlier[item.name.lower()] = tree
    return tuple(measures)


def _replace_aliases(item: MeasureItem, earlier: dict[str, exp.Expression], scope: Scope) -> exp.Expression:
    tree = item.expression.tree
    references = [
        node for node in tree.find_all(exp.Column)
        if _may_be_alias(node) and node.name.lower() in earlier
    ]
    if not references:
        return tree
    # A root has no parent to be replaced in.
    root = exp.Paren(this=tree.copy())
    for node in [part for part in root.find_all(exp.Column) if _may_be_alias(part)]:
        stands_for = earlier.get(node.name.lower())
        if stands_for is None or node.find_ancestor(exp.Query, exp.Lambda) is not None:
            continue
        span = span_of_node(node, item.expression, scope.source)
        ancestor = node.parent
        while ancestor is not None:
            name = row_pattern_function(ancestor)
            if is_aggregate(ancestor, scope) or name not in (None, "RUNNING", "FINAL"):
                raise AnalysisError(
                    "REX210", f"measure {node.name} cannot be used inside an aggregate or navigation", scope.source,
                    span, hint="write its expression there, or compute it from the measures in SELECT",
                )
            ancestor = ancestor.parent
        if is_volatile(stands_for):
            raise UnsupportedError(
                "REX301", f"measure {node.name} is random: referring to it is not supported yet", scope.source, span,
                hint="refer to it in SELECT, over the relation",
            )
        node.replace(exp.Paren(this=stands_for.copy()))
    written: exp.Expression = root.this.pop()
    return written


def _may_be_alias(node: exp.Column) -> bool:
    """Whether it is one plain name. The argument of CLASSIFIER is one too, but of a variable."""
    is_variable = node.parent is not None and row_pattern_function(node.parent) == "CLASSIFIER"
    return len(node.parts) == 1 and not isinstance(node.this, exp.Star) and not is_variable
