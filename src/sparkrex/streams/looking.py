"""What a saved state holds, for people: the keys of which something is kept, without the query that wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.narrow import read_rows
from sparkrex.columns.values import ints_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.matching.state import saved_rows
from sparkrex.streams.columns import COLUMNS, WrittenColumns
from sparkrex.streams.groups import DUE, HASH, LAST
from sparkrex.streams.head import reading
from sparkrex.streams.packing import decompressed
from sparkrex.streams.store import OPEN, PENDING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

_NEVER = np.iinfo(np.int64).max
_TIME = pa.timestamp("us", "UTC")
_HELD, _WAITING, _DUE = "rows_held", "rows_waiting", "due"


def open_keys(parts: Mapping[str, bytes]) -> pa.Table:
    """A line for each partition: its keys, how many rows are held back, how many wait for the watermark, and the time
    that it has to reach before something happens."""
    columns = WrittenColumns.read(parts[COLUMNS]) if COLUMNS in parts else None
    tables = []
    for name, data in sorted(parts.items()):
        if name == OPEN or name.startswith("silent/"):
            with reading(name):
                tables.append(_slots(data))
        elif name == PENDING and columns is not None:
            with reading(name):
                tables.append(_waiting(data, columns))
    if not tables:
        return pa.schema([(_HELD, pa.int64()), (_WAITING, pa.int64()), (_DUE, _TIME)]).empty_table()
    found = pa.concat_tables(tables)
    keys = [name for name in found.column_names if name not in (_HELD, _WAITING, _DUE)]
    totals = [(_HELD, "sum"), (_WAITING, "sum"), (_DUE, "min")]
    # A key may have a slot, and rows that wait.
    found = found.group_by(keys, use_threads=False).aggregate(totals).select([*keys, *map("_".join, totals)])
    known = dict(columns.keys) if columns is not None else {}
    names = [known.get(key, key) for key in keys]
    return found.rename_columns([*(names if len(set(names)) == len(keys) else keys), _HELD, _WAITING, _DUE])


def together(tables: Sequence[pa.Table]) -> pa.Table:
    """The lines of several patterns. Keys of one name and different types are shown as texts."""
    # A bucket of which nothing is kept does not know the keys.
    tables = [table for table in tables if table.num_rows] or tables[:1]
    kinds: dict[str, set[pa.DataType]] = {}
    for table in tables:
        for field in table.schema:
            kinds.setdefault(field.name, set()).add(field.type)
    shown = []
    for table in tables:
        for place, field in enumerate(table.schema):
            if len(kinds[field.name]) > 1:
                texts = [None if value is None else str(value) for value in table.column(place).to_pylist()]
                table = table.set_column(place, field.name, pa.array(texts, pa.string()))
        shown.append(table)
    return pa.concat_tables(shown or [open_keys({})], promote_options="default")


def _slots(data: bytes) -> pa.Table:
    """The lines of a group that was written (`Group.write`)."""
    plain_bytes = decompressed(data)
    end = 8 + int.from_bytes(plain_bytes[:8], "little")
    keys = pa.ipc.open_stream(pa.py_buffer(plain_bytes[8:end])).read_all()
    held = saved_rows(memoryview(plain_bytes)[end:])
    due = ints_of(plain(keys.column(DUE)))
    own = keys.select([name for name in keys.column_names if name not in (HASH, DUE, LAST)])
    return _lines(own, held, np.zeros(len(due), np.int64), due)


def _waiting(data: bytes, columns: WrittenColumns) -> pa.Table:
    """A line for each row that the watermark has not passed."""
    rows = read_rows(decompressed(data), columns.schema)
    due = ints_of(plain(rows.column(columns.time)))
    nothing = np.zeros(len(due), np.int64)
    return _lines(rows.select([key for key, _ in columns.keys]), nothing, nothing + 1, due)


def _lines(
    keys: pa.Table, held: NDArray[np.int64], waiting: NDArray[np.int64], due: NDArray[np.int64]
) -> pa.Table:
    for name, values in ((_HELD, held), (_WAITING, waiting)):
        keys = keys.append_column(name, wrap(values))
    return keys.append_column(_DUE, pa.array(due, pa.int64(), mask=due == _NEVER).cast(_TIME))
