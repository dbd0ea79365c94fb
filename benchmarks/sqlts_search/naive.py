# mypy: disallow-untyped-defs=False, disallow-untyped-decorators=False, disallow-untyped-calls=False
# mypy: check-untyped-defs=False
"""Naive search over truth by element and row, and how many tests it makes: rows tested against elements.

The naive search tries a match at each row. Stars take all rows that they can and give nothing back; after a failure it
starts again at the row behind the last start, after a match behind the match. The paper does not say what its naive
search tests, so here are other readings of it, which find the same matches where stars exclude their neighbours:

- *gives back*: after a failure the star before gives back one row after the other, as in a regular expression.
- *every length anew*: a star is tried with 1, 2, 3, ... rows, and all of them are tested each time, as when each choice
  of lengths is a self-join.
- *all conditions*: each row that an attempt comes to is tested against all elements.
- *every window*: an attempt is made from each start to each end, with the rows between and no others.
"""

from __future__ import annotations

import numpy as np
from numba import njit

NAIVE, GIVES_BACK, EVERY_LENGTH, ALL_CONDITIONS, EVERY_WINDOW = (
    "naive", "gives back", "every length anew", "all conditions", "every window"
)
READINGS = (NAIVE, GIVES_BACK, EVERY_LENGTH, ALL_CONDITIONS, EVERY_WINDOW)


@njit(cache=True, nogil=True)
def _attempt(truth, is_star, begins, start):
    """A match from a row on: tests, the tests by how many windows have their rows, the last row tested, whether it is.
    """
    m, n = truth.shape
    row = last = start
    n_tests = n_in_windows = np.int64(0)
    for j in range(m):
        begins[j] = row
        while row < n:
            n_tests += 1
            n_in_windows += n - row
            last = row
            if truth[j, row] == 0:
                break
            row += 1
            if is_star[j] == 0:
                break
        if row == begins[j]:
            return n_tests, n_in_windows, last, False
    begins[m] = row
    return n_tests, n_in_windows, last, True


@njit(cache=True, nogil=True)
def search(truth, is_star, found):
    """The naive search. `found` int64 (n, m + 1) gets where the elements of each match begin, and where the last ends.

    Returns
    -------
    tests, matches
    """
    m, n = truth.shape
    begins = np.zeros(m + 1, np.int64)
    start = n_tests = n_matches = np.int64(0)
    while start < n:
        tests, _, _, is_match = _attempt(truth, is_star, begins, start)
        n_tests += tests
        start += 1
        if is_match:
            found[n_matches] = begins
            n_matches += 1
            start = begins[m]
    return n_tests, n_matches


@njit(cache=True, nogil=True)
def count_attempts(truth, is_star):
    """The tests of *all conditions* and of *every window*, and how many attempts tested element 3."""
    m, n = truth.shape
    begins = np.zeros(m + 1, np.int64)
    start = of_all = in_windows = far = np.int64(0)
    while start < n:
        begins[:] = -1
        _, n_in_windows, last, is_match = _attempt(truth, is_star, begins, start)
        of_all += m * (last - start + 1)
        in_windows += n_in_windows
        far += m > 2 and 0 <= begins[2] < n
        start = begins[m] if is_match else start + 1
    return of_all, in_windows, far


@njit(cache=True)
def _give_back(truth, is_star, j, begin):
    """The rest of a pattern from element j on: tests, and the row behind it or -1."""
    m, n = truth.shape
    if j == m:
        return np.int64(0), begin
    n_tests = np.int64(0)
    row = begin
    while row < n:
        n_tests += 1
        if truth[j, row] == 0:
            break
        row += 1
        if is_star[j] == 0:
            break
    while row > begin:
        tests, end = _give_back(truth, is_star, j + 1, row)
        n_tests += tests
        if end >= 0:
            return n_tests, end
        row -= 1
    return n_tests, np.int64(-1)


@njit(cache=True)
def _try_lengths(truth, is_star, j, begin):
    """The same, each length of a star tested anew."""
    m, n = truth.shape
    if j == m:
        return np.int64(0), begin
    n_tests = np.int64(0)
    most = n - begin if is_star[j] != 0 else min(n - begin, 1)
    for length in range(1, most + 1):
        for row in range(begin, begin + length):
            n_tests += 1
            if truth[j, row] == 0:
                return n_tests, np.int64(-1)
        tests, end = _try_lengths(truth, is_star, j + 1, begin + length)
        n_tests += tests
        if end >= 0:
            return n_tests, end
    return n_tests, np.int64(-1)


@njit(cache=True)
def search_giving_back(truth, is_star, found):
    """Tests and matches of *gives back*; `found` int64 (n, 2) gets first rows and rows behind."""
    start = n_tests = n_matches = np.int64(0)
    while start < truth.shape[1]:
        tests, end = _give_back(truth, is_star, np.int64(0), start)
        n_tests += tests
        if end >= 0:
            found[n_matches, 0], found[n_matches, 1] = start, end
            n_matches += 1
        start = end if end >= 0 else start + 1
    return n_tests, n_matches


@njit(cache=True)
def search_every_length(truth, is_star, found):
    """Tests and matches of *every length anew*, as above."""
    start = n_tests = n_matches = np.int64(0)
    while start < truth.shape[1]:
        tests, end = _try_lengths(truth, is_star, np.int64(0), start)
        n_tests += tests
        if end >= 0:
            found[n_matches, 0], found[n_matches, 1] = start, end
            n_matches += 1
        start = end if end >= 0 else start + 1
    return n_tests, n_matches
