"""Patterns whose segments all have two rows, walked a row at a time from given starts, all ways at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sparkrex.kernels.lazy import njit
from sparkrex.modes.segments.kernels.ends import end_holds
from sparkrex.modes.segments.kernels.segments import SPENT, is_spent

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

UNKNOWN, NO, YES = range(3)


class StepPattern(NamedTuple):
    """Positions that a pattern begins with, ends with, that follow each, and those of each test: sets as bits."""

    begins: int
    finishes: int
    follows: Rows
    tested_by: Rows


class StepTests(NamedTuple):
    """Conditions on a row's and the next row's value; `truth` remembers, for rows from `first_row` on, what they gave,
    and `counts` grow by how often each was tested."""

    forms: Rows
    comparisons: Rows
    thresholds: NDArray[np.float64]
    firsts: NDArray[np.float64]
    lasts: NDArray[np.float64]
    first_row: int
    truth: NDArray[np.uint8]
    counts: Rows


class Starts(NamedTuple):
    """Start rows, and from where to where the pattern may end from each."""

    start: Rows
    nearest: Rows
    furthest: Rows


@njit(cache=True, nogil=True)
def step_ends(asked, pattern, tests, place, n, places, ends, budget):
    """Write where the pattern can end, from each start on, behind the `n` that are written.

    Returns
    -------
    n : how many are written, or SPENT; place : the start to go on with, as there may be no room, their number at the
        end
    """
    start, nearest, furthest = asked
    begins, finishes, follows, tested_by = pattern
    forms, comparisons, thresholds, firsts, lasts, first_row, truth, counts = tests
    room = places.shape[0]
    n = np.int64(n)
    zero = np.int64(0)
    one = np.int64(1)
    while place < start.shape[0]:
        row = start[place]
        near = nearest[place]
        far = furthest[place]
        if n + far - row > room:
            return n, place
        active = begins
        while row < far:
            for test in range(forms.shape[0]):
                if active & tested_by[test]:
                    known = truth[test, row - first_row]
                    if known == UNKNOWN:
                        counts[test] += 1
                        holds = end_holds(forms[test], comparisons[test], thresholds[test], firsts[row], lasts[row + 1])
                        known = YES if holds else NO
                        truth[test, row - first_row] = known
                    if known == NO:
                        active &= ~tested_by[test]
            if active == 0:
                break
            row += 1
            if active & finishes and row >= near:
                places[n] = place
                ends[n] = row
                n += 1
            following = zero
            position = 0
            while active:
                if active & one:
                    following |= follows[position]
                active >>= one
                position += 1
            active = following
        if is_spent(budget, row - start[place] + 1):
            return np.int64(SPENT), place
        place += 1
    return n, place
