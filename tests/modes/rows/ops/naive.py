"""Search for a pattern with possessive stars, straight from the definition, and the same by shift and next.

Both count how often an element is tested on a row. Elements are numbered from 1, rows from 0. A condition is asked as
`holds(element, row, begins)`; `begins[k]` is the row where element k of the attempt begins, up to the element under
test.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkrex.modes.rows.ops.shifts import Shifts

Holds = Callable[[int, int, Sequence[int]], bool]


@dataclass
class Found:
    """Matches, each as the rows where its elements begin and the row behind its last; how many tests that took."""

    matches: list[tuple[int, ...]] = field(default_factory=list)
    n_tests: int = 0


def naive_search(is_star: Sequence[bool], n_rows: int, holds: Holds) -> Found:
    """A star takes one or more rows, all that it can, and gives none back.

    After a failure the next row is tried, after a match the row behind it.
    """
    found = Found()
    start = 0
    while start < n_rows:
        attempt = _attempt(start, is_star, n_rows, holds, found)
        if attempt is not None:
            found.matches.append(attempt)
            start = attempt[-1]
        else:
            start += 1
    return found


def _attempt(start: int, is_star: Sequence[bool], n_rows: int, holds: Holds, found: Found) -> tuple[int, ...] | None:
    begins = [-1, start]
    row = start
    for element, star in enumerate(is_star, 1):
        n_taken = 0
        while row < n_rows and (star or n_taken == 0):
            found.n_tests += 1
            if not holds(element, row, begins):
                break
            row += 1
            n_taken += 1
        if n_taken == 0:
            return None
        begins.append(row)
    return tuple(begins[1:])


def ops_search(
    is_star: Sequence[bool], n_rows: int, holds: Holds, shifts: Shifts, is_final: Sequence[bool] | None = None
) -> Found:
    """The same matches by shift and next. `is_final`: after an attempt met the end there, no other is tried."""
    found = Found()
    m = len(is_star)
    star = [False, *is_star]
    begins = [-1] * (m + 2)
    j, row, n_taken = 1, 0, 0
    begins[1] = 0
    while begins[1] < n_rows:
        if row < n_rows:
            found.n_tests += 1
            if holds(j, row, begins[: j + 1]):
                row += 1
                n_taken += 1
                if star[j]:
                    continue
            elif n_taken == 0:
                j = _shift(shifts, star, begins, j, row)
                row = begins[j]
                continue
        elif n_taken == 0 or j < m:
            if is_final is None or is_final[j]:
                break
            begins[1] += 1
            j, row, n_taken = 1, begins[1], 0
            continue
        j, n_taken = j + 1, 0
        begins[j] = row
        if j > m:
            found.matches.append(tuple(begins[1 : m + 2]))
            j = 1
            begins[1] = row
    return found


def _shift(shifts: Shifts, star: Sequence[bool], begins: list[int], j: int, row: int) -> int:
    """Move the pattern on after element j has failed on a row; the element to go on with."""
    if 1 < j >= shifts.inside and begins[1] + 1 < begins[2]:
        begins[1] += 1
        return shifts.inside
    s, first = int(shifts.shift[j]), max(1, int(shifts.next[j]))
    begins[j + 1] = row + 1
    begins[1 : first + 1] = begins[s + 1 : s + first + 1]
    return first
