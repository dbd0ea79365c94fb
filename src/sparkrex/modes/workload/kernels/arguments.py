"""What the kernels of workloads are given: arrays that belong together. Rows are positions in the segment."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Plan(NamedTuple):
    """The nodes, children before their joins, and what they refer to (fields: `codes`, links: `links`)."""

    nodes: NDArray[np.int64]
    links: NDArray[np.int64]
    keys: NDArray[np.int64]
    roots: NDArray[np.int64]
    root_slots: NDArray[np.int64]


class Rows(NamedTuple):
    """The rows of a segment.

    window_first : [windows, rows], the first row that an instance which ends there may have
    ordinal : by row, the first row of the same time if tied events do not follow each other, else the row itself
    rank : [ranks, rows], where a row stands in lines of keys: line 0 is the row itself
    makes : by row, whether instances that end there are to be made; others were made before
    gives : by row, whether matches that end there are to be given
    offsets : where partitions begin, and where the last one ends
    open_from : [windows, partitions], the first row whose instances rows to come may complete
    """

    window_first: NDArray[np.int64]
    ordinal: NDArray[np.int64]
    rank: NDArray[np.int64]
    makes: NDArray[np.bool_]
    gives: NDArray[np.bool_]
    offsets: NDArray[np.int64]
    open_from: NDArray[np.int64]


class Store(NamedTuple):
    """Instances of all nodes, then complete ones of all roots.

    pool : columns of all arenas, keys, indexes
    columns : [arenas, columns], where the columns of an arena begin in the pool
    arenas, sides, kleenes, kept : fields: `codes`; sides are [nodes, 2, fields], the others by arena or node
    """

    pool: NDArray[np.int64]
    columns: NDArray[np.int64]
    arenas: NDArray[np.int64]
    sides: NDArray[np.int64]
    kleenes: NDArray[np.int64]
    kept: NDArray[np.int64]


class Cells(NamedTuple):
    """Events of arrays: the row of an event, the row of its array's first event, the cell of the event before (-1)."""

    row: NDArray[np.int64]
    first: NDArray[np.int64]
    before: NDArray[np.int64]
