"""Tools for computing answers without SparkRex.

Two ways, both with no part of the engine in them. Where conditions depend on rows only, each row becomes a letter and
Python's `re` searches the text: its leftmost match, its preference among matches and its `finditer` are those of
MATCH_RECOGNIZE with SKIP PAST LAST ROW. Else a plain loop written from the meaning of the pattern; for many rows Numba
compiles the loop, for few it runs as it stands.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Callable

Array = np.ndarray[Any, Any]
INTERPRETED_ROWS = 200_000


@dataclass(frozen=True)
class Ordered:
    """A table's rows in the order of the query: partitions by first appearance, each sorted by time."""

    table: pa.Table
    offsets: Array

    def __getitem__(self, name: str) -> Array:
        """A column as an array."""
        array: Array = self.table.column(name).to_numpy()
        return array

    def previous(self, name: str, distance: int = 1) -> Array:
        """PREV(column, distance): NaN where the partition has no such row. Numbers only."""
        column = self[name].astype(np.float64)
        before = np.full(len(column), np.nan)
        before[distance:] = column[:-distance]
        for step in range(distance):
            starts = self.offsets[:-1] + step
            before[starts[starts < len(before)]] = np.nan
        return before


def ordered(table: pa.Table, key: str | None = None, order: str = "ts") -> Ordered:
    """The rows of a table by partition key and time."""
    time = table.column(order).to_numpy()
    if key is None:
        rows = np.argsort(time, kind="stable")
        return Ordered(table.take(pa.array(rows)), np.array([0, len(rows)]))
    codes = table.column(key).combine_chunks().dictionary_encode().indices.to_numpy()
    rows = np.lexsort((time, codes))
    cuts = np.flatnonzero(np.diff(codes[rows])) + 1
    return Ordered(table.take(pa.array(rows)), np.concatenate(([0], cuts, [len(rows)])))


def letters(*rules: tuple[str, Array], otherwise: str = ".") -> Array:
    """One letter a row: that of the first rule that holds."""
    conditions, texts = [mask for _, mask in rules], [np.uint8(ord(letter)) for letter, _ in rules]
    chosen: Array = np.select(conditions, texts, default=np.uint8(ord(otherwise)))
    return chosen.astype(np.uint8)


def search(pattern: str, row_letters: Array, offsets: Array) -> Array:
    """Matches of a regular expression in the letters of each partition, in order.

    The result has one line a match and in it, for the match and each of its groups, first row and row after the last;
    -1 twice for a group that took no part.
    """
    n_rows, n_partitions = len(row_letters), len(offsets) - 1
    places = np.arange(n_rows) + np.repeat(np.arange(1, n_partitions + 1), np.diff(offsets))
    text = np.full(n_rows + n_partitions + 1, ord("\n"), np.uint8)
    text[places] = row_letters
    compiled = re.compile(pattern.encode())
    spans = np.array([match.regs for match in compiled.finditer(text.tobytes())], np.int64)
    if not len(spans):
        return np.empty((0, compiled.groups + 1, 2), np.int64)
    partition_of = np.searchsorted(places[offsets[:-1]], spans[:, 0, 0], side="right")
    return np.where(spans < 0, -1, spans - partition_of[:, None, None])


def plain_loop(function: Callable[..., Array]) -> Callable[..., Array]:
    """A loop over arrays, compiled when there are many rows. The first argument has one entry a row."""

    def run(*arguments: Any) -> Array:
        if len(arguments[0]) <= INTERPRETED_ROWS:
            return function(*arguments)
        import numba  # not above: a process that measures its first query must not have it already

        result: Array = numba.njit(function)(*arguments)
        return result

    return run


def segment_reduce(operation: np.ufunc, values: Array, start: Array, end: Array) -> Array:
    """The reduction of values[start:end] for each match; no match is empty."""
    if not len(start):
        return values[:0]
    # reduceat reduces from each index to the next, so every second result is what lies between two matches.
    padded = np.append(values, values[-1:])
    reduced: Array = operation.reduceat(padded, np.stack([start, end], axis=1).ravel())[::2]
    return reduced
