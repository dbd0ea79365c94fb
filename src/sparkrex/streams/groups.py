"""Slots with their keys: the open partitions of a bucket, or a part of them, as one value that can be saved.

Slots that time may decide stand together (`open`), since any change of the watermark may concern them. The others wait
for a row of their key, however long that takes: see `silent`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.keys import partition_integers
from sparkrex.columns.values import ints_of, numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.streams.packing import compressed, decompressed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.matching.runner import Runner
    from sparkrex.matching.state import State

HASH = "rex_hash"
"""The column with the hash of a slot's keys."""
DUE = "rex_due"
"""The column with the watermark at which a slot must be looked at again."""
LAST = "rex_last"
"""The column with the time of a slot's last row, held back or not, where partitions end at gaps."""


@dataclass(frozen=True, eq=False, slots=True)
class Group:
    """Slot i has the keys of line i, and is due at a watermark.

    `keys` has the key columns, the hash, `DUE`, and `LAST` where partitions end at gaps: there keys may have several
    slots while a feed closes all but the last of them.
    """

    keys: pa.Table
    state: State

    @staticmethod
    def empty(schema: pa.Schema, runner: Runner) -> Group:
        """No slots."""
        return Group(schema.empty_table(), runner.open())

    @staticmethod
    def joined(groups: Sequence[Group]) -> Group:
        """The slots of several, one after the other."""
        if len(groups) == 1:
            return groups[0]
        state = groups[0].state
        return Group(
            pa.concat_tables([group.keys for group in groups]), type(state).merge([group.state for group in groups])
        )

    def __len__(self) -> int:
        return int(self.keys.num_rows)

    @property
    def due(self) -> NDArray[np.int64]:
        """When each slot is due."""
        return numpy_of(plain(self.keys.column(DUE)))

    @property
    def last(self) -> NDArray[np.int64]:
        """The time of each slot's last row."""
        return numpy_of(plain(self.keys.column(LAST)))

    @property
    def hashes(self) -> NDArray[np.int64]:
        """The hash of each slot's keys."""
        return numpy_of(plain(self.keys.column(HASH)))

    def find(self, keys: pa.Table) -> NDArray[np.int64]:
        """The slots of some keys, no two of them equal; -1 for those that have none."""
        codes = [
            partition_integers(both, [(0, len(both))])
            for name in keys.column_names
            for both in [pa.chunked_array([*self.keys.column(name).chunks, *keys.column(name).chunks])]
        ]
        known = len(self)
        order = np.lexsort([np.arange(known + keys.num_rows), *codes[::-1]])
        # Equal keys stand together, the slot in front.
        is_same = np.ones(max(len(order) - 1, 0), np.bool_)
        for code in codes:
            is_same &= code[order[1:]] == code[order[:-1]]
        found = np.full(keys.num_rows, -1)
        pairs = np.flatnonzero(is_same)
        found[order[pairs + 1] - known] = order[pairs]
        return found

    def with_new(self, keys: pa.Table) -> Group:
        """More slots, of these keys, behind the others."""
        more = keys
        for name in (DUE, LAST):
            if name in self.keys.column_names:
                more = more.append_column(name, wrap(np.zeros(keys.num_rows, np.int64)))
        return Group(pa.concat_tables([self.keys, more.select(self.keys.column_names)]), self.state)

    def with_column(self, name: str, values: NDArray[np.int64]) -> Group:
        """The same slots with other times in `DUE` or `LAST`."""
        place = self.keys.column_names.index(name)
        return Group(self.keys.set_column(place, name, wrap(values)), self.state)

    def where(self, keep: NDArray[np.bool_]) -> Group:
        """Some slots."""
        return self._take(np.flatnonzero(keep))

    def _take(self, slots: NDArray[np.int64]) -> Group:
        return Group(self.keys.take(wrap(slots)), self.state.select(slots))

    def slice(self, first: int, length: int) -> Group:
        """Some slots that stand together."""
        return self._take(np.arange(first, min(first + length, len(self))))

    @property
    def n_held(self) -> int:
        """How many rows are held back."""
        slots = np.arange(len(self))
        return int(sum(table.lengths(slots).sum() for table in self.state.held))

    def oldest(self, column: str) -> int | None:
        """The earliest time of the rows that are held back."""
        found = []
        for table in self.state.held:
            rows, _ = table.read(np.arange(len(self)))
            if rows is not None and column in rows.column_names:
                found.append(int(ints_of(plain(rows.column(column))).min()))
        return min(found, default=None)

    def write(self, fingerprint: str) -> bytes:
        """The group as bytes."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, self.keys.schema) as writer:
            writer.write_table(self.keys)
        keys, state = sink.getvalue().to_pybytes(), self.state.snapshot(fingerprint)
        return compressed(len(keys).to_bytes(8, "little") + keys + state)

    @staticmethod
    def read(data: bytes, runner: Runner, fingerprint: str) -> Group:
        """A group that was written."""
        plain_bytes = decompressed(data)
        end = 8 + int.from_bytes(plain_bytes[:8], "little")
        keys = pa.ipc.open_stream(pa.py_buffer(plain_bytes[8:end])).read_all()
        return Group(keys, runner.open().restore(plain_bytes[end:], fingerprint))
