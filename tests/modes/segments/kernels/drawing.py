"""Random partitions, windows and segments, as kernels take them and as lists."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.modes.segments.kernels.segments import Ranges, Triples

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

Lines = list[tuple[int, int, int]]
"""Space, start and end of segments."""
NOTHING = np.empty(0, np.int64)
ENDLESS = 1 << 40


def budget(n_steps: int = 1 << 60, *, given_up: bool = False) -> NDArray[np.int64]:
    """Steps that are left, and whether nobody waits any more."""
    return np.array([n_steps, int(given_up)])


def arrays(lines: Lines) -> Triples:
    """Space, start, end."""
    return Triples(*(np.array([line[k] for line in lines], np.int64) for k in range(3)))


def room_for(n: int) -> Triples:
    """Room for so many segments."""
    return Triples(*(np.empty(n, np.int64) for _ in range(3)))


def lists(found: Iterable[Any]) -> list[tuple[int, ...]]:
    """What a kernel returned, the number first and then arrays with room for more."""
    n, *columns = found
    return list(zip(*(column[:n].tolist() for column in columns), strict=True)) if n else []


@dataclass(frozen=True)
class Batch:
    """Partitions, each a space of its own, and a window: of rows, or by row as a range of ends."""

    offsets: NDArray[np.int64]
    low: int
    high: int
    first_end: NDArray[np.int64]
    last_end: NDArray[np.int64]

    @property
    def n_rows(self) -> int:
        return int(self.offsets[-1])

    @property
    def n_spaces(self) -> int:
        return len(self.offsets) - 1

    @property
    def frame(self) -> tuple[Any, ...]:
        """The window by rows alone; a partition's edge is up to the caller."""
        return (self.low, self.high, NOTHING, NOTHING, NOTHING, NOTHING)

    @property
    def frame_by_row(self) -> tuple[Any, ...]:
        """The same window, or one that depends on the row: ranges of ends and of starts, both bounds ascending."""
        first_start, last_start = np.empty(self.n_rows, np.int64), np.empty(self.n_rows, np.int64)
        for end in range(self.n_rows):
            low, high = self.offsets[self.space_of(end) :][:2]
            reaching = [start for start in range(low, high) if self.last_end[start] >= end]
            begun = [start for start in range(low, end + 1) if self.first_end[start] <= end]
            first_start[end], last_start[end] = min(reaching, default=high), max(begun, default=low - 1)
        return (self.low, self.high, self.first_end, self.last_end, first_start, last_start)

    def fits(self, start: int, end: int) -> bool:
        """Whether the window has this segment."""
        return bool(start <= end and self.first_end[start] <= end <= self.last_end[start])

    def space_of(self, row: int) -> int:
        return int(np.searchsorted(self.offsets, row, side="right")) - 1

    @property
    def segments(self) -> Lines:
        """All of the window, in order."""
        return [
            (self.space_of(start), start, end)
            for start in range(self.n_rows) for end in range(start, self.n_rows) if self.fits(start, end)
        ]

    @property
    def longest(self) -> int:
        return max((end - start + 1 for _, start, end in self.segments), default=1)

    @property
    def ranges(self) -> Ranges:
        """Every partition as a space."""
        return Ranges(self.end_low, self.end_high, self.end_low, self.end_high)

    @property
    def end_low(self) -> NDArray[np.int64]:
        return self.offsets[:-1]

    @property
    def end_high(self) -> NDArray[np.int64]:
        return self.offsets[1:] - 1


def drawn_batch(generator: np.random.Generator) -> Batch:
    """One to three partitions of one to eight rows."""
    sizes = generator.integers(1, 9, generator.integers(1, 4))
    offsets = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    low = int(generator.integers(1, 4))
    high = low + int(generator.integers(0, 6))
    rows = np.arange(offsets[-1])
    last_rows = np.repeat(offsets[1:] - 1, sizes)
    return Batch(offsets, low, high, rows + low - 1, np.minimum(rows + high - 1, last_rows))


def uneven(batch: Batch, generator: np.random.Generator) -> Batch:
    """The batch with a window that some rows have larger; both of its ends still ascend."""
    sizes = np.diff(batch.offsets)
    last_rows = np.repeat(batch.offsets[1:] - 1, sizes)
    rows = np.arange(batch.n_rows)
    further = np.maximum.accumulate(rows + generator.integers(0, 6, batch.n_rows))
    nearer = np.maximum.accumulate(rows + generator.integers(0, 2, batch.n_rows))
    return replace(batch, first_end=nearer, last_end=np.minimum(further, last_rows))


def some_of(lines: Lines, generator: np.random.Generator, share: float = 0.4) -> Lines:
    """A random part, in order."""
    return [line for line in lines if generator.random() < share]
