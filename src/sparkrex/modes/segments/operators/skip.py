"""Which of the segments found are results: all, or with AFTER MATCH SKIP one after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.errors import ExecutionError
from sparkrex.modes.plan import SkipTo
from sparkrex.modes.segments.kernels.skip import choose
from sparkrex.modes.segments.operators.arrays import at_places, kept, projected
from sparkrex.modes.segments.operators.contract import Segments

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.plan import Skip
    from sparkrex.modes.segments.operators.contract import Binding
    from sparkrex.modes.segments.plan import SegmentSearch


def chosen(search: SegmentSearch, found: Segments) -> Segments:
    """All segments; with AFTER MATCH SKIP the earliest start, its longest end, its smallest bindings, and so on."""
    skip = search.skip
    names = list(search.measured)
    if skip is not None:
        # Segments of variables that only SKIP goes to decide last.
        names += sorted(skip.variables - set(names))
    found = projected(found, frozenset(names))
    found = Segments(found.space, found.start, found.end, {name: _binding_of(found, name) for name in names})
    keys = [binding for name in reversed(names) for binding in reversed(found.bindings[name])]
    if skip is None:
        # What was found is in the order of the variables' names; results are in that of the pattern.
        return found if names == sorted(names) else at_places(found, np.lexsort([*keys, found.end, found.start]))
    order = np.lexsort([*keys, -found.end, found.start])
    is_chosen = np.zeros(len(found), np.bool_)
    following = next_starts(skip, found)
    stuck = int(choose(order, found.start, following, is_chosen))
    if stuck >= 0:
        raise _goes_nowhere(search, skip, int(found.start[stuck]), has_segment=bool(following[stuck] >= 0))
    return kept(found, is_chosen)


def _binding_of(found: Segments, name: str) -> Binding:
    missing = np.full(len(found), -1)
    return found.bindings.get(name, (missing, missing))


def skipped_to(search: SegmentSearch, chosen: Segments) -> NDArray[np.int64]:
    """Where the search goes on behind each of the segments that were chosen."""
    assert search.skip is not None
    return next_starts(search.skip, chosen)


def next_starts(skip: Skip, found: Segments) -> NDArray[np.int64]:
    """Where the next match may start behind each of the segments; -1 where the variable to go to has none in it."""
    if skip.to is SkipTo.PAST_LAST_ROW:
        return found.end + 1
    if skip.to is SkipTo.NEXT_ROW:
        return found.start + 1
    row = np.full(len(found), -1)
    for name in skip.variables:
        first, last = found.bindings[name]
        if skip.to is SkipTo.FIRST:
            row = np.where((first >= 0) & ((row < 0) | (first < row)), first, row)
        else:
            row = np.maximum(row, last)
    return row


def _goes_nowhere(search: SegmentSearch, skip: Skip, start: int, *, has_segment: bool) -> ExecutionError:
    goal = f"AFTER MATCH SKIP {skip.to.value} {skip.name}"
    if has_segment:
        error = ExecutionError(
            "REX401", f"{goal} goes to the first row of the match", search.source, skip.span,
            hint="the same match would be found for ever; skip to a later variable, or to the next row",
        )
    else:
        error = ExecutionError(
            "REX402", f"{goal}: {skip.name} has no segment in the match", search.source, skip.span,
            hint=f"make {skip.name} mandatory in the pattern, or skip past the last row",
        )
    error.row = start
    return error
