"""Matches that wait: because rows to come decide what must be absent after them, or because of one that does in front.

Matches of a pattern come in the order of their last events, partition by partition, however the rows are cut into
feeds. So no match is given before one that comes in front of it is decided.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.events.nfab.contract import EventMatches
from sparkrex.modes.workload.decide import reject

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.workload.search import Search


@dataclass(frozen=True, eq=False, slots=True)
class Waiting:
    """Matches of a pattern, the root that each comes from, and whether it is decided. Rows are those of the frame."""

    matches: EventMatches
    root: NDArray[np.int64]
    is_decided: NDArray[np.bool_]

    @staticmethod
    def of(matches: EventMatches, root: int) -> Waiting:
        """Matches of which nothing is decided."""
        return Waiting(matches, np.full(len(matches), root), np.zeros(len(matches), np.bool_))

    @staticmethod
    def joined(parts: list[Waiting]) -> Waiting:
        """Several, one after the other."""
        return Waiting(
            EventMatches.joined([part.matches for part in parts]),
            np.concatenate([np.empty(0, np.int64), *(part.root for part in parts)]),
            np.concatenate([np.empty(0, np.bool_), *(part.is_decided for part in parts)]),
        )

    @property
    def low(self) -> NDArray[np.int64]:
        """The first row of each."""
        return self.matches.rows[self.matches.offsets[:-1]]

    @property
    def high(self) -> NDArray[np.int64]:
        """The last row of each."""
        return self.matches.rows[self.matches.offsets[1:] - 1]

    def where(self, keep: NDArray[np.bool_]) -> Waiting:
        """Some of them."""
        return Waiting(self.matches.selected(keep), self.root[keep], self.is_decided[keep])

    def in_order(self) -> Waiting:
        """The same in the order in which they are given."""
        order = order_of(self.matches)
        return Waiting(self.matches.reordered(order), self.root[order], self.is_decided[order])

    def given(self, ends: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of them can be given, which are in order: those with no undecided one in front, in their partition."""
        place = self.matches.places(ends)
        first_open = np.full(len(ends), len(place), np.int64)
        is_open = np.flatnonzero(~self.is_decided)
        np.minimum.at(first_open, place[is_open], is_open)
        given: NDArray[np.bool_] = np.arange(len(place)) < first_open[place]
        return given


def settle(waiting: Waiting, search: Search, first: int, open_from: NDArray[np.int64]) -> Waiting:
    """Decide those whose windows are over after a segment that begins at the frame's row `first`.

    `open_from` has by window and partition of the segment the first row whose window is not over.
    """
    low, high = waiting.low - first, waiting.high - first
    place = np.searchsorted(search.arrays.offsets[1:], low, side="right")
    keep, is_decided = np.ones(len(low), np.bool_), waiting.is_decided.copy()
    is_here = (high >= 0) & (high < search.arrays.n_rows)
    for number in np.unique(waiting.root[~is_decided]).tolist():
        root = search.prepared.roots[number]
        window = search.prepared.windows.index(root.window)
        own = np.flatnonzero(~is_decided & (waiting.root == number) & is_here)
        own = own[low[own] < open_from[window, place[own]]]
        if not len(own):
            continue
        is_decided[own] = True
        mask = np.zeros(len(low), np.bool_)
        mask[own] = True
        matches, stays = waiting.matches.selected(mask), np.ones(len(own), np.bool_)
        before = search.arrays.window_last(root.window)[low[own]] + 1
        after = search.arrays.last_of_time[high[own]]
        items = np.zeros((len(root.slots), len(own)), np.int64)
        for item, label in enumerate(root.form.labels):
            if not root.form.clause.items[item].is_kleene:
                items[item] = matches.rows[matches.labels == label] - first
        for absence, conditions in zip(root.form.absences, root.absences, strict=True):
            if absence.is_trailing:
                reject(search, absence, conditions, after, before, items, stays)
        keep[own] = stays
    return Waiting(waiting.matches, waiting.root, is_decided).where(keep)


def order_of(matches: EventMatches) -> NDArray[np.int64]:
    """The order of matches: by last row, first row, number of events, rows, variables."""
    length = np.diff(matches.offsets)
    low, high = matches.rows[matches.offsets[:-1]], matches.rows[matches.offsets[1:] - 1]
    if (high[1:] > high[:-1]).all():
        return np.arange(len(matches))
    order = np.lexsort((length, low, high))
    alike = np.zeros(len(order) + 1, np.bool_)
    alike[1:-1] = True
    for values in (length, low, high):
        alike[1:-1] &= values[order[1:]] == values[order[:-1]]
    tied = np.flatnonzero(alike[1:] | alike[:-1])
    if len(tied):
        order[tied] = order[tied][_order_of_alike(matches, order[tied])]
    return order


def _order_of_alike(matches: EventMatches, chosen: NDArray[np.int64]) -> NDArray[np.int64]:
    """The order of some matches, which are in groups that only differ in events between the first and the last."""
    length = np.diff(matches.offsets)[chosen]
    begin = matches.offsets[:-1][chosen]
    width = int(length.max())
    place = np.minimum(begin + np.arange(width)[:, None], len(matches.rows) - 1)
    is_there = np.arange(width)[:, None] < length
    rows, labels = np.where(is_there, matches.rows[place], -1), np.where(is_there, matches.labels[place], -1)
    return np.lexsort((*labels[::-1], *rows[::-1], length, rows[0], matches.rows[begin + length - 1]))
