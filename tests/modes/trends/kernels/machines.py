"""Units over events that are letters: a pattern's automaton as arrays, without comparisons and aggregates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from tests.modes.trends.analysis import analyzed
from tests.modes.trends.kernels.lines import exact_values, log_values

from sparkrex.modes.trends.automaton import make_automaton
from sparkrex.modes.trends.kernels.machine import Rows, Units
from sparkrex.modes.trends.kernels.places import Store, Weights
from sparkrex.modes.trends.layout import Layout
from sparkrex.modes.trends.plan import Counts
from sparkrex.modes.trends.results import _logarithms
from sparkrex.modes.trends.symbols import make_machine, variables_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.trends.kernels.machine import Machine

LETTERS = "ABCD"
NO_WEIGHTS = Weights(**{
    name: np.zeros((1, 1) if name.endswith("_of") else (0, 0), np.uint8) for name in Weights._fields
} | {
    "is_number_counted": np.zeros(1, np.uint8), "is_real_counted": np.zeros(1, np.uint8),
    "number_weights": np.zeros((0, 0), np.int64), "real_weights": np.zeros((0, 0), np.float64),
    "extreme_of": np.zeros((0, 1), np.uint8), "extreme_keys": np.zeros((0, 0), np.int64),
})
"""Trends are only counted."""


def machine_of(pattern: str, semantics: str) -> Machine:
    """The automaton of a pattern whose variables begin with the letter of their type; symbols are LETTERS."""
    query = analyzed(f"RETURN COUNT(*) PATTERN {pattern} SEMANTICS {semantics}")
    names = variables_of(query)
    symbols = [
        sum(1 << place for place, name in enumerate(names) if name[0].upper() == letter) for letter in LETTERS
    ]
    return make_machine(make_automaton(query), names, query.semantics, {}, symbols)


def symbols_of(letters: str) -> NDArray[np.int32]:
    """Events as symbols."""
    return np.array([LETTERS.index(letter) for letter in letters.upper()], np.int32)


@dataclass
class Counted:
    """Units whose trends are counted by state: what is kept of them, and the rows that they have come to."""

    machine: Machine
    counts: Counts
    store: Store
    reached: NDArray[np.int64]

    @staticmethod
    def fresh(machine: Machine, counts: Counts, n_units: int) -> Counted:
        """Units that have seen nothing."""
        layout = Layout(counts, (), (), (), {})
        store = layout.store(n_units * (machine.n_states + machine.n_kinds))
        return Counted(machine, counts, store, np.zeros(n_units, np.int64))

    def count(
        self, kernel: Any, symbols: NDArray[np.int32], cuts: Sequence[int], *, is_interrupted: bool = False
    ) -> None:
        """Advance by rows, cut by units, as far as a kernel of `counting` goes."""
        units = self._units(cuts, closes=False)
        self.reached = units.first.copy()
        budget = np.array([is_interrupted], np.int64)
        kernel(units, Rows(symbols, np.zeros(0, np.uint8), False), self.machine, self.store, self.reached, 0,
               len(units.first), budget)

    def advance(self, kernel: Any, symbols: NDArray[np.int32], cuts: Sequence[int], *, closes: bool) -> None:
        """The rest, or all rows, by state."""
        units = self._units(cuts, closes)
        if len(self.reached):
            units = units._replace(first=np.maximum(self.reached, units.first))
        layout = Layout(self.counts, (), (), (), {})
        room = layout.store(self.machine.n_states + 2)
        rows = Rows(symbols, np.zeros(len(symbols), np.uint8), False)
        assert kernel(
            units, rows, self.machine, layout.shape, NO_WEIGHTS, self.store, room, 0, len(units.first),
            np.zeros(1, np.int64),
        )
        self.reached = np.zeros(len(self.reached), np.int64)

    def _units(self, cuts: Sequence[int], closes: bool) -> Units:
        offsets = np.array(cuts, np.int64)
        return Units(offsets[:-1].copy(), offsets[1:].copy(), np.full(len(offsets) - 1, closes))

    def values(self) -> list[list[Any]]:
        """By unit what is in its places."""
        lines = self.store.numbers
        match self.counts:
            case Counts.EXACT:
                found: list[Any] = list(exact_values(lines))
            case Counts.LOG:
                found = list(log_values(lines))
            case Counts.TEXT:
                found = lines[:, 0].tolist()
        width = self.machine.n_states + self.machine.n_kinds
        return [found[base : base + width] for base in range(0, len(found), width)]

    def totals(self) -> list[Any]:
        """By unit, how many trends have ended."""
        return [values[self.machine.n_states] for values in self.values()]

    def logarithms(self) -> list[float]:
        """The same as results have it under counts="log"."""
        width = self.machine.n_states + self.machine.n_kinds
        found = _logarithms(self.store.numbers[self.machine.n_states :: width])
        return [float(value) for value in found]
