"""What a runner is fed with, and what it looks at: the rows held back from before, then the new ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.wrap import wrap

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Feed:
    """New rows of some slots. A slot is an open partition; who feeds maps keys to slots, which are numbered from 0.

    The arrangement orders the table's rows and cuts them into one partition for each of `slots`, in which a slot occurs
    at most once. A partition may have no rows: to close its slot, or because the horizon has moved. `opens` says which
    slots begin with this feed, `closes` which end with it.

    `horizon` is a value of the first ORDER BY column: no row ordered at or before it will come. Time bounds are decided
    by it; None says nothing about rows to come.
    """

    table: pa.Table
    arrangement: Arrangement
    slots: NDArray[np.int64]
    opens: NDArray[np.bool_]
    closes: NDArray[np.bool_]
    horizon: pa.Scalar | None = None

    @staticmethod
    def whole(table: pa.Table, arrangement: Arrangement) -> Feed:
        """Partitions that begin and end here, each a slot of its own."""
        n_partitions = len(arrangement.offsets) - 1
        always = np.ones(n_partitions, np.bool_)
        return Feed(table, arrangement, np.arange(n_partitions), always, always)

    @property
    def is_whole(self) -> bool:
        """Whether every partition begins and ends here: then nothing is kept of it."""
        return bool(self.opens.all() and self.closes.all())

    def input_row(self, slot: int) -> int | None:
        """The table's row that comes first in a slot; None if the slot has no rows here."""
        (place,) = np.flatnonzero(self.slots == slot)[:1].tolist() or (-1,)
        offsets = self.arrangement.offsets
        if place < 0 or offsets[place] == offsets[place + 1]:
            return None
        return int(self.arrangement.input_rows(offsets[place : place + 1])[0])


    def part(self, begin: int, end: int) -> Feed:
        """The partitions from `begin` up to `end` as a feed of their own."""
        own, slots = self.arrangement, slice(begin, end)
        offsets = own.offsets[begin : end + 1]
        positions = np.arange(offsets[0], offsets[-1])
        table = self.table.take(wrap(own.input_rows(positions)))
        arrangement = Arrangement(None, offsets - offsets[0], table.num_rows)
        return Feed(table, arrangement, self.slots[slots], self.opens[slots], self.closes[slots], self.horizon)


@dataclass(frozen=True, eq=False, slots=True)
class Frame:
    """The rows of a feed's slots: in each partition `n_held` rows from before, then the new ones.

    `arrangement` orders the table's rows and cuts them, as in the feed.
    """

    table: pa.Table
    arrangement: Arrangement
    n_held: NDArray[np.int64]

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where the partitions begin, and where the last one ends."""
        return self.arrangement.offsets

    @property
    def begin(self) -> NDArray[np.int64]:
        """The position of each partition's first row."""
        return self.arrangement.offsets[:-1]

    @property
    def end(self) -> NDArray[np.int64]:
        """The position behind each partition's last row."""
        return self.arrangement.offsets[1:]

    def place_of(self, row: int) -> int:
        """The partition that a position lies in."""
        return int(np.searchsorted(self.end, row, side="right"))
