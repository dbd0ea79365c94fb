"""Which matches came, went or moved when a query was edited.

Both queries must search the same rows in the same partitions and the same order. Two matches are the same if they have
the same first and last row and map the same rows to the same variables, by name. Of the others, one that was there
before and one that is there after are a *moved* match if they are of one partition and have a row between their first
and last in common. Each is part of one pair at most: pairs are made in order of how many such rows they share, most
first, then by the first and the last row of the earlier match, then of the later one. Those without a partner *went*,
or *came*. An empty match has no rows, and so it never moves.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.matching.located import Located

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.matching.located import LocatedWindows

SAME, CAME, WENT, MOVED = "same", "came", "went", "moved"
_MOST_PAIRS = 5_000_000
"""Pairs that overlap and may be compared: some seconds, and some hundred megabytes."""

Match = tuple[int, int, tuple[tuple[str, int, int], ...]]
"""First row, the one behind the last, and its pieces by name of their variable."""


@dataclass(frozen=True, eq=False, slots=True)
class Changes:
    """Matches by their numbers before and after: pairs that are the same, pairs that moved, and those alone."""

    same: NDArray[np.int64]
    moved: NDArray[np.int64]
    went: NDArray[np.int64]
    came: NDArray[np.int64]

    def counts(self) -> dict[str, int]:
        """How many of each."""
        return {SAME: len(self.same), CAME: len(self.came), WENT: len(self.went), MOVED: len(self.moved)}


def check_comparable(before: Located | LocatedWindows, after: Located | LocatedWindows) -> tuple[Located, Located]:
    """Both, if they are matches in the same rows."""
    for one in (before, after):
        if not isinstance(one, Located):
            raise UnsupportedError(
                "REX301", "trend queries have no matches to compare", None, None,
                hint="compare their results: each row is a window with its values",
            )
    assert isinstance(before, Located) and isinstance(after, Located)
    own, other = before.arrangement, after.arrangement
    rows = np.arange(own.n_rows)
    is_alike = (
        own.n_rows == other.n_rows and np.array_equal(own.offsets, other.offsets)
        and np.array_equal(own.input_rows(rows), other.input_rows(rows))
    )
    if not is_alike:
        raise AnalysisError(
            "REX301", "the queries do not search the same rows in the same order", None, None,
            hint="diff compares queries that agree in their input, PARTITION BY and ORDER BY",
        )
    return before, after


def find_changes(before: Located, after: Located) -> Changes:
    """What became of every match."""
    known: dict[Match, list[int]] = {}
    for number, match in enumerate(_matches(after)):
        known.setdefault(match, []).append(number)
    same: list[tuple[int, int]] = []
    went: list[int] = []
    for number, match in enumerate(_matches(before)):
        if partners := known.get(match):
            same.append((number, partners.pop(0)))
        else:
            went.append(number)
    came = sorted(number for numbers in known.values() for number in numbers)
    moved = _pairs(before, np.array(went, np.int64), after, np.array(came, np.int64))
    left, right = {pair[0] for pair in moved}, {pair[1] for pair in moved}
    return Changes(
        _as_pairs(same), _as_pairs(moved), np.array([one for one in went if one not in left], np.int64),
        np.array([one for one in came if one not in right], np.int64),
    )


def _as_pairs(pairs: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    return np.array(pairs, np.int64).reshape(-1, 2)


def _matches(found: Located) -> list[Match]:
    """Every match as a value."""
    pieces: list[list[tuple[str, int, int]]] = [[] for _ in range(len(found))]
    own = found.pieces
    listed = (one.tolist() for one in (own.match, own.variable, own.first, own.last))
    for match, variable, first, last in zip(*listed, strict=True):
        pieces[match].append((found.variables[variable], first, last))
    return [
        (first, behind, tuple(sorted(parts, key=lambda piece: (piece[1], piece[2], piece[0]))))
        for first, behind, parts in zip(found.first.tolist(), found.behind.tolist(), pieces, strict=True)
    ]


def _pairs(
    before: Located, went: NDArray[np.int64], after: Located, came: NDArray[np.int64]
) -> list[tuple[int, int]]:
    """The matches that moved, earlier and later one. No row is in two partitions, so rows in common are of one."""
    left, right = _overlapping(before.first[went], before.behind[went], after.first[came], after.behind[came])
    one, other = went[left], came[right]
    shared = np.minimum(before.behind[one], after.behind[other]) - np.maximum(before.first[one], after.first[other])
    order = np.lexsort(
        (other, one, after.behind[other], after.first[other], before.behind[one], before.first[one], -shared)
    )
    taken_before: set[int] = set()
    taken_after: set[int] = set()
    pairs = []
    for first, second in zip(one[order].tolist(), other[order].tolist(), strict=True):
        if first not in taken_before and second not in taken_after:
            taken_before.add(first)
            taken_after.add(second)
            pairs.append((first, second))
    return sorted(pairs)


def _overlapping(
    first: NDArray[np.int64], behind: NDArray[np.int64], other_first: NDArray[np.int64], other_behind: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of ranges with a row in common. Of two that overlap, one begins inside the other or where it does."""
    found_left, found_right = [], []
    n_pairs = 0
    for is_swapped, (begin, end, others) in enumerate(
        ((first, behind, other_first), (other_first, other_behind, first))
    ):
        order = np.argsort(others, kind="stable")
        # Ranges that begin together are found once.
        low = np.searchsorted(others[order], begin, "right" if is_swapped else "left")
        high = np.maximum(np.searchsorted(others[order], end, "left"), low)
        counts = high - low
        n_pairs += int(counts.sum())
        if n_pairs > _MOST_PAIRS:
            raise UnsupportedError(
                "REX301", f"more than {_MOST_PAIRS:,} pairs of matches overlap", None, None,
                hint="compare the queries over fewer rows: a partition, or a range of time",
            )
        own = np.repeat(np.arange(len(begin)), counts)
        place = np.arange(len(own)) - np.repeat(np.cumsum(counts) - counts, counts) + low[own]
        pair = (order[place], own) if is_swapped else (own, order[place])
        found_left.append(pair[0])
        found_right.append(pair[1])
    left, right = np.concatenate(found_left), np.concatenate(found_right)
    has_rows = (behind[left] > first[left]) & (other_behind[right] > other_first[right])
    return left[has_rows], right[has_rows]
