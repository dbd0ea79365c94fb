"""What searches in frames found: for each row that was tried and has a match, the match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.matching.matches import Matches

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    """The rows in order, as positions, and the match of each, which may be empty. Other rows have none."""

    row: NDArray[np.int64]
    matches: Matches

    @staticmethod
    def of(
        found: NDArray[np.int64], labels: NDArray[np.int16]
    ) -> Found:
        """From rows, starts and ends, side by side, and all labels."""
        row, start, end = (np.ascontiguousarray(column) for column in found.T)
        offsets = np.zeros(len(row) + 1, np.int64)
        np.cumsum(end - start, out=offsets[1:])
        return Found(row, Matches(start, end, np.ones(len(row), np.int64), labels, offsets))

    @staticmethod
    def joined(parts: list[Found]) -> Found:
        """What several threads found, one after the other."""
        if not parts:
            return Found(np.empty(0, np.int64), Matches.none())
        return Found(np.concatenate([part.row for part in parts]), Matches.joined([part.matches for part in parts]))
