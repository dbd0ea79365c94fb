"""Matches that do not overlap, against choosing one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from tests.kernels.forms import in_both_forms, in_form

from sparkrex.modes.events.kernels.overlap import without_overlaps

N_ROWS = 12


@dataclass(frozen=True)
class Match:
    """Rows and labels of a match, and whether it still depends on rows to come."""

    rows: tuple[int, ...]
    labels: tuple[int, ...]
    is_open: bool

    @property
    def rank(self) -> tuple[int, int, int]:
        """What the kernel is given an order by."""
        return self.rows[-1], self.rows[0], len(self.rows)


def drawn(seed: int) -> tuple[list[Match], list[int], list[int]]:
    """Matches of two partitions, where these begin, and the number of every row's time, or nothing."""
    generator = np.random.default_rng(seed)
    cut = int(generator.integers(3, 9))
    matches = set()
    for _ in range(seed * 2):
        low, high = (0, cut) if generator.random() < 0.6 else (cut, N_ROWS)
        rows = np.unique(generator.integers(low, high, generator.integers(1, 4)))
        labels = generator.integers(0, 2, len(rows))
        matches.add(Match(tuple(rows.tolist()), tuple(labels.tolist()), bool(generator.random() < 0.15)))
    ties = np.cumsum(generator.integers(0, 2, N_ROWS)).tolist() if seed % 3 == 0 else []
    return sorted(matches, key=lambda match: (match.rows, match.labels, match.is_open)), [0, cut, N_ROWS], ties


def chosen(
    matches: list[Match], offsets: list[int], ties: list[int], before: list[int]
) -> tuple[set[int], set[int], list[int]]:
    """Which are kept and which wait, by the definition, and by partition the last row that is kept.

    In order of completion, then of rows, then of labels; `before` are the last rows that were kept before.
    """
    keep, wait, blocked = set(), set(), list(before)
    for partition, (low, high) in enumerate(pairwise(offsets)):
        waits = False
        inside = [k for k, match in enumerate(matches) if low <= match.rows[0] < high]
        for rank in sorted({matches[k].rank for k in inside}):
            group = [k for k in inside if matches[k].rank == rank]
            first = min(group, key=lambda k: (matches[k].rows, matches[k].labels))
            begin, last = matches[first].rows[0], blocked[partition]
            if last >= 0 and not (ties[begin] > ties[last] if ties else begin > last):
                continue
            if waits or matches[first].is_open:
                waits = True
                wait.update(group)
            else:
                keep.add(first)
                blocked[partition] = matches[first].rows[-1]
    return keep, wait, blocked


@in_both_forms
@pytest.mark.parametrize("is_blocked", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_the_first_to_complete_are_kept(seed: int, is_blocked: bool, form: str) -> None:
    matches, offsets, ties = drawn(seed)
    before = [2, offsets[1] + 1] if is_blocked else [-1, -1]
    blocked = np.array(before)
    # Two equal matches that differ in being open are one too many.
    matches = list({(match.rows, match.labels): match for match in matches}.values())
    keep, wait = np.zeros(len(matches), np.bool_), np.zeros(len(matches), np.bool_)
    order = sorted(range(len(matches)), key=lambda k: matches[k].rank)
    cuts = np.concatenate([[0], np.cumsum([len(match.rows) for match in matches])]).astype(np.int64)
    in_form(without_overlaps, form)(
        np.array(order, np.int64), np.array([row for match in matches for row in match.rows], np.int64),
        np.array([label for match in matches for label in match.labels], np.int16), cuts,
        np.array([match.is_open for match in matches], np.bool_), np.array(offsets), np.array(ties, np.int64), blocked,
        keep, wait,
    )
    found = (set(np.flatnonzero(keep).tolist()), set(np.flatnonzero(wait).tolist()), blocked.tolist())
    assert found == chosen(matches, offsets, ties, before)
