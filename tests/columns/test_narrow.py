"""Rows in few bytes are the rows that they were, whatever their types, NULLs and places in larger tables."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from sparkrex.columns.narrow import NarrowRows, read_rows, write_rows
from sparkrex.columns.wrap import wrap
from sparkrex.streams.packing import BUCKET_IDS, pack, unpack

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LEAST, _MOST = -(1 << 63), (1 << 63) - 1
_EPOCH = dt.datetime(2026, 3, 1, tzinfo=dt.UTC)
COLUMNS: dict[str, tuple[pa.DataType, list[Any]]] = {
    "tiny": (pa.int8(), [-128, 127, 0]),
    "short": (pa.int16(), [-32768, 32767, 3]),
    "int": (pa.int32(), [-(1 << 31), (1 << 31) - 1, 7]),
    "far apart": (pa.int64(), [_LEAST, _MOST, 0]),
    "at the top": (pa.int64(), [_MOST - 300, _MOST, _MOST - 1]),
    "at the bottom": (pa.int64(), [_LEAST, _LEAST + 255]),
    "just too far": (pa.int64(), [5, 5 + (1 << 32)]),
    "just near enough": (pa.int64(), [-5, -6 + (1 << 32)]),
    "equal": (pa.int64(), [1 << 40]),
    "zoned": (pa.timestamp("us", "Europe/Berlin"), [_EPOCH, _EPOCH + dt.timedelta(days=2)]),
    "time stamp": (pa.timestamp("ns"), [0, 77]),
    "day": (pa.date32(), [dt.date(1, 1, 1), dt.date(9999, 12, 31)]),
    "near days": (pa.date32(), [dt.date(2026, 3, 1), dt.date(2026, 3, 2)]),
    "time": (pa.time64("us"), [dt.time(0, 0), dt.time(23, 59)]),
    "duration": (pa.duration("us"), [dt.timedelta(-1), dt.timedelta(hours=1)]),
    "double": (pa.float64(), [0.1, -0.0, float("inf")]),
    "bool": (pa.bool_(), [True, False]),
    "text": (pa.string(), ["", "ü", "long " * 9]),
    "bytes": (pa.binary(), [b"", b"\0\1"]),
    "decimal": (pa.decimal128(20, 2), [Decimal("1.25"), Decimal("-9.99")]),
    "list": (pa.list_(pa.int64()), [[1, 2], []]),
    "struct": (pa.struct([("a", pa.int64())]), [{"a": 1}]),
    "void": (pa.null(), [None]),
}


def random_rows(draw: random.Random, n_rows: int) -> pa.Table:
    """Rows with all columns; some have NULLs, some nothing else."""
    columns = {}
    for name, (kind, values) in COLUMNS.items():
        share = draw.choice([0.0, 0.0, 0.4, 1.0])
        columns[name] = pa.array([None if draw.random() < share else draw.choice(values) for _ in range(n_rows)], kind)
    return pa.table(columns)


@pytest.mark.parametrize("seed", range(40))
def test_what_was_written_is_read(seed: int) -> None:
    draw = random.Random(seed)
    rows = random_rows(draw, 40)
    rows = pa.concat_tables([rows.slice(0, draw.randint(0, 40)), rows]).slice(draw.randint(0, 9), draw.randint(1, 30))
    assert read_rows(write_rows(rows), rows.schema).equals(rows)
    narrow = NarrowRows.of(rows)
    start = draw.randrange(rows.num_rows)
    length = draw.randint(1, rows.num_rows - start)
    assert read_rows(narrow.write(start, length), rows.schema).equals(rows.slice(start, length))


@pytest.mark.parametrize("seed", range(10))
def test_packed_rows_are_all_there_and_in_their_buckets(seed: int) -> None:
    draw = random.Random(seed)
    rows = random_rows(draw, 200)
    hashes = np.array([draw.randint(-(1 << 63), (1 << 63) - 1) for _ in range(200)], np.int64)
    rows = rows.append_column("place", wrap(np.arange(200)))

    def hashed(part: pa.Table) -> NDArray[np.int64]:
        found: NDArray[np.int64] = hashes[part.column("place").to_numpy()]
        return found

    n_buckets = draw.choice([1, 3, 32, 256])
    found = []
    for bucket, blob in pack(rows.to_batches(max_chunksize=draw.choice([7, 1_000])), n_buckets, hashed):
        own = unpack([blob], rows.schema)
        assert set((hashed(own) % n_buckets).tolist()) <= {BUCKET_IDS.index(bucket)}
        found.append(own)
    assert pa.concat_tables(found).sort_by("place").combine_chunks().equals(rows.combine_chunks())


def test_near_values_take_few_bytes() -> None:
    rows = pa.table({"ts": wrap((1 << 50) + np.arange(100_000)), "k": wrap(np.arange(100_000) % 200 - 100)})
    assert len(write_rows(rows)) < 100_000 * 5.1
