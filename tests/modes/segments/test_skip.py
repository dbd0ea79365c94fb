"""AFTER MATCH SKIP over segments, against its definition: one match after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
import pytest

from sparkrex.errors import ExecutionError
from sparkrex.modes.plan import Skip, SkipTo
from sparkrex.modes.segments.operators.contract import Segments
from sparkrex.modes.segments.operators.skip import chosen

if TYPE_CHECKING:
    from sparkrex.modes.segments.plan import SegmentSearch

Match = tuple[int, int, dict[str, tuple[int, int]]]
"""First row, last row, and the segments of variables, (-1, -1) where there is none."""


@dataclass(frozen=True)
class _Search:
    skip: Skip
    measured: tuple[str, ...]
    source: None = None


@pytest.mark.parametrize("to", list(SkipTo))
def test_matches_are_chosen_one_after_the_other(to: SkipTo) -> None:
    random = np.random.default_rng(0)
    outcomes: set[str] = set()
    for _ in range(300):
        matches = draw(random)
        goals = ("AB" if random.random() < 0.5 else "B") if to in (SkipTo.FIRST, SkipTo.LAST) else ""
        search = _Search(Skip(to, frozenset(goals), "B"), ("A",) if random.random() < 0.5 else ())
        expected = by_definition(search, matches)
        try:
            found = chosen(cast("SegmentSearch", search), as_segments(matches))
            answer: object = list(zip(found.start.tolist(), found.end.tolist(), strict=True))
            outcomes.add("matches")
        except ExecutionError as error:
            answer = (error.code, error.row)
            outcomes.add(error.code)
        assert answer == expected, (search, matches)
    assert outcomes == ({"matches", "REX401", "REX402"} if to in (SkipTo.FIRST, SkipTo.LAST) else {"matches"})


def by_definition(search: _Search, matches: list[Match]) -> object:
    """The matches chosen, or code and row of the error."""
    names = [*search.measured, *sorted(search.skip.variables - set(search.measured))]
    order = sorted(range(len(matches)), key=lambda m: (
        matches[m][0], -matches[m][1], [matches[m][2][name] for name in names],
    ))
    numbers = []
    next_start = -1
    for number in order:
        first, last, bindings = matches[number]
        if first < next_start:
            continue
        numbers.append(number)
        segments = [bindings[name] for name in search.skip.variables if bindings[name][0] >= 0]
        if search.skip.to is SkipTo.PAST_LAST_ROW:
            next_start = last + 1
        elif search.skip.to is SkipTo.NEXT_ROW:
            next_start = first + 1
        elif not segments:
            return "REX402", first
        else:
            ends = [begin for begin, _ in segments] if search.skip.to is SkipTo.FIRST else [end for _, end in segments]
            next_start = min(ends) if search.skip.to is SkipTo.FIRST else max(ends)
            if next_start <= first:
                return "REX401", first
    return [matches[number][:2] for number in sorted(numbers)]


def draw(random: np.random.Generator) -> list[Match]:
    """Up to twelve matches in rows 0 to 9, in order."""
    matches: list[Match] = []
    for _ in range(random.integers(0, 13)):
        first, last = sorted(random.integers(0, 10, 2).tolist())
        bindings = {}
        for name in "AB":
            low, high = sorted(random.integers(first, last + 1, 2).tolist())
            bindings[name] = (-1, -1) if random.random() < 0.1 else (low, high)
        matches.append((first, last, bindings))
    return sorted(matches, key=lambda match: (match[0], match[1], sorted(match[2].items())))


def as_segments(matches: list[Match]) -> Segments:
    first, last = (np.array([match[end] for match in matches], np.int64) for end in (0, 1))
    bindings = {
        name: cast(
            "tuple[np.ndarray, np.ndarray]",
            tuple(np.array([match[2][name][end] for match in matches], np.int64) for end in (0, 1)),
        )
        for name in "AB"
    }
    return Segments(np.zeros(len(matches), np.int64), first, last, bindings)
