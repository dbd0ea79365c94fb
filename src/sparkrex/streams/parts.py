"""Released rows as parts of slots: rows of one key, or of several partitions of it where these end at gaps.

A row more than a gap after its key's previous row ends the partition so far: the key's slot closes, and so does every
part of the released rows but the key's last. A slot also closes once the watermark is a gap after its last row: rows to
come are after the watermark, so that the next one begins a partition.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.gaps import cut_at_gaps, is_beyond
from sparkrex.columns.values import ints_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.matching.waking import NEVER
from sparkrex.streams.groups import LAST

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.streams.groups import Group


@dataclass(frozen=True, eq=False, slots=True)
class Parts:
    """Part i, which `offsets` cut out of rows in order, goes to a slot of the group. `opens` says that it is new there.

    `is_over` says which parts are behind their key's next rows, so that their slots close.
    """

    group: Group
    offsets: NDArray[np.int64]
    slots: NDArray[np.int64]
    opens: NDArray[np.bool_]
    is_over: NDArray[np.bool_]

    @staticmethod
    def none(group: Group) -> Parts:
        """No rows."""
        no = np.empty(0, np.bool_)
        return Parts(group, np.zeros(1, np.int64), np.empty(0, np.int64), no, no)

    @staticmethod
    def by_key(group: Group, own: pa.Table, offsets: NDArray[np.int64]) -> Parts:
        """One part for each key in `own`."""
        slots = group.find(own)
        is_new = slots < 0
        slots[is_new] = len(group) + np.arange(np.count_nonzero(is_new))
        if is_new.any():
            group = group.with_new(own.filter(wrap(is_new)))
        return Parts(group, offsets, slots, is_new, np.zeros(len(slots), np.bool_))

    @staticmethod
    def by_gap(group: Group, own: pa.Table, offsets: NDArray[np.int64], times: pa.ChunkedArray, gap: int) -> Parts:
        """Parts that end at gaps; the group knows the times of their last rows."""
        found = group.find(own)
        cuts = cut_at_gaps(offsets, times, gap)
        values = ints_of(plain(times))
        key = np.searchsorted(offsets, cuts[:-1], side="right") - 1
        is_first = offsets[key] == cuts[:-1]
        slots = np.where(is_first, found[key], -1)
        has_slot = np.flatnonzero(slots >= 0)
        last = group.last
        is_far = is_beyond(last[slots[has_slot]], values[cuts[:-1]][has_slot], gap)
        slots[has_slot[is_far]] = -1  # the slot closes without it: it is due
        is_new = slots < 0
        slots[is_new] = len(group) + np.arange(np.count_nonzero(is_new))
        if is_new.any():
            group = group.with_new(own.take(wrap(key[is_new])))
        last = group.last.copy()
        last[slots] = values[cuts[1:] - 1]
        is_over = np.ones(len(slots), np.bool_)
        is_over[np.searchsorted(cuts[1:], offsets[1:])] = False
        return Parts(group.with_column(LAST, last), cuts, slots, is_new, is_over)


def ends_of(last: NDArray[np.int64], gap: int) -> NDArray[np.int64]:
    """The watermarks at which slots close, by the times of their last rows."""
    is_never = last >= NEVER - gap
    return np.where(is_never, NEVER, np.where(is_never, 0, last) + gap)
