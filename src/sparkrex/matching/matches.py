"""Matches of row patterns as arrays: what matchers give and measures are read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """Matches in order, as positions in the frame of the feed: the rows held back before it, then its own.

    `label_offsets` has one entry more than there are matches and cuts `labels` (2 * variable + excluded) into matches.
    A matcher that was told that nobody reads labels may leave `labels` empty: `n_mapped` counts the mapped rows.
    `is_timeout` says which are no matches but beginnings of some that have timed out, without a number; None: none is.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    number: NDArray[np.int64]
    labels: NDArray[np.int16]
    label_offsets: NDArray[np.int64]
    is_timeout: NDArray[np.bool_] | None = None

    def __len__(self) -> int:
        return len(self.start)

    @property
    def n_mapped(self) -> int:
        """How many rows the matches map, a row of two matches counted twice."""
        return int(self.label_offsets[-1])

    @staticmethod
    def none() -> Matches:
        """No match."""
        nothing = np.empty(0, np.int64)
        return Matches(nothing, nothing, nothing, np.empty(0, np.int16), np.zeros(1, np.int64))

    @staticmethod
    def joined(parts: list[Matches]) -> Matches:
        """The matches of several feeds, one after the other."""
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([np.diff(part.label_offsets) for part in parts] or [np.empty(0, np.int64)])
        return Matches(
            np.concatenate([part.start for part in parts]),
            np.concatenate([part.end for part in parts]),
            np.concatenate([part.number for part in parts]),
            np.concatenate([part.labels for part in parts]),
            np.concatenate(([0], np.cumsum(lengths))),
        )

    def take(self, chosen: NDArray[np.int64]) -> Matches:
        """Some of the matches, in this order."""
        lengths = np.diff(self.label_offsets)[chosen]
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        rows = np.arange(offsets[-1]) + np.repeat(self.label_offsets[:-1][chosen] - offsets[:-1], lengths)
        labels = self.labels[rows] if len(self.labels) else self.labels
        is_timeout = None if self.is_timeout is None else self.is_timeout[chosen]
        return Matches(self.start[chosen], self.end[chosen], self.number[chosen], labels, offsets, is_timeout)

    def moved(self, distance: int) -> Matches:
        """The same matches in a frame that begins `distance` rows earlier."""
        return Matches(self.start + distance, self.end + distance, self.number, self.labels, self.label_offsets)
