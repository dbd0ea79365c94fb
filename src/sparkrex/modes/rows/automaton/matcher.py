"""The `automaton` matcher: row conditions only, time linear in the rows whatever the pattern.

Truth bitmaps become symbols, a pass from the end finds out where and how the pattern can still be matched, and a walk
from the start takes, row by row, the first way that can (see `viability`). Partitions are spread over threads.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.ordered import partition_ranges
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.kernels import lazy
from sparkrex.kernels.lazy import kernel_for
from sparkrex.matching.contract import Matches, State
from sparkrex.modes.rows.automaton.symbols import MOST_BITS, symbols_of
from sparkrex.modes.rows.automaton.viability import TooManyStatesError, Viability
from sparkrex.modes.rows.backtrack.matcher import SKIP_MODES
from sparkrex.modes.rows.frame import frame_of, hold_back, release
from sparkrex.modes.rows.kernels import automaton as kernel
from sparkrex.modes.rows.kernels.automaton import look_back, walk, walk_past
from sparkrex.threads import spread

if TYPE_CHECKING:
    from typing import Any

    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.modes.rows.backtrack.matcher import BacktrackMatcher


class AutomatonMatcher:
    """Immutable but for its tables, which only ever gain entries. `backtrack` takes over when they grow too large."""

    name = "automaton"

    def __init__(self, backtrack: BacktrackMatcher, *, wants_labels: bool) -> None:
        self.backtrack = backtrack
        self.plan = backtrack.plan
        self.settings = backtrack.settings
        self.skip_mode = SKIP_MODES[self.plan.skip.to]
        self.wants_labels = wants_labels or self.skip_mode >= kernel.TO_FIRST
        variables = backtrack.program.variables
        self.skip_member = np.array([name in self.plan.skip.variables for name in variables] or [False], np.bool_)
        # Variables with the same condition share a bit, and it is tested once.
        conditions = {c.variable: c.row for c in backtrack.conditions if c.row is not None}
        bits = {condition: bit for bit, condition in enumerate(dict.fromkeys(conditions.values()))}
        self.bit_of = {name: bits[condition] for name, condition in conditions.items()}
        self.tested = list({c.row: c for c in reversed(backtrack.conditions) if c.row is not None}.values())
        self.tested.sort(key=lambda condition: self.bit_of[condition.variable])
        self.viability: Viability | None = None
        self.refused = self._refusal(len(bits))

    def _refusal(self, n_conditions: int) -> str | None:
        context = [condition.variable for condition in self.backtrack.conditions if condition.context is not None]
        if context:
            return f"the condition of {', '.join(context)} reads the match so far"
        if n_conditions > MOST_BITS:
            return f"it has {n_conditions} different conditions, more than {MOST_BITS}"
        try:
            self.viability = Viability(self.backtrack.program, self.bit_of)
        except TooManyStatesError:
            return "the pattern unfolds to too many steps for its tables"
        return None

    def refusal(self) -> str | None:
        """Why this matcher cannot run the query, None if it can."""
        return self.refused

    def open(self) -> State:
        """The state before the first feed."""
        return State()

    def describe(self) -> list[str]:
        """The automaton's size."""
        assert self.viability is not None  # else it refused
        lines = [f"automaton of {len(self.viability.matches)} pattern states over {len(self.tested)} conditions"]
        if self.viability.n_states:
            lines.append(f"{self.viability.n_states} sets of states and {len(self.viability.symbols)} symbols seen")
        return [*lines, "labels of matched rows " + ("kept" if self.wants_labels else "not needed")]

    def feed(self, state: State, columns: Columns, *, opens: bool, closes: bool) -> Matches:
        """See the contract."""
        try:
            return self._feed(state, columns, opens=opens, closes=closes)
        except TooManyStatesError:
            return self.backtrack.feed(state, columns, opens=opens, closes=closes)

    def _feed(self, state: State, columns: Columns, *, opens: bool, closes: bool) -> Matches:
        frame = frame_of(state, columns, opens=opens)
        threads = self.settings.thread_count()
        _, bitmaps = evaluate_bitmaps(self.tested, frame, self.backtrack.evaluator, self.plan.source, threads)
        pieces = partition_ranges(frame, threads)
        if not pieces:
            return Matches.none()
        stop = np.zeros(1, np.uint8)
        search = partial(self._search, frame, bitmaps, state, closes, stop)
        # Only matches that overlap can take long: else a row is walked over once.
        is_linear = self.skip_mode == kernel.PAST_LAST_ROW
        parts = spread(search, pieces) if is_linear else spread(search, pieces, partial(stop.fill, 1))
        for part in parts:
            if part.status != kernel.DONE:
                raise self.backtrack.failure(part.status, frame, part.row)
        if closes:
            release(state)
        else:
            last = parts[-1]
            hold_back(state, frame, last.next_start, last.next_number, self.backtrack.reach_back, self.settings)
        return Matches.joined([part.matches for part in parts])

    def _search(
        self, frame: Columns, bitmaps: NDArray[np.uint8], state: State, closes: bool, flag: NDArray[np.uint8],
        begin: int, end: int,
    ) -> _Part:
        """Matches of the partitions from `begin` up to `end`."""
        assert self.viability is not None  # else it refused
        origin, stop = int(frame.offsets[begin]), int(frame.offsets[end])
        offsets = frame.offsets[begin : end + 1] - origin
        is_last = end == len(frame.offsets) - 1
        is_closed = closes or not is_last
        limit = int(offsets[-1]) - (0 if is_closed else self.backtrack.lookahead)
        first_start, first_number, opens = 0, 1, True
        if begin == 0:
            first_start, first_number, opens = state.next_start, state.next_number, state.begins
        rows: Any = symbols_of(bitmaps[:, origin:stop], self.viability)
        cuts: Any = offsets
        if is_plain := len(rows) <= lazy.FEW_ROWS:
            rows, cuts = rows.tolist(), offsets.tolist()
        self._look_back(rows, cuts, first_start, is_closed, limit)
        is_simple = self.skip_mode == kernel.PAST_LAST_ROW and not self.viability.gives_empty
        if is_simple and is_closed and not is_plain and first_start == 0 and first_number == 1:
            return _Part(kernel.DONE, -1, self._walk_past(rows, offsets, opens).moved(origin), stop, 1)
        viability = self.viability
        steps: Any = viability.steps.reshape(-1)
        status, row, n_matches, found, n_labels, labels, next_start, next_number = kernel_for(walk, len(rows))(
            rows, cuts, opens, is_closed, limit, first_start, first_number, steps.tolist() if is_plain else steps,
            viability.n_positions, viability.entry, viability.first_entry, viability.accepts_open, self.skip_mode,
            self.skip_member, self.wants_labels, flag,
        )
        start, match_end, number = (np.ascontiguousarray(column) for column in found[:n_matches].T)
        label_offsets = np.zeros(n_matches + 1, np.int64)
        np.cumsum(match_end - start, out=label_offsets[1:])
        matches = Matches(start, match_end, number, labels[:n_labels], label_offsets).moved(origin)
        return _Part(int(status), int(row) + origin, matches, int(next_start) + origin, int(next_number))

    def _walk_past(self, states: NDArray[np.uint16], offsets: NDArray[np.int64], opens: bool) -> Matches:
        viability = self.viability
        assert viability is not None  # else it refused
        n_rows = len(states)
        labels = np.empty(n_rows if self.wants_labels else 0, np.int16)
        ends, numbers = np.empty(n_rows + 1, np.int64), np.empty(n_rows + 1, np.int64)
        label_offsets = np.empty(n_rows + 2, np.int64)
        n_matches, n_labels = walk_past(
            states, offsets, opens, viability.moves(), viability.n_positions, viability.entry, viability.first_entry,
            labels, ends, numbers, label_offsets,
        )
        ends, label_offsets = ends[:n_matches], label_offsets[: n_matches + 1]
        return Matches(ends - np.diff(label_offsets), ends, numbers[:n_matches], labels[:n_labels], label_offsets)

    def _look_back(self, rows: Any, offsets: Any, first_start: int, is_closed: bool, limit: int) -> None:
        """Turn symbols into states, adding the transitions that are met for the first time."""
        viability = self.viability
        assert viability is not None  # else it refused
        kernel_of = kernel_for(look_back, len(rows))
        partition, row, at = len(offsets) - 2, -1, 0
        while partition >= 0:
            transitions, shift = viability.tables()
            partition, row, at = kernel_of(
                rows, offsets, first_start, is_closed, limit, transitions, shift, partition, row, at
            )
            if partition >= 0:
                viability.add(int(at), int(rows[row]))


@dataclass(frozen=True, eq=False, slots=True)
class _Part:
    """What one thread found."""

    status: int
    row: int
    matches: Matches
    next_start: int
    next_number: int
