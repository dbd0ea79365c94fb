"""Functions that Spark and DuckDB both have, under one name, with different meanings: Spark's meaning, for DuckDB.

sqlglot translates these by name alone. What it translates right is not here.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import sqlglot
from sqlglot import exp
from sqlglot.dialects.spark import Spark
from sqlglot.dialects.spark2 import Spark2
from sqlglot.errors import ErrorLevel

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import Dialect

# Sunday is 1 for Spark, 0 for DuckDB.
_FROM_SUNDAY = ("DOW", "DAYOFWEEK")


def translate(tree: exp.Expr, dialect: Dialect, host: str) -> str:
    """A tree of the dialect as SQL of the host; sqlglot's UnsupportedError if it has nothing that means the same."""
    if host == "duckdb" and isinstance(dialect, Spark2):
        tree = _rewrite(tree.copy())
    return tree.sql(dialect=host, unsupported_level=ErrorLevel.RAISE)


def _rewrite(tree: exp.Expr) -> exp.Expr:
    """The tree with every call replaced that means something else, inner ones first."""
    for node in reversed(list(tree.bfs())):
        new = _as_spark_means(node)
        if new is node:
            continue
        if node is tree:
            return new
        node.replace(new)
    return tree


def _as_spark_means(node: exp.Expr) -> exp.Expr:
    match node:
        case exp.DayOfWeek():
            return _plus_one(node)
        case exp.Extract() if node.name.upper() in _FROM_SUNDAY:
            return _plus_one(node)
        case exp.Substring() if (start := node.args.get("start")) is not None:
            return _from_one(node, start)
        case exp.StrToUnix():
            seconds: exp.Expr = node.copy()
            if node.text("format") in _usual_formats():
                # Not only of texts, as sqlglot takes it, but of times and dates too.
                moment = exp.cast(node.this.copy(), "timestamptz")
                seconds = exp.Anonymous(this="epoch", expressions=[moment])
            return exp.cast(seconds, "bigint")
        case exp.ApproxQuantile():
            return exp.Anonymous(this="quantile_disc", expressions=[node.this.copy(), node.args["quantile"].copy()])
        case exp.Anonymous():
            return _call(node, node.name.lower(), [part.copy() for part in node.expressions])
        case _:
            return node


@cache
def _usual_formats() -> frozenset[str]:
    """What sqlglot puts in where `unix_timestamp` is given no format; its dialects differ."""
    return frozenset(sqlglot.parse_one("unix_timestamp(x)", read=dialect).text("format") for dialect in (Spark2, Spark))


def _call(node: exp.Anonymous, name: str, given: list[exp.Expr]) -> exp.Expr:
    match name, given:
        case "weekday", [day]:
            return exp.cast(exp.Sub(this=exp.DayOfWeekIso(this=day), expression=exp.Literal.number(1)), "int")
        case "date_part" | "datepart", [exp.Literal() as part, _] if part.name.upper() in _FROM_SUNDAY:
            return _plus_one(node)
        case "bround", [number, *digits]:
            return exp.Anonymous(this="round_even", expressions=[number, *(digits or [exp.Literal.number(0)])])
        case "pmod", [one, other]:
            rest = exp.Mod(this=exp.paren(one), expression=exp.paren(other))
            positive = exp.Mod(this=exp.paren(exp.Add(this=rest, expression=other.copy())), expression=other.copy())
            return exp.If(this=exp.LT(this=rest.copy(), expression=exp.Literal.number(0)), true=positive, false=rest)
        case _:
            return node


def _plus_one(node: exp.Expr) -> exp.Expr:
    return exp.cast(exp.Add(this=node.copy(), expression=exp.Literal.number(1)), "int")


def _from_one(node: exp.Substring, start: exp.Expr) -> exp.Expr:
    """Characters are numbered from 1, and Spark takes 0 for 1."""
    if isinstance(start, exp.Neg) or (isinstance(start, exp.Literal) and start.name != "0"):
        return node
    is_zero = exp.EQ(this=start.copy(), expression=exp.Literal.number(0))
    first = exp.Literal.number(1)
    other = node.copy()
    is_written = isinstance(start, exp.Literal)
    other.set("start", first if is_written else exp.If(this=is_zero, true=first, false=start.copy()))
    return other
