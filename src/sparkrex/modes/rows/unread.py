"""Matches that are found and yet not ready: MEASURES read a row behind them that has not come.

NEXT reads behind a row of the match. A result row waits for the rows that its own references stand for, and no longer:
NEXT(LAST(A.x)) reads in the match itself if A is not the last variable.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.matching.output import one_row
from sparkrex.scalar.expression import Aggregate, ColumnAt, Semantics, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sparkrex.matching.matches import Matches
    from sparkrex.matching.reading import MatchReader
    from sparkrex.modes.rows.matcher import Partitions
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.scalar.expression import Expression, Target


def targets_behind(plan: MatchRecognize) -> tuple[list[Target], int]:
    """References of MEASURES that go on from a row of the match, and how far aggregates go on from one of theirs."""
    targets: dict[Target, None] = {}
    inside = 0
    for measure in plan.measures:
        for target, is_inside in _targets(measure.expression):
            if target.shift > 0 and is_inside:
                inside = max(inside, target.shift)
            elif target.shift > 0:
                # Whoever sees the match from an earlier row reads no row that lies further.
                targets[replace(target, semantics=Semantics.FINAL)] = None
    return list(targets), inside


def _targets(expression: Expression) -> Iterator[tuple[Target, bool]]:
    inside = {
        id(node) for one in walk(expression) if isinstance(one, Aggregate) for node in walk(one)
        if isinstance(node, ColumnAt)
    }
    for node in walk(expression):
        if isinstance(node, ColumnAt):
            yield node.target, id(node) in inside


def unread_matches(
    targets: list[Target], inside: int, reader: MatchReader, partitions: Partitions
) -> NDArray[np.bool_]:
    """Which of the reader's matches read rows that are not there yet; by what `targets_behind` gives."""
    matches, views = reader.matches, one_row(reader)
    last = np.where(matches.end > matches.start, matches.end - 1 + inside, -1)
    for target in targets:
        found = reader.positions_of(replace(target, shift=0), views)
        last = np.maximum(last, np.where(found >= 0, found + target.shift, -1))
    place = reader.match_partition
    unread: NDArray[np.bool_] = (last >= partitions.offsets[1:][place]) & ~partitions.ends[place]
    return unread


def wait_for_rows(matches: Matches, unread: NDArray[np.bool_], partitions: Partitions) -> Matches:
    """The matches without those that are unread. They are searched again, and in order also all behind them."""
    if not unread.any():
        return matches
    if partitions.asked is not None:
        partitions.asked[matches.start[unread]] = 1
        return matches.take(np.flatnonzero(~unread))
    place = np.searchsorted(partitions.offsets, matches.start, side="right") - 1
    found = np.flatnonzero(unread)
    waiting, first = np.unique(place[found], return_index=True)
    stop = np.full(len(partitions.ends), len(matches))
    stop[waiting] = found[first]
    is_given = np.arange(len(matches)) < stop[place]
    has_number = ~is_given if matches.is_timeout is None else ~is_given & ~matches.is_timeout
    partitions.start[waiting] = matches.start[stop[waiting]]
    partitions.number[:] -= np.bincount(place[has_number], minlength=len(stop))
    return matches.take(np.flatnonzero(is_given))
