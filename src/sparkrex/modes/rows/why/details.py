"""The last and the closest blocker of one start, with the values compared under the preferred prefix."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.rows.why.by_prefixes import blocked_by_prefixes
from sparkrex.modes.rows.why.by_rows import preferred_prefix
from sparkrex.reasons.answer import Barrier, Blocker
from sparkrex.reasons.conditions import compared, missed_by, take_apart
from sparkrex.scalar.split import conjunction, conjuncts

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeAlias

    from numpy.typing import NDArray

    from sparkrex.modes.rows.why.blocked import Blocked
    from sparkrex.modes.rows.why.by_prefixes import Level
    from sparkrex.modes.rows.why.case import Case

    PrefixOf: TypeAlias = Callable[[int, int], list[int]]
    """The variables of the rows before a row under the preferred prefix that a variable blocks there."""


@dataclass(frozen=True, slots=True)
class Details:
    """What is known of one start. It may be more than the search from all starts has found, which shares a bound."""

    need: int
    n_blockers: int
    is_exact: bool
    last: Blocker | None
    closest: Blocker | None


def look_closer(case: Case, blocked: Blocked, start: int) -> Details:
    """The last blocker of a start, and the one that missed by least."""
    if case.reads_mapping:
        blocked, prefix_of = _searched(case, start)
    else:
        prefix_of = partial(_by_places, case, start, int(blocked.need[start]))
    last = int(blocked.last_row[start]), int(blocked.last_variable[start])
    closest = int(blocked.close_row[start]), int(blocked.close_variable[start])
    return Details(
        int(blocked.need[start]), int(blocked.count[start]), bool(blocked.is_exact[start]),
        None if last[1] < 0 else _blocker(case, start, *last, prefix_of),
        None if closest[1] < 0 else _blocker(case, start, *closest, prefix_of),
    )


def _by_places(case: Case, start: int, need: int, row: int, variable: int) -> list[int]:
    return preferred_prefix(case, start, row, variable, need)


def _searched(case: Case, start: int) -> tuple[Blocked, PrefixOf]:
    """A search from this start alone, which notes the prefixes that are blocked."""
    noted: list[tuple[int, int, int, list[int]]] = []

    def note(level: Level, is_blocked: NDArray[np.bool_]) -> None:
        places = case.places
        for line in np.flatnonzero(is_blocked).tolist():
            place = int(level.place[line])
            noted.append((
                int(level.row[line]), int(places.variable[place]), int(places.needs[place]), level.labels[line].tolist()
            ))

    tried = np.zeros(case.n_rows, np.bool_)
    tried[start] = True
    blocked = blocked_by_prefixes(case, tried, note)
    need = int(blocked.need[start])

    def prefix_of(row: int, variable: int) -> list[int]:
        return next(labels for at, number, left, labels in noted if (at, number, left) == (row, variable, need))

    return blocked, prefix_of


def _blocker(case: Case, start: int, row: int, variable: int, prefix_of: PrefixOf) -> Blocker:
    place = int(np.searchsorted(case.offsets, start, side="right")) - 1
    low, high = case.offsets[place : place + 2].tolist()
    name = case.variables[variable]
    if row == start and start > low and _is_barred(case, variable):
        return Blocker(row - low + 1, name, Barrier.FIRST_ROW)
    labels = prefix_of(row, variable)
    prefix = _runs(case, labels, start - low + 1)
    if row == high:
        return Blocker(row - low + 1, name, Barrier.END, prefix)
    evaluate = case.evaluate_at(np.array([start]), np.array([[*labels, variable]], np.int16))
    source = case.plan.source
    condition, window = case.plan.definition(name), case.window_of(variable)
    if window is not None and (beyond := compared(take_apart(window), evaluate, source)):
        return Blocker(row - low + 1, name, Barrier.WITHIN, prefix, beyond)
    own = conjunction([part for part in conjuncts(condition) if part is not window]) if condition is not None else None
    missed = () if own is None else compared(take_apart(own), evaluate, source)
    if not missed:  # all conditions hold, so no place that needs less can be reached: only `$` is in the way then
        return Blocker(row - low + 1, name, Barrier.LAST_ROW, prefix)
    (apart,) = missed_by(case.parts[variable], evaluate).tolist()
    return Blocker(row - low + 1, name, Barrier.CONDITION, prefix, missed, None if np.isnan(apart) else apart)


def _is_barred(case: Case, variable: int) -> bool:
    """Whether only `^` leads to the variable where a match starts."""
    places = case.places
    return variable in places.variable[list(places.barred)] and variable not in [
        int(places.variable[place]) for place in places.entry.places if places.needs[place] == places.need
    ]


def _runs(case: Case, labels: list[int], first: int) -> tuple[tuple[str, int, int], ...]:
    """Rows one after the other that are mapped to one variable."""
    runs = []
    for label, rows in groupby(labels):
        last = first + len(list(rows)) - 1
        runs.append((case.variables[label], first, last))
        first = last + 1
    return tuple(runs)
