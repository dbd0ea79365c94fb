"""How many segments of a search space windows let through, in closed form.

The optimizer does not know a search space, only its range sizes (section 5.1): `starts` rows that segments may start
at and `ends` rows that they may end at, in series of n rows. The four cases of appendix C.1:

- both above 1: starts and ends range over the same stretch of rows;
- one of them 1: that end of the segment is fixed, at a row drawn at random from the series;
- both 1: one segment, of unknown length. What asks for it knows more: a probe of And or Not asks for segments that its
  own window lets through. `known` says so, and takes the place of the paper's division by the window's selectivity.
"""

from __future__ import annotations

from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from sparkrex.modes.segments.pattern import Window


class Lengths(NamedTuple):
    """Rows that a segment may have, both inclusive; none if `low` is above `high`."""

    low: int
    high: int


class Ranges(NamedTuple):
    """The range sizes of a search space; `known` are the lengths of its one segment if both are 1."""

    starts: float
    ends: float
    known: Lengths | None = None

    @property
    def is_one_segment(self) -> bool:
        """Whether both ends are fixed."""
        return self.starts <= 1 and self.ends <= 1


def lengths_of(windows: Iterable[Window], steps: Mapping[str, float], n_rows: int) -> Lengths:
    """What windows mean in rows. One on a column is translated by the column's average step from row to row."""
    low, high = 1, max(1, n_rows)
    for window in windows:
        if window.column is None:
            low = max(low, ceil(window.low or 1))
            high = high if window.high is None else min(high, floor(window.high))
            continue
        step = steps.get(window.column, 0.0)
        if step > 0:
            # Rounded, so that bounds between two multiples of the average step do not look as if nothing fits.
            low = max(low, round(min((window.low or 0) / step, n_rows)) + 1)
            high = high if window.high is None else min(high, round(min(window.high / step, n_rows)) + 1)
    return Lengths(low, high)


def meet(one: Lengths, other: Lengths) -> Lengths:
    """Lengths that both allow."""
    return Lengths(max(one.low, other.low), min(one.high, other.high))


def positions(lengths: Lengths, n_rows: float) -> float:
    """How many segments of these lengths a stretch of rows has."""
    longest = min(lengths.high, floor(n_rows))
    if longest < lengths.low:
        return 0.0
    return (longest - lengths.low + 1) * ((n_rows - lengths.low + 1) + (n_rows - longest + 1)) / 2


def mean_length(lengths: Lengths, n_rows: float) -> float:
    """The average length of such segments. Without a window a third of the rows (appendix C.1)."""
    low, high = lengths.low, min(lengths.high, floor(n_rows))
    if high < low:
        return float(lengths.low)
    if low <= 1 and high >= floor(n_rows):
        return max(1.0, n_rows / 3)
    # sum of k (n - k + 1) over k from low to high, by the formulas for sums of k and of squares
    total = (n_rows + 1) * (high * (high + 1) - (low - 1) * low) / 2
    total -= (high * (high + 1) * (2 * high + 1) - (low - 1) * low * (2 * low - 1)) / 6
    return total / positions(lengths, n_rows)


def candidates(lengths: Lengths, ranges: Ranges, n_rows: int) -> float:
    """How many segments of these lengths a search space has: range sizes times Sel_w."""
    if ranges.is_one_segment:
        known = ranges.known or Lengths(1, n_rows)
        among = positions(known, n_rows)
        return positions(meet(lengths, known), n_rows) / among if among else 0.0
    longest = max(ranges.starts, ranges.ends)
    if ranges.starts <= 1 or ranges.ends <= 1:
        # The fixed row is anywhere, so a segment of k rows fits before the series' edge in n - k + 1 of n cases.
        return positions(meet(lengths, Lengths(1, floor(longest))), n_rows) / n_rows
    shorter = min(ranges.starts, ranges.ends)
    if shorter == longest:
        return positions(lengths, longest)
    # Up to longest - shorter + 1 rows every start has its segment.
    flat = meet(lengths, Lengths(1, floor(longest - shorter)))
    sloping = meet(lengths, Lengths(floor(longest - shorter) + 1, floor(longest)))
    return shorter * max(0, flat.high - flat.low + 1) + positions(sloping, longest)


def selectivity(lengths: Lengths, ranges: Ranges, n_rows: int) -> float:
    """Sel_w: which part of all pairs of a start and an end a window lets through."""
    return candidates(lengths, ranges, n_rows) / (ranges.starts * ranges.ends)


def selectivity_of_part(lengths: Lengths, part: Lengths, n_rows: int) -> float:
    """Sel_{w|w_s}: which part of the segments in a part's window a window lets through."""
    among = positions(part, n_rows)
    return positions(meet(lengths, part), n_rows) / among if among else 0.0


def selectivity_of_concatenation(lengths: Lengths, left: Lengths, right: Lengths, overlap: int) -> float:
    """Sel_{w|w_l,w_r}: which part of the pairs fits when concatenated. `overlap` is 1 if they share a row, else 0.

    Lengths of both sides are taken as equally likely and independent.
    """
    n_left, n_right = left.high - left.low + 1, right.high - right.low + 1
    if n_left <= 0 or n_right <= 0 or lengths.high < lengths.low:
        return 0.0

    def pairs_up_to(total: int) -> int:
        over = total - left.low - right.low
        too_long = _triangle(over - n_left) + _triangle(over - n_right) - _triangle(over - n_left - n_right)
        return _triangle(over) - too_long

    fitting = pairs_up_to(lengths.high + overlap) - pairs_up_to(lengths.low - 1 + overlap)
    return fitting / (n_left * n_right)


def concatenated(left: Lengths, right: Lengths, overlap: int) -> Lengths:
    """How long concatenations can be."""
    return Lengths(left.low + right.low - overlap, left.high + right.high - overlap)


def _triangle(most: int) -> int:
    """How many pairs of numbers from 0 on have at most this sum."""
    return (most + 1) * (most + 2) // 2 if most >= 0 else 0
