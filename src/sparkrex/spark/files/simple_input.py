"""An input that is one table and nothing else: which one, its columns over those of the table, and its conditions.

`ticks`, `(SELECT a, b * 2.0 AS c FROM ticks WHERE a = 1)`, and such selections of each other, by subqueries or common
table expressions. Whatever else an input is, Spark computes it: `OutsideError` says what it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from sparkrex.spark.files.row_language import OutsideError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_UNDERSTOOD = {"expressions", "from_", "from", "where", "with_", "with", "kind"}
_NAMED_SO = {"subqueries": "a subquery", "joins": "a join", "laterals": "LATERAL VIEW", "distinct": "DISTINCT"}


@dataclass(frozen=True, slots=True)
class SimpleInput:
    """`table` is the table's name in lower case, `columns` are expressions over its columns, `where` conditions."""

    table: str
    columns: Mapping[str, exp.Expr]
    where: tuple[exp.Expr, ...]


def read_input(sql: str, tables: Mapping[str, Sequence[str]]) -> SimpleInput:
    """The input of a query in Spark's SQL; `tables` are the names of columns by table, in lower case."""
    try:
        tree = sqlglot.parse_one(sql, read="spark")
    except SqlglotError:
        raise OutsideError("an input that cannot be read") from None
    return _select(tree, tables, {})


def over_columns(tree: exp.Expr, columns: Mapping[str, exp.Expr], aliases: set[str]) -> exp.Expr:
    """An expression with columns of a query replaced by what they are."""

    def replaced(node: exp.Expr) -> exp.Expr:
        if not isinstance(node, exp.Column):
            return node
        if isinstance(node.this, exp.Star):
            raise OutsideError("a star in an expression")
        if node.table and (node.table.lower() not in aliases or node.args.get("db")):
            raise OutsideError(f"{node.sql(dialect='spark')}, a field or another table's")
        found = [known for known in columns if known.lower() == node.name.lower()]
        if len(found) != 1:
            raise OutsideError(f"the column {node.name}")
        return columns[found[0]].copy()

    if tree.find(exp.Query):
        raise OutsideError("a subquery in an expression")
    found = replaced(tree) if isinstance(tree, exp.Column) else tree.copy().transform(replaced)
    assert isinstance(found, exp.Expr)
    return found


def _select(tree: exp.Expr, tables: Mapping[str, Sequence[str]], known: dict[str, exp.Expr]) -> SimpleInput:
    while isinstance(tree, exp.Subquery) and set(_given(tree)) <= {"this"}:
        tree = tree.this
    if not isinstance(tree, exp.Select):
        raise OutsideError(f"{tree.key.upper()} in the input")
    for name in _given(tree):
        if name not in _UNDERSTOOD:
            raise OutsideError(f"{_NAMED_SO.get(name, name.strip('_').upper())} in the input")
    common = dict(known)
    if (given := tree.args.get("with_") or tree.args.get("with")) is not None:
        if given.args.get("recursive"):
            raise OutsideError("WITH RECURSIVE in the input")
        for expression in given.expressions:
            if expression.args["alias"].columns:
                raise OutsideError("names of columns in WITH")
            common[expression.alias.lower()] = expression.this
    start = tree.args.get("from_") or tree.args.get("from")
    if start is None:
        raise OutsideError("an input without a table")
    inner, aliases = _source(start.this, tables, common)
    columns: dict[str, exp.Expr] = {}
    for item in tree.expressions:
        for name, column in _columns_of(item, inner, aliases):
            if name.lower() in {other.lower() for other in columns}:
                raise OutsideError(f"two columns called {name}")
            columns[name] = column
    where = inner.where
    if (condition := tree.args.get("where")) is not None:
        where = (*where, over_columns(condition.this, inner.columns, aliases))
    return SimpleInput(inner.table, columns, where)


def _columns_of(
    item: exp.Expr, inner: SimpleInput, aliases: set[str]
) -> list[tuple[str, exp.Expr]]:
    is_star = isinstance(item, exp.Star) or (isinstance(item, exp.Column) and isinstance(item.this, exp.Star))
    if is_star:
        star = item if isinstance(item, exp.Star) else item.this
        if _given(star) or (isinstance(item, exp.Column) and item.table.lower() not in aliases):
            raise OutsideError(item.sql(dialect="spark"))
        return list(inner.columns.items())
    name = item.alias_or_name
    if not name or not isinstance(item, exp.Alias | exp.Column):
        raise OutsideError(f"{item.sql(dialect='spark')} without a name")
    tree = item.this if isinstance(item, exp.Alias) else item
    return [(name, over_columns(tree, inner.columns, aliases))]


def _source(
    item: exp.Expr, tables: Mapping[str, Sequence[str]], known: dict[str, exp.Expr]
) -> tuple[SimpleInput, set[str]]:
    """What FROM reads, and the names that qualify its columns."""
    alias = item.args.get("alias")
    if alias is not None and alias.args.get("columns"):
        raise OutsideError("names of columns behind an alias")
    for name in _given(item):
        if name not in ("this", "alias"):
            raise OutsideError(f"{_NAMED_SO.get(name, name.strip('_').upper())} in the input")
    own = {item.alias.lower()} if item.alias else set()
    if isinstance(item, exp.Subquery):
        return _select(item.this, tables, known), own
    if not isinstance(item, exp.Table) or not isinstance(item.this, exp.Identifier):
        raise OutsideError(f"{item.sql(dialect='spark')} as the input")
    table = item.name.lower()
    if table in known:
        # A common table expression sees those before it, not itself.
        before = {name: query for name, query in known.items() if list(known).index(name) < list(known).index(table)}
        return _select(known[table], tables, before), own or {table}
    if table not in tables:
        raise OutsideError(f"{item.sql(dialect='spark')}, which is no path")
    columns: dict[str, exp.Expr] = {name: exp.column(name, quoted=True) for name in tables[table]}
    return SimpleInput(table, columns, ()), own or {table}


def _given(tree: exp.Expr) -> list[str]:
    """The names of what a tree has."""
    return [name for name, value in tree.args.items() if value not in (None, [], False, "")]
