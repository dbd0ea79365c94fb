"""Rows in order, cut into partitions: what conditions are evaluated over and matchers are fed with."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.threads import ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.columns.counting import Scatter


@dataclass(frozen=True, eq=False)
class Columns:
    """Ordered rows: the columns that conditions read, and `offsets` that cut them into partitions.

    A column is put in order when it is asked for: what is cheaper to compute in input order, as a comparison of
    strings, is computed there. `kept` is where numbers that were put in order are left for others, `scatter` a faster
    way to put them there (see `columns.arrange.Arrangement`).
    """

    table: pa.Table
    offsets: NDArray[np.int64]
    known_order: NDArray[np.int64] | None = None
    kept: dict[str, NDArray[Any]] = field(default_factory=dict)
    scatter: Scatter | None = None

    @property
    def order(self) -> NDArray[np.int64] | None:
        """`order[i]` is the table's row at position i, None if the table is in order."""
        return self.known_order if self.scatter is None else self.scatter.order

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return int(self.table.num_rows)

    @cached_property
    def ordered(self) -> pa.Table:
        """All columns in order."""
        return self.table if self.order is None else self.table.take(pa.array(self.order))


def partition_ranges(frame: Columns, threads: int, least: int | None = None) -> list[tuple[int, int]]:
    """Ranges of partitions with about as many rows each, one a thread; none if there are no partitions."""
    n_partitions = len(frame.offsets) - 1
    starts = [begin for begin, _ in ranges(frame.n_rows, threads, least)]
    cuts = np.unique([0, *np.searchsorted(frame.offsets, starts[1:]), n_partitions])
    return list(pairwise(cuts.tolist()))
