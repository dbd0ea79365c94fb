"""The pass from the end over pieces of a partition at the same time.

What lies behind a piece is not known when the pass over it begins, so it begins with what may lie there: a state is two
sets anyway, what can accept for certain and what may (see `viability`). Behind a piece that is nothing but what accepts
without another row, and everything. What is possible grows with what is possible behind it, so the true set is always
between the two. At the first row where they are equal it is known, there and at all rows before: each set follows from
the one behind it. States are numbered by what they hold, so such a state has the number that the pass over the whole
partition would have given it. That is usually so a few rows before the end of the piece; those few are passed over
again when the next piece is settled, from the last piece to the first. If the sets are never equal (one A+ over the
whole piece), it is all of them: then a piece waits for the one behind it, as in a single pass.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.rows.automaton.symbols import symbols_of
from sparkrex.modes.rows.kernels.automaton import CLOSED_END
from sparkrex.modes.rows.pieces import several_pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.rows.automaton.viability import Viability
    from sparkrex.modes.rows.matcher import Partitions
    from sparkrex.modes.rows.pieces import Piece

_FIRST_ROWS = 1 << 10
"""So many rows before the end of a piece are looked at first for one that is settled, then twice as many, and so on."""


class LookingBack:
    """The states of all rows of whole partitions, piece by piece.

    `look_back` turns symbols into states; `look_back_twice` those of two pieces at a time, a step in each in turns.
    """

    def __init__(
        self, viability: Viability, partitions: Partitions, bitmaps: NDArray[np.uint8], cuts: Sequence[int],
        look_back: Callable[..., None], look_back_twice: Callable[..., None], threads: int,
    ) -> None:
        self.viability = viability
        self.partitions = partitions
        self.bitmaps = bitmaps
        self.cuts = cuts
        self.look_back = look_back
        self.look_back_twice = look_back_twice
        self.threads = threads
        self.states = np.empty(bitmaps.shape[1], np.uint16)

    def settle(self, pieces: Sequence[Piece]) -> int:
        """Fill `states`; how many rows were passed over a second time."""
        open_ends = np.array([CLOSED_END, self.viability.open_end(0)], np.int64)
        numbered = list(enumerate(pieces))
        several_pieces(lambda own: self._pass_over_several(own, open_ends), numbered, self.threads, None)
        is_settled = self.viability.settled()
        n_again = 0
        for n in reversed(range(len(pieces) - 1)):
            place, end = pieces[n].last - 1, self.cuts[n + 1]
            if self.partitions.offsets[place + 1] > end:
                low = max(self.cuts[n], int(self.partitions.start[place]))
                first = self._first_unsettled(is_settled, low, end)
                if first < end:
                    self._pass_again(first, end, open_ends)
                    is_settled = self.viability.settled()
                    n_again += end - first
        return n_again

    def _pass_over_several(self, own: Sequence[tuple[int, Piece]], open_ends: NDArray[np.int64]) -> list[None]:
        """The same of neighbours."""
        is_in_one = [
            piece.last - piece.first == 1 and int(piece.start[0]) == self.cuts[number] for number, piece in own
        ]
        if len(own) == 2 and all(is_in_one):
            first, middle, last = (self.cuts[own[0][0] + n] for n in range(3))
            symbols = symbols_of(self.bitmaps, self.viability, first, last, self.states[first:last])
            places = [
                [n, n, self.cuts[number + 1] - self.cuts[number],
                 open_ends[int(self.partitions.offsets[piece.last] > self.cuts[number + 1])]]
                for n, (number, piece) in enumerate(own)
            ]
            offsets = np.array([0, middle - first, last - first], np.int64)
            self.look_back_twice(symbols, offsets, np.array(places, np.int64))
        else:
            for number, piece in own:
                self._pass_over(piece, number, open_ends)
        return [None] * len(own)

    def _pass_over(self, piece: Piece, number: int, open_ends: NDArray[np.int64]) -> None:
        """States of a piece, as far as they are known without what is behind it."""
        begin, end = self.cuts[number], self.cuts[number + 1]
        offsets = self.partitions.offsets[piece.first : piece.last + 1]
        ends = np.zeros(piece.last - piece.first, np.int64)
        ends[-1] = offsets[-1] > end
        symbols = symbols_of(self.bitmaps, self.viability, begin, end, self.states[begin:end])
        bounds = _bounds(np.clip(offsets, begin, end) - begin, ends, piece.start - begin)
        self.look_back(symbols, bounds, open_ends, 0)  # conditions know the rows behind a cut

    def _first_unsettled(self, is_settled: NDArray[np.bool_], low: int, end: int) -> int:
        """The first row of those before `end` of which none is settled."""
        first, n_rows = end, _FIRST_ROWS
        while first > low:
            begin = max(low, first - n_rows)
            known = np.flatnonzero(is_settled[self.states[begin:first]])
            if len(known):
                return begin + int(known[-1]) + 1
            first, n_rows = begin, 2 * n_rows
        return min(first, end)

    def _pass_again(self, first: int, end: int, open_ends: NDArray[np.int64]) -> None:
        """States of rows before a row of the same partition whose state is known."""
        symbols = symbols_of(self.bitmaps, self.viability, first, end, self.states[first:end])
        bounds = _bounds(np.array([0, end - first], np.int64), np.zeros(1, np.int64), np.zeros(1, np.int64))
        self.look_back(symbols, bounds, open_ends, 0, end - first - 1, int(self.states[end]))


def _bounds(
    offsets: NDArray[np.int64], ends: NDArray[np.int64], start: NDArray[np.int64]
) -> tuple[NDArray[np.int64] | NDArray[np.bool_], ...]:
    """Partitions as kernels take them."""
    always = np.ones(len(ends), np.bool_)
    return offsets, always, ends, start, np.ones(len(ends), np.int64), offsets[1:].copy()
