"""What measures share: one projection per distinct expression, over the rows that are read, and nothing volatile."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.hosts.duckdb.host import RelationEvaluator

if TYPE_CHECKING:
    from sparkrex.source import Span

TABLE = pa.table(
    {
        "p": [1, 1, 1, 1, 2, 2], "ts": [1, 2, 3, 4, 1, 2], "x": [4, 0, 2, 2, 0, 5],
        "y": [1.0, None, 3.0, 2.0, 5.0, None],
        "s": ["4", "no number", "2", "2", "no number", "5"],
    }
)


def matched(measures: str, *, rows: str = "ONE ROW PER MATCH", dialect: str = "duckdb") -> list[dict[str, Any]]:
    """The measures over matches of A (x is not 0) and B (x is 0), one for each partition."""
    found = rex.sql(
        f"""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY p ORDER BY ts MEASURES {measures} {rows}
        PATTERN ((A | B)+) DEFINE A AS x <> 0)""",
        t=TABLE, dialect=dialect,
    )
    rows_found: list[dict[str, Any]] = found.to_pylist()
    return rows_found


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Every query of the host, with the number of rows it is over."""
    queries: list[tuple[str, int]] = []
    over = RelationEvaluator._over

    def noted(
        self: RelationEvaluator, table: pa.Table, sql: str, span: Span | None, *, is_short: bool
    ) -> pa.Table:
        queries.append((sql, table.num_rows))
        return over(self, table, sql, span, is_short=is_short)

    monkeypatch.setattr(RelationEvaluator, "_over", noted)
    return queries


def test_an_expression_of_several_aggregates_is_projected_once(asked: list[tuple[str, int]]) -> None:
    measures = "sum(sqrt(A.x)) AS a, max(sqrt(A.x)) AS b, array_agg(sqrt(A.x) ORDER BY A.ts DESC) AS c"
    (first, second) = matched(measures)
    assert [(first[name], second[name]) for name in ("b", "c")] == [
        (2.0, pytest.approx(5**0.5)), ([2**0.5, 2**0.5, 2.0], [5**0.5]),
    ]
    assert [(sql.lower().count("sqrt("), rows) for sql, rows in asked if "sqrt(" in sql.lower()] == [(1, 4)]


def test_only_rows_that_somebody_reads_are_projected(asked: list[tuple[str, int]]) -> None:
    # The casts fail on the rows of B, and on rows that the filter refuses.
    measures = "sum(CAST(A.s AS INT)) AS a, max(CAST(A.s AS INT)) FILTER (WHERE A.x > 2) AS b"
    assert [(row["a"], row["b"]) for row in matched(measures)] == [(8, 4), (5, 5)]
    assert [rows for sql, rows in asked if "CAST(" in sql] == [4]


@pytest.mark.parametrize("call", ["sum", "array_agg", "median"])
def test_a_filter_guards_the_argument_of_a_running_aggregate(call: str) -> None:
    rows = matched(
        f"{call}(CAST(s AS INT)) FILTER (WHERE x <> 0) AS v", rows="ALL ROWS PER MATCH"
    )
    expected = {
        "sum": [4, 4, 6, 8, None, 5], "array_agg": [[4], [4], [4, 2], [4, 2, 2], None, [5]],
        "median": [4, 4, 3, 2, None, 5],
    }
    assert [row["v"] for row in rows] == expected[call]


def test_host_aggregates_of_the_same_rows_are_one_query(asked: list[tuple[str, int]]) -> None:
    measures = "median(y) AS a, string_agg(s, '/') AS b, count(DISTINCT x) AS c, median(A.y) AS d"
    assert [tuple(row.values())[1:] for row in matched(measures)] == [
        (2.0, "4/no number/2/2", 3, 2.0), (5.0, "no number/5", 2, None),
    ]
    assert [rows for sql, rows in asked if "GROUP BY" in sql] == [6, 4]


@pytest.mark.parametrize("rows", ["ONE ROW PER MATCH", "ALL ROWS PER MATCH"])
def test_what_the_host_computes_inside_an_aggregate_is_not_computed_for_rows_of_others(rows: str) -> None:
    # The cast is part of the host's own aggregate; another measure reads the same column of all rows.
    measures = "FINAL median(CAST(A.s AS INT)) AS a, FINAL string_agg(s, '/') AS b"
    assert {(row["p"], row["a"], row["b"]) for row in matched(measures, rows=rows)} == {
        (1, 2.0, "4/no number/2/2"), (2, 5.0, "no number/5"),
    }


def test_what_the_host_says_of_no_rows_does_not_depend_on_other_measures() -> None:
    alone = "approx_count_distinct(B.x) FILTER (WHERE B.x > 7) AS v"
    assert [row["v"] for row in matched(alone)] == [0, 0]
    assert [row["v"] for row in matched(f"{alone}, median(x) AS w")] == [0, 0]


@pytest.mark.parametrize("dialect", ["duckdb", "spark"])
@pytest.mark.parametrize("pair", [("sum({})", "sum({})"), ("sum({})", "avg({})"), ("median({})", "median({})")])
def test_volatile_arguments_are_evaluated_for_each_occurrence(dialect: str, pair: tuple[str, str]) -> None:
    volatile = "(x * 0 + random())"
    one, other = (call.format(volatile) for call in pair)
    for row in matched(f"{one} AS a, {other} AS b, count(*) AS n", dialect=dialect):
        value = row["b"] * row["n"] if other.startswith("avg") else row["b"]
        assert row["a"] != pytest.approx(value, abs=1e-12)


def test_a_volatile_argument_is_tested_for_null_and_listed_once() -> None:
    # Spark's array_agg leaves NULLs out: what is tested must be what is listed.
    volatile = "CASE WHEN x * 0 + random() < 0.5 THEN 1 END"
    for _ in range(10):
        assert all(None not in row["v"] for row in matched(f"array_agg({volatile}) AS v", dialect="spark"))


@pytest.mark.parametrize("dialect", ["duckdb", "spark"])
def test_lists_are_those_of_the_host(dialect: str) -> None:
    # Of structs the host makes the list.
    for order in ("", "ORDER BY y", "ORDER BY y DESC NULLS LAST, ts DESC", "ORDER BY s DESC, y NULLS FIRST"):
        for value in ("y", "s", "ts", "x + 1", "x > 1"):
            ours = matched(f"array_agg({value} {order}) AS v", dialect=dialect)
            hosts = matched(f"array_agg(struct_pack(v := {value}) {order}) AS v", dialect=dialect)
            listed = [[item["v"] for item in row["v"]] for row in hosts]
            if dialect == "spark":  # a struct is there even if its field is NULL
                listed = [[item for item in items if item is not None] for items in listed]
            assert [row["v"] for row in ours] == listed, (value, order)


def test_an_error_of_one_aggregate_among_many_names_its_own_place() -> None:
    with pytest.raises(rex.RexError) as caught:
        matched("sum(CAST(x AS DOUBLE)) AS a, sum(CAST(s AS INT)) AS b, median(x) AS c")
    error = caught.value
    assert error.source is not None
    assert error.span is not None
    assert error.source.text[error.span.start : error.span.end].startswith("CAST(s")
