"""Matches that do not overlap, against their definition: sorted, then one after the other."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np

from sparkrex.modes.events.nfab.contract import EventMatches
from sparkrex.modes.events.nfab.overlap import first_of_overlapping

Match = tuple[list[int], list[int]]
"""Rows and labels."""


def test_the_first_of_overlapping_matches() -> None:
    random = np.random.default_rng(0)
    seen: Counter[str] = Counter()
    for _ in range(1000):
        offsets = np.array([0, *sorted(random.integers(0, 13, 2)), 12], np.int64)
        times = np.sort(random.integers(0, 8, 12)) if random.random() < 0.5 else np.empty(0, np.int64)
        matches = [match for low, high in pairwise(offsets.tolist()) if low < high for match in draw(random, low, high)]
        is_open = random.random(len(matches)) < 0.2
        blocked = np.array([random.integers(low - 1, low + 3) for low in offsets[:-1]])
        blocked[(blocked < offsets[:-1]) | (blocked >= offsets[1:])] = -1
        expected = by_definition(matches, is_open.tolist(), offsets.tolist(), times.tolist(), blocked.tolist())
        given = blocked.copy()
        decided, waits = first_of_overlapping(as_matches(matches), is_open, offsets, times, blocked)
        assert (as_list(decided), as_list(waits), blocked.tolist()) == expected, (matches, is_open, offsets, given)
        seen.update(kept=len(decided), waiting=len(waits), given=len(matches), ties=int(len(times) > 0))
    assert min(seen.values()) > 100, seen


def by_definition(
    matches: list[Match], is_open: list[bool], offsets: list[int], times: list[int], blocked: list[int]
) -> tuple[list[Match], list[Match], list[int]]:
    """Those kept, those that wait, and by partition the last row of the last one."""
    order = sorted(range(len(matches)), key=lambda m: (
        matches[m][0][-1], matches[m][0][0], len(matches[m][0]), matches[m]
    ))
    kept: set[int] = set()
    waiting: set[int] = set()
    for number, (low, high) in enumerate(pairwise(offsets)):
        last = blocked[number]
        for match in order:
            rows, _ = matches[match]
            if not low <= rows[0] < high:
                continue
            if last >= 0 and (times[rows[0]] <= times[last] if times else rows[0] <= last):
                continue
            if is_open[match] or any(low <= matches[other][0][0] < high for other in waiting):
                waiting.add(match)
            else:
                kept.add(match)
                last = blocked[number] = rows[-1]
    return [matches[match] for match in sorted(kept)], [matches[match] for match in sorted(waiting)], blocked


def draw(random: np.random.Generator, low: int, high: int) -> list[Match]:
    """Some matches in a range of rows, many of the same first and last row."""
    matches = []
    for _ in range(random.integers(0, 8)):
        length = min(high - low, int(random.integers(1, 5)))
        rows = sorted(random.choice(np.arange(low, high), length, replace=False).tolist())
        matches.append((rows, random.integers(0, 2, length).tolist()))
    return matches


def as_matches(matches: list[Match]) -> EventMatches:
    rows = [row for one, _ in matches for row in one]
    labels = [label for _, one in matches for label in one]
    offsets = np.concatenate(([0], np.cumsum([len(one) for one, _ in matches])))
    return EventMatches(np.array(rows, np.int64), np.array(labels, np.int16), offsets.astype(np.int64))


def as_list(matches: EventMatches) -> list[Match]:
    return [
        (matches.rows[begin:end].tolist(), matches.labels[begin:end].tolist())
        for begin, end in pairwise(matches.offsets.tolist())
    ]
