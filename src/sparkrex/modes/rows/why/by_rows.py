"""Blockers of patterns whose conditions read rows only: one pass over the states, whatever the number of prefixes.

Where WITHIN is all that reads the match, a walk from every start, as long as its prefixes and its window last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import numpy_of, plain
from sparkrex.kernels.lazy import kernel_for
from sparkrex.modes.rows.kernels.arguments import Barred, StateTables
from sparkrex.modes.rows.kernels.arguments import Blocked as BlockedArrays
from sparkrex.modes.rows.kernels.blockers import find_blockers, find_blockers_within
from sparkrex.modes.rows.why.blocked import Blocked
from sparkrex.modes.rows.why.places import NEVER
from sparkrex.modes.rows.why.states import (
    DEAD,
    TooManyStatesError,
    holding_masks,
    make_states,
    mask_of,
    places_in,
)
from sparkrex.reasons.conditions import missed_by
from sparkrex.scalar.expression import Call

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.rows.why.case import Case
    from sparkrex.modes.rows.why.states import States

MOST_STEPS = 1_000_000_000
"""Of all walks together."""
_BITS_OF_A_TABLE = 16
_MOST_SYMBOLS = 1 << 15


class CannotWalkError(Exception):
    """The conditions read more of the match than how long ago it began."""


def blocked_by_rows(case: Case, tried: NDArray[np.bool_]) -> Blocked:
    """What is known of every start that was tried.

    Raises TooManyStatesError, and CannotWalkError where the window cannot be told by numbers.
    """
    places = case.places
    window = window_of(case) if case.contexts else None
    symbols, bits = _symbols(case.row_holds)
    states = make_states(places, bits)
    found = Blocked.empty(case.n_rows, len(case.variables))
    last_state = np.full(case.n_rows, DEAD, np.int32)
    barred = sorted({int(places.variable[place]) for place in places.barred})
    tables = StateTables(
        states.following, states.accepts, states.need, states.offsets, states.variables, states.bits, states.entry,
        states.first,
    )
    found.need[:] = NEVER  # without any state no row can be mapped at all
    if len(states.need):
        not_first = Barred(places.need, len(barred), np.uint64(sum(1 << one for one in barred)))
        arrays = BlockedArrays(
            found.need, found.count, found.last_row, last_state, found.close, found.close_row, found.close_variable,
            np.zeros(case.n_rows, np.uint64),
        )
        given = case.offsets, symbols, tables, not_first, misses(case), tried
        of_variables = found.apart_of_variable, found.starts_of_variable
        if window is None:
            kernel_for(find_blockers, case.n_rows)(*given, arrays, *of_variables)
        else:
            kernel_for(find_blockers_within, case.n_rows)(
                *given, *window, MOST_STEPS, arrays, found.is_exact, *of_variables
            )
        # Where a match was found from a start, nobody asks what stood in the way, and the pass has not filled it in.
        last_state[~tried] = DEAD
        found.last_variable[:] = _last_variables(states, barred)[last_state]
    found.last_variable[(found.count == 0) | ~tried] = -1
    found.need[~tried] = -1
    return found


def window_of(case: Case) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Keys and limits of the window, if WITHIN is all that reads the match. Raises CannotWalkError."""
    if case.reads_mapping:
        raise CannotWalkError
    window = next(iter(case.contexts.values()))  # all variables have the same
    assert isinstance(window, Call)  # a comparison
    every = np.arange(case.n_rows)
    evaluate = case.evaluate_at(every, np.zeros((case.n_rows, 1), np.int16))
    keys, limits = (_moments(one) for one in evaluate(window.operands))
    return keys, limits


def _moments(values: pa.ChunkedArray) -> NDArray[np.int64]:
    """Times as microseconds. Numbers are left to the search, because a row beyond them misses by a distance."""
    kind = values.type
    if values.null_count or not (pa.types.is_date32(kind) or (pa.types.is_timestamp(kind) and kind.unit != "ns")):
        raise CannotWalkError
    zone = kind.tz if pa.types.is_timestamp(kind) else None
    found: NDArray[np.int64] = numpy_of(plain(values).cast(pa.timestamp("us", zone)).view(pa.int64()))
    return found.copy()  # Arrow's memory may not be written to, which would be another type to the kernel


def _last_variables(states: States, barred: list[int]) -> NDArray[np.int32]:
    """By state the first of its blocking variables; behind the last state, that of the barred places."""
    of_states = states.variables[states.offsets[:-1]]
    return np.append(of_states, np.int32(barred[0] if barred else -1)).astype(np.int32)


def _symbols(holds: NDArray[np.bool_]) -> tuple[NDArray[np.uint16], list[int]]:
    """The number of every row's symbol, and the bits of every symbol."""
    bits = np.zeros(holds.shape[1], np.uint64)
    for number, row_holds in enumerate(holds):
        bits |= row_holds.astype(np.uint64) << np.uint64(number)
    if len(holds) <= _BITS_OF_A_TABLE:
        met = np.flatnonzero(np.bincount(bits.astype(np.int64), minlength=1))
        number_of = np.zeros(1 << len(holds), np.uint16)
        number_of[met] = np.arange(len(met))
        return number_of[bits], met.tolist()
    present, place = np.unique(bits, return_inverse=True)
    if len(present) > _MOST_SYMBOLS:
        raise TooManyStatesError
    return place.astype(np.uint16), present.tolist()


def misses(case: Case) -> NDArray[np.float64]:
    """By variable and row, how far its condition was missed. Every row is seen as a match of its own."""
    missed = np.full((len(case.variables), case.n_rows), np.nan)
    every = np.arange(case.n_rows)
    for number, part in case.parts.items():
        labels = np.full((case.n_rows, 1), number, np.int16)
        missed[number] = missed_by(part, case.evaluate_at(every, labels))
    return missed


def preferred_prefix(case: Case, start: int, row: int, variable: int, need: int) -> list[int]:
    """The variables of the rows from `start` to before `row` under the preferred viable prefix that needs so many rows
    there, the next of them this variable's."""
    places = case.places
    is_first = start in case.offsets
    wanted = mask_of(tuple(
        place for place in range(len(places)) if places.variable[place] == variable and places.needs[place] == need
    ))
    bits = [sum(1 << number for number, holds in enumerate(case.row_holds[:, at]) if holds) for at in range(start, row)]
    holding = dict(zip(set(bits), holding_masks(places, list(set(bits))), strict=True))
    behind = [mask_of(ways.places) for ways in places.ways]
    entry = places.entry_at(is_first=is_first).places
    sets = [mask_of(entry)]
    for symbol in bits:
        following = 0
        for place in places_in(sets[-1] & holding[symbol]):
            following |= behind[place]
        sets.append(following)
    leading = [sets[-1] & wanted]
    for at in range(len(bits) - 1, -1, -1):
        inside = places_in(sets[at] & holding[bits[at]])
        leading.append(mask_of(tuple(place for place in inside if behind[place] & leading[-1])))
    leading.reverse()
    labels: list[int] = []
    ways = entry
    for mask in leading[:-1]:
        place = next(one for one in ways if mask >> one & 1)
        labels.append(int(places.variable[place]))
        ways = places.ways[place].places
    return labels


