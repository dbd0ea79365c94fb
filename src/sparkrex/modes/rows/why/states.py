"""Sets of places as states of a deterministic automaton, for patterns whose conditions read rows only.

All viable prefixes of one start that end before the same row stand in one set of places, and the symbol of the row
decides which set follows. So a start has one path through the states, whatever the number of its prefixes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.rows.why.places import Places, Ways

DEAD = -1
ACCEPTS, ACCEPTS_AT_END = 1, 2
MOST_STATES = 512
"""Above this one pass over all states costs more than a search from every start."""
MOST_TRANSITIONS = 1 << 18
MOST_VARIABLES = 63


class TooManyStatesError(Exception):
    """The sets of places are too many."""


@dataclass(frozen=True, eq=False, slots=True)
class States:
    """`following[state, symbol]` and `accepts[state, symbol]` (bits) are what comes behind a row.

    By state: `need` is the least need of its places; its blocking variables, those of places with that need, are
    `variables[offsets[state] : offsets[state + 1]]`, and as `bits`. `masks` are the places of the state.
    """

    following: NDArray[np.int32]
    accepts: NDArray[np.uint8]
    need: NDArray[np.int64]
    offsets: NDArray[np.int64]
    variables: NDArray[np.int32]
    bits: NDArray[np.uint64]
    masks: tuple[int, ...]
    entry: int
    first: int


def mask_of(places: tuple[int, ...]) -> int:
    """A set of places as the bits of a number."""
    return sum(1 << place for place in dict.fromkeys(places))


def places_in(mask: int) -> list[int]:
    """The places of a set, ascending."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found


def holding_masks(places: Places, symbols: list[int]) -> list[int]:
    """By symbol, bits by variable, the places whose condition holds."""
    variables = places.variable.tolist()
    return [mask_of(tuple(p for p, v in enumerate(variables) if bits >> v & 1)) for bits in symbols]


def make_states(places: Places, symbols: list[int]) -> States:
    """All states that can be met; a symbol has the bits of the variables whose conditions hold."""
    if len(places.variables) > MOST_VARIABLES:
        raise TooManyStatesError
    holding = holding_masks(places, symbols)
    after = [_Behind.of(ways) for ways in places.ways]
    numbers: dict[int, int] = {}

    def number(mask: int) -> int:
        if not mask:
            return DEAD
        if mask not in numbers:
            if len(numbers) >= MOST_STATES or len(numbers) * len(symbols) >= MOST_TRANSITIONS:
                raise TooManyStatesError
            numbers[mask] = len(numbers)
        return numbers[mask]

    entry, first = (number(mask_of(ways.places)) for ways in (places.entry, places.first))
    following: list[list[int]] = []
    accepts: list[list[int]] = []
    done = 0
    while done < len(numbers):
        mask = list(numbers)[done]
        following.append([])
        accepts.append([])
        for holds in holding:
            behind, flags = 0, 0
            for place in places_in(mask & holds):
                behind |= after[place].mask
                flags |= after[place].flags
            following[-1].append(number(behind))
            accepts[-1].append(flags)
        done += 1
    needs, blocking = [], []
    for mask in numbers:
        inside = places_in(mask)
        need = min(int(places.needs[place]) for place in inside)
        needs.append(need)
        blocking.append(sorted({int(places.variable[place]) for place in inside if places.needs[place] == need}))
    n_symbols = max(1, len(symbols))
    return States(
        np.array(following, np.int32).reshape(-1, n_symbols), np.array(accepts, np.uint8).reshape(-1, n_symbols),
        np.array(needs, np.int64), np.cumsum([0, *map(len, blocking)], dtype=np.int64),
        np.array([one for several in blocking for one in several], np.int32),
        np.array([sum(1 << one for one in several) for several in blocking], np.uint64), tuple(numbers), entry, first,
    )


@dataclass(frozen=True, slots=True)
class _Behind:
    """What follows a place's row, as bits."""

    mask: int
    flags: int

    @staticmethod
    def of(ways: Ways) -> _Behind:
        return _Behind(mask_of(ways.places), ACCEPTS * ways.accepts | ACCEPTS_AT_END * ways.accepts_at_end)
