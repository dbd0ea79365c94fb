"""Run compiled row conditions over blocks of rows small enough for the processor's cache, on threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.evaluate.blocks import Value
from sparkrex.threads import ranges, spread

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.evaluate.leaves import Leaf
    from sparkrex.evaluate.vectorised import Node

BLOCK_ROWS = 1 << 16


def leaving_rows(offsets: NDArray[np.int64], shift: int) -> NDArray[np.int64]:
    """The rows for which the row `shift` further is not in their partition, ascending.

    Only rows within |shift| of an edge can be: the cost does not depend on the number of rows.
    """
    edge = np.minimum(np.diff(offsets), abs(shift))
    first = offsets[:-1] if shift < 0 else offsets[1:] - edge
    before = np.concatenate(([0], np.cumsum(edge)[:-1]))
    return np.repeat(first - before, edge) + np.arange(int(edge.sum()))


class Block:
    """Some rows of the batch, and what nodes have computed for them."""

    def __init__(
        self, begin: int, end: int, leaves: Sequence[Leaf], leaving: dict[int, NDArray[np.int64]], n_slots: int
    ) -> None:
        self.begin = begin
        self.end = end
        self.leaves = leaves
        self.leaving = leaving
        self.memo: list[Value | None] = [None] * n_slots
        self._nan: dict[int, bool] = {}

    def read(self, number: int, shift: int, is_float: bool) -> Value:
        """A leaf's values `shift` rows further."""
        leaf = self.leaves[number]
        begin, end = self.begin + shift, self.end + shift
        data, nulls = leaf.slice(max(begin, 0), max(end, 0)), None
        if leaf.nulls is not None:
            nulls = leaf.nulls[max(begin, 0) : max(end, 0)]
        if len(data) != end - begin:
            # Rows beyond the batch: they leave their partition, so what is read for them does not matter.
            before = min(max(-begin, 0), end - begin)
            padding = (before, end - begin - len(data) - before)
            data = np.pad(data, padding)
            nulls = None if nulls is None else np.pad(nulls, padding)
        if shift:
            data, nulls = self._without_leaving(data, nulls, shift, leaf.outside)
        return Value(data, nulls, has_nan=self._holds_nan(number) if is_float else False)

    def _without_leaving(
        self, data: NDArray[Any], nulls: NDArray[np.bool_] | None, shift: int, outside: Any
    ) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        rows = self.leaving[shift]
        first, last = np.searchsorted(rows, (self.begin, self.end))
        if first == last:
            return data, nulls
        places = rows[first:last] - self.begin
        if outside is not None:
            data = data.copy()
            data[places] = outside
        if outside is None or nulls is not None:
            nulls = np.zeros(len(data), np.bool_) if nulls is None else nulls.copy()
            nulls[places] = outside is None
        return data, nulls

    def _holds_nan(self, number: int) -> bool:
        """Whether the leaf has NaN in this block or near it, or as the value outside the partition."""
        found = self._nan.get(number)
        if found is None:
            leaf = self.leaves[number]
            reach = max(map(abs, self.leaving), default=0)
            near = leaf.data[max(0, self.begin - reach) : self.end + reach]
            found = bool(np.isnan(near.min())) or (leaf.outside is not None and bool(np.isnan(leaf.outside)))
            self._nan[number] = found
        return found


class Trace:
    """A block of one row that notes which leaves are read, and where."""

    def __init__(self, n_slots: int) -> None:
        self.memo: list[Value | None] = [None] * n_slots
        self.reads: set[tuple[int, int]] = set()

    def read(self, number: int, shift: int, is_float: bool) -> Value:
        """A leaf's values: zero."""
        self.reads.add((number, shift))
        return Value(np.zeros(1, np.float64 if is_float else np.bool_))


def run_conditions(
    nodes: Sequence[Node], leaves: Sequence[Leaf], leaving: dict[int, NDArray[np.int64]], n_slots: int,
    lines: Sequence[NDArray[np.bool_]], threads: int,
) -> list[bool]:
    """Fill one line a condition; for every condition, whether a row of it may fail."""
    may_fail = [False] * len(nodes)
    if not lines:
        return may_fail
    n_rows = len(lines[0])

    def run(begin: int, end: int) -> None:
        with np.errstate(all="ignore"):
            for low in range(begin, end, BLOCK_ROWS):
                high = min(low + BLOCK_ROWS, end)
                block = Block(low, high, leaves, leaving, n_slots)
                for number, node in enumerate(nodes):
                    if may_fail[number]:
                        continue
                    value = node.run(block)
                    if value.failures is not None and np.any(value.failures):
                        may_fail[number] = True
                    lines[number][low:high] = truth(value)

    spread(run, ranges(n_rows, threads))
    return may_fail


def truth(value: Value) -> Any:
    """Where a condition holds: NULL does not."""
    return value.data if value.nulls is None else value.data > value.nulls
