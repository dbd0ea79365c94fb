"""The `automaton` search of windows: frames that end with the partition, conditions of rows; linear in rows.

One pass from the partition's end gives the states of all rows, as in `modes.rows.automaton`. The first rows of a frame,
as many as conditions look back, have states of their own, by their distance from its first row: each follows from the
state of the next row at the next distance, so every distance costs one more pass, which is a look-up a row.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.columns.ordered import partition_ranges
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.kernels.lazy import kernel_for
from sparkrex.modes.rows.automaton.matcher import AutomatonMatcher
from sparkrex.modes.rows.automaton.symbols import symbols_of
from sparkrex.modes.rows.automaton.viability import TooManyStatesError
from sparkrex.modes.rows.kernels.automaton import CLOSED_END, DONE
from sparkrex.modes.rows.matcher import GivesUpError
from sparkrex.modes.windows.edges import evaluate_edges, find_edges
from sparkrex.modes.windows.found import Forest, Found
from sparkrex.modes.windows.kernels.forest import plant
from sparkrex.modes.windows.kernels.walk import TOO_LONG, walk_frames
from sparkrex.threads import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns

LONG = 4
"""Matches with so many times the rows of the input are too long to walk along: see `kernels.forest`."""
_MOST_PLACES = 1 << 28
"""So many rows times places of the pattern have room for a forest; beyond, matches are walked along, however long."""
_WIDEST = 64
_NO_END = 1 << 62


class AutomatonSearch(AutomatonMatcher):
    """The automaton of row patterns, in frames that end with their partitions."""

    def search(self, frame: Columns, ends: NDArray[np.int64] | None, *, is_seek: bool) -> Found:
        """See `backtrack`."""
        assert ends is None  # `choose` knows
        pieces = partition_ranges(frame, self.problem.settings.thread_count())
        stop = np.zeros(1, np.uint8)
        bitmaps = self._bitmaps(frame)
        states: dict[int, NDArray[np.uint16]] = {}
        try:
            parts = spread(
                partial(self._walk_piece, frame, bitmaps, states, is_seek, stop), pieces, partial(stop.fill, 1)
            )
        except TooManyStatesError:
            raise GivesUpError from None
        if any(status == TOO_LONG for status, *_ in parts):
            plants = spread(partial(self._plant_piece, frame, states, is_seek, stop), pieces, partial(stop.fill, 1))
            return Found.joined([self._planted(plant, int(frame.offsets[begin])) for plant, (begin, _) in zip(
                plants, pieces, strict=True
            )])
        found = []
        for (status, row, n_matches, places, n_labels, labels), (begin, _) in zip(parts, pieces, strict=True):
            origin = int(frame.offsets[begin])
            if status != DONE:
                raise self.problem.failure(status, int(row) + origin)
            found.append(Found.of(places[:n_matches] + origin, labels[:n_labels]))
        return Found.joined(found)

    def _planted(self, plant: tuple[Any, ...], origin: int) -> Found:
        """What one thread found as a forest."""
        status, row, n_matches, found, n_nodes, nodes, n_runs, runs = plant
        if status != DONE:
            raise self.problem.failure(status, int(row) + origin)
        nodes = nodes[:n_nodes]
        nodes[:, 0] += origin
        heads = np.ascontiguousarray(found[:n_matches, 3])
        forest = Forest(nodes, np.append(runs[:n_runs], n_nodes), heads)
        return Found.of(found[:n_matches, :3] + origin, np.empty(0, np.int16), forest)

    def _bitmaps(self, frame: Columns) -> list[NDArray[np.uint8]]:
        """Where conditions hold, by distance from the frame's first row; the last for all that are further."""
        problem, threads = self.problem, self.problem.settings.thread_count()
        _, plain = evaluate_bitmaps(self.tested, frame, problem.evaluator, problem.plan.source, threads)
        edges = find_edges(problem, frame, is_bounded=False)
        width = max((edge.back for edge in edges.values()), default=0)
        if width > _WIDEST:
            raise GivesUpError  # every distance would cost a pass
        lines, variants = evaluate_edges(problem, edges, frame)
        found = []
        for distance in range(width):
            seen = plain.copy()
            for name, edge in edges.items():
                line = lines[name][min(distance, edge.back), 0]
                if line >= 0:
                    seen[self.bit_of[name]] = variants[line]
            found.append(seen)
        return [*found, plain]

    def _walk_piece(
        self, frame: Columns, bitmaps: list[NDArray[np.uint8]], kept: dict[int, NDArray[np.uint16]], is_seek: bool,
        stop: NDArray[np.uint8], begin: int, end: int,
    ) -> tuple[Any, ...]:
        """Some partitions, by one thread; positions are counted from the first of them."""
        viability = self.viability
        assert viability is not None  # else it refused
        first, last = int(frame.offsets[begin]), int(frame.offsets[end])
        offsets = frame.offsets[begin : end + 1] - first
        states = kept[begin] = self._states([one[:, first:last] for one in bitmaps], offsets)
        has_room = frame.n_rows * viability.n_positions <= _MOST_PLACES
        return kernel_for(walk_frames, last - first)(  # type: ignore[no-any-return]  # compiled
            states, offsets, viability.steps.reshape(-1), viability.n_positions, viability.entry, is_seek,
            self.skip_mode, self.problem.skip_member, self.wants_labels,
            LONG * (last - first) if has_room else _NO_END, stop,
        )

    def _plant_piece(
        self, frame: Columns, kept: dict[int, NDArray[np.uint16]], is_seek: bool, stop: NDArray[np.uint8], begin: int,
        end: int,
    ) -> tuple[Any, ...]:
        """The same as a forest."""
        viability = self.viability
        assert viability is not None  # else it refused
        offsets = frame.offsets[begin : end + 1] - frame.offsets[begin]
        return kernel_for(plant, int(offsets[-1]))(  # type: ignore[no-any-return]  # compiled
            kept[begin], offsets, viability.steps.reshape(-1), viability.n_positions, viability.entry, is_seek,
            self.skip_mode, self.problem.skip_member, stop,
        )

    def _states(self, bitmaps: list[NDArray[np.uint8]], offsets: NDArray[np.int64]) -> NDArray[np.uint16]:
        """The states of all rows, by distance from the frame's first row."""
        viability = self.viability
        assert viability is not None  # else it refused
        n_partitions = len(offsets) - 1
        *near, plain = bitmaps
        rows: Any = symbols_of(plain, viability)
        nothing = np.zeros(n_partitions, np.int64)
        bounds = (offsets, np.ones(n_partitions, np.bool_), nothing, offsets[:-1].copy(), nothing, offsets[1:].copy())
        self._look_back(rows, bounds, np.array([CLOSED_END], np.int64), 0)
        states = np.empty((len(bitmaps), len(rows)), np.uint16)
        states[-1] = rows
        for distance in reversed(range(len(near))):
            states[distance] = self._states_before(states[distance + 1], symbols_of(near[distance], viability), offsets)
        return states

    def _states_before(
        self, following: NDArray[np.uint16], symbols: NDArray[np.uint16], offsets: NDArray[np.int64]
    ) -> NDArray[np.uint16]:
        """The state of each row by its symbol and the state of the next row."""
        viability = self.viability
        assert viability is not None  # else it refused
        behind = np.empty(len(following), np.int64)
        behind[:-1] = following[1:]
        behind[offsets[1:][np.diff(offsets) > 0] - 1] = CLOSED_END
        while True:
            transitions, shift = viability.tables()
            found = transitions[(behind << shift) + symbols]
            missing = np.flatnonzero(found < 0)
            if not len(missing):
                narrow: NDArray[np.uint16] = found.astype(np.uint16)
                return narrow
            for state, symbol in set(zip(behind[missing].tolist(), symbols[missing].tolist(), strict=True)):
                viability.add(state, symbol)
