"""Mann-Kendall's trend test and rises against falls over segments. Arguments as in `sums`."""

from __future__ import annotations

import math

import numpy as np

from sparkrex.kernels.arithmetic import less
from sparkrex.kernels.cached import njit
from sparkrex.modes.segments.kernels.gathered import longest_segment
from sparkrex.modes.segments.kernels.sums import is_null_at

_FEW = 40
"""Up to so many values comparing all pairs is faster than sorting."""


@njit(cache=True, nogil=True)
def _tie_weight(t):
    """What a group of t equal values takes from the variance, times 18."""
    return t * (t - 1) * (2 * t + 5)


@njit(cache=True, nogil=True)
def _z(n, s, ties):
    """Z with continuity correction and whether it is NULL, from the statistic S and the summed weights of ties."""
    variance = (np.float64(n) * (n - 1) * (2 * n + 5) - ties) / 18
    if n < 2 or variance <= 0:
        return 0.0, True
    if s > 0:
        s -= 1
    elif s < 0:
        s += 1
    return s / math.sqrt(variance), False


@njit(cache=True, nogil=True)
def _sign(a, b):
    """1 if b is above a, -1 if below; NaN is above every number."""
    return (1 if less(a, b) else 0) - (1 if less(b, a) else 0)


@njit(cache=True, nogil=True)
def _all_pairs(x, n):
    s = np.int64(0)
    ties = 0.0
    for later in range(n):
        equal = 0
        for earlier in range(later):
            sign = _sign(x[earlier], x[later])
            s += sign
            if sign == 0:
                equal += 1
        ties += _tie_weight(equal + 1) - _tie_weight(equal)
    return s, ties


@njit(cache=True, nogil=True)
def _by_sorting(x, n, spare):
    """The same by merge sort: S = pairs - equal pairs - 2 * inversions."""
    inversions = np.int64(0)
    width = 1
    while width < n:
        for begin in range(0, n, 2 * width):
            middle = min(begin + width, n)
            end = min(begin + 2 * width, n)
            left = begin
            right = middle
            for to in range(begin, end):
                if right >= end or (left < middle and not less(x[right], x[left])):
                    spare[to] = x[left]
                    left += 1
                else:
                    spare[to] = x[right]
                    right += 1
                    inversions += middle - left
            x[begin:end] = spare[begin:end]
        width *= 2
    ties = 0.0
    equal_pairs = np.int64(0)
    begin = 0
    for row in range(1, n + 1):
        if row == n or _sign(x[begin], x[row]) != 0:
            t = np.float64(row - begin)
            ties += _tie_weight(t)
            equal_pairs += (row - begin) * (row - begin - 1) // 2
            begin = row
    return np.int64(n) * (n - 1) // 2 - equal_pairs - 2 * inversions, ties


@njit(cache=True, nogil=True)
def mann_kendall_scan(values, nulls, start, end, result, is_null):
    """Z of each segment."""
    longest = longest_segment(start, end)
    x = np.empty(longest, values.dtype)
    spare = np.empty(longest, values.dtype)
    for k in range(start.shape[0]):
        n = 0
        for row in range(start[k], end[k] + 1):
            if not is_null_at(nulls, row):
                x[n] = values[row]
                n += 1
        s, ties = _all_pairs(x, n) if n <= _FEW else _by_sorting(x, n, spare)
        result[k], is_null[k] = _z(n, s, ties)


@njit(cache=True, nogil=True)
def mann_kendall_table(values, nulls, offsets, statistics, ties):
    """statistics[i, l] = S of the segment of l + 1 rows from row i on; `ties` likewise, the summed weights.

    Both have one column per possible length less one; `ties` may have no rows if no two values in reach are equal.
    With a row put in front of a segment, S grows by the signs of the differences to it, and its group of equals by one:
    each entry comes from the entry of the next row in constant time. Returns False if there are ties and no room.
    """
    window = statistics.shape[1]
    has_room = ties.shape[0] > 0
    for partition in range(offsets.shape[0] - 1):
        after = offsets[partition + 1]
        for row in range(after - 1, offsets[partition] - 1, -1):
            s = np.int64(0)
            equal = np.int64(0)
            is_value = not is_null_at(nulls, row)
            statistics[row, 0] = 0
            if has_room:
                ties[row, 0] = 0
            for length in range(1, min(window, after - row)):
                last = row + length
                if is_value and not is_null_at(nulls, last):
                    sign = _sign(values[row], values[last])
                    s += sign
                    if sign == 0:
                        equal += 1
                        if not has_room:
                            return False
                statistics[row, length] = statistics[row + 1, length - 1] + s
                if has_room:
                    more = _tie_weight(equal + 1) - _tie_weight(equal)
                    ties[row, length] = ties[row + 1, length - 1] + more
    return True


@njit(cache=True, nogil=True)
def mann_kendall_lookup(statistics, ties, counts, start, end, result, is_null):
    """Z from the table; counts[r] = values before row r that are not NULL."""
    has_ties = ties.shape[0] > 0
    for k in range(start.shape[0]):
        length = end[k] - start[k]
        n = counts[end[k] + 1] - counts[start[k]]
        weight = np.float64(ties[start[k], length]) if has_ties else 0.0
        result[k], is_null[k] = _z(n, np.int64(statistics[start[k], length]), weight)


@njit(cache=True, nogil=True)
def ticks_scan(values, nulls, start, end, result, is_null):
    """Whether a segment has as many rises as falls between neighbouring values; NULL without values."""
    for k in range(start.shape[0]):
        net = 0
        before = np.int64(-1)
        for row in range(start[k], end[k] + 1):
            if not is_null_at(nulls, row):
                if before >= 0:
                    net += _sign(values[before], values[row])
                before = row
        is_null[k] = before < 0
        result[k] = net == 0


@njit(cache=True, nogil=True)
def ticks_prefix(values, nulls, offsets, net, upcoming):
    """net[r]: rises less falls of the partition up to row r; upcoming[r]: the first row from r on with a value."""
    for partition in range(offsets.shape[0] - 1):
        after = offsets[partition + 1]
        total = np.int64(0)
        before = np.int64(-1)
        for row in range(offsets[partition], after):
            if not is_null_at(nulls, row):
                if before >= 0:
                    total += _sign(values[before], values[row])
                before = row
            net[row] = total
        found = after
        for row in range(after - 1, offsets[partition] - 1, -1):
            if not is_null_at(nulls, row):
                found = row
            upcoming[row] = found


@njit(cache=True, nogil=True)
def ticks_lookup(net, upcoming, start, end, result, is_null):
    """The same from prefix counts: the first value's own tick lies before the segment."""
    for k in range(start.shape[0]):
        first = upcoming[start[k]]
        is_null[k] = first > end[k]
        result[k] = first <= end[k] and net[end[k]] == net[first]
