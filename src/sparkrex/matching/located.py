"""Where the answers of a query lie: in rows of its input, or, of trends, in time. What pictures and diffs are made of.

Modes find them as they always do, and say which rows they are instead of reading measures from them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.matching.matches import Matches


@dataclass(frozen=True, eq=False, slots=True)
class Pieces:
    """Stretches of rows that a match maps to one variable, as positions, both ends included; in the order of matches.

    Those of row patterns and events have no row in common; segments of several variables may.
    """

    match: NDArray[np.int64]
    variable: NDArray[np.int64]
    first: NDArray[np.int64]
    last: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.match)

    @staticmethod
    def none() -> Pieces:
        """No piece."""
        nothing = np.empty(0, np.int64)
        return Pieces(nothing, nothing, nothing, nothing)

    @staticmethod
    def of_matches(matches: Matches) -> Pieces:
        """Rows next to each other with the same variable are one piece. There are none if matches have no labels."""
        if not len(matches.labels):
            return Pieces.none()
        begins = np.ones(matches.n_mapped, np.bool_)
        np.not_equal(matches.labels[1:] >> 1, matches.labels[:-1] >> 1, out=begins[1:])
        of_match = matches.label_offsets[:-1]
        begins[of_match[of_match < len(begins)]] = True
        place = np.flatnonzero(begins)
        match = np.searchsorted(matches.label_offsets, place, side="right") - 1
        distance = matches.start[match] - of_match[match]
        last = np.append(place[1:], len(begins)) - 1
        return Pieces(match, (matches.labels[place] >> 1).astype(np.int64), place + distance, last + distance)

    @staticmethod
    def of_rows(match: NDArray[np.int64], row: NDArray[np.int64], variable: NDArray[np.int64]) -> Pieces:
        """From single rows of matches, in the order of matches, and ascending in each."""
        if not len(match):
            return Pieces.none()
        begins = np.ones(len(match), np.bool_)
        begins[1:] = (np.diff(match) != 0) | (np.diff(row) != 1) | (np.diff(variable) != 0)
        first = np.flatnonzero(begins)
        last = np.append(first[1:], len(match)) - 1
        return Pieces(match[first], variable[first], row[first], row[last])

    def begin(self, most: int) -> Pieces:
        """The first ones."""
        return Pieces(self.match[:most], self.variable[:most], self.first[:most], self.last[:most])

    def selected(self, keep: NDArray[np.bool_] | NDArray[np.int64]) -> Pieces:
        """Some of them: where `keep` is set, or those at these places."""
        return Pieces(self.match[keep], self.variable[keep], self.first[keep], self.last[keep])


@dataclass(frozen=True, eq=False, slots=True)
class Located:
    """Matches as positions in arranged rows: match m has those from `first[m]` up to, not including, `behind[m]`.

    Of an empty match both are the row that it was found at. `table` has the rows in the order of the input, and `keys`
    by name the values of PARTITION BY for each of them. `number` counts the matches of a partition from 1.
    """

    table: pa.Table
    arrangement: Arrangement
    keys: tuple[tuple[str, pa.ChunkedArray], ...]
    variables: tuple[str, ...]
    first: NDArray[np.int64]
    behind: NDArray[np.int64]
    number: NDArray[np.int64]
    pieces: Pieces

    def __len__(self) -> int:
        return len(self.first)

    @property
    def place(self) -> NDArray[np.int64]:
        """The partition of every match."""
        places: NDArray[np.int64] = np.searchsorted(self.arrangement.offsets, self.first, side="right") - 1
        return places


@dataclass(frozen=True, eq=False, slots=True)
class LocatedWindows:
    """Windows of time with values, for queries that have no matches.

    `table`, `arrangement` and `keys` are as of `Located`, by the groups that values are of. `start` and `end` are NULL
    where there is no window; `window_keys` has the group of each window, in the order of `keys`, and `values` what the
    query returns of it.
    """

    table: pa.Table
    arrangement: Arrangement
    keys: tuple[tuple[str, pa.ChunkedArray], ...]
    start: pa.ChunkedArray
    end: pa.ChunkedArray
    window_keys: tuple[pa.ChunkedArray, ...]
    values: pa.Table


def number_in_partitions(place: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers from 1 of matches, by the partition of each."""
    order = np.argsort(place, kind="stable")
    ordered = place[order]
    numbers = np.empty(len(place), np.int64)
    numbers[order] = np.arange(1, len(place) + 1) - np.searchsorted(ordered, ordered, side="left")
    return numbers
