"""Which columns inside a subquery belong to the pattern around it.

SQL looks a name up in the innermost query first. So a column is the pattern's only if no query between it and the
pattern has a source of that name (qualified) or a source with such a column (unqualified).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.scalar.analyze.scope import Scope


def outer_columns(node: exp.Expr, scope: Scope) -> set[int]:
    """Identities of the column nodes under `node` that refer to the pattern's rows."""
    return {id(column) for column in node.find_all(exp.Column) if _is_outer(column, node, scope)}


def _is_outer(column: exp.Column, root: exp.Expr, scope: Scope) -> bool:
    if isinstance(column.this, exp.Star):
        return False
    parts = (column.args.get(key) for key in ("catalog", "db", "table", "this"))
    first = next(part for part in parts if part is not None)
    is_qualified = first is not column.this
    for select in _queries_around(column, root):
        for source in _sources(select):
            if is_qualified:
                if source.alias_or_name.lower() == first.name.lower():
                    return False
            elif _has_column(source, column.name, scope):
                return False
    if is_qualified:
        folded = scope.rules.fold(first.name, is_quoted=bool(first.args.get("quoted")))
        return scope.variable_set(folded) is not None or scope.is_alias(first.name)
    return any(known.name.lower() == column.name.lower() for known in scope.columns)


def _queries_around(column: exp.Column, root: exp.Expr) -> Iterator[exp.Select]:
    node: exp.Expr | None = column
    while node is not None:
        if isinstance(node, exp.Select):
            yield node
        if node is root:
            return
        node = node.parent


def _sources(select: exp.Select) -> Iterator[exp.Expr]:
    origin = select.args.get("from_") or select.args.get("from")
    if origin is not None:
        yield origin.this
    for join in select.args.get("joins") or []:
        yield join.this


def _has_column(source: exp.Expr, name: str, scope: Scope) -> bool:
    """Whether the source has the column; one whose columns cannot be known is taken to have it."""
    if isinstance(source, exp.Table):
        columns = scope.table_columns(source.name)
        return columns is None or name.lower() in columns
    if isinstance(source, exp.Subquery) and isinstance(source.this, exp.Select):
        listed = [item.alias_or_name.lower() for item in source.this.expressions]
        return "*" in listed or name.lower() in listed or any(isinstance(i, exp.Star) for i in source.this.expressions)
    return True
