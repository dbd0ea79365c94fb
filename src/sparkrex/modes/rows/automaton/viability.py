"""The viability automaton of a row pattern: from which positions of the pattern can a row and what follows be matched?

A *position* is a place between two rows: it stands for the instructions that can be reached there without a row, in
order of preference. A *state* is a set of MATCH instructions: those that can map a row so that the rows behind it can
still bring the match to an end. States are found from the last row backwards, so a state knows the future: at a
position the preferred match takes the first way that is in the row's state, and never has to come back.

Sets are made when they are first seen. While rows may still come, a state holds two sets: what can accept whatever
comes, and what may accept if the right rows come. A way that is only in the second is undecided.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.rows.kernels.automaton import ACCEPT, NONE, UNDECIDED
from sparkrex.modes.rows.program import Op

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.rows.program import Program

MOST_MATCHES = 2_048
MOST_OPTIONS = 1 << 20
MOST_STATES = 8_192
MOST_ENTRIES = 1 << 22
MOST_SYMBOLS = 1 << 15
"""Above any of these the tables would cost more than they save: `backtrack` takes over, which is linear as well."""


class TooManyStatesError(Exception):
    """The tables grow beyond their limits."""


class Viability:
    """Tables of one program; they grow as new states and symbols are seen. Threads may share it."""

    def __init__(self, program: Program, bit_of: dict[str, int]) -> None:
        """`bit_of` gives the bit of a symbol that tells whether a variable's condition holds; others always hold."""
        self.matches = np.flatnonzero(program.operation == Op.MATCH)
        if len(self.matches) > MOST_MATCHES:
            raise TooManyStatesError
        bits = np.array([bit_of.get(name, -1) for name in program.variables] or [-1], np.int64)
        self.bit = bits[program.variable[self.matches]]
        self._bit_at = {int(at): int(bit) for at, bit in zip(self.matches, self.bit, strict=True)}
        positions = _Positions(program, self.matches)
        self.n_positions = len(positions.options)
        self.entry, self.first_entry = positions.entry, positions.first_entry
        self.target = positions.position_of[program.first[self.matches]]
        label = 2 * program.variable[self.matches] + program.is_excluded[self.matches]
        self.step = self.target.astype(np.int32) << 15 | label.astype(np.int32)
        self._options = positions.options
        self._accepts, self._accepts_at_end = positions.accepts, positions.accepts_at_end
        self._closures = positions.closures
        self.open_ends: dict[int, int] = {0: 1}
        """States behind the last row of an open partition, by the bits of conditions that the next row cannot meet."""
        self._may_accept = {1: positions.may_accept}
        self.gives_empty = positions.gives_empty
        """Whether a match may be empty."""
        member = np.zeros((self.n_positions, len(self.matches) + 2), np.bool_)
        np.put_along_axis(member, self._options, True, axis=1)
        self._member = np.packbits(member[:, : len(self.matches)], axis=1)
        self._lock = threading.Lock()
        self._states: dict[bytes, int] = {}
        self._sets: list[tuple[NDArray[np.uint8], NDArray[np.uint8]]] = []
        self.symbols: list[int] = []
        """Bits of every symbol."""
        self._numbers: dict[int, int] = {}
        self.shift = 3
        self.transitions = np.full((16, 1 << self.shift), -1, np.int32)
        self.steps = np.full((16, self.n_positions), NONE, np.int32)
        for _ in range(2):
            # The two ends, before the last row and before a row to come, are no sets.
            self._sets.append((np.empty(0, np.uint8), np.empty(0, np.uint8)))

    @property
    def n_states(self) -> int:
        """States seen so far, without the two ends."""
        return len(self._sets) - 1 - len(self.open_ends)

    def tables(self) -> tuple[NDArray[np.int32], int]:
        """Transitions in one line, and how far a state's number is shifted in it."""
        with self._lock:
            return self.transitions.reshape(-1), self.shift

    def symbol(self, bits: int) -> int:
        """The number of the symbol with these bits."""
        with self._lock:
            if bits not in self._numbers:
                if len(self.symbols) >= MOST_SYMBOLS:
                    raise TooManyStatesError
                self._numbers[bits] = len(self.symbols)
                self.symbols.append(bits)
                if len(self.symbols) > 1 << self.shift:
                    if self.transitions.shape[0] << (self.shift + 2) > MOST_ENTRIES:
                        raise TooManyStatesError
                    self._make_room(self.transitions.shape[0], self.shift + 2)
            return self._numbers[bits]

    def add(self, state: int, symbol: int) -> None:
        """Make the transition from a state, by the symbol of the row before it, known."""
        with self._lock:
            if self.transitions[state, symbol] >= 0:
                return
            bits = self.symbols[symbol]
            holds = np.array([bit < 0 or bool(bits >> int(bit) & 1) for bit in self.bit], np.bool_)
            certain, possible = (ways[self.target] & holds for ways in self._ways(state))
            packed = np.packbits(certain), np.packbits(possible)
            key = packed[0].tobytes() + packed[1].tobytes()
            if key not in self._states:
                self._states[key] = self._new_state(packed, certain, possible)
            self.transitions[state, symbol] = self._states[key]

    def open_end(self, barred: int) -> int:
        """The state behind the last row of an open partition whose next row cannot meet the conditions of some bits."""
        with self._lock:
            if barred not in self.open_ends:
                state = len(self._sets)
                if state >= self.transitions.shape[0]:
                    self._make_room(2 * state, self.shift)
                self._sets.append((np.empty(0, np.uint8), np.empty(0, np.uint8)))
                self._may_accept[state] = np.array([bool(self._left(found, barred)) for found in self._closures])
                self.open_ends[barred] = state
            return self.open_ends[barred]

    def accepts_before(self, barred: int) -> NDArray[np.bool_]:
        """By position, whether a match ends there whatever the next row is, which cannot meet some conditions."""
        return np.array([self._left(found, barred)[:1] == [(-1, False)] for found in self._closures], np.bool_)

    def _left(self, found: list[tuple[int, bool]], barred: int) -> list[tuple[int, bool]]:
        """What is left of the ways on from a position."""
        bits = self._bit_at
        return [(at, needs_end) for at, needs_end in found if at < 0 or bits[at] < 0 or not barred >> bits[at] & 1]

    def _ways(self, state: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Per position, whether the rest can, and whether it may, be matched from there."""
        if state == 0:
            return self._accepts_at_end, self._accepts_at_end
        if state in self._may_accept:
            return self._accepts, self._may_accept[state]
        certain, possible = self._sets[state]
        return (
            self._accepts | (self._member & certain).any(axis=1),
            self._accepts | (self._member & possible).any(axis=1),
        )

    def _new_state(
        self, packed: tuple[NDArray[np.uint8], NDArray[np.uint8]], certain: NDArray[np.bool_],
        possible: NDArray[np.bool_],
    ) -> int:
        state = len(self._sets)
        if state >= MOST_STATES or state * max(self.n_positions, 1 << self.shift) > MOST_ENTRIES:
            raise TooManyStatesError
        if state >= self.transitions.shape[0]:
            self._make_room(2 * state, self.shift)
        accept, none = len(self.matches), len(self.matches) + 1
        is_open = np.append(possible, [True, False])[self._options]
        first = is_open.argmax(axis=1)
        every = np.arange(self.n_positions)
        chosen = np.where(is_open[every, first], self._options[every, first], none)
        is_certain = np.append(certain, [True, True])[chosen]
        taken = np.append(self.step, np.array([ACCEPT, NONE], np.int32))[chosen]
        assert accept == none - 1  # the order of the two ends in `taken`
        self.steps[state] = np.where(is_certain, taken, UNDECIDED)
        self._sets.append(packed)
        return state

    def settled(self) -> NDArray[np.bool_]:
        """By state, whether what can be matched from there on is known for certain, whatever lies behind."""
        with self._lock:
            return np.array([len(sure) > 0 and np.array_equal(sure, possible) for sure, possible in self._sets])

    def moves(self) -> NDArray[np.int32]:
        """Steps for SKIP PAST LAST ROW without empty matches, every row one step: see `kernels.automaton.walk_past`.

        Where a match ends before a row, the row's step from the entry is taken at once.
        """
        with self._lock:
            steps = self.steps[: len(self._sets)]
        at_entry = np.zeros(self.n_positions, np.bool_)
        at_entry[[self.entry, self.first_entry]] = True
        has_ended = (steps == ACCEPT) & ~at_entry
        taken = np.where(has_ended, steps[:, self.entry : self.entry + 1], steps)
        is_mapped = taken >= 0
        following = np.where(is_mapped, taken >> 15, self.entry)
        flags = has_ended.astype(np.int32) << 1 | is_mapped
        moves: NDArray[np.int32] = following << 17 | flags << 15 | np.where(is_mapped, taken & 0x7FFF, 0)
        return moves.astype(np.int32).reshape(-1)

    def _make_room(self, n_states: int, shift: int) -> None:
        """Larger tables. Kernels at work keep the old ones, miss what is new there and come back for it."""
        transitions = np.full((n_states, 1 << shift), -1, np.int32)
        old = self.transitions
        transitions[: old.shape[0], : old.shape[1]] = old
        steps = np.full((n_states, self.n_positions), NONE, np.int32)
        steps[: self.steps.shape[0]] = self.steps
        self.steps, self.transitions, self.shift = steps, transitions, shift


class _Positions:
    """The positions of a program: behind every MATCH, and where a match starts.

    `options` has a line per position: the MATCH instructions (as their places in `matches`) in order of preference up
    to the first unconditional acceptance, `len(matches)` for that one, `len(matches) + 1` behind the last.
    """

    def __init__(self, program: Program, matches: NDArray[np.int64]) -> None:
        place_of = {int(at): place for place, at in enumerate(matches)}
        accept, none = len(matches), len(matches) + 1
        targets = sorted({int(at) for at in program.first[matches]})
        self.position_of = np.full(len(program), -1, np.int64)
        self.position_of[targets] = np.arange(len(targets))
        closures = [closure(program, at, is_first=False) for at in targets]
        # Where a match starts is a position of its own, even if a loop comes back to the same instruction.
        self.entry = self.first_entry = len(closures)
        closures.append(closure(program, program.entry, is_first=False))
        if (program.operation == Op.START).any():
            self.first_entry = len(closures)
            closures.append(closure(program, program.entry, is_first=True))
        self.closures = closures
        longest = max(1, *(len(found) for found in closures))
        if longest * len(closures) > MOST_OPTIONS:
            raise TooManyStatesError
        self.options = np.full((len(closures), longest), none, np.int64)
        for options, found in zip(self.options, closures, strict=True):
            kept = [accept if at < 0 else place_of[at] for at, needs_end in found if not needs_end]
            options[: len(kept)] = kept
        self.accepts = np.array([(-1, False) in found for found in closures], np.bool_)
        self.accepts_at_end = np.array([any(at < 0 for at, _ in found) for found in closures], np.bool_)
        self.may_accept = np.array([bool(found) for found in closures], np.bool_)
        self.gives_empty = bool(self.accepts_at_end[self.entry] or self.accepts_at_end[self.first_entry])


def closure(program: Program, entry: int, *, is_first: bool) -> list[tuple[int, bool]]:
    """What can be reached without a row, in order of preference: MATCH instructions, and -1 for acceptance.

    The flag tells that the way there passes `$`. `^` lets pass where a match starts at the partition's first row only.
    Behind an unconditional acceptance nothing is ever chosen; behind `$` no row can follow.
    """
    found: list[tuple[int, bool]] = []
    seen: set[tuple[int, bool]] = set()
    pending = [(entry, False)]
    while pending:
        at, needs_end = pending.pop()
        if (at, needs_end) in seen or (at, False) in seen:
            continue
        seen.add((at, needs_end))
        match program.operation[at]:
            case Op.ACCEPT:
                found.append((-1, needs_end))
                if not needs_end:
                    return found
            case Op.MATCH:
                if not needs_end:
                    found.append((at, False))
            case Op.SPLIT:
                pending += [(int(program.second[at]), needs_end), (int(program.first[at]), needs_end)]
            case Op.START:
                if is_first:
                    pending.append((int(program.first[at]), needs_end))
            case Op.END:
                pending.append((int(program.first[at]), True))
    return found
