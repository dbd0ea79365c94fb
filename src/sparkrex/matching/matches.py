"""Matches of row patterns as arrays: what matchers give and measures are read from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.threads import LEAST, spread

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
        n_matches = np.cumsum([0, *map(len, parts)]).tolist()
        n_labels = np.cumsum([0, *(len(part.labels) for part in parts)]).tolist()
        n_mapped = np.cumsum([0, *(part.n_mapped for part in parts)]).tolist()
        start, end, number = (np.empty(n_matches[-1], np.int64) for _ in range(3))
        label_offsets = np.zeros(n_matches[-1] + 1, np.int64)
        labels = np.empty(n_labels[-1], np.int16)

        def copy(place: int, _: int) -> None:
            part, own = parts[place], slice(n_matches[place], n_matches[place + 1])
            start[own], end[own], number[own] = part.start, part.end, part.number
            np.add(part.label_offsets[1:], n_mapped[place], out=label_offsets[1:][own])
            labels[n_labels[place] : n_labels[place + 1]] = part.labels

        pieces = [(place, place + 1) for place in range(len(parts))]
        if n_matches[-1] < LEAST:
            for piece in pieces:
                copy(*piece)
        else:
            spread(copy, pieces)
        return Matches(start, end, number, labels, label_offsets)

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
        if not distance:
            return self
        return Matches(self.start + distance, self.end + distance, self.number, self.labels, self.label_offsets)
