"""FROM items that are not tables, as Spark writes them: series of numbers or times, UNNEST, VALUES.

sqlglot reads all of them, but its Spark text has other columns (`col`, `col1`), loses the alias of a series, counts
down where the dialect gives no row (`range(0)`), and numbers WITH ORDINALITY from 0. So the tree is changed before it
is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from collections.abc import Sequence

# Here a series whose end lies on the wrong side of its start is empty, as `range` and `generate_series` have it. In
# Trino, as in Spark, such a sequence counts down.
_NAMES_BY_FUNCTION = ("duckdb", "postgres", "redshift", "materialize", "risingwave")
_ASCENDS_ONLY = (*_NAMES_BY_FUNCTION, "bigquery", "snowflake")
_ALIAS = "_from"


class UntranslatableItemError(ValueError):
    """A FROM item that Spark has no form of; the text says which."""


def rewrite_from_items(tree: exp.Expr, dialect: str) -> exp.Expr:
    """The statement, its FROM items changed in place to what Spark's generator writes correctly."""
    for node in list(tree.find_all(exp.GenerateSeries, exp.ExplodingGenerateSeries, exp.Unnest, exp.Values)):
        if isinstance(node, exp.Values):
            _name_values(node, dialect)
        elif isinstance(node, exp.Unnest):
            _name_unnested(node, dialect)
        elif isinstance(node.parent, exp.Table):
            _replace_series(node, node.parent, dialect)
        elif dialect in _ASCENDS_ONLY:
            node.replace(_series_array(node))
    return tree


def _replace_series(series: exp.Expr, table: exp.Table, dialect: str) -> None:
    """`range(6) t(x)` as a table: Spark's own `range` where its arguments are constants, else an exploded array."""
    called = "range" if series.args.get("is_end_exclusive") else "generate_series"
    alias = _alias(table.args.get("alias"), [called] if dialect in _NAMES_BY_FUNCTION else ["col"], dialect)
    if _is_of_times(series) or list(series.find_all(exp.Column)):
        item: exp.Expr = exp.func("EXPLODE", _series_array(series))
    else:
        _refuse_fractions(series)
        bounds = [series.args["start"], _bound(series), series.args.get("step")]
        item = exp.func("RANGE", *[bound.copy() for bound in bounds if bound is not None])
    new: exp.Expr = exp.Table(this=item, alias=alias)
    if isinstance(table.parent, exp.Join):
        new = exp.Lateral(this=item, alias=alias)
    table.replace(new)


def _series_array(series: exp.Expr) -> exp.Expr:
    """The series as an array, empty where Spark's SEQUENCE would count the other way or fail."""
    _refuse_fractions(series)
    step = series.args.get("step")
    start, end = (_widen_bound(series.args[name].copy(), series) for name in ("start", "end"))
    down = _counts_down(step)
    in_order = exp.GTE(this=start, expression=end) if down else exp.LTE(this=start, expression=end)
    given = step.copy() if step is not None else exp.Literal.number(1)
    array: exp.Expr = exp.Anonymous(this="SEQUENCE", expressions=[start.copy(), end.copy(), given])
    if series.args.get("is_end_exclusive"):
        item = exp.to_identifier("rex_item")
        is_before = (exp.GT if down else exp.LT)(this=item.copy(), expression=end.copy())
        array = exp.Anonymous(this="FILTER", expressions=[array, exp.Lambda(this=is_before, expressions=[item])])
    none = [exp.array(start.copy()), exp.Literal.number(1), exp.Literal.number(0)]
    return exp.Case(ifs=[exp.If(this=in_order, true=array)], default=exp.Anonymous(this="SLICE", expressions=none))


def _widen_bound(bound: exp.Expr, series: exp.Expr) -> exp.Expr:
    """A bound in the type of the series: times are timestamps, of dates too, and numbers have 64 bits."""
    if _is_of_times(series):
        return exp.cast(bound, "timestamp_ntz", dialect="spark")
    # A column keeps its type: Spark refuses what is not an integer, a cast would cut its fraction off.
    return bound if bound.find(exp.Column) else exp.cast(bound, "bigint")


def _refuse_fractions(series: exp.Expr) -> None:
    numbers = [literal for literal in series.find_all(exp.Literal) if not literal.is_string]
    if not all(literal.is_int for literal in numbers):
        raise UntranslatableItemError("a series of numbers that are not integers")


