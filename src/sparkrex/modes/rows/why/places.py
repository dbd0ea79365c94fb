"""The places of a pattern, and how many rows each of them still needs.

A viable prefix stands before a row, at tests of variables that may follow there, or at the pattern's end. A *place* is
such a test: an instruction MATCH of the program. Places are numbered; what may follow a place's row is in order of
preference. Anchors lie between places: `$` lets nothing but the end pass, `^` only the first place of all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.rows.automaton.viability import closure
from sparkrex.modes.rows.program import Op

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.rows.program import Program

NEVER = 1 << 30
"""The need of a place from which no number of rows reaches the end."""


@dataclass(frozen=True, slots=True)
class Ways:
    """What may come without a row: places in order of preference, the end, and the end where no row follows."""

    places: tuple[int, ...]
    accepts: bool
    accepts_at_end: bool


@dataclass(frozen=True, eq=False, slots=True)
class Places:
    """By place its variable, the rows that it still needs, its own included, and the ways behind its row.

    `first` are the ways of a match that starts at the partition's first row, `entry` those of other starts. A start has
    `need` at least; `barred` are places of that need that only the partition's first row may come to, for `^`.
    """

    variables: tuple[str, ...]
    variable: NDArray[np.int32]
    needs: NDArray[np.int64]
    ways: tuple[Ways, ...]
    first: Ways
    entry: Ways

    def __len__(self) -> int:
        return len(self.variable)

    @property
    def need(self) -> int:
        """How many rows the pattern needs."""
        return self.least(self.first)

    @property
    def barred(self) -> tuple[int, ...]:
        """See above."""
        return tuple(
            place for place in self.first.places
            if place not in self.entry.places and self.needs[place] == self.need
        )

    def entry_at(self, *, is_first: bool) -> Ways:
        """The ways of a start."""
        return self.first if is_first else self.entry

    def least(self, ways: Ways) -> int:
        """The least need on these ways."""
        if ways.accepts:
            return 0
        return min((int(self.needs[place]) for place in ways.places), default=NEVER)

    @staticmethod
    def of(program: Program) -> Places:
        """The places of a program."""
        instructions = np.flatnonzero(program.operation == Op.MATCH)
        place_of = {int(at): place for place, at in enumerate(instructions)}

        def ways_from(at: int, *, is_first: bool) -> Ways:
            found = closure(program, at, is_first=is_first)
            places = tuple(place_of[one] for one, _ in found if one >= 0)
            return Ways(places, (-1, False) in found, any(one < 0 for one, _ in found))

        known: dict[int, Ways] = {}
        ways = []
        for at in instructions:
            target = int(program.first[at])
            if target not in known:
                known[target] = ways_from(target, is_first=False)
            ways.append(known[target])
        return Places(
            program.variables, program.variable[instructions], _needs(ways), tuple(ways),
            ways_from(program.entry, is_first=True), ways_from(program.entry, is_first=False),
        )


def _needs(ways: list[Ways]) -> NDArray[np.int64]:
    """By place, the least number of rows from it to the end, level by level from the end."""
    needs = np.full(len(ways), NEVER, np.int64)
    before: list[list[int]] = [[] for _ in ways]
    for place, own in enumerate(ways):
        for following in own.places:
            before[following].append(place)
    level = [place for place, own in enumerate(ways) if own.accepts or own.accepts_at_end]
    n_rows = 1
    while level:
        level = [place for place in dict.fromkeys(level) if needs[place] == NEVER]
        needs[level] = n_rows
        level = [earlier for place in level for earlier in before[place]]
        n_rows += 1
    return needs
