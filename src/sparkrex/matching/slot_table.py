"""Rows kept for each slot, so that a read or a write costs the rows of its own slots, however many others there are.

The rows of one slot stand together in one *piece*, a table. What is written at once is a new piece, and the slots' rows
in older pieces are dead from then on. Pieces of about the same size are merged sixteen at a time, so a row is copied
once per factor of sixteen between its piece and all rows; a piece that is mostly dead is copied without its dead rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.wrap import wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_MERGED = 16
"""So many pieces of about the same size become one."""
_FEW_ROWS = 64
"""A piece of so few rows may be mostly dead until it is merged."""


@dataclass(eq=False, slots=True)
class _Piece:
    """`slots` are those it was written for; `n_live` rows are still theirs."""

    table: pa.Table
    slots: NDArray[np.int64]
    n_live: int
    n_bytes: int


@dataclass(frozen=True, eq=False, slots=True)
class _Mark:
    """What a table was: its pieces, and of slots that were written since then where their rows were, last ones last."""

    pieces: dict[int, _Piece]
    sizes: dict[int, list[int]]
    n_pieces: int
    places: list[tuple[NDArray[np.int64], NDArray[np.int64]]]


class SlotTable:
    """Tables by slot. All that are written have the same columns."""

    def __init__(self) -> None:
        self._pieces: dict[int, _Piece] = {}
        self._sizes: dict[int, list[int]] = {}  # pieces by the order of magnitude of their rows
        self._n_pieces = 0
        self._place = np.empty((3, 0), np.int64)  # by slot: its piece, the first row there, how many rows
        self._marked: _Mark | None = None

    @property
    def nbytes(self) -> int:
        """Bytes of all rows, dead ones too."""
        return sum(piece.n_bytes for piece in self._pieces.values())

    @property
    def schema(self) -> pa.Schema | None:
        """The columns of the rows; None without any."""
        return next((piece.table.schema for piece in self._pieces.values()), None)

    @property
    def n_pieces(self) -> int:
        """How many tables the rows are in."""
        return len(self._pieces)

    def lengths(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many rows the slots have."""
        self._reach(slots)
        lengths: NDArray[np.int64] = self._place[2, slots]
        return lengths

    def read(self, slots: NDArray[np.int64]) -> tuple[pa.Table | None, NDArray[np.int64]]:
        """The rows of some slots, one slot after the other, and the offsets that cut them; None if there are none."""
        lengths = self.lengths(slots)
        offsets = offsets_of(lengths)
        if not offsets[-1]:
            return None, offsets
        piece, first, length = self._place[:, slots[lengths > 0]]
        numbers = np.unique(piece)
        if len(numbers) == 1:
            return take_spans(self._pieces[int(numbers[0])].table, first, length), offsets
        parts, places = [], []
        for number in numbers.tolist():
            places.append(np.flatnonzero(piece == number))
            parts.append(take_spans(self._pieces[number].table, first[places[-1]], length[places[-1]]))
        found = np.concatenate(places)
        first = np.empty(len(found), np.int64)
        first[found] = offsets_of(length[found])[:-1]
        return take_spans(pa.concat_tables(parts).combine_chunks(), first, length), offsets

    def write(self, slots: NDArray[np.int64], table: pa.Table | None, offsets: NDArray[np.int64]) -> None:
        """These rows are the slots' from now on. Slots without rows are cleared; without a table all are."""
        self.clear(slots)
        if table is None or not table.num_rows:
            return
        lengths = np.diff(offsets)
        self._add(slots[lengths > 0], table, offsets[:-1][lengths > 0], lengths[lengths > 0])

    def clear(self, slots: NDArray[np.int64]) -> None:
        """The slots have no rows from now on."""
        self._reach(slots)
        piece, _, length = self._place[:, slots]
        has_rows = length > 0
        self._note(slots)
        self._place[2, slots] = 0
        touched = np.unique(piece[has_rows]).tolist()
        for number in touched:
            self._pieces[number].n_live -= int(length[has_rows & (piece == number)].sum())
            if not self._pieces[number].n_live:
                del self._pieces[number]
        for number in touched:
            found = self._pieces.get(number)
            if found is not None and found.table.num_rows > 2 * found.n_live + _FEW_ROWS:
                self._merge([number])

    def mark(self) -> None:
        """Remember how it is. That costs its pieces, of which there are few, and later what is written."""
        pieces = {number: replace(piece) for number, piece in self._pieces.items()}
        sizes = {order: list(numbers) for order, numbers in self._sizes.items()}
        self._marked = _Mark(pieces, sizes, self._n_pieces, [])

    def forget_mark(self) -> None:
        """It need not be as it was any more."""
        self._marked = None

    def undo(self) -> None:
        """It is as it was when it was marked."""
        marked, self._marked = self._marked, None
        assert marked is not None  # who undoes has marked it
        self._pieces, self._sizes, self._n_pieces = marked.pieces, marked.sizes, marked.n_pieces
        for slots, place in reversed(marked.places):
            self._place[:, slots] = place

    def select(self, slots: NDArray[np.int64]) -> SlotTable:
        """The rows of some slots, which are numbered from 0."""
        found = SlotTable()
        found.write(np.arange(len(slots)), *self.read(slots))
        return found

    @staticmethod
    def concatenate(tables: Sequence[SlotTable], n_slots: Sequence[int]) -> SlotTable:
        """The slots of several, numbered one after the other; `n_slots` says how many each has."""
        found = SlotTable()
        first = 0
        for table, n in zip(tables, n_slots, strict=True):
            found.write(np.arange(first, first + n), *table.read(np.arange(n)))
            first += n
        return found

    def _add(
        self, slots: NDArray[np.int64], table: pa.Table, first: NDArray[np.int64], length: NDArray[np.int64]
    ) -> None:
        number, self._n_pieces = self._n_pieces, self._n_pieces + 1
        self._pieces[number] = _Piece(table, slots, int(length.sum()), table.nbytes)
        self._note(slots)
        self._place[0, slots], self._place[1, slots], self._place[2, slots] = number, first, length
        alike = self._sizes.setdefault(table.num_rows.bit_length() // 4, [])
        alike.append(number)
        if len(alike) < _MERGED:
            return
        alike[:] = [other for other in alike if other in self._pieces]
        if len(alike) >= _MERGED:
            numbers, alike[:] = list(alike), []
            self._merge(numbers)

    def _merge(self, numbers: list[int]) -> None:
        """The live rows of some pieces as one piece."""
        slots = np.concatenate([self._alive(number) for number in numbers])
        table, offsets = self.read(slots)
        for number in numbers:
            del self._pieces[number]
        assert table is not None  # a piece without live rows is no longer there
        self._add(slots, _copy_rows(table), offsets[:-1], np.diff(offsets))

    def _alive(self, number: int) -> NDArray[np.int64]:
        slots = self._pieces[number].slots
        found: NDArray[np.int64] = slots[(self._place[0, slots] == number) & (self._place[2, slots] > 0)]
        return found

    def _note(self, slots: NDArray[np.int64]) -> None:
        if self._marked is not None:
            self._marked.places.append((slots, self._place[:, slots]))

    def _reach(self, slots: NDArray[np.int64]) -> None:
        n_known = self._place.shape[1]
        n_needed = int(slots.max(initial=-1)) + 1
        if n_needed > n_known:
            more = np.zeros((3, max(n_needed, 2 * n_known)), np.int64)
            more[:, :n_known] = self._place
            self._place = more


def offsets_of(lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where each of some spans begins, laid end to end, and where the last one ends."""
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def rows_of_spans(first: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    """The rows of all spans, `length` from `first` on, span after span."""
    offsets = offsets_of(length)
    rows: NDArray[np.int64] = np.repeat(first - offsets[:-1], length) + np.arange(offsets[-1])
    return rows


def take_spans(table: pa.Table, first: NDArray[np.int64], length: NDArray[np.int64]) -> pa.Table:
    """The rows of all spans, none of them empty; of spans that follow each other without copying a row."""
    if len(first) and (first[1:] == (first + length)[:-1]).all():
        return table.slice(int(first[0]), int(length.sum()))
    return table.take(wrap(rows_of_spans(first, length)))


def _copy_rows(table: pa.Table) -> pa.Table:
    """The same rows in memory of their own."""
    return table.take(wrap(np.arange(table.num_rows)))
