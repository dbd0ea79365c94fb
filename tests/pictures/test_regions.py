"""Matches as regions."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.pictures.samples import V_SHAPES, clicks, random_ticks

import sparkrex as rex


def test_regions_begin_and_end_where_matches_do() -> None:
    table = random_ticks()
    text = V_SHAPES.replace("FIRST(DOWN.ts) AS fell_at, LAST(UP.ts) AS back_at",
                            "MATCH_NUMBER() AS n, FIRST(ts) AS first, LAST(ts) AS last")
    answer = rex.sql(text, ticks=table).to_pylist()
    expected = [(row["first"], row["last"], f"{row['symbol']} #{row['n']}") for row in answer]
    found = rex.regions(V_SHAPES, ticks=table)
    assert found.column_names == ["start", "end", "label"]
    assert [tuple(row.values()) for row in found.to_pylist()] == expected
    assert found.schema.field("start").type == table.schema.field("ts").type
    assert len(expected) > 5


def test_an_empty_match_is_at_one_row() -> None:
    found = rex.regions(rex.match("ORDER BY x PATTERN (A*) DEFINE A AS x > 8"), pa.table({"x": [7, 9]}))
    assert found.to_pylist() == [{"start": 7, "end": 7, "label": "#1"}, {"start": 9, "end": 9, "label": "#2"}]


def test_regions_need_an_axis() -> None:
    query = rex.match("ORDER BY s PATTERN (A)")
    table = pa.table({"s": ["p", "q"], "x": [1, 2]})
    with pytest.raises(rex.AnalysisError, match="not ordered by a time or a number"):
        rex.regions(query, table)
    assert rex.regions(query, table, x="x").column("start").to_pylist() == [1, 2]


def test_trends_have_none() -> None:
    query = rex.trends("RETURN COUNT(*) PATTERN view v+ SEMANTICS skip-till-any-match", time="ts", type="kind")
    with pytest.raises(rex.UnsupportedError, match="trend queries have no matches"):
        rex.regions(query, clicks())
