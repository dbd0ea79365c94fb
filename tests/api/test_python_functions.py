"""Python functions given to a query: their types, NULL, and what is said of those that cannot be used. In memory."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.functions import make_functions

TABLE = pa.table({"id": [1, 2, 3, 4], "x": [4, None, 9, 1], "s": ["a", "b", None, "d"]})


def _ends(condition: str, **functions: Any) -> list[int]:
    """`id` of every row at which a row behind the first one fits."""
    query = f"""SELECT last_id FROM t MATCH_RECOGNIZE (
      ORDER BY id MEASURES LAST(id) AS last_id AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) DEFINE B AS {condition})"""
    result: pa.Table = rex.sql(query, t=TABLE, functions=functions)
    return [row["last_id"] for row in result.to_pylist()]


def test_null_is_none_and_what_is_returned_is_checked() -> None:
    seen = []

    def differ(one: int | None, other: int | None) -> bool | None:
        seen.append((one, other))
        return None if one is None or other is None else one != other

    assert _ends("differ(x, A.x)", differ=differ) == [4]
    assert set(seen) == {(None, 4), (9, None), (1, 9)}


def test_lists_and_numbers_of_numpy() -> None:
    def middle(values: list[float]) -> float:
        return np.mean([value for value in values if value is not None])  # type: ignore[return-value]

    assert _ends("middle(array_agg(x)) > 4.5", middle=middle) == [3, 4]


def test_the_result_of_a_udf_of_pyspark_is_known() -> None:
    """Such an object has the function and the type of its result; a session is not needed to say so."""
    def shout(text: str) -> Any:
        return text.upper()

    made = SimpleNamespace(func=shout, returnType=SimpleNamespace(simpleString=lambda: "string"))
    (function,) = make_functions({"Shout": made})
    assert str(function) == "shout(string) -> string"


def test_a_function_in_measures() -> None:
    def joined(one: str | None, other: str | None) -> str:
        return f"{one}-{other}"

    query = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES joined(FIRST(s), LAST(s)) AS m PATTERN (A{3}))"
    result: pa.Table = rex.sql(query, t=TABLE, functions={"joined": joined})
    assert result.to_pylist() == [{"m": "a-None"}]


def _no_types(x, y):  # type: ignore[no-untyped-def]  # what the test is about
    return x


def _odd(x: int) -> complex:
    return complex(x)


def _several(*x: int) -> int:
    return sum(x)


@pytest.mark.parametrize("function", [_no_types, _odd, _several])
def test_a_function_without_types_is_refused(function: Any) -> None:
    with pytest.raises(rex.AnalysisError, match=r"REX217.*functions= has f"):
        _ends("f(x) > 1", f=function)


@pytest.mark.parametrize("name", ["mean", "upper", "COUNT"])
def test_a_function_of_sql_stays_what_it_is(name: str) -> None:
    def call(x: int) -> int:
        return x

    with pytest.raises(rex.AnalysisError, match="is a function of SQL"):
        _ends(f"{name}(x) > 1", **{name: call})


@pytest.mark.parametrize("given", [[_odd], {"f": 3}, {"not a name": _odd}])
def test_what_is_no_function_is_a_type_error(given: Any) -> None:
    with pytest.raises(TypeError, match="functions="):
        rex.sql("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id PATTERN (A))", t=TABLE, functions=given)


def test_a_compiled_query_keeps_its_functions() -> None:
    def same(one: int, other: int) -> bool:
        return one == other

    text = """SELECT * FROM t MATCH_RECOGNIZE (
      ORDER BY id MEASURES COUNT(*) AS n PATTERN (A B+) DEFINE B AS same(x, A.x))"""
    query = rex.compile(text, functions={"same": same})
    assert query(t=pa.table({"id": [1, 2], "x": [3, 3]})).to_pylist() == [{"n": 2}]
    with pytest.raises(rex.RexError, match="same does not exist"):
        rex.sql(text, t=pa.table({"id": [1, 2], "x": [3, 3]}))


def test_nan_is_no_null() -> None:
    def same(x: float) -> float:
        return x

    def listed(x: float) -> list[float]:
        return [x, float("nan")]

    table = pa.table({"id": [1, 2, 3], "x": pa.array([float("nan"), None, -0.0], pa.float64())})
    query = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES f(x) AS x, g(x) AS xs PATTERN (A))"
    found = rex.sql(query, t=table, functions={"f": same, "g": listed}).to_pylist()
    assert repr(found) == repr([
        {"x": float("nan"), "xs": [float("nan"), float("nan")]}, {"x": None, "xs": [None, float("nan")]},
        {"x": -0.0, "xs": [-0.0, float("nan")]},
    ])


@pytest.mark.parametrize(
    ("value", "words"), [(1 << 70, "int"), ("exit", "SystemExit"), ("\ud800", "UnicodeEncodeError")]
)
def test_what_no_column_can_hold_is_the_functions_failure(value: Any, words: str) -> None:
    def number(x: int) -> int:
        if value == "exit":
            raise SystemExit(3)
        return value  # type: ignore[no-any-return]

    def text(x: int) -> str:
        return str(value)

    query = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY id MEASURES f(id) AS x PATTERN (A))"
    function = text if value == "\ud800" else number
    with pytest.raises(rex.ExecutionError, match=rf"REX423.*f failed.*{words}"):
        rex.sql(query, t=TABLE, functions={"f": function})
