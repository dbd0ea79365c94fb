"""The layout of the path's records: which slots the targets and aggregates of all conditions need, and who writes them.

See `kernels.path`. What no condition reads has no slot, and a variable that changes no slot costs nothing when mapped.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.kernels import machine as m
from sparkrex.kernels import path as p

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

Variables = frozenset[str] | None
"""Rows mapped to one of these variables; None: to any."""

_ACCUMULATORS = {
    "count": p.COUNT, "count_if": p.COUNT_IF, "sum": p.SUM, "avg": p.SUM, "min": p.MIN, "max": p.MAX,
    "bool_and": p.MIN, "bool_or": p.MAX, "var_samp": p.MOMENTS, "var_pop": p.MOMENTS, "stddev_samp": p.MOMENTS,
    "stddev_pop": p.MOMENTS,
}
_MOMENTS = {
    "var_samp": m.READ_VAR_SAMP, "var_pop": m.READ_VAR_POP, "stddev_samp": m.READ_STDDEV_SAMP,
    "stddev_pop": m.READ_STDDEV_POP,
}
FUNCTIONS = frozenset(_ACCUMULATORS)
"""The aggregates that records can hold."""


@dataclass(frozen=True, slots=True)
class Update:
    """What mapping a row to one of the variables does to a record; `column` is a number of rows for NTH_ROW."""

    variables: Variables
    kind: int
    values: int = p.NO_VALUES
    column: int = 0
    filter: int = -1


@dataclass(slots=True)
class Records:
    """Slots by what updates them, and what aggregate operands read of them: (what, integer slot, double slot)."""

    initial: list[int] = field(default_factory=list)
    n_floats: int = 0
    slots: dict[Update, tuple[int, int]] = field(default_factory=dict)
    widths: dict[Update, tuple[int, int]] = field(default_factory=dict)
    reads: dict[tuple[int, int, int], int] = field(default_factory=dict)

    def last_row(self, variables: frozenset[str], offset: int) -> int:
        """The slot of the last row of a set; for earlier ones, the version before it is in the next slot."""
        return self._slot(Update(variables, p.LAST_ROWS), [-1, 0]) if offset else self._slot(
            Update(variables, p.LAST_ROW), [-1]
        )

    def first_row(self, variables: frozenset[str], offset: int) -> int:
        """The slot of the first row of a set, or of the one `offset` rows after it."""
        if offset == 0:
            return self._slot(Update(variables, p.FIRST_ROW), [-1])
        return self._slot(Update(variables, p.NTH_ROW, column=offset + 1), [-1, 0])

    def aggregate(self, function: str, variables: Variables, values: int, column: int, condition: int) -> int:
        """The number of what reads an aggregate; `sum` and `avg` of the same rows share their slots."""
        kind = _ACCUMULATORS[function]
        update = Update(variables, kind, values, column, condition)
        has_integer = values == p.INTEGERS and kind in (p.SUM, p.MIN, p.MAX)
        n_floats = 2 if kind == p.MOMENTS else int(values == p.DOUBLES and kind in (p.SUM, p.MIN, p.MAX))
        slot = self._slot(update, [0, 0] if has_integer else [0], n_floats)
        if function in _MOMENTS:
            what = _MOMENTS[function]
        elif kind in (p.COUNT, p.COUNT_IF):
            what = m.READ_COUNT
        elif function == "avg":
            what = m.READ_INT_AVERAGE if has_integer else m.READ_AVERAGE
        else:
            what = m.READ_INT if has_integer else m.READ_FLOAT
        read = (what, slot, self.slots[update][1])
        return self.reads.setdefault(read, len(self.reads))

    def _slot(self, update: Update, initial: list[int], n_floats: int = 0) -> int:
        if update not in self.slots:
            self.slots[update] = (len(self.initial), self.n_floats)
            self.widths[update] = (len(initial), n_floats)
            self.initial += initial
            self.n_floats += n_floats
        return self.slots[update][0]

    def changed_by(self, variable: str) -> bool:
        """Whether mapping a row to the variable changes a record."""
        return any(update.variables is None or variable in update.variables for update in self.slots)

    def updates(self, variables: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """All updates, and their offsets by variable. A variable that changes a record copies the rest of it."""
        lines: list[list[int]] = []
        offsets = [0]
        for variable in variables:
            if self.changed_by(variable):
                for update, slots in self.slots.items():
                    if update.variables is None or variable in update.variables:
                        lines.append([update.kind, *slots, update.values, update.column, update.filter])
                    else:
                        lines += self._copy_record(update)
            offsets.append(len(lines))
        return np.array(lines, np.int64).reshape(-1, 6), np.array(offsets, np.int64)

    def _copy_record(self, update: Update) -> list[list[int]]:
        slot, place = self.slots[update]
        n_ints, n_floats = self.widths[update]
        return [[p.COPY_INT, slot + i, 0, 0, 0, -1] for i in range(n_ints)] + [
            [p.COPY_FLOAT, 0, place + i, 0, 0, -1] for i in range(n_floats)
        ]

    def table(self, longest: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Room for the records of a path of so many rows; the first is that of the empty path."""
        ints = np.empty((longest + 1, len(self.initial)), np.int64)
        floats = np.empty((longest + 1, self.n_floats), np.float64)
        ints[0], floats[0] = self.initial, 0.0
        return ints, floats
