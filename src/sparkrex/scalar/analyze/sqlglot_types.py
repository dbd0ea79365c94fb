"""Types of the nodes of an expression, as sqlglot infers them.

Takes a tree and the scope that types its columns; returns types by node identity. They refine the translation to the
host's dialect (integer division, date arithmetic) and decide nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types

from sparkrex.scalar.analyze.session_variables import session_variable_type
from sparkrex.syntax.scalar_text import row_pattern_function

if TYPE_CHECKING:
    from sparkrex.scalar.analyze.scope import Scope

NodeTypes: TypeAlias = dict[int, exp.DataType | None]
"""Types by `id(node)`; a node without an entry, or with None, has no known type."""

_INTEGERS = {
    exp.DataType.Type.TINYINT, exp.DataType.Type.SMALLINT, exp.DataType.Type.INT, exp.DataType.Type.BIGINT,
    exp.DataType.Type.UTINYINT, exp.DataType.Type.USMALLINT, exp.DataType.Type.UINT, exp.DataType.Type.UBIGINT,
    exp.DataType.Type.INT128,
}


def node_types(tree: exp.Expr, scope: Scope) -> NodeTypes:
    """sqlglot's type of every node, by identity; references have the type of their column."""
    copy = tree.copy()
    root = exp.Paren(this=copy)  # so that the whole expression can be replaced too
    pairs = list(zip(tree.walk(), copy.walk(), strict=True))
    columns = {column.name.lower(): column.type for column in scope.columns}
    types: NodeTypes = {}
    typed: list[tuple[exp.Expr, exp.Expr]] = []  # nodes of the tree, and what stands for them in the copy
    for original, twin in pairs:
        stand_in = twin
        if (known := _leaf_type(original, columns, scope)) is not None:
            types[id(original)] = known
            stand_in = exp.Cast(this=exp.Null(), to=known.copy())
        elif row_pattern_function(original) is not None and twin.expressions:
            stand_in = exp.Paren(this=twin.expressions[0])  # navigation has the type of what it navigates
        if stand_in is not twin and twin.parent is not None:
            twin.replace(stand_in)
        typed.append((original, stand_in))
    try:
        annotate_types(root, dialect=scope.dialect)
    except Exception:  # types only refine the translation; without them it is what sqlglot's default gives
        return types
    for original, stand_in in typed:
        if id(original) not in types and stand_in.type is not None:
            types[id(original)] = stand_in.type
    return types


def are_both_integers(node: exp.Binary, types: NodeTypes) -> bool:
    """Whether both operands are known to be integers."""
    kinds = [types.get(id(side.unnest())) for side in (node.left, node.right)]
    return all(kind is not None and kind.this in _INTEGERS for kind in kinds)


def are_both_dates(node: exp.Binary, types: NodeTypes) -> bool:
    """Whether both operands are known to be dates."""
    kinds = [types.get(id(side.unnest())) for side in (node.left, node.right)]
    return all(kind is not None and kind.this in (exp.DataType.Type.DATE, exp.DataType.Type.DATE32) for kind in kinds)


def is_to_integer(node: exp.Cast, types: NodeTypes) -> bool:
    """Whether the cast makes an integer of a number that may have a fraction."""
    kind = types.get(id(node.this.unnest()))
    if kind is None or node.to.this not in _INTEGERS:
        return False
    return kind.this in exp.DataType.NUMERIC_TYPES and kind.this not in _INTEGERS


def _leaf_type(node: exp.Expr, columns: dict[str, exp.DataType], scope: Scope) -> exp.DataType | None:
    """The type of a column, or of a function that says something of the row or match; None for other nodes."""
    if isinstance(node, exp.Column):
        return columns.get(node.name.lower()) or session_variable_type(node, scope)
    match row_pattern_function(node):
        case "CLASSIFIER" | "MATCH_STATUS":
            return exp.DataType.build("VARCHAR")
        case "MATCH_NUMBER" | "MATCH_SEQUENCE_NUMBER":
            return exp.DataType.build("BIGINT")
        case "MATCH_ROWTIME":
            return columns.get((scope.row_time or "").lower())
        case "WINDOW":
            return exp.DataType.build("BOOLEAN")
        case _:
            return None
