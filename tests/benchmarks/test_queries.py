"""Every query of the benchmark gives the expected answer, by SparkRex and by hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import duckdb
import pytest
from benchmarks.check import differences
from benchmarks.queries import ALL

import sparkrex as rex

if TYPE_CHECKING:
    from benchmarks.query import Query

N_ROWS = 20_000


@pytest.mark.parametrize("query", ALL.values(), ids=ALL)
def test_the_answer_is_the_expected_one(query: Query) -> None:
    table = query.make(N_ROWS)
    expected = query.expected(table)
    assert differences(rex.sql(query.sql, t=table), expected) is None
    if query.duckdb is not None:
        connection = duckdb.connect()
        connection.execute("SET TimeZone = 'UTC'; SET threads = 1")
        connection.register("t", table)
        assert differences(connection.sql(query.duckdb).to_arrow_table(), expected, any_order=True) is None


def test_a_difference_is_seen() -> None:
    query = ALL["W1"]
    table = query.make(N_ROWS)
    expected = query.expected(table)
    result = rex.sql(query.sql, t=table)
    assert differences(result.slice(1), expected) is not None
    swapped = result.take([1, 0, *range(2, result.num_rows)])
    assert differences(swapped, expected) is not None
    assert differences(swapped, expected, any_order=True) is None
