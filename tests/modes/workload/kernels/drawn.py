"""Random rows, arrays of events and links between them, and what links say, from their definition."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.kernels.null_key import NULL_KEY
from sparkrex.modes.workload.kernels import links as codes
from sparkrex.modes.workload.kernels.arguments import Cells

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_LINES = 4
READS_OF_KLEENE = (codes.FIRST, codes.LAST, codes.LATER)


@dataclass
class DrawnRows:
    """Rows in order: places in time, keys of several lines by row, and arrays of events as chains of cells.

    In a pool the lines stand one after the other. Lines of an odd number are ranked by `rank[1]`, others by row.
    """

    ordinal: NDArray[np.int64]
    keys: NDArray[np.int64]
    rank: NDArray[np.int64]
    cells: list[tuple[int, int, int]] = field(default_factory=list)
    """Row, row of the array's first event, cell before."""

    @property
    def n(self) -> int:
        return len(self.ordinal)

    @property
    def pool(self) -> NDArray[np.int64]:
        """The lines of keys."""
        lines = np.empty_like(self.keys)
        for number, line in enumerate(self.keys):
            lines[number, self.rank[number % 2]] = line
        return lines.ravel()

    def place(self, link: list[int]) -> list[int]:
        """A link, in which the numbers of lines become where these are in the pool, and how they are ranked."""
        found = list(link)
        for keys, rank in ((codes.LEFT_KEYS, codes.LEFT_RANK), (codes.RIGHT_KEYS, codes.RIGHT_RANK)):
            found[keys], found[rank] = link[keys] * self.n, link[keys] % 2
        return found

    def put_array(self, rows: list[int]) -> int:
        """The cell of an array's last event."""
        before = -1
        for row in rows:
            self.cells.append((row, rows[0], before))
            before = len(self.cells) - 1
        return before

    def events(self, value: int, *, is_kleene: bool) -> list[int]:
        """The rows that a slot holds."""
        if not is_kleene:
            return [value]
        found = []
        while value >= 0:
            row, _, value = self.cells[value]
            found.append(row)
        return found[::-1]

    def columns(self) -> Cells:
        """The cells for kernels."""
        columns = np.array(self.cells, np.int64).reshape(-1, 3).T
        return Cells(*(np.ascontiguousarray(column) for column in columns))


def drawn_rows(seed: int, n: int = 8) -> DrawnRows:
    random = np.random.default_rng(seed)
    times = np.cumsum(random.integers(0, 2, n) if seed % 2 else np.ones(n, np.int64))
    keys = random.integers(0, 3, (N_LINES, n))
    keys[random.random((N_LINES, n)) < 0.15] = NULL_KEY
    return DrawnRows(np.searchsorted(times, times), keys, np.stack([np.arange(n), random.permutation(n)]))


def drawn_slot(random: np.random.Generator, rows: DrawnRows, *, is_kleene: bool) -> int:
    """A row, or the cell of some array's last event."""
    if not is_kleene:
        return int(random.integers(0, rows.n))
    size = int(random.integers(1, 4))
    return rows.put_array(sorted(random.choice(rows.n, size, replace=False).tolist()))


def drawn_link(random: np.random.Generator, kleenes: tuple[bool, bool], slots: tuple[int, int]) -> list[int]:
    """A line of numbers, with lines of keys by number; at most one side reads every later event."""
    kind = int(random.choice([codes.BEFORE, codes.AFTER, codes.DIFFERENT, codes.COMPARE, codes.COMPARE]))
    operator = int(random.choice([*range(6), codes.EQUAL]))
    reads = [
        int(random.choice(READS_OF_KLEENE)) if is_kleene else codes.SINGLE for is_kleene in kleenes
    ]
    if reads == [codes.LATER, codes.LATER]:
        reads[1] = codes.LAST
    return [kind, *slots, operator, *random.integers(0, N_LINES, 2).tolist(), 0, 0, *reads]


OPERATORS: dict[int, Any] = {
    codes.LESS: lambda one, other: one < other, codes.LESS_OR_EQUAL: lambda one, other: one <= other,
    codes.EQUAL: lambda one, other: one == other, codes.UNEQUAL: lambda one, other: one != other,
    codes.GREATER_OR_EQUAL: lambda one, other: one >= other, codes.GREATER: lambda one, other: one > other,
}


def link_holds(rows: DrawnRows, link: list[int], left: int, right: int) -> bool:
    """Whether a link holds between two slots' values, from its definition."""
    left_reads, right_reads = link[codes.LEFT_READS], link[codes.RIGHT_READS]
    one = rows.events(left, is_kleene=left_reads != codes.SINGLE)
    other = rows.events(right, is_kleene=right_reads != codes.SINGLE)
    times = [[int(rows.ordinal[row]) for row in events] for events in (one, other)]
    if link[codes.KIND] == codes.BEFORE:
        return max(times[0]) < min(times[1])
    if link[codes.KIND] == codes.AFTER:
        return max(times[1]) < min(times[0])
    if link[codes.KIND] == codes.DIFFERENT:
        return not set(times[0]) & set(times[1])
    first, last, later = slice(0, 1), slice(-1, None), slice(1, None)
    read = {codes.SINGLE: first, codes.FIRST: first, codes.LAST: last, codes.LATER: later}
    keys = rows.keys[link[codes.LEFT_KEYS]], rows.keys[link[codes.RIGHT_KEYS]]
    return all(
        key_compares(link[codes.OPERATOR], keys[0][here], keys[1][there])
        for here in one[read[left_reads]] for there in other[read[right_reads]]
    )


def key_compares(operator: int, one: np.int64, other: np.int64) -> bool:
    """Whether a comparison holds between two keys; with a NULL it does not."""
    return one != NULL_KEY and other != NULL_KEY and bool(OPERATORS[operator](one, other))
