"""The dialect tables of docs/semantics.md: every row is asked of the engine, in every way it can be evaluated."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.documentation import dialects
from tests.documentation.dialects import DIALECTS, EXPECTED, PROBES, TYPES, Probe

PAGE = Path(__file__).parents[2] / "docs" / "semantics.md"


@pytest.mark.parametrize("probe", PROBES, ids=lambda probe: probe.label)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_probe_gives_what_the_table_says(dialect: str, probe: Probe) -> None:
    expected = EXPECTED[dialect][probe.label]
    given = {
        "over one row": dialects.answer(dialect, probe.over_one_row()),
        "over two rows": dialects.answer(dialect, probe.over_two_rows()),
        "in a condition": dialects.answer_in_define(dialect, probe, expected),
    }
    assert given == dict.fromkeys(given, expected)


@pytest.mark.parametrize("dialect", DIALECTS)
def test_nulls_sort_where_the_table_says(dialect: str) -> None:
    assert dialects.null_place(dialect, "ASC") == EXPECTED[dialect][dialects.NULLS_ASCENDING]
    assert dialects.null_place(dialect, "DESC") == EXPECTED[dialect][dialects.NULLS_DESCENDING]


@pytest.mark.parametrize("label", TYPES)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_aggregates_have_the_type_the_table_says(dialect: str, label: str) -> None:
    assert dialects.type_of(dialect, TYPES[label]) == EXPECTED[dialect][label]


def test_the_page_has_the_tables() -> None:
    assert dialects.tables_text() in PAGE.read_text(encoding="utf-8"), "python -m tests.documentation.dialects"
