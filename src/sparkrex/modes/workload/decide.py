"""Complete partial matches become matches: what is tested on whole matches, and what must be absent around them.

What must be absent after a match is not known when it is complete: such matches wait (`waiting`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.events.nfab.contract import EventMatches
from sparkrex.modes.workload.formulas import rows_of, where_holds
from sparkrex.modes.workload.kernels import matches as kernel
from sparkrex.modes.workload.kernels.links import FIRST, LAST, SINGLE
from sparkrex.modes.workload.overflow import NEVER
from sparkrex.modes.workload.search import host_lock

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.workload.normal_form import Absence
    from sparkrex.modes.workload.prepared import ClauseRoot
    from sparkrex.modes.workload.search import Instances, Search



class Decider:
    """Takes the complete instances of a segment. `found` has matches by root; rows are those of the segment."""

    def __init__(self, stop_row: dict[int, NDArray[np.int64]]) -> None:
        self.stop_row = stop_row
        self.found: dict[int, list[EventMatches]] = {}

    def take(self, search: Search) -> None:
        """Take what is complete."""
        for number in search.complete_roots():
            root = search.prepared.roots[number]
            complete = self._inside(root, search.complete(number), search)
            for items, formula in root.form.finals:
                with host_lock:
                    holds = where_holds(formula, complete.values[list(items)], search.cells, search.arrays)
                complete = complete.where(holds)
            complete = self._without_absent(root, complete, search)
            if len(complete.low):
                matches = _written(root, complete, search)
                search.n_given += matches.size()
                self.found.setdefault(number, []).append(matches)

    def _inside(self, root: ClauseRoot, complete: Instances, search: Search) -> Instances:
        """Those that end before their pattern stops."""
        stop = self.stop_row.get(root.pattern)
        if stop is None or not (stop < NEVER).any():
            return complete
        place = np.searchsorted(search.arrays.offsets[1:], complete.low, side="right")
        return complete.where(complete.high < stop[place])

    def _without_absent(self, root: ClauseRoot, complete: Instances, search: Search) -> Instances:
        """Those around whose events nothing is that must be absent, as far as that is known."""
        keep = np.ones(len(complete.low), np.bool_)
        for absence, conditions in zip(root.form.absences, root.absences, strict=True):
            if absence.is_trailing or not keep.any():
                continue
            after, before = _gap(root, absence, complete, search)
            reject(search, absence, conditions, after, before, complete.values, keep)
        return complete.where(keep)


def _gap(
    root: ClauseRoot, absence: Absence, complete: Instances, search: Search
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows between which an event must be absent, both exclusive."""
    arrays = search.arrays

    def rows(item: int, reads: int) -> NDArray[np.int64]:
        is_kleene = root.form.clause.items[item].is_kleene
        return rows_of(complete.values[item], reads if is_kleene else SINGLE, search.cells)

    if absence.is_inside:
        first, last = complete.low, complete.high
    else:
        last = np.min([rows(item, FIRST) for item in absence.after], axis=0)
        if not absence.before:
            window = search.prepared.windows.index(root.window)
            return arrays.window_first[window, complete.high] - 1, arrays.ordinal[last]
        first = np.max([rows(item, LAST) for item in absence.before], axis=0)
    return arrays.last_of_time[first], arrays.ordinal[last]


def reject(
    search: Search, absence: Absence, conditions: NDArray[np.int64], after: NDArray[np.int64],
    before: NDArray[np.int64], items: NDArray[np.int64], keep: NDArray[np.bool_],
) -> None:
    """Clear `keep` of matches between whose rows `after` and `before` an event is that must be absent."""
    placed = conditions.copy()
    for line, rank in ((kernel.KEYS, kernel.RANK), (kernel.ABSENT_KEYS, kernel.ABSENT_RANK)):
        lines = conditions[:, line]
        placed[:, line], placed[:, rank] = search.where[lines], search.ranks[lines]
    kernel.reject(
        search.arrays.leaf_rows(absence.label), after, before, placed, np.ascontiguousarray(items), search.store.pool,
        search.rows.rank, keep,
    )


def _written(root: ClauseRoot, complete: Instances, search: Search) -> EventMatches:
    is_kleene = np.array([item.is_kleene for item in root.form.clause.items], np.bool_)
    labels = np.array(root.form.labels, np.int16)
    values = np.ascontiguousarray(complete.values)
    return EventMatches(*kernel.write_matches(values, is_kleene, labels, search.cells))
