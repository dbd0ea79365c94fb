"""The `automaton` matcher: row conditions only, time linear in the rows whatever the pattern.

Truth bitmaps become symbols, a pass from the end finds out where and how the pattern can still be matched, and a walk
from the start takes, row by row, the first way that can (see `viability`). Partitions are spread over threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sparkrex.columns.ordered import partition_ranges
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.kernels import lazy
from sparkrex.kernels.lazy import kernel_for
from sparkrex.matching.matches import Matches
from sparkrex.modes.rows.automaton.chunks import LookingBack
from sparkrex.modes.rows.automaton.symbols import MOST_BITS, symbols_of
from sparkrex.modes.rows.automaton.viability import TooManyStatesError, Viability
from sparkrex.modes.rows.kernels import automaton as kernel
from sparkrex.modes.rows.kernels.automaton import look_back, look_back_twice, walk, walk_both, walk_past
from sparkrex.modes.rows.labels import needs_labels
from sparkrex.modes.rows.matcher import GivesUpError, Matcher
from sparkrex.modes.rows.pieces import (
    CutNotes,
    Outcome,
    Piece,
    cut_partitions,
    is_cut,
    put_together,
    row_cuts,
    several_pieces,
    why_whole,
)
from sparkrex.threads import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.modes.rows.matcher import Partitions
    from sparkrex.modes.rows.problem import Problem


_Room: TypeAlias = "tuple[NDArray[np.int16], NDArray[np.int64], NDArray[np.int64]]"


class AutomatonMatcher(Matcher):
    """Immutable but for its tables, which only ever gain entries; it gives up when they grow too large."""

    name = "automaton"
    takes_asked = True

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.skip_mode = problem.skip_mode
        self.wants_labels = needs_labels(problem.plan, problem.program.variables) or self.skip_mode >= kernel.TO_FIRST
        # Variables with the same condition share a bit, and it is tested once.
        conditions = {c.variable: c.row for c in problem.conditions if c.row is not None}
        bits = {condition: bit for bit, condition in enumerate(dict.fromkeys(conditions.values()))}
        self.bit_of = {name: bits[condition] for name, condition in conditions.items()}
        self.tested = list({c.row: c for c in reversed(problem.conditions) if c.row is not None}.values())
        self.tested.sort(key=lambda condition: self.bit_of[condition.variable])
        self.viability: Viability | None = None
        self._refused = self._refusal(len(bits))

    @property
    def refusal(self) -> str | None:
        """Why this matcher cannot run the query, None if it can."""
        return self._refused

    @property
    def reason(self) -> str:
        """Why it is chosen."""
        return "every condition is decided by rows alone"

    @property
    def uncut(self) -> None:
        """Threads share every partition."""
        return

    def _refusal(self, n_conditions: int) -> str | None:
        context = [condition.variable for condition in self.problem.conditions if condition.context is not None]
        if context:
            return f"the condition of {', '.join(context)} reads the match so far"
        if n_conditions > MOST_BITS:
            return f"it has {n_conditions} different conditions, more than {MOST_BITS}"
        try:
            self.viability = Viability(self.problem.program, self.bit_of)
        except TooManyStatesError:
            return "the pattern unfolds to too many steps for its tables"
        return None

    def describe(self) -> list[str]:
        """The automaton's size."""
        assert self.viability is not None  # else it refused
        lines = [f"automaton of {len(self.viability.matches)} pattern states over {len(self.tested)} conditions"]
        if self.viability.n_states:
            lines.append(f"{self.viability.n_states} sets of states and {len(self.viability.symbols)} symbols seen")
        return [*lines, "labels of matched rows " + ("kept" if self.wants_labels else "not needed")]

    def find(self, frame: Columns, partitions: Partitions) -> Matches:
        """See `modes.rows.matcher`."""
        problem = self.problem
        threads = problem.settings.thread_count()
        _, bitmaps = evaluate_bitmaps(self.tested, frame, problem.evaluator, problem.plan.source, threads)
        pieces = partition_ranges(frame, threads)
        if not pieces:
            return Matches.none()
        stop = np.zeros(1, np.uint8)
        # Only matches that overlap can take long: else a row is walked over once.
        is_linear = self.skip_mode == kernel.PAST_LAST_ROW
        stopper = None if is_linear else partial(stop.fill, 1)
        if why_whole(partitions) is None and is_cut(partitions, row_cuts(partitions.offsets, threads)):
            # Two for each thread, which takes steps in both in turns.
            cuts = row_cuts(partitions.offsets, threads, each=2)
            return self._find_in_pieces(partitions, bitmaps, cuts, stop, stopper)
        search = partial(self._search, partitions, self._ends(frame, partitions), bitmaps, stop)
        try:
            parts = spread(search, pieces, stopper)
        except TooManyStatesError:
            raise GivesUpError from None
        for part, (begin, end) in zip(parts, pieces, strict=True):
            if part.status != kernel.DONE:
                raise problem.failure(part.status, part.row)
            for row, failure in part.failed:
                partitions.fail(problem.failure(failure, row))
            partitions.start[begin:end], partitions.number[begin:end] = part.start, part.number
        return Matches.joined([part.matches for part in parts])

    def _find_in_pieces(
        self, partitions: Partitions, bitmaps: NDArray[np.uint8], cuts: list[int], stop: NDArray[np.uint8],
        stopper: Callable[[], None] | None,
    ) -> Matches:
        """Matches of whole partitions that are cut into pieces; see `pieces` and `chunks`."""
        viability, threads = self.viability, self.problem.settings.thread_count()
        assert viability is not None  # else it refused
        pieces = cut_partitions(partitions, cuts)
        try:
            looking = LookingBack(
                viability, partitions, bitmaps, cuts, self._look_back, self._look_back_twice, threads
            )
            n_looked = looking.settle(pieces)
        except TooManyStatesError:
            raise GivesUpError from None
        states = looking.states
        kinds, accepts = np.zeros(len(partitions.ends), np.int64), np.zeros((1, viability.n_positions), np.bool_)
        tables = viability.moves() if self._is_simple(kinds) else viability.steps.reshape(-1)

        def bounds_of(piece: Piece) -> tuple[Any, ...]:
            own = slice(piece.first, piece.last)
            return (
                partitions.offsets[piece.first : piece.last + 1], partitions.begins[own], kinds[own], piece.start,
                piece.number, piece.until,
            )

        def search(piece: Piece) -> Outcome:
            if self._is_simple(kinds):
                return Outcome(kernel.DONE, -1, self._walk_past(states, bounds_of(piece), tables))
            found = self._walk(
                states, bounds_of(piece), accepts, tables, np.empty(0, np.uint8), stop, reports=False
            )
            return Outcome(found.status, found.row, found.matches)

        def search_several(own: Sequence[Piece]) -> list[Outcome]:
            if len(own) == 2 and self._is_simple(kinds) and all(piece.last - piece.first == 1 for piece in own):
                both = self._walk_both(states, [bounds_of(piece) for piece in own], tables)
                return [Outcome(kernel.DONE, -1, matches) for matches in both]
            return [search(piece) for piece in own]

        outcomes = several_pieces(search_several, pieces, threads, stopper)
        joined = put_together(self.problem, partitions, pieces, outcomes, search)
        self.cut = CutNotes(len(pieces), joined.n_again, n_looked)
        return joined.matches

    def _is_simple(self, kinds: NDArray[np.int64]) -> bool:
        """Whether `walk_past` can search partitions with ends of these kinds."""
        assert self.viability is not None  # else it refused
        return self.skip_mode == kernel.PAST_LAST_ROW and not self.viability.gives_empty and not kinds.any()

    def _search(
        self, partitions: Partitions, every_end: _Ends, bitmaps: NDArray[np.uint8], flag: NDArray[np.uint8],
        begin: int, end: int,
    ) -> _Part:
        """Matches of the partitions from `begin` up to `end`."""
        viability = self.viability
        assert viability is not None  # else it refused
        origin, stop = int(partitions.offsets[begin]), int(partitions.offsets[end])
        offsets = partitions.offsets[begin : end + 1] - origin
        begins, ends = partitions.begins[begin:end], every_end.kinds[begin:end]
        start, number = partitions.start[begin:end] - origin, partitions.number[begin:end].copy()
        rows: Any = symbols_of(bitmaps, viability, origin, stop)
        bounds: tuple[Any, ...] = (offsets, begins, ends, start, number, offsets[1:].copy())
        if is_few := len(rows) <= lazy.FEW_ROWS:
            rows, bounds = rows.tolist(), tuple(array.tolist() for array in bounds)
        if not is_few and not ends.any() and np.array_equal(start, offsets[:-1]):
            self._look_back_twice(rows, offsets)
        else:
            self._look_back(rows, bounds, every_end.states, self.problem.lookahead)
        if not is_few and self._is_simple(ends):
            return _Part(
                kernel.DONE, -1, self._walk_past(rows, bounds, viability.moves()).moved(origin), start + origin, number
            )
        steps: Any = viability.steps.reshape(-1)
        part = self._walk(
            rows, bounds, every_end.accepts, steps.tolist() if is_few else steps,
            partitions.asked_between(origin, stop), flag, reports=partitions.failures is not None,
        )
        return _Part(
            part.status, part.row + origin, part.matches.moved(origin), part.start + origin, part.number,
            [(at + origin, why) for at, why in part.failed],
        )

    def _walk(
        self, rows: Any, bounds: tuple[Any, ...], accepts: NDArray[np.bool_], steps: Any, asked: NDArray[np.uint8],
        flag: NDArray[np.uint8], *, reports: bool,
    ) -> _Part:
        """Matches by `kernels.automaton.walk`."""
        viability = self.viability
        assert viability is not None  # else it refused
        status, row, n_matches, found, n_labels, labels, n_failed, failed = kernel_for(walk, len(rows))(
            rows, bounds, self.problem.lookahead, steps, viability.n_positions, viability.entry, viability.first_entry,
            accepts, self.skip_mode, self.problem.skip_member, self.wants_labels, reports, asked, flag,
        )
        first, last, numbers = (np.ascontiguousarray(column) for column in found[:n_matches].T)
        label_offsets = np.zeros(n_matches + 1, np.int64)
        np.cumsum(last - first, out=label_offsets[1:])
        return _Part(
            int(status), int(row), Matches(first, last, numbers, labels[:n_labels], label_offsets),
            np.asarray(bounds[3], np.int64), np.asarray(bounds[4], np.int64),
            [(int(at), int(why)) for at, why in failed[:n_failed]],
        )

    def _walk_past(
        self, states: NDArray[np.uint16], bounds: tuple[Any, ...], moves: NDArray[np.int32],
        begun: NDArray[np.int64] | None = None, room: _Room | None = None,
    ) -> Matches:
        """Matches by `kernels.automaton.walk_past`; of one partition it may have begun."""
        viability = self.viability
        assert viability is not None  # else it refused
        labels, ends, label_offsets = room = room or self._room(bounds)
        numbers = np.empty(len(ends), np.int64)
        n_matches, n_labels = walk_past(
            states, bounds, moves, viability.n_positions, viability.entry, viability.first_entry,
            np.empty(0, np.int64) if begun is None else begun, labels, ends, numbers, label_offsets,
        )
        ends, label_offsets = ends[:n_matches], label_offsets[: n_matches + 1]
        starts = np.diff(label_offsets)
        np.subtract(ends, starts, out=starts)  # fresh memory costs more than what is computed
        return Matches(starts, ends, numbers[:n_matches], labels[:n_labels], label_offsets)

    def _walk_both(
        self, states: NDArray[np.uint16], both: Sequence[tuple[Any, ...]], moves: NDArray[np.int32]
    ) -> list[Matches]:
        """The same of two pieces that each lie in one partition, in turns as far as both have rows."""
        viability = self.viability
        assert viability is not None  # else it refused
        rooms, begun = [self._room(bounds) for bounds in both], []
        for offsets, begins, _, start, *_ in both:
            is_first = bool(begins[0]) and start[0] == offsets[0]
            begun.append(np.array([start[0], viability.first_entry if is_first else viability.entry, 0, 0], np.int64))
        n_rows = max(0, min(int(until[0] - start[0]) for _, _, _, start, _, until in both))
        one, other = ((at, *room) for at, room in zip(begun, rooms, strict=True))
        walk_both(states, moves, viability.n_positions, n_rows, one, other)
        return [
            self._walk_past(states, bounds, moves, at, room)
            for bounds, at, room in zip(both, begun, rooms, strict=True)
        ]

    def _room(self, bounds: tuple[Any, ...]) -> _Room:
        """Room for labels, ends and label offsets, as `walk_past` takes them."""
        offsets, _, _, start, _, until = bounds
        n_starts = int(np.maximum(until - start, 0).sum())
        labels = np.empty(int((offsets[1:] - start).sum()) if self.wants_labels else 0, np.int16)
        return labels, np.empty(n_starts + 1, np.int64), np.empty(n_starts + 2, np.int64)

    def _ends(self, frame: Columns, partitions: Partitions) -> _Ends:
        """How partitions end: which conditions the next row of an open one cannot meet."""
        viability = self.viability
        assert viability is not None  # else it refused
        bits = np.zeros(len(partitions.ends), np.uint64)
        if self.silences and partitions.horizon is not None and not partitions.ends.all():
            barred = self.barred(frame, partitions)
            for number, name in enumerate(self.problem.program.variables):
                if name in self.silences:
                    bits |= barred[:, number].astype(np.uint64) << np.uint64(self.bit_of[name])
        kinds = np.unique(bits[~partitions.ends]).tolist()
        states = np.array([kernel.CLOSED_END, *map(viability.open_end, kinds)], np.int64)
        nowhere = np.zeros(viability.n_positions, np.bool_)
        accepts = np.array([nowhere, *map(viability.accepts_before, kinds)])
        kind = np.where(partitions.ends, kernel.CLOSED, 1 + np.searchsorted(np.array(kinds, np.uint64), bits))
        return _Ends(kind.astype(np.int64), states, accepts)

    def _look_back_twice(
        self, rows: NDArray[np.uint16], offsets: NDArray[np.int64], places: NDArray[np.int64] | None = None
    ) -> None:
        """The same for many rows of whole partitions, or of two parts of them: see the kernel for `places`."""
        viability = self.viability
        assert viability is not None  # else it refused
        if places is None:
            half = int(np.searchsorted(offsets, offsets[-1] // 2))
            # Each range begins behind its last partition, of which no rows are left.
            places = np.array([[0, half, 0, 0], [half, len(offsets) - 1, 0, 0]], np.int64)
        is_done = False
        while not is_done:
            transitions, shift = viability.tables()
            is_done = look_back_twice(rows, offsets, transitions, shift, places)
            for _, partition, n_left, state in () if is_done else places.tolist():
                if n_left:
                    viability.add(state, int(rows[offsets[partition] + n_left - 1]))

    def _look_back(
        self, rows: Any, bounds: tuple[Any, ...], open_ends: NDArray[np.int64], lookahead: int, row: int = -1,
        at: int = 0,
    ) -> None:
        """Turn symbols into states, adding the transitions that are met for the first time.

        From the end, or from a row of the last partition with the state behind it. So many rows as `lookahead` at an
        open end are left as they are.
        """
        viability = self.viability
        assert viability is not None  # else it refused
        kernel_of = kernel_for(look_back, len(rows))
        partition = len(bounds[0]) - 2
        while partition >= 0:
            transitions, shift = viability.tables()
            partition, row, at = kernel_of(
                rows, bounds, open_ends, lookahead, transitions, shift, partition, row, at
            )
            if partition >= 0:
                viability.add(int(at), int(rows[row]))


@dataclass(frozen=True, eq=False, slots=True)
class _Ends:
    """By partition what kind of end it has; by kind the state behind the last row, and where matches may end there."""

    kinds: NDArray[np.int64]
    states: NDArray[np.int64]
    accepts: NDArray[np.bool_]


@dataclass(frozen=True, eq=False, slots=True)
class _Part:
    """What one thread found."""

    status: int
    row: int
    matches: Matches
    start: NDArray[np.int64]
    number: NDArray[np.int64]
    failed: Sequence[tuple[int, int]] = ()
