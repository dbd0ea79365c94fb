"""With `partition_gap` a stream and its drain give the rows of the batch, and keep nothing of keys that are silent."""

from __future__ import annotations

import random
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.streams.driving import EPOCH, TICK, TIME, Query, Stream, drive
from tests.streams.test_stream_equals_batch import QUERIES, rows_of, sorted_rows

GAPS = (1, 2, 5)
UNTIL_THE_END = ("trends without windows", "trends in windows of events")
"""Of groups of several partitions: any that is still to come adds to them."""


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("seed", range(25))
def test_stream_and_drain_are_the_batch(name: str, seed: int) -> None:
    draw = random.Random(f"{name} {seed}")
    table = rows_of(draw, draw.choice([0, 3, 10, 40, 80]))
    query = with_gap(QUERIES[name], draw.choice(GAPS))
    driven = drive(query, table, draw)
    assert sorted_rows(driven.result) == sorted_rows(query.batch(table.filter(pc.invert(driven.is_late))))


@pytest.mark.parametrize("name", QUERIES)
def test_nothing_is_kept_of_a_key_that_is_silent(name: str) -> None:
    draw = random.Random(name)
    table = rows_of(draw, 60, nulls=False)
    query = with_gap(QUERIES[name], 5)
    stream = Stream(query, table, draw)
    stream.batch(table, 0)
    last = pc.max(table.column(TIME)).value
    found = [stream.batch(table.slice(0, 0), last + 5 * TICK - 1), stream.batch(table.slice(0, 0), last + 5 * TICK)]
    for advanced in found[-1]:
        assert advanced.metrics.open_keys == advanced.metrics.rows_held == 0
    if name.startswith("trends"):
        # Windows may go on behind the partition: they wait for others of their group.
        found.append(stream.batch(table.slice(0, 0), last + 10 * TICK))
    assert all(advanced.next_due is None for advanced in found[-1])
    given = [stream.cut.merged(pa.concat_tables([advanced.rows for advanced in batch])) for batch in found]
    at_the_end = stream.drain()
    assert bool(at_the_end.num_rows) == (name in UNTIL_THE_END)
    result = stream.cut.selected(pa.concat_tables([*given, stream.cut.merged(at_the_end)]))
    assert sorted_rows(result) == sorted_rows(query.batch(table))


def test_silence_of_exactly_the_gap_ends_nothing() -> None:
    query = Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, COUNT(*) AS n, MATCH_NUMBER() AS m PATTERN (A+ $)",
        settings={"partition_gap": "3 seconds"},
    )
    table = rows_at(0, 3, 6)
    stream = Stream(query, table)
    assert given(stream, table.slice(0, 1), 0, EPOCH) == []
    assert given(stream, table.slice(1, 1), EPOCH + 2, EPOCH + 3) == []  # the next row may come at 3
    assert given(stream, table.slice(2, 1), EPOCH + 6) == []
    assert given(stream, table.slice(0, 0), EPOCH + 8) == []
    assert given(stream, table.slice(0, 0), EPOCH + 9) == [{"k": "a", "a": 0, "n": 3, "m": 1}]


def rows_at(*ticks: int) -> pa.Table:
    """Rows of one key at these times."""
    lines = [{"id": number, "k": "a", "x": 1, TIME: (EPOCH + tick) * TICK} for number, tick in enumerate(ticks)]
    schema = pa.schema([("id", pa.int64()), ("k", pa.string()), ("x", pa.int64()), (TIME, pa.timestamp("us"))])
    return pa.Table.from_pylist(lines, schema)


def given(stream: Stream, rows: pa.Table, *watermarks: int) -> list[dict[str, object]]:
    """What rows and watermarks, one after the other, decide."""
    found = []
    for number, watermark in enumerate(watermarks):
        batch = stream.batch(rows.slice(0, 0) if number else rows, watermark * TICK)
        found += [line for advanced in batch for line in stream.cut.result(advanced.rows).to_pylist()]
    return found


def with_gap(query: Query, seconds: int) -> Query:
    """The query under the setting."""
    return replace(query, settings={**query.settings, "partition_gap": f"{seconds} seconds"})
