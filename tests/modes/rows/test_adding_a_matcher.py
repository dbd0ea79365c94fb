"""docs/adding-a-matcher.md is true: a matcher from a test folder takes part in the choice, and answers the same."""

from __future__ import annotations

import random
from pathlib import Path

import pyarrow as pa
import pytest
from tests.matching.schedules import many_open
from tests.modes.rows.one_row import OneRow

import sparkrex as rex
from sparkrex.modes.rows import choose, engine
from sparkrex.modes.rows.runner import RowRunner

TABLE = pa.table({"k": [i % 7 for i in range(60)], "ts": range(60), "x": [i * i % 11 for i in range(60)]})
QUERY = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
    MEASURES MATCH_NUMBER() AS n, x AS found, NEXT(x, 2) AS later {rows} PATTERN ({pattern}) DEFINE A AS x > PREV(x))"""
PAGE = Path(__file__).parents[3] / "docs" / "adding-a-matcher.md"


@pytest.fixture
def one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line in one list is all that the package is told."""
    monkeypatch.setattr(choose, "MATCHERS", [OneRow, *choose.MATCHERS])


def answers(rows: str) -> list[dict[str, object]]:
    found = rex.sql(QUERY.format(rows=rows, pattern="A"), t=TABLE).to_pylist()
    return sorted(found, key=lambda row: row["k"])


@pytest.mark.parametrize("rows", ["ONE ROW PER MATCH", "ALL ROWS PER MATCH WITH UNMATCHED ROWS"])
def test_same_answers(rows: str, request: pytest.FixtureRequest) -> None:
    expected = answers(rows)
    request.getfixturevalue("one_row")
    assert answers(rows) == expected
    for seed in range(5):
        with many_open(engine, RowRunner, random.Random(seed), "ts"):
            assert answers(rows) == expected


@pytest.mark.usefixtures("one_row")
def test_the_choice_knows_it() -> None:
    text = str(rex.explain(QUERY.format(rows="", pattern="A"), t=TABLE))
    assert "matcher one_row: the pattern is one variable" in text
    text = str(rex.explain(QUERY.format(rows="", pattern="A+"), t=TABLE))
    assert "matcher automaton" in text
    assert "not one_row: the pattern is not one variable" in text


def test_the_page_shows_the_matcher() -> None:
    code = Path(__file__).with_name("one_row.py").read_text(encoding="utf-8")
    body = code[code.index("class OneRow") :]
    assert f"```python\n{body}```" in PAGE.read_text(encoding="utf-8")
