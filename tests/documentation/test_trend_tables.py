"""The tables of trends in docs/semantics.md: the engine counts what they show, and the tests that they name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.documentation.trend_tables import PAGE, TrendRow, numbers_of, trend_rows

ROWS = trend_rows()


def test_there_are_rows() -> None:
    assert len(ROWS) > 30


@pytest.mark.filterwarnings("ignore:no event has type")
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_engine_counts_what_the_table_shows(row: TrendRow) -> None:
    assert numbers_of(row) == row.trends
    assert numbers_of(row, "by_event") == row.trends


def test_the_tests_that_are_named_exist() -> None:
    section = PAGE.read_text(encoding="utf-8").split("\n## Trend aggregates\n")[1].split("\n## ")[0]
    named = set(re.findall(r"`(test_\w+)`", section))
    module = (Path(__file__).parents[1] / "modes" / "trends" / "test_oracle.py").read_text(encoding="utf-8")
    assert named <= set(re.findall(r"^def (test_\w+)", module, re.MULTILINE))
