"""The automaton where its tables are large, or too large: many conditions, many states, many steps."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.modes.rows.automaton import viability

N_ROWS = 3_000


def rows(n_columns: int) -> pa.Table:
    random = np.random.default_rng(n_columns)
    bits = {f"b{number}": random.random(N_ROWS) < 0.3 for number in range(n_columns)}
    return pa.table({"k": np.arange(N_ROWS) // 700, "ts": np.arange(N_ROWS), **bits})


def query(pattern: str, n_variables: int) -> str:
    defined = ", ".join(f"V{number} AS b{number}" for number in range(n_variables))
    return f"""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
      MEASURES MATCH_NUMBER() AS n, CLASSIFIER() AS c ALL ROWS PER MATCH PATTERN ({pattern}) DEFINE {defined})"""


def matcher(text: str, table: pa.Table) -> str:
    [line] = [line for line in str(rex.explain(text, t=table)).splitlines() if "─ matcher " in line]
    return line.split("matcher ")[1].split(":")[0]


@pytest.mark.parametrize("n_variables", [2, 8, 9, 16, 17, 30])
def test_any_number_of_conditions(n_variables: int) -> None:
    table = rows(n_variables)
    names = [f"V{number}" for number in range(n_variables)]
    text = query(f"({'|'.join(names)}){{2,5}} {names[-1]} {names[0]}?", n_variables)
    assert matcher(text, table) == "automaton"
    found = rex.sql(text, t=table)
    assert found.num_rows
    assert found.equals(rex.sql(text, t=table, settings={"matcher": "backtrack"}))


def test_backtrack_takes_over_when_there_are_too_many_states() -> None:
    table = rows(3)
    text = query("(V0|V1){4,9}? V2", 3)
    expected = rex.sql(text, t=table, settings={"matcher": "backtrack"})
    assert expected.num_rows
    with patch.object(viability, "MOST_STATES", 4), patch.object(viability.Viability, "moves", None):
        for chunk_rows in (None, 100):
            assert rex.sql(text, t=table, settings={"chunk_rows": chunk_rows}).equals(expected)


def test_a_pattern_that_unfolds_too_far_is_refused() -> None:
    table = rows(2)
    text = query("V0{3000} V1", 2)
    assert matcher(text, table) == "backtrack"
    assert "too many steps" in str(rex.explain(text, t=table))
