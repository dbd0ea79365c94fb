# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False, disallow-untyped-calls=False
# mypy: check-untyped-defs=False
"""AFA and nested AFA in Numba (section 6.3.1): from each start row on, one row and one state at a time.

A pattern is a chain of stages, each with bounds of rows and conditions in the order in which they are tested. What the
automaton knows of a partial match are its registers: the first rows of stages that conditions still to come refer to.
States with equal registers are one state, as in an automaton that is run well: `Chain.merges`.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numba import njit

from benchmarks.segments.prefix_sums import between, centred
from sparkrex.modes.segments.kernels.gathered import rounded_r2

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]
    Floats = NDArray[np.float64]

RATIO_BELOW, RATIO_ABOVE, DROP_ABOVE, CHANGE_BELOW, ABOVE, BELOW, NOT_BELOW = range(7)
IS_CODE, R2_AT_MOST, R2_AT_LEAST, TREND_AT_LEAST, OUTLIER_ABOVE, EQUAL_TICKS = range(7, 13)
"""Conditions: on values at both ends, then others."""
_DULL = 1e-3
"""A variance of less than this share of the squares about the first value has lost three of sixteen digits."""
_SHORT = 24
"""Rows that are added up faster than prefix sums are subtracted."""
NO_REGISTER, OWN_START, REGISTERS = 0, 1, 2


class Chain(NamedTuple):
    """Stages as arrays. `group_*` are of the window over several stages, from `group_first` to this one.

    `low`, `high`: rows of the stage; `gap`: 0 if it shares a row with the stage before; `still`: rows that later
    stages take at least; `tests[at[k] : at[k + 1]]`: its conditions, from the first row of stage `since` to here;
    `inner`: a chain that must match the stage's segment exactly, or -1.
    """

    low: Rows
    high: Rows
    gap: Rows
    still: Rows
    group_first: Rows
    group_low: Rows
    group_high: Rows
    at: Rows
    tests: Rows
    since: Rows
    threshold: Floats
    inner: Rows
    merges: Rows


class Data(NamedTuple):
    """What conditions read: a value and a code per row, and the indexes of aggregates, empty where not used."""

    times: Floats
    values: Floats
    codes: Rows
    changes: Rows
    """Of each row the first one after it with another value."""
    sums: Floats
    statistics: NDArray[np.int32]
    ties: NDArray[np.int32]
    outliers: Floats
    net: Rows
    run: Floats
    """Sums over the rows of one start so far, that start, and the row behind."""


@njit(cache=True, nogil=True)
def _r2(times, values, changes, sums, run, first, last):
    """Signed R^2; NaN for NULL. Shared, as the engine does it: row by row along ends, else from prefix sums."""
    n = last - first + 1
    after = last + 1
    if n < 2 or changes[first] >= after:
        return math.nan
    xx = 0.0
    yy = 0.0
    xy = 0.0
    if sums.shape[0] > 0:
        if run[5] != first or run[6] > after:
            run[:5] = 0.0
            run[5] = first
            run[6] = first
        if after - run[6] <= _SHORT:
            for row in range(int(run[6]), after):
                dx = times[row] - times[first]
                dy = values[row] - values[first]
                run[0] += dx
                run[1] += dy
                run[2] += dx * dx
                run[3] += dy * dy
                run[4] += dx * dy
            run[6] = after
            xx = run[2] - run[0] * run[0] / n
            yy = run[3] - run[1] * run[1] / n
            xy = run[4] - run[0] * run[1] / n
    if sums.shape[0] > 0 and not (run[6] == after and xx > _DULL * run[2] and yy > _DULL * run[3]):
        x_high, x_low = between(sums, first, after, 0)
        y_high, y_low = between(sums, first, after, 2)
        high, low = between(sums, first, after, 4)
        xx = centred(n, high, low, x_high, x_low, x_high, x_low)
        high, low = between(sums, first, after, 6)
        yy = centred(n, high, low, y_high, y_low, y_high, y_low)
        high, low = between(sums, first, after, 8)
        xy = centred(n, high, low, x_high, x_low, y_high, y_low)
    elif sums.shape[0] == 0:
        x_mean = times[first:after].mean()
        y_mean = values[first:after].mean()
        for row in range(first, after):
            dx = times[row] - x_mean
            dy = values[row] - y_mean
            xx += dx * dx
            yy += dy * dy
            xy += dx * dy
    if xx <= 0.0 or yy <= 0.0:
        return math.nan
    r2 = 1.0 if n == 2 else min(rounded_r2(xy / xx * (xy / yy)), 1.0)
    return -r2 if xy < 0 else r2


@njit(cache=True, nogil=True)
def _trend(data, first, last):
    """Z of Mann-Kendall, from the table or over all pairs; NaN for NULL."""
    n = last - first + 1
    s = np.int64(0)
    ties = 0.0
    if data.statistics.shape[0] > 0:
        s = np.int64(data.statistics[first, last - first])
        if data.ties.shape[0] > 0:
            ties = float(data.ties[first, last - first])
    else:
        for later in range(first, last + 1):
            equal = 0
            for earlier in range(first, later):
                if data.values[earlier] < data.values[later]:
                    s += 1
                elif data.values[earlier] > data.values[later]:
                    s -= 1
                else:
                    equal += 1
            # What a group of equals adds by growing from `equal` to one more.
            ties += (equal + 1) * equal * (2 * equal + 7) - equal * (equal - 1) * (2 * equal + 5)
    variance = (float(n) * (n - 1) * (2 * n + 5) - ties) / 18
    if n < 2 or variance <= 0:
        return math.nan
    return (s - (1 if s > 0 else -1 if s < 0 else 0)) / math.sqrt(variance)


@njit(cache=True, nogil=True)
def _has_equal_ticks(data, first, last):
    if data.net.shape[0] > 0:
        return data.net[first] == data.net[last]
    net = 0
    for row in range(first + 1, last + 1):
        if data.values[row] > data.values[row - 1]:
            net += 1
        elif data.values[row] < data.values[row - 1]:
            net -= 1
    return net == 0


@njit(cache=True, nogil=True)
def compares(test, threshold, a, b):
    """A condition on the first and the last value; x / 0 is NULL, and NULL does not hold."""
    if test == RATIO_BELOW:
        return a != 0 and b / a < threshold
    if test == RATIO_ABOVE:
        return a != 0 and b / a > threshold
    if test == DROP_ABOVE:
        return b != 0 and a / b > threshold
    if test == CHANGE_BELOW:
        return b - a < threshold
    if test == ABOVE:
        return b > a
    if test == BELOW:
        return b < a
    return b >= a


@njit(cache=True, nogil=True)
def aggregates(data, test, threshold, first, last):
    """A condition on an aggregate."""
    if test <= R2_AT_LEAST:
        r2 = _r2(data.times, data.values, data.changes, data.sums, data.run, first, last)
        return r2 <= threshold if test == R2_AT_MOST else r2 >= threshold
    if test == TREND_AT_LEAST:
        return _trend(data, first, last) >= threshold
    if test == OUTLIER_ABOVE:
        return data.outliers[last] > threshold
    return _has_equal_ticks(data, first, last)


@njit(cache=True, nogil=True)
def _room(out, n):
    """The same with room for one more."""
    if n < out.shape[0]:
        return out
    larger = np.empty((2 * out.shape[0], 2), np.int64)
    larger[:n] = out
    return larger


@njit(cache=True, nogil=True)
def _is_inside(chain, first, last, data, counter):
    """Whether a chain without groups matches exactly this segment."""
    n_stages = chain.low.shape[0]
    begin = np.zeros(n_stages, np.int64)
    cursor = np.zeros(n_stages, np.int64)
    begin[0] = first
    cursor[0] = first + chain.low[0] - 1
    depth = 0
    while depth >= 0:
        row = cursor[depth]
        if row > last - chain.still[depth] or 0 <= chain.high[depth] <= row - begin[depth]:
            depth -= 1
            continue
        cursor[depth] = row + 1
        is_in = depth < n_stages - 1 or row == last
        for c in range(chain.at[depth], chain.at[depth + 1]):
            if not is_in:
                break
            counter[0] += 1
            test, threshold, since = chain.tests[c], chain.threshold[c], begin[chain.since[c]]
            if test < IS_CODE:
                is_in = compares(test, threshold, data.values[since], data.values[row])
            else:
                is_in = aggregates(data, test, threshold, since, row)
        if is_in and depth == n_stages - 1:
            return True
        if is_in:
            depth += 1
            begin[depth] = row + chain.gap[depth]
            cursor[depth] = begin[depth] + chain.low[depth] - 1
            if depth == n_stages - 1:
                cursor[depth] = max(cursor[depth], last)
    return False


@njit(cache=True, nogil=True)
def match_chain(chain, inside, first_ends, last_ends, reach, data, counter):
    """Pairs of first and last rows; `counter[0]` counts conditions tested. `inside` are the chains of stages."""
    # Taken apart: reading a field in the loop would count references.
    (
        lows, highs, gaps, still, group_first, group_low, group_high, test_at, tests, since_stage, thresholds, inner,
        merges,
    ) = chain
    times, values, codes, changes, sums, _, _, _, _, run = data
    n_tested = 0
    n_stages = lows.shape[0]
    begin = np.zeros(n_stages, np.int64)
    cursor = np.zeros(n_stages, np.int64)
    upper = np.zeros(n_stages, np.int64)
    visited = np.full((n_stages, reach + 2), -1, np.int64)
    lowest = np.empty(n_stages, np.int64)
    seen = np.full(reach + 2, -1, np.int64)
    out = np.empty((1024, 2), np.int64)
    n = 0
    for start in range(first_ends.shape[0]):
        last_end = last_ends[start]
        if first_ends[start] > last_end:
            continue
        lowest[:] = last_end + 1
        k = 0
        at = start
        while k >= 0:
            # Enter stage k in row `at`.
            low = at + lows[k] - 1
            high = last_end - still[k]
            if highs[k] >= 0:
                high = min(high, at + highs[k] - 1)
            begin[k] = at
            group = begin[group_first[k]]
            low = max(low, group + group_low[k] - 1)
            if group_high[k] >= 0:
                high = min(high, group + group_high[k] - 1)
            if k == n_stages - 1:
                low = max(low, first_ends[start])
            if merges[k] == NO_REGISTER:
                # Whatever begins later in this stage is in the same state there.
                high = min(high, lowest[k] - 1)
                lowest[k] = min(lowest[k], low)
            elif merges[k] == OWN_START:
                if visited[k, at - start] == start:
                    high = low - 1
                visited[k, at - start] = start
            cursor[k] = low
            upper[k] = high
            is_in = False
            while k >= 0 and not is_in:
                row = cursor[k]
                if row > upper[k]:
                    k -= 1
                    continue
                cursor[k] = row + 1
                is_last = k == n_stages - 1
                if is_last and seen[row - start] == start:
                    continue
                is_in = True
                c = test_at[k]
                while is_in and c < test_at[k + 1]:
                    n_tested += 1
                    test = tests[c]
                    since = begin[since_stage[c]]
                    if test < IS_CODE:
                        is_in = compares(test, thresholds[c], values[since], values[row])
                    elif test == IS_CODE:
                        is_in = codes[row] == thresholds[c]
                    elif test <= R2_AT_LEAST:
                        r2 = _r2(times, values, changes, sums, run, since, row)
                        is_in = r2 <= thresholds[c] if test == R2_AT_MOST else r2 >= thresholds[c]
                    else:
                        is_in = aggregates(data, test, thresholds[c], since, row)
                    c += 1
                if is_in and inner[k] >= 0:
                    is_in = _is_inside(inside[inner[k]], begin[k], row, data, counter)
                if is_in and is_last:
                    is_in = False
                    seen[row - start] = start
                    out = _room(out, n)
                    out[n, 0] = start
                    out[n, 1] = row
                    n += 1
            if k >= 0:
                k += 1
                at = row + gaps[k]
    counter[0] += n_tested
    return out[:n]


@njit(cache=True, nogil=True)
def match_limit_sell(first_ends, last_ends, data, rise, fall, is_nested, counter):
    """RISE & WINDOW & ~(FALL W). Not nested, a fall ends the search: no longer segment is without it."""
    values = data.values
    out = np.empty((1024, 2), np.int64)
    n = 0
    for start in range(first_ends.shape[0]):
        for row in range(start, last_ends[start] + 1):
            is_match = False
            if is_nested:
                counter[0] += 1
                is_match = row >= first_ends[start] and compares(RATIO_ABOVE, rise, values[start], values[row])
                inside = start
                while is_match and inside <= row:
                    counter[0] += 1
                    is_match = not compares(RATIO_BELOW, fall, values[start], values[inside])
                    inside += 1
            else:
                counter[0] += 1
                if compares(RATIO_BELOW, fall, values[start], values[row]):
                    break
                counter[0] += 1
                is_match = row >= first_ends[start] and compares(RATIO_ABOVE, rise, values[start], values[row])
            if is_match:
                out = _room(out, n)
                out[n, 0] = start
                out[n, 1] = row
                n += 1
    return out[:n]


@njit(cache=True, nogil=True)
def match_falling_pairs(first_ends, last_ends, reach, data, code, counter):
    """((A1 W A2) & FALL)+: from each row reached, the later rows of the same code that are lower."""
    values = data.values
    out = np.empty((1024, 2), np.int64)
    n = 0
    codes = data.codes
    waiting = np.empty(reach + 2, np.int64)
    reached = np.full(reach + 2, -1, np.int64)
    for start in range(first_ends.shape[0]):
        counter[0] += 1
        if codes[start] != code:
            continue
        waiting[0] = start
        n_waiting = 1
        while n_waiting > 0:
            n_waiting -= 1
            begin = waiting[n_waiting]
            for row in range(begin, last_ends[start] + 1):
                counter[0] += 1
                if codes[row] != code or reached[row - start] == start:
                    continue
                counter[0] += 1
                if compares(BELOW, 0.0, values[begin], values[row]):
                    reached[row - start] = start
                    waiting[n_waiting] = row
                    n_waiting += 1
                    if row >= first_ends[start]:
                        out = _room(out, n)
                        out[n, 0] = start
                        out[n, 1] = row
                        n += 1
    return out[:n]


@njit(cache=True, nogil=True)
def match_zigzag(first_ends, last_ends, data, ratio, times, last_test, counter):
    """A large fall, then falls and rises, row by row: `times` times (0: any), then the last condition.

    EQUAL_TICKS is tested behind the large fall, others on the whole.
    """
    values = data.values
    out = np.empty((1024, 2), np.int64)
    n = 0
    for start in range(first_ends.shape[0]):
        if start >= last_ends[start]:
            continue
        counter[0] += 1
        if not compares(RATIO_BELOW, ratio, values[start], values[start + 1]):
            continue
        n_falls = 0
        is_rising = True
        for row in range(start + 2, last_ends[start] + 1):
            if is_rising and n_falls > 0:
                counter[0] += 1
                rises = values[row] > values[row - 1]
            else:
                rises = False
            if not rises:
                counter[0] += 1
                if values[row] < values[row - 1]:
                    if is_rising:
                        n_falls += 1
                        is_rising = False
                        if 0 < times < n_falls:
                            break
                    continue
                if is_rising:
                    break
                counter[0] += 1
                if values[row] <= values[row - 1]:
                    break
                is_rising = True
            if row < first_ends[start] or (times > 0 and n_falls < times):
                continue
            counter[0] += 1
            if last_test == EQUAL_TICKS:
                is_match = aggregates(data, last_test, 0.0, start + 1, row)
            else:
                is_match = compares(last_test, 0.0, values[start], values[row])
            if is_match:
                out = _room(out, n)
                out[n, 0] = start
                out[n, 1] = row
                n += 1
    return out[:n]
