"""What a saved state holds, for people: the open keys of a bucket, without the query that wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.wrap import wrap
from sparkrex.matching.state import saved_rows
from sparkrex.streams.groups import DUE, LAST
from sparkrex.streams.head import reading
from sparkrex.streams.operator import OPEN
from sparkrex.streams.packing import HASH, decompressed

if TYPE_CHECKING:
    from collections.abc import Mapping

_NEVER = np.iinfo(np.int64).max


def open_keys(parts: Mapping[str, bytes]) -> pa.Table:
    """A line for each open partition: its keys, how many rows are held back, and what it waits for."""
    tables = []
    for name, data in sorted(parts.items()):
        if name != OPEN and not name.startswith("silent/"):
            continue
        with reading(name):
            keys, n_rows = _read(data)
        due = keys.column(DUE)
        found = keys.select([name for name in keys.column_names if name not in (HASH, DUE, LAST)])
        found = found.append_column("rows_held", wrap(n_rows))
        waits = [None if when.as_py() == _NEVER else when.as_py() for when in due]
        found = found.append_column("due", pa.chunked_array([pa.array(waits, pa.int64())]).cast(_TIME))
        tables.append(found)
    nothing = pa.schema([("rows_held", pa.int64()), ("due", _TIME)]).empty_table()
    return pa.concat_tables(tables) if tables else nothing


_TIME = pa.timestamp("us", "UTC")


def _read(data: bytes) -> tuple[pa.Table, Any]:
    """The keys of a group that was written (`Group.write`), and how many rows each slot holds."""
    plain = decompressed(data)
    end = 8 + int.from_bytes(plain[:8], "little")
    keys = pa.ipc.open_stream(pa.py_buffer(plain[8:end])).read_all()
    return keys, saved_rows(memoryview(plain)[end:])
