"""Times after the year 9999, which Spark and Arrow know and Python does not: milliseconds read as seconds, say."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from tests.streams.driving import TICK, TIME, Query, Stream
from tests.streams.test_finality import row_query

from sparkrex.columns.values import python_value
from sparkrex.languages.events.syntax import StreamOptions
from sparkrex.modes.trends.language.syntax import TrendOptions
from sparkrex.modes.trends.plan import Counts

FAR = 1_700_000_000_000 * TICK
OPTIONS = StreamOptions(TIME, ("id",), None, {"A": "a"})
QUERIES = {
    "rows": row_query("A B", "A AS a, B AS x >= A.x", within="WITHIN INTERVAL '1' MINUTE"),
    "events": Query(
        "PATTERN SEQ(A u, ~(A v)) WHERE skip_till_next_match(u) { [k] } WITHIN 1 minutes RETURN u.id AS u",
        "MATCH_EVENTS", OPTIONS,
    ),
    "trends": Query(
        "RETURN k, COUNT(*) AS n PATTERN A+ SEMANTICS skip-till-any-match WHERE [k] GROUP-BY k WITHIN 1 minutes",
        "MATCH_TRENDS", TrendOptions(OPTIONS, None, Counts.EXACT),
    ),
}


def rows_at(*times: int) -> pa.Table:
    return pa.table({
        "id": range(len(times)), "k": ["p"] * len(times), "a": [True] * len(times), "b": [True] * len(times),
        "c": [False] * len(times), "x": [1] * len(times), TIME: pa.array(times, pa.timestamp("us", "UTC")),
    })


@pytest.mark.parametrize("name", QUERIES)
def test_a_stream_goes_on_behind_them(name: str) -> None:
    table = rows_at(1_000 * TICK, 1_001 * TICK, FAR, FAR + 1 * TICK, FAR + 200 * TICK)
    stream = Stream(QUERIES[name], table)
    given: list[Any] = []
    batches = (table.slice(0, 3), 1_001 * TICK), (table.slice(3), FAR), (table.slice(0, 0), FAR + 300 * TICK)
    for part, watermark in batches:
        given += [one.rows for one in stream.batch(part, watermark)]
    n_batch = QUERIES[name].batch(table).num_rows
    assert sum(rows.num_rows for rows in given) == n_batch > 0


def test_such_a_time_is_shown_as_text() -> None:
    assert python_value(pa.scalar(FAR, pa.timestamp("us", "UTC"))) == "55840-11-08T22:13:20.000000"
    assert python_value(pa.scalar(3_000_000, pa.date32())) == "10183-09-21"
    assert python_value(pa.scalar(7)) == 7
