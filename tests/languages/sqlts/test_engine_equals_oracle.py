"""Random queries through every matcher against the naive evaluator, whole and in chunks, and as they are printed."""

from __future__ import annotations

import random
from typing import Any

import pytest
from tests.languages.sqlts import oracle
from tests.languages.sqlts.draws import as_table, draw_pattern, draw_rows
from tests.languages.sqlts.model import query_text

import sparkrex as rex
from sparkrex.explanation import WITH_MATCH_RECOGNIZE


def run(query: str, rows: list[dict[str, Any]], **options: Any) -> list[tuple[Any, ...]]:
    result = rex.sql(query, quote=as_table(rows), **options)
    return sorted(zip(*(column.to_pylist() for column in result.columns), strict=True), key=repr)


def printed(query: str, rows: list[dict[str, Any]]) -> str:
    """The equivalent MATCH_RECOGNIZE as EXPLAIN prints it."""
    text = str(rex.explain(query, quote=as_table(rows)))
    return text.split(WITH_MATCH_RECOGNIZE + "\n", 1)[1]


@pytest.mark.parametrize("matcher", [None, "ops_forward", "ops_reverse", "backtrack", "interpreter"])
def test_every_matcher(matcher: str | None) -> None:
    draw = random.Random(f"sqlts {matcher}")
    n_matches = 0
    for _ in range(30 if matcher == "interpreter" else 80):
        pattern, rows = draw_pattern(draw), draw_rows(draw)
        query = query_text(pattern)
        expected = sorted(oracle.answer(pattern, rows), key=repr)
        assert run(query, rows, dialect="sqlts", settings={"matcher": matcher}) == expected, (query, rows)
        n_matches += len(expected)
    assert n_matches > 15


def test_in_chunks() -> None:
    draw = random.Random("sqlts in chunks")
    for _ in range(60):
        pattern, rows = draw_pattern(draw), draw_rows(draw)
        query = query_text(pattern)
        expected = sorted(oracle.answer(pattern, rows), key=repr)
        settings = {"chunk_rows": draw.choice([1, 2, 5]), "matcher": draw.choice([None, "ops"])}
        chunked = run(query, rows, settings=settings)
        assert chunked == expected, (query, rows)


def test_what_explain_prints_gives_the_same_answer() -> None:
    draw = random.Random("sqlts printed")
    for _ in range(60):
        pattern, rows = draw_pattern(draw), draw_rows(draw)
        query = query_text(pattern)
        text = printed(query, rows)
        assert "SEQUENCE BY" not in text
        assert run(text, rows) == sorted(oracle.answer(pattern, rows), key=repr), (query, text, rows)
