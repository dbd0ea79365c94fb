"""The external sort against the sort in memory, on random rows of every kind of column."""

from __future__ import annotations

import datetime
import math
import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from sparkrex.columns.arrange import SortKey, arrange
from sparkrex.columns.external_sort import Sizes, SortColumn, gather, sorted_batches

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

_DAY = datetime.date(2026, 11, 15)
_NOON = datetime.datetime(2026, 11, 15, 12)

# Few values, so that there are ties; None is NULL.
_VALUES: dict[pa.DataType, list[Any]] = {
    pa.int64(): [None, -(1 << 63), -1, 0, 1, (1 << 63) - 1],
    pa.float64(): [None, math.nan, -math.inf, math.inf, -0.0, 0.0, 1.5],
    pa.bool_(): [None, True, False],
    pa.string(): [None, "", "a", "aa", "b", "é", "Z"],
    pa.binary(): [None, b"", b"\x00", b"\xff"],
    pa.decimal128(38, 2): [None, Decimal("-1.50"), Decimal("0.00"), Decimal("12345678901234567890.25")],
    pa.date32(): [None, _DAY, _DAY + datetime.timedelta(1)],
    pa.timestamp("us", "UTC"): [None, _NOON, _NOON + datetime.timedelta(microseconds=1)],
    pa.duration("us"): [None, datetime.timedelta(0), datetime.timedelta(-1)],
}
_CARRIED: dict[pa.DataType, list[Any]] = {
    pa.list_(pa.int32()): [None, [], [1, None]],
    pa.struct([("a", pa.string())]): [None, {"a": "x"}],
    pa.map_(pa.string(), pa.int64()): [None, [("k", 1)], []],
}


@pytest.mark.parametrize("seed", range(60))
def test_equals_the_sort_in_memory(seed: int, tmp_path: Path) -> None:
    table, by = _random_rows(random.Random(seed))
    sizes = random.Random(seed).choice(
        [Sizes(1, 1, 1, 2, 1), Sizes(500, 300, 100, 3, 5), Sizes(2_000, 4_000, 5_000, 64, 7), Sizes.within(1 << 20)]
    )
    found = _sorted(_batches(table, random.Random(seed)), by, sizes, tmp_path)
    keys = [SortKey(table.column(key.name), key.is_descending, key.nulls_first) for key in by]
    order = arrange((), keys, table.num_rows).order
    expected = table if order is None else table.take(order)
    # The last column numbers the input rows: equal, also among ties.
    result = pa.Table.from_batches(found, table.schema)
    assert result.column("number").to_pylist() == expected.column("number").to_pylist()
    assert repr(result.to_pylist()) == repr(expected.to_pylist())
    assert list(tmp_path.iterdir()) == []


def test_runs_that_do_not_overlap(tmp_path: Path) -> None:
    table = pa.table({"ts": range(1_000), "number": range(1_000)})
    batches = table.to_batches(max_chunksize=10)
    found = _sorted(reversed(batches), [SortColumn("ts")], Sizes(800, 1_000, 100, 4, 3), tmp_path)
    assert pa.Table.from_batches(found).equals(table)


def test_a_column_is_sorted_by_twice(tmp_path: Path) -> None:
    table = pa.table({"k": [number % 7 for number in range(100)], "ts": range(100)})
    by = [SortColumn("k"), SortColumn("k", is_descending=True), SortColumn("ts")]
    found = _sorted(table.to_batches(max_chunksize=10), by, Sizes(100, 100, 100, 4, 3), tmp_path)
    assert pa.Table.from_batches(found).equals(table.sort_by([("k", "ascending"), ("ts", "ascending")]))


def test_no_rows(tmp_path: Path) -> None:
    empty = pa.schema([("ts", pa.int64())]).empty_table()
    assert _sorted(empty.to_batches(), [SortColumn("ts")], Sizes.within(1), tmp_path) == []


def test_files_are_gone_when_nobody_reads_on(tmp_path: Path) -> None:
    tables = gather(pa.table({"ts": range(1_000)}).to_batches(max_chunksize=10), 100)
    found = sorted_batches(tables, [SortColumn("ts")], Sizes(100, 100, 100), str(tmp_path))
    next(found)
    found.close()  # type: ignore[attr-defined]  # it is a generator
    assert list(tmp_path.iterdir()) == []


def _sorted(
    batches: Iterable[pa.RecordBatch], by: list[SortColumn], sizes: Sizes, folder: Path
) -> list[pa.RecordBatch]:
    return list(sorted_batches(gather(batches, sizes.gather_bytes), by, sizes, str(folder)))


def _random_rows(chance: random.Random) -> tuple[pa.Table, list[SortColumn]]:
    n_rows = chance.choice([1, 2, 30, 300])
    columns: dict[str, pa.Array] = {}
    by = []
    for place in range(chance.randint(1, 3)):
        kind = chance.choice(list(_VALUES))
        values = _VALUES[kind] if chance.random() < 0.7 else _VALUES[kind][1:]
        columns[f"k{place}"] = pa.array(chance.choices(values, k=n_rows), kind)
        by.append(SortColumn(f"k{place}", chance.random() < 0.4, chance.random() < 0.5))
    for place, (kind, values) in enumerate(_CARRIED.items()):
        columns[f"c{place}"] = pa.array(chance.choices(values, k=n_rows), kind)
    columns["number"] = pa.array(range(n_rows))
    return pa.table(columns), by


def _batches(table: pa.Table, chance: random.Random) -> Iterator[pa.RecordBatch]:
    first = 0
    while first < table.num_rows:
        size = chance.randint(0, 20)
        piece = table.slice(first, size)
        yield pa.RecordBatch.from_arrays([pa.concat_arrays(c.chunks) for c in piece.columns], schema=table.schema)
        first += size