def _bound(series: exp.Expr) -> exp.Expr:
    """The end of a series as Spark's `range` takes it: the first number that is not in it."""
    end: exp.Expr = series.args["end"].copy()
    if series.args.get("is_end_exclusive"):
        return end
    behind = exp.Sub if _counts_down(series.args.get("step")) else exp.Add
    return behind(this=exp.paren(end), expression=exp.Literal.number(1))


def _counts_down(step: exp.Expr | None) -> bool:
    """Whether a step is negative; one whose sign is not written cannot be translated."""
    amount = step.this if isinstance(step, exp.Interval) else step
    if isinstance(amount, exp.Paren):
        amount = amount.this
    if isinstance(amount, exp.Neg) and isinstance(amount.this, exp.Literal):
        return True
    if amount is None or isinstance(amount, exp.Literal):
        return amount is not None and amount.name.strip().startswith("-")
    raise UntranslatableItemError("a series whose step is not a literal")


def _is_of_times(series: exp.Expr) -> bool:
    return isinstance(series.args.get("step"), exp.Interval)


def _name_unnested(node: exp.Unnest, dialect: str) -> None:
    offset = node.args.get("offset")
    if dialect in _NAMES_BY_FUNCTION:
        node.set("alias", _alias(node.args.get("alias"), ["unnest"], dialect))
    if not offset:
        if isinstance(node.parent, exp.Join) and node.parent.side:
            _keep_side(node)
        return
    if isinstance(node.parent, exp.Join) or len(node.expressions) != 1:
        raise UntranslatableItemError("UNNEST with a number for each element, joined or of several arrays,")
    alias: exp.TableAlias = node.args.get("alias") or exp.TableAlias()
    value = alias.columns[0].copy() if alias.columns else exp.to_identifier("col")
    number = offset.copy() if isinstance(offset, exp.Identifier) else exp.to_identifier("ordinality")
    position: exp.Expr = exp.column("pos")
    if dialect != "bigquery":  # whose offsets begin with 0; ordinal numbers begin with 1
        position = exp.Add(this=exp.cast(position, "bigint"), expression=exp.Literal.number(1))
    exploded = exp.Table(this=exp.func("POSEXPLODE", node.expressions[0].copy()))
    query = exp.select(exp.alias_(exp.column("col"), value), exp.alias_(position, number)).from_(exploded)
    node.replace(query.subquery(alias.this.copy() if alias.this else _ALIAS))


def _keep_side(node: exp.Unnest) -> None:
    """`LEFT JOIN UNNEST(...) ON true` as a lateral join; sqlglot would write LATERAL VIEW, which has no outer rows."""
    alias = node.args.get("alias")
    if len(node.expressions) != 1 or alias is None or not alias.this:
        raise UntranslatableItemError("an outer join with UNNEST of several arrays, or without an alias,")
    node.replace(exp.Lateral(this=exp.func("EXPLODE", node.expressions[0].copy()), alias=alias.copy()))


def _name_values(node: exp.Values, dialect: str) -> None:
    """Columns of VALUES are `col0`, `col1` in DuckDB; Spark counts them from 1."""
    if dialect != "duckdb" or not node.expressions or not isinstance(node.parent, exp.From | exp.Join):
        return
    first = node.expressions[0]
    n_columns = len(first.expressions) if isinstance(first, exp.Tuple) else 1
    given = node.args.get("alias")
    names = [f"col{number}" for number in range(n_columns)]
    alias = exp.TableAlias(this=given.this if given and given.this else exp.to_identifier(_ALIAS))
    written = list(given.columns) if given else []
    alias.set("columns", [*written, *map(exp.to_identifier, names[len(written) :])])
    node.set("alias", alias)


def _alias(given: exp.TableAlias | None, names: Sequence[str], dialect: str) -> exp.TableAlias:
    """The alias with a name for the one column: the written one, else the table's (where the dialect has it so)."""
    name = given.this if given is not None and given.this else exp.to_identifier(names[0])
    columns = list(given.columns) if given is not None else []
    if not columns:
        by_table = given is not None and given.this and dialect in _NAMES_BY_FUNCTION
        columns = [name.copy()] if by_table else [exp.to_identifier(names[0])]
    return exp.TableAlias(this=name.copy(), columns=columns)
