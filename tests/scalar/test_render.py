"""Calls as the SQL of each host: the same meaning, written twice."""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING

import pytest
from sqlglot import parse_one
from sqlglot.dialects.dialect import Dialect

from sparkrex.errors import UnsupportedError
from sparkrex.scalar.expression import Call, ColumnAt, Difference, Fraction, Literal, OnZero, Target
from sparkrex.scalar.forms import OWN, PLAIN
from sparkrex.scalar.host_syntax import HostSyntax, stand_in
from sparkrex.scalar.render.duckdb import DUCKDB
from sparkrex.scalar.render.spark import SPARK
from sparkrex.source import Span

if TYPE_CHECKING:
    from sparkrex.scalar.render.renderer import Leaf

X, Y = (ColumnAt(Target(), name) for name in "xy")
SPARK_SQL = Dialect.get_or_raise("spark")


def both(call: Call) -> tuple[str, str]:
    """The call for DuckDB and for Spark."""
    return DUCKDB.render(call, _column), SPARK.render(call, _column)


def _column(leaf: Leaf) -> str:
    assert isinstance(leaf, ColumnAt)
    return leaf.column


def syntax(text: str, dialect: Dialect = SPARK_SQL) -> HostSyntax:
    """Syntax of one operand, which the text calls x."""
    tree = parse_one(text, dialect=dialect)
    for column in tree.find_all(type(stand_in(0, None))):
        column.replace(stand_in(0, None))
    return HostSyntax.of(tree, dialect, type(dialect).__name__.lower(), 1)


@pytest.mark.parametrize(
    ("call", "duckdb", "spark"),
    [
        (Call("divide", (X, Y)), "(x / y)", "(x / y)"),
        (
            Call("divide", (X, Y), on_zero=OnZero.FAILS),
            "(CASE WHEN y = 0 THEN error('division by zero') ELSE x / y END)", "(x / y)",
        ),
        (
            Call("integer_divide", (X, Y), on_zero=OnZero.FAILS),
            "(CASE WHEN y = 0 THEN error('division by zero') ELSE x // y END)",
            "(CASE WHEN y = 0 THEN raise_error('division by zero') ELSE x div y END)",
        ),
        (
            Call("subtract", (X, Y), difference=Difference.INTERVAL),
            "to_days(CAST(x - y AS INTEGER))", "(x - y)",
        ),
        (Call("subtract", (X, Y), difference=Difference.DAYS), "(x - y)", "DATEDIFF(x, y)"),
        (
            Call("cast", (X, Literal("INT")), to=syntax("INT"), fraction=Fraction.CUT_OFF),
            "CAST(TRUNC(x) AS INT)", "CAST(x AS INT)",
        ),
        (
            Call("cast", (X, Literal("INT")), to=syntax("INT"), fraction=Fraction.ROUNDED),
            "CAST(x AS INT)", "CAST(ROUND(x) AS INT)",
        ),
        (Call("struct_field", (X, Literal('a"{b'))), '((x)."a""{b")', '((x).`a"{b`)'),
        (Call("case", (X, Y)), "(CASE WHEN x THEN y END)", "(CASE WHEN x THEN y END)"),
        (Call("in", (X, Y, Literal("{"))), "(x IN (y, '{'))", "(x IN (y, '{'))"),
    ],
)
def test_what_hosts_are_asked(call: Call, duckdb: str, spark: str) -> None:
    assert both(call) == (duckdb, spark)


def test_every_plain_form_renders() -> None:
    for name in PLAIN:
        call = Call(name, (X, Y, X) if name in ("between", "case") else (X, Y))
        assert all(both(call))
        assert str(call)


def test_syntax_is_translated_written_and_sent() -> None:
    call = Call("timestamptrunc", (X,), syntax("date_trunc('month', x)"))
    assert both(call) == ("DATE_TRUNC('MONTH', x)", "DATE_TRUNC('MONTH', x)")
    assert str(call).upper() == "DATE_TRUNC('MONTH', X[RUNNING LAST])"
    sent = pickle.loads(pickle.dumps(call))
    assert (sent, both(sent)) == (call, both(call))
    assert "timestamptrunc" not in OWN


def test_what_a_host_lacks_is_an_error_at_its_place() -> None:
    oracle = Dialect.get_or_raise("oracle")
    call = Call("tochar", (X,), syntax("TO_CHAR(x, 'YYYY', 'NLS')", oracle), span=Span(3, 5))
    with pytest.raises(UnsupportedError, match=r"REX301.*cannot be translated to duckdb") as caught:
        DUCKDB.render(call, lambda _: "x")
    assert caught.value.span == Span(3, 5)
