"""Conditions that are comparisons of numbers in rows: all of them, block by block, in one call.

NumPy's operators would do, one after the other; but each comes back to Python, where threads wait for each other.
"""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.lazy import njit

LESS, EQUAL = range(2)
"""Comparisons; the others are these with their sides exchanged, or what holds where one of these does not."""

MOST_COLUMNS = 4
_BLOCK = 1_024
"""Rows of which all terms stay in the fastest cache."""


@njit(cache=True, nogil=True)
def hold_comparisons(one, two, three, four, terms, factors, comparisons, begin, end, lines, truths):
    """Where conditions hold that are conjunctions of comparisons. NaN equals NaN and is above every number.

    A term is the value of a column at a distance from the row, times a factor, or the factor itself. A row from which a
    term lies behind the first or the last row has some truth: the caller knows that it leaves its partition.

    Parameters
    ----------
    one, two, three, four : int64 or float64, the columns, all of as many rows
    terms : int64 (n_terms, 2), the column's number, -1 for a constant, and the distance
    factors : as the columns, by term
    comparisons : int64 (n, 5), line of truths, LESS or EQUAL, 1 if it must not hold, left and right term; by line
    begin, end : the rows that are treated
    lines : int64 (n_lines), the lines of `truths` that are filled, as `comparisons` count them
    truths : uint8 (all lines, rows), 0 or 1
    """
    n_rows = one.shape[0]
    n_terms = terms.shape[0]
    values = np.zeros((n_terms, _BLOCK), one.dtype)
    found = np.empty(_BLOCK, np.uint8)
    for t in range(n_terms):
        if terms[t, 0] < 0:
            for i in range(_BLOCK):
                values[t, i] = factors[t]
    for low in range(begin, end, _BLOCK):
        n = min(_BLOCK, end - low)
        for t in range(n_terms):
            number = terms[t, 0]
            if number < 0:
                continue
            column = one
            if number == 1:
                column = two
            elif number == 2:
                column = three
            elif number == 3:
                column = four
            # Of slices: a place that may be negative, for all that is known, is looked at for counting from the end.
            at = low + terms[t, 1]
            first = min(n, max(0, -at))
            last = max(first, min(n, n_rows - at))
            source = column[at + first : at + last]
            to = values[t, first:last]
            factor = factors[t]
            for i in range(last - first):
                to[i] = source[i] * factor
        line = -1
        for k in range(comparisons.shape[0]):
            is_new = comparisons[k, 0] != line
            line = comparisons[k, 0]
            flip = np.uint8(comparisons[k, 2])
            left = values[comparisons[k, 3]]
            right = values[comparisons[k, 4]]
            if is_new:
                for i in range(n):
                    found[i] = 1
            if comparisons[k, 1] == LESS:
                for i in range(n):
                    x = left[i]
                    y = right[i]
                    found[i] &= np.uint8((x < y) | ((y != y) & (x == x))) ^ flip
            else:
                for i in range(n):
                    x = left[i]
                    y = right[i]
                    found[i] &= np.uint8((x == y) | ((x != x) & (y != y))) ^ flip
            if k + 1 == comparisons.shape[0] or comparisons[k + 1, 0] != line:
                truth = truths[lines[line], low : low + n]
                for i in range(n):
                    truth[i] = found[i]
