"""What searches in frames found: for each row that was tried and has a match, the match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.matching.matches import Matches

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, eq=False, slots=True)
class Forest:
    """Matches as paths of nodes; see `kernels.forest`.

    `nodes` are (row, label, next node or -1), `runs` where runs begin, with the number of nodes behind the last one;
    `heads` the first node of each match, -1 of an empty one.
    """

    nodes: NDArray[np.int64]
    runs: NDArray[np.int64]
    heads: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Found:
    """The rows in order, as positions, and the match of each, which may be empty. Other rows have none.

    With a `forest`, matches have no labels: they may have far more rows than there is room for.
    """

    row: NDArray[np.int64]
    matches: Matches
    forest: Forest | None = None

    @staticmethod
    def of(found: NDArray[np.int64], labels: NDArray[np.int16], forest: Forest | None = None) -> Found:
        """From rows, starts and ends, side by side, and all labels."""
        row, start, end = (np.ascontiguousarray(column) for column in found.T)
        offsets = np.zeros(len(row) + 1, np.int64)
        np.cumsum(end - start, out=offsets[1:])
        return Found(row, Matches(start, end, np.ones(len(row), np.int64), labels, offsets), forest)

    @staticmethod
    def joined(parts: list[Found]) -> Found:
        """What several threads found, one after the other: all of it as forests, or nothing."""
        if not parts:
            return Found(np.empty(0, np.int64), Matches.none())
        if len(parts) == 1:
            return parts[0]
        forests = [part.forest for part in parts if part.forest is not None]
        row, matches = np.concatenate([part.row for part in parts]), Matches.joined([part.matches for part in parts])
        return Found(row, matches, _joined(forests) if forests else None)

    def with_none(self) -> Found:
        """The same, and behind it a match without rows: what functions see from a row that has no match."""
        matches, forest = self.matches, self.forest
        at = matches.start[-1:] if len(matches) else np.zeros(1, np.int64)
        longer = Matches(
            np.concatenate((matches.start, at)), np.concatenate((matches.end, at)),
            np.concatenate((matches.number, np.ones(1, np.int64))), matches.labels,
            np.append(matches.label_offsets, matches.label_offsets[-1]),
        )
        if forest is not None:
            forest = Forest(forest.nodes, forest.runs, np.append(forest.heads, -1))
        return Found(np.concatenate((self.row, at)), longer, forest)


def _joined(forests: list[Forest]) -> Forest:
    """Forests side by side."""
    nodes, runs, heads = [], [], []
    base = 0
    for forest in forests:
        moved = forest.nodes.copy()
        moved[:, 2] += np.where(moved[:, 2] < 0, 0, base)
        nodes.append(moved)
        runs.append(forest.runs[:-1] + base)
        heads.append(np.where(forest.heads < 0, -1, forest.heads + base))
        base += len(moved)
    return Forest(np.concatenate(nodes), np.append(np.concatenate(runs), base), np.concatenate(heads))
