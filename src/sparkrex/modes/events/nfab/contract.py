"""What an event matcher gives: matches whose events need not be neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.matching.slot_table import offsets_of, rows_of_spans

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class EventMatches:
    """Matches, partition by partition in order of their last event.

    Events `offsets[m]` to `offsets[m + 1]` are those of match m: `rows` are their positions in the frame of the feed
    (the rows held back before it, then its own), ascending; `labels` number their variables, in order of appearance.
    """

    rows: NDArray[np.int64]
    labels: NDArray[np.int16]
    offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def size(self) -> int:
        """Bytes."""
        return self.rows.nbytes + self.labels.nbytes + self.offsets.nbytes

    @staticmethod
    def none() -> EventMatches:
        """No match."""
        return EventMatches(np.empty(0, np.int64), np.empty(0, np.int16), np.zeros(1, np.int64))

    @staticmethod
    def joined(parts: list[EventMatches]) -> EventMatches:
        """The matches of several feeds, one after the other."""
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([np.diff(part.offsets) for part in parts] or [np.empty(0, np.int64)])
        return EventMatches(
            np.concatenate([part.rows for part in parts] or [np.empty(0, np.int64)]),
            np.concatenate([part.labels for part in parts] or [np.empty(0, np.int16)]),
            offsets_of(lengths),
        )

    def places(self, high: NDArray[np.int64]) -> NDArray[np.int64]:
        """The partitions that the matches are in, which end at the rows `high`."""
        return np.searchsorted(high, self.rows[self.offsets[:-1]], side="right")

    def reordered(self, order: NDArray[np.int64]) -> EventMatches:
        """The same matches in another order."""
        length = np.diff(self.offsets)[order]
        events = rows_of_spans(self.offsets[:-1][order], length)
        return EventMatches(self.rows[events], self.labels[events], offsets_of(length))

    def selected(self, keep: NDArray[np.bool_]) -> EventMatches:
        """The matches where `keep` is set."""
        lengths = np.diff(self.offsets)
        events = np.repeat(keep, lengths)
        return EventMatches(
            self.rows[events], self.labels[events], offsets_of(lengths[keep]),
        )


@dataclass(frozen=True, eq=False, slots=True)
class EventBuffer:
    """The buffer that all matches of whole partitions share: what `NfabMatcher.find_compressed(columns)` gives.

    Per node: `row` and `label` (negative: a union of two histories, without an event of its own), `before`, the node of
    the event selected before (-1: none; of a union one of the two), `other`, the second of a union, and `youngest`, the
    latest first row of all histories that end there. Per end of matches, in order: its last node, and the earliest
    first row that the window allows.
    """

    row: NDArray[np.int64]
    label: NDArray[np.int16]
    before: NDArray[np.int64]
    other: NDArray[np.int64]
    youngest: NDArray[np.int64]
    end_node: NDArray[np.int64]
    end_first: NDArray[np.int64]
