# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False, disallow-untyped-calls=False
# mypy: check-untyped-defs=False
"""Approaches that build no trend: one aggregate per event, as GRETA; one per prefix of a fixed length, as A-Seq.

Counts are doubles that share an exponent in a unit: where they grow too large, all of them are scaled down. What falls
to zero then is too small to matter for the total.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from numba import njit

from benchmarks.trends.linking import ANY, DONE, NEXT, PAUSED, ROW, UNIT

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

N_STORED, LONGEST = 2, 3
"""Of the progress, after UNIT and ROW: events stored in this window, or counters; the longest prefix of the unit."""
LARGE, SCALE = 2.0**700, 600
"""Above this all counts are divided by 2 to the power of that."""


class Tally(NamedTuple):
    """The answer of every unit: trends, as `n_trends * 2 ** exponent`; sum and number of what they aggregate."""

    n_trends: NDArray[np.float64]
    exponent: NDArray[np.int64]
    total: NDArray[np.float64]
    number: NDArray[np.float64]


class Stored(NamedTuple):
    """Of each variable so many events that later ones may follow, with the aggregates of trends that end there.

    `row` and `row_count` are all events of the window, the graph; `new` has the event at hand by variable.
    """

    n: NDArray[np.int64]
    left: NDArray[np.float64]
    n_trends: NDArray[np.float64]
    total: NDArray[np.float64]
    number: NDArray[np.float64]
    is_followed: NDArray[np.bool_]
    row: NDArray[np.int64]
    row_count: NDArray[np.float64]
    new: NDArray[np.float64]


@njit(cache=True, nogil=True)
def aggregate_events(events, units, last_unit, machine, stored, tally, progress, n_steps):
    """Sum up, for each event, the aggregates of all events that it directly follows."""
    codes, left, right, weights, is_weighted = events
    semantics, follows, is_continued, is_compared, starts, ends, has_weight, has_aggregate = machine
    n, lefts, counts, totals, numbers, is_followed, stored_row, stored_count, new = stored
    n_variables = len(starts)
    unit, row, n_stored = progress[UNIT], progress[ROW], progress[N_STORED]
    one = 2.0 ** -tally.exponent[min(unit, last_unit - 1)]
    steps = 0
    while unit < last_unit:
        if row < 0:
            row = units.first[unit]
            n[:] = 0
            one = 1.0
        end = units.end[unit]
        while row < end:
            if steps > n_steps:
                progress[UNIT], progress[ROW], progress[N_STORED] = unit, row, n_stored
                return PAUSED
            largest = 0.0
            for variable in range(n_variables):
                if not (codes[row] >> variable) & 1:
                    continue
                count = one if starts[variable] else 0.0
                total, number = 0.0, 0.0
                for earlier in range(n_variables):
                    if not follows[earlier, variable]:
                        continue
                    steps += n[earlier]
                    compares = is_compared[earlier, variable]
                    if semantics == ANY and not has_aggregate:
                        if compares:
                            count += _sum_below(lefts, counts, earlier, n[earlier], right[row])
                        else:
                            count += _sum(counts, earlier, n[earlier])
                        continue
                    for place in range(n[earlier]):
                        if not compares or lefts[earlier, place] < right[row]:
                            is_followed[earlier, place] = True
                            count += counts[earlier, place]
                            if has_aggregate:
                                total += totals[earlier, place]
                                number += numbers[earlier, place]
                if has_weight[variable] and is_weighted[row]:
                    total += weights[row] * count
                    number += count
                new[variable, 0], new[variable, 1], new[variable, 2] = count, total, number
                largest = max(largest, count)
            if semantics == NEXT:
                for variable in range(n_variables):
                    n_left = 0
                    for place in range(n[variable]):
                        if not is_followed[variable, place]:
                            lefts[variable, n_left] = lefts[variable, place]
                            counts[variable, n_left] = counts[variable, place]
                            totals[variable, n_left] = totals[variable, place]
                            numbers[variable, n_left] = numbers[variable, place]
                            is_followed[variable, n_left] = False
                            n_left += 1
                    n[variable] = n_left
            elif semantics != ANY:
                n[:] = 0
            for variable in range(n_variables):
                # An event that begins trends is kept even if the count of one trend is too small to show.
                if not (codes[row] >> variable) & 1 or (new[variable, 0] == 0.0 and not starts[variable]):
                    continue
                stored_row[n_stored], stored_count[n_stored] = row, new[variable, 0]
                n_stored += 1
                if ends[variable]:
                    tally.n_trends[unit] += new[variable, 0]
                    tally.total[unit] += new[variable, 1]
                    tally.number[unit] += new[variable, 2]
                if is_continued[variable]:
                    place = n[variable]
                    lefts[variable, place] = left[row]
                    counts[variable, place] = new[variable, 0]
                    totals[variable, place] = new[variable, 1]
                    numbers[variable, place] = new[variable, 2]
                    is_followed[variable, place] = False
                    n[variable] += 1
            if largest > LARGE:
                tally.n_trends[unit] *= 2.0**-SCALE
                tally.exponent[unit] += SCALE
                one *= 2.0**-SCALE
                for variable in range(n_variables):
                    counts[variable, : n[variable]] *= 2.0**-SCALE
            row += 1
            steps += 1
        unit += 1
        row = -1
    progress[UNIT], progress[ROW], progress[N_STORED] = unit, row, n_stored
    return DONE


@njit(cache=True, nogil=True)
def _sum(counts, variable, n):
    found = 0.0
    for place in range(n):
        found += counts[variable, place]
    return found


@njit(cache=True, nogil=True)
def _sum_below(lefts, counts, variable, n, right):
    found = 0.0
    for place in range(n):
        if lefts[variable, place] < right:
            found += counts[variable, place]
    return found


@njit(cache=True, nogil=True)
def count_prefixes(events, units, last_unit, machine, counters, tally, progress, n_steps):
    """Count the sequences of each length up to the longest match by their prefixes: of each length and last variable.

    For skip-till-any-match without comparisons. `counters[length, variable]` are of the unit at hand.
    """
    codes = events.codes
    _, follows, _, _, starts, ends, _, _ = machine
    n_variables = len(starts)
    unit, row, n_counters, longest = progress[UNIT], progress[ROW], progress[N_STORED], progress[LONGEST]
    steps = 0
    while unit < last_unit:
        if row < 0:
            row = units.first[unit]
            counters[: units.end[unit] - row + 2] = 0.0
            longest = 0
        while row < units.end[unit]:
            if steps > n_steps:
                progress[UNIT], progress[ROW], progress[N_STORED], progress[LONGEST] = unit, row, n_counters, longest
                return PAUSED
            largest = 0.0
            before = longest
            # From the longest down, so that those of the length below are still without this event.
            for length in range(before + 1, 1, -1):
                for variable in range(n_variables):
                    if (codes[row] >> variable) & 1:
                        for earlier in range(n_variables):
                            if follows[earlier, variable]:
                                counters[length, variable] += counters[length - 1, earlier]
                        largest = max(largest, counters[length, variable])
                        if length > longest and counters[length, variable] > 0.0:
                            longest = length
            for variable in range(n_variables):
                if (codes[row] >> variable) & 1 and starts[variable]:
                    counters[1, variable] += 2.0 ** -tally.exponent[unit]
                    longest = max(longest, 1)
            if largest > LARGE:
                counters[: longest + 1] *= 2.0**-SCALE
                tally.exponent[unit] += SCALE
            row += 1
            steps += 1 + before * n_variables
        for length in range(1, longest + 1):
            for variable in range(n_variables):
                if ends[variable]:
                    tally.n_trends[unit] += counters[length, variable]
        n_counters += longest * n_variables
        unit += 1
        row = -1
    progress[UNIT], progress[ROW], progress[N_STORED], progress[LONGEST] = unit, row, n_counters, longest
    return DONE
