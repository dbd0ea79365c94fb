"""The last and the closest blocker of one start, with the values compared under the preferred run."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.events import pattern as ep
from sparkrex.modes.events.nfab.conditions import ALWAYS
from sparkrex.reasons.answer import Barrier, Blocker
from sparkrex.reasons.conditions import compared, take_apart

if TYPE_CHECKING:
    from sparkrex.modes.events.why.case import Case, Run
    from sparkrex.modes.events.why.runs import Found, Key
    from sparkrex.reasons.answer import Compared

_REFUSED = (Barrier.CONDITION, Barrier.CONTIGUITY, Barrier.ENDING)


def last_of(found: Found) -> Key | None:
    """The blocker of the latest event; of several there, that of the variable that PATTERN names first."""
    return min(found.blockers, key=lambda key: (-key[0], key[1], key[2].value), default=None)


def closest_of(found: Found) -> Key | None:
    """Of the events that a condition refused, the one that missed by least; without distances, the latest."""
    refused = [key for key in found.blockers if key[2] in _REFUSED]
    return min(refused, key=lambda key: (_distance(found, key), -key[0], key[1], key[2].value), default=None)


def apart_of(found: Found) -> float | None:
    """By how much the closest one missed."""
    closest = closest_of(found)
    distance = np.inf if closest is None else _distance(found, closest)
    return None if np.isinf(distance) else distance


def _distance(found: Found, key: Key) -> float:
    distance = found.blockers[key].missed_by
    return np.inf if np.isnan(distance) else distance


def described(case: Case, start: int, found: Found, key: Key | None) -> Blocker | None:
    """A blocker with what was compared."""
    if key is None:
        return None
    row, variable, barrier = key
    blocking, low = found.blockers[key], case.begin_of(start)
    parts: tuple[Compared, ...] = ()
    if blocking.condition is not None and blocking.condition != ALWAYS:
        tested = (blocking.run, None if barrier is Barrier.ENDING else row)
        condition = case.conditions.distinct[blocking.condition]
        parts = compared(take_apart(condition), case.evaluate_at([tested]), case.query.source)
    refused = sum(one[1] == variable and one[2] is Barrier.CONDITION for one in found.blockers)
    types = {event.variable: event.type for event in ep.events(case.query.pattern)}
    name = case.variables[variable]
    return Blocker(
        row - low + 1, name, barrier, _selected(case, blocking.run, low), parts,
        None if np.isnan(blocking.missed_by) else blocking.missed_by, refused, types[name],
    )


def _selected(case: Case, run: Run, low: int) -> tuple[tuple[str, int, int], ...]:
    """The events of a run; neighbours of one variable are one stretch."""
    found: list[tuple[str, int, int]] = []
    for place, state in zip(run.rows, run.states, strict=True):
        name, row = case.variables[case.variable_of[state]], place - low + 1
        if found and found[-1][0] == name and found[-1][2] == row - 1:
            found[-1] = (name, found[-1][1], row)
        else:
            found.append((name, row, row))
    return tuple(found)
