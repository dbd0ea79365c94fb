"""Differences in named units: what dialects count, in memory, over one row and over two."""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.scalar.units_between import COUNTS, DIFFERENCES, UNITS, expected, pairs

import sparkrex as rex


@pytest.mark.parametrize("dialect", COUNTS)
@pytest.mark.parametrize("start", ["s", "FIRST(s)"])
def test_differences_are_those_of_the_definition(dialect: str, start: str) -> None:
    given = pairs(300)
    rows = [[(place, one, two) for one, two in [pair, pair]] for place, pair in enumerate(given)]
    table = pa.table({
        "k": [k for both in rows for k, *_ in both], "n": [0, 1] * len(given),
        "s": pa.array([s for both in rows for _, s, _ in both], pa.timestamp("us")),
        "e": pa.array([e for both in rows for *_, e in both], pa.timestamp("us")),
    })
    measures = ", ".join(
        f"{DIFFERENCES[dialect].format(unit=unit, start=start, end='LAST(B.e)')} AS {unit}s" for unit in UNITS
    )
    query = f"""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY n MEASURES {measures}
        PATTERN (A B) DEFINE B AS n = 1)"""
    found = rex.sql(query, t=table, dialect=dialect).sort_by("k").drop_columns(["k"]).to_pylist()
    assert found == [
        {f"{unit}s": n for unit, n in expected(dialect, *pair).items()} for pair in given
    ]
