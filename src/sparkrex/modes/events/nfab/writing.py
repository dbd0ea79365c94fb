"""Matches written out of the shared buffer, with more room where it is short."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sparkrex.modes.events.kernels import matches as kernel
from sparkrex.modes.events.kernels.arguments import Matches, Walk
from sparkrex.modes.events.nfab.contract import EventMatches

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.events.kernels.arguments import Ends, Nodes

Number = TypeVar("Number", np.int64, np.float64)

_FEW_EVENTS, _MOST_ROOM = 1 << 12, 1 << 27
"""Events of matches that have room from the beginning, and when that is short, if max_event_memory allows them."""


def longer(array: NDArray[Any], length: int) -> NDArray[Any]:
    """The array with room for so many entries in front of its other dimensions."""
    larger = np.empty((length, *array.shape[1:]), array.dtype)
    larger[: len(array)] = array
    return larger


def resized(array: NDArray[Any], length: int) -> NDArray[Any]:
    """The array, which nobody else may look at, with that length.

    It grows or shrinks where it stands if the system can: copied, a long array is there twice meanwhile.
    """
    if not array.flags.owndata:
        return longer(array, length) if length > len(array) else array[:length].copy()
    array.resize(length, refcheck=False)
    return array


def repeated(record: NDArray[Number], n_times: int) -> NDArray[Number]:
    """So many records like this one."""
    return np.tile(record, (n_times, 1))


def room_for_matches(max_event_memory: int, most: int = _MOST_ROOM) -> Matches:
    """Where matches are written: room for so many events, or all that max_event_memory allows, and a little more, so
    that the limit is met before the room ends."""
    # What waits beside the matches may have taken it all.
    n_events = min(max(max_event_memory, 0) // kernel.EVENT_BYTES * 101 // 100, most)
    n_matches = n_events // 2 + 2
    return Matches(
        np.empty(n_events, np.int64), np.empty(n_events, np.int16), np.zeros(n_matches, np.int64),
        np.empty(n_matches, np.uint8), np.zeros(2, np.int64),
    )


def matches_of(output: Matches) -> tuple[EventMatches, NDArray[np.bool_]]:
    """The matches that were written, and which of them are open."""
    rows, labels, offsets, is_open, (n_matches, n_events) = output
    return (
        EventMatches(rows[:n_events], labels[:n_events], offsets[: n_matches + 1]),
        is_open[:n_matches].astype(np.bool_),
    )


class Writer:
    """Writes the matches of ends; `last_end` is the number of the one it came to. The budget is of one thread.

    Where the room for a few is short, there is room for all at once: to grow means to copy, and what was written would
    be there twice. Of a page only what is written costs anything, but of a large array the first page is large, too.
    """

    def __init__(self, max_event_memory: int, budget: NDArray[np.int64]) -> None:
        self._max_event_memory = max_event_memory
        self.output = room_for_matches(max_event_memory, _FEW_EVENTS)
        self._walk = Walk(
            np.empty(256, np.int64), np.empty(256, np.int16), np.empty(64, np.int64), np.empty(64, np.int64)
        )
        self._budget = budget
        self.last_end = 0

    @property
    def n_bytes(self) -> int:
        """What the matches take."""
        n_matches, n_events = self.output.counts.tolist()
        return int(n_matches * kernel.MATCH_BYTES + n_events * kernel.EVENT_BYTES)

    def write(self, ends: Ends, n_ends: int, nodes: Nodes, most_bytes: int) -> int:
        """Append all matches of some ends: 0, 1 (too many) or negative (given up). See `kernels.matches.write`."""
        cursor = np.array([0, 0, -1, 0], np.int64)
        while True:
            result = int(kernel.write(
                cursor, ends, np.int64(n_ends), nodes, self._walk, self.output, np.int64(most_bytes), self._budget,
            ))
            if result <= 0 or self.n_bytes > most_bytes:
                self.last_end = min(int(cursor[0]), n_ends - 1)
                return result
            self._make_room(cursor)

    def _make_room(self, cursor: NDArray[np.int64]) -> None:
        rows, labels, stack, depths = self._walk
        if cursor[3] >= len(rows):
            rows, labels = longer(rows, 2 * len(rows)), longer(labels, 2 * len(labels))
        if cursor[1] >= len(stack):
            stack, depths = longer(stack, 2 * len(stack)), longer(depths, 2 * len(depths))
        self._walk = Walk(rows, labels, stack, depths)
        counts = self.output.counts
        if len(self.output.rows) <= _FEW_EVENTS:
            few: tuple[NDArray[Any], ...] = tuple(self.output)
            self.output = room_for_matches(self._max_event_memory)
            room: tuple[NDArray[Any], ...] = tuple(self.output)
            for array, larger in zip(few, room, strict=True):
                larger[: len(array)] = array
            counts = self.output.counts
        n_events, n_matches = int(counts[1]) + len(rows), int(counts[0]) + 3
        written: tuple[NDArray[Any], ...] = tuple(self.output)
        match_rows, match_labels, offsets, is_open = (
            array if len(array) >= needed else longer(array, max(needed, 2 * len(array)))
            for array, needed in zip(written, (n_events, n_events, n_matches, n_matches), strict=False)
        )
        self.output = Matches(match_rows, match_labels, offsets, is_open, counts)
