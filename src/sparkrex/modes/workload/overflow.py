"""Kleenes with too many events in a window: n events have 2^n - 1 arrays.

Above `max_kleene` events of a Kleene's leaf in a pattern's own window the pattern stops in that partition: matches that
ended before are given, and no others. Other patterns go on, so a leaf that they share goes on too, but it never looks
back further than `max_kleene` events: no pattern that has not stopped has more of them in its window.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.workload.arrays import SegmentArrays
    from sparkrex.modes.workload.prepared import Node, Prepared

NEVER = np.iinfo(np.int64).max


class Overflow:
    """Where patterns stop in the partitions of a segment: `stop_row` by pattern, for those that have a Kleene."""

    def __init__(
        self, prepared: Prepared, arrays: SegmentArrays, max_kleene: int, before: dict[int, NDArray[np.int64]],
        is_new: NDArray[np.bool_],
    ) -> None:
        """`before` has the rows at which patterns stopped, as far as that is known.

        `is_new` says by row whether it came with this feed: with others patterns have stopped, or came after them.
        """
        self.prepared, self.arrays, self.max_kleene, self._is_new = prepared, arrays, max_kleene, is_new
        self.stop_row: dict[int, NDArray[np.int64]] = {}
        for root in prepared.roots:
            for item in root.form.clause.items:
                if item.is_kleene:
                    label = int(item.label)  # type: ignore[call-overload]  # of this workload's symbols
                    stop = self.stop_row.setdefault(root.pattern, before[root.pattern].copy())
                    self._find(stop, label, prepared.windows.index(root.window))

    def _find(self, stop: NDArray[np.int64], label: int, window: int) -> None:
        rows = self.arrays.leaf_rows(label)
        n_inside = np.arange(len(rows)) - np.searchsorted(rows, self.arrays.window_first[window, rows]) + 1
        over = rows[(n_inside > self.max_kleene) & self._is_new[rows]]
        np.minimum.at(stop, self._place(over), over)

    def _place(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.searchsorted(self.arrays.offsets[1:], rows, side="right")

    def first_rows(self, node: Node) -> NDArray[np.int64]:
        """For every row of a Kleene's leaf, the first row that an array which ends there may have."""
        (label,) = node.labels
        rows = self.arrays.leaf_rows(label)
        first = self.arrays.window_first[self.prepared.windows.index(node.window), rows]
        place = np.arange(len(rows)) - self.max_kleene + 1
        if len(rows):
            first = np.where(place > 0, np.maximum(first, rows[np.maximum(place, 0)]), first)
        served = self.prepared.patterns_of_kleene[label]
        stop = np.max([self.stop_row[pattern] for pattern in served], axis=0)  # of all patterns that have the leaf
        return np.where(rows >= stop[self._place(rows)], rows + 1, first)
