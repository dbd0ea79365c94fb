"""Whose a state is, and that nothing depends on how rows arrive."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pytest
from tests.differential.relations import one_database
from tests.streams.driving import EPOCH, TICK, TIME, Query, Stream

from sparkrex.errors import ExecutionError
from sparkrex.streams.head import Head
from sparkrex.streams.store import HEAD

ROWS = pa.table({
    "id": range(12), "k": ["p", "q"] * 6, "x": [3, 1, 2, 0] * 3,
    TIME: pa.array([(EPOCH + number // 6) * TICK for number in range(12)], pa.timestamp("us")),
})
QUERY = Query(
    "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, LAST(id) AS b PATTERN (A B+) DEFINE B AS x <= PREV(x)"
)


def test_ties_are_in_an_order_that_does_not_depend_on_arrival() -> None:
    with one_database():
        assert len({_given(seed) for seed in range(6)}) == 1


def _given(seed: int) -> str:
    stream = Stream(QUERY, ROWS, random.Random(seed))
    found = [one.rows for rows, watermark in ((ROWS, 0), (ROWS.slice(0, 0), (EPOCH + 9) * TICK))
             for one in stream.batch(rows, watermark)]
    return repr(pa.concat_tables([*found, stream.drain()]).to_pylist())


def test_the_state_of_another_query_is_refused() -> None:
    other = Query(QUERY.text.replace("<=", "<"))
    with one_database():
        stream = Stream(QUERY, ROWS)
        stream.batch(ROWS, EPOCH * TICK)
        changed = Stream(other, ROWS)
        changed.stores = stream.stores
        with pytest.raises(ExecutionError) as error:
            changed.batch(ROWS, EPOCH * TICK)
    assert error.value.code == "REX419"
    assert QUERY.text in str(error.value)
    assert other.text in str(error.value)


def test_the_state_of_another_format_is_refused() -> None:
    with one_database():
        stream = Stream(QUERY, ROWS)
        stream.batch(ROWS, EPOCH * TICK)
        for store in stream.stores:
            store[HEAD] = json.dumps({**json.loads(store[HEAD]), "format": 999}).encode()
        with pytest.raises(ExecutionError, match="another format"):
            stream.batch(ROWS, EPOCH * TICK)


def test_a_watermark_never_goes_back() -> None:
    with one_database():
        stream = Stream(QUERY, ROWS)
        stream.batch(ROWS.slice(0, 0), (EPOCH + 5) * TICK)
        for _ in range(2):
            # Spark may hand out an older one after a restart: these rows are late all the same.
            stream.watermark = (EPOCH + 5) * TICK
            late = [one.metrics.late for one in stream.batch(ROWS, (EPOCH - 5) * TICK)]
            assert sum(late) == ROWS.num_rows


def test_another_number_of_buckets_is_said() -> None:
    saved = Head().write("abc.32", "PATTERN (A)", "1")
    with pytest.raises(ExecutionError, match="the checkpoint has 32 buckets, and the query 256") as raised:
        Head.read(saved, "abc.256", "PATTERN (A)")
    assert raised.value.hint == 'settings={"buckets": 32}'
    with pytest.raises(ExecutionError, match="belongs to another query"):
        Head.read(saved, "abd.256", "PATTERN (B)")
    with pytest.raises(ExecutionError, match="belongs to another query"):
        Head.read(saved, "abc.32/2", "PATTERN (A)")
