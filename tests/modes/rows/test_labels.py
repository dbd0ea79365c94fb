"""Who needs labels: a query said to need none answers the same when the matches have none."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.modes.rows import runner
from sparkrex.modes.rows.labels import needs_labels
from sparkrex.modes.rows.output import build_output

if TYPE_CHECKING:
    from sparkrex.matching.reading import MatchReader
    from sparkrex.modes.rows.plan import MatchRecognize

TABLE = pa.table({"k": [i // 40 for i in range(120)], "ts": range(120), "x": [(i * 7919) % 23 for i in range(120)]})

CASES = [
    ("FIRST(x) AS a, LAST(x) AS b, sum(x) AS c, count(*) AS n", "ONE ROW PER MATCH", "(A B*)", False),
    ("MATCH_NUMBER() AS m, PREV(FIRST(ts)) AS p, max(x + 1) AS c", "ONE ROW PER MATCH", "(A B*)", False),
    ("x - FIRST(x) AS d, count(x) AS n, FINAL sum(x) AS s", "ALL ROWS PER MATCH", "(A B*)", False),
    ("count(*) AS n", "ALL ROWS PER MATCH SHOW EMPTY MATCHES", "(B*)", False),
    ("sum(x) AS s", "ALL ROWS PER MATCH WITH UNMATCHED ROWS", "(A B+)", False),
    ("FIRST(B.x) AS a, sum(B.x) AS s", "ONE ROW PER MATCH", "(B+)", False),
    ("sum(x) AS s", "ONE ROW PER MATCH", "({- A -} B*)", False),
    ("sum(x) AS s", "ALL ROWS PER MATCH", "({- A -} B*)", True),
    ("LAST(B.x) AS a", "ONE ROW PER MATCH", "(A B*)", True),
    ("count(B.*) AS n", "ONE ROW PER MATCH", "(A B*)", True),
    ("CLASSIFIER() AS c", "ALL ROWS PER MATCH", "(A B*)", True),
    ("count(CLASSIFIER()) AS n", "ONE ROW PER MATCH", "(A B*)", True),
]


@pytest.mark.parametrize(("measures", "rows", "pattern", "expected"), CASES)
def test_needs_labels(measures: str, rows: str, pattern: str, expected: bool) -> None:
    query = f"""SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts MEASURES {measures} {rows}
        PATTERN {pattern} DEFINE B AS x > 8)"""
    answer = rex.sql(query, t=TABLE)
    said = []

    def without_labels(plan: MatchRecognize, reader: MatchReader, *arguments: Any) -> pa.Table:
        said.append(needs_labels(plan))
        if not said[-1]:
            reader.matches = replace(reader.matches, labels=np.zeros(0, np.int16))
        return build_output(plan, reader, *arguments)

    with mock.patch.object(runner, "build_output", without_labels):
        assert rex.sql(query, t=TABLE).equals(answer)
    assert said == [expected]
    assert answer.num_rows
