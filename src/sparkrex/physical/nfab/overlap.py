"""Matches after the search: in order of their last event, each once, without those that overlap."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.physical.nfab.contract import EventMatches

if TYPE_CHECKING:
    from numpy.typing import NDArray

Key = tuple[tuple[int, ...], tuple[int, ...]]
"""Rows and labels."""


def by_last_event(matches: EventMatches) -> EventMatches:
    """In order of the last event; those of one last event stay in order."""
    order = np.argsort(matches.rows[matches.offsets[1:] - 1], kind="stable")
    lengths = np.diff(matches.offsets)[order]
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    events = np.repeat(matches.offsets[:-1][order] - offsets[:-1], lengths) + np.arange(offsets[-1])
    return EventMatches(matches.rows[events], matches.labels[events], offsets)


def _keys(matches: EventMatches) -> list[Key]:
    rows, labels, offsets = matches.rows.tolist(), matches.labels.tolist(), matches.offsets.tolist()
    return [
        (tuple(rows[begin:end]), tuple(labels[begin:end]))
        for begin, end in pairwise(offsets)
    ]


def first_occurrences(matches: EventMatches) -> NDArray[np.bool_]:
    """One of the matches with the same events and variables, where a pattern can be read in several ways."""
    first: dict[Key, int] = {}
    for number, key in enumerate(_keys(matches)):
        first.setdefault(key, number)
    keep = np.zeros(len(matches), np.bool_)
    keep[list(first.values())] = True
    return keep


def first_of_overlapping(
    matches: EventMatches, is_open: NDArray[np.bool_], offsets: NDArray[np.int64], ties: NDArray[np.int64], blocked: int
) -> tuple[EventMatches, EventMatches]:
    """By partition the matches that complete first and overlap none before them; and those that an open one keeps open.

    `blocked` is the last row of the match before, in the first partition.
    """
    keys = _keys(matches)
    order = sorted(range(len(keys)), key=lambda m: (keys[m][0][-1], keys[m][0][0], len(keys[m][0]), keys[m]))
    keep, wait = np.zeros(len(keys), np.bool_), np.zeros(len(keys), np.bool_)
    partition = -1
    last, waits = blocked, False
    for number in order:
        first = keys[number][0][0]
        here = int(np.searchsorted(offsets, first, side="right"))
        if here != partition:
            last, waits = blocked if partition < 0 and here == 1 else -1, False
            partition = here
        is_behind = last < 0 or (ties[first] > ties[last] if len(ties) else first > last)
        if not is_behind:
            continue
        if waits or is_open[number]:
            # Whether it is kept depends on an open match that completes before it, or on rows to come.
            waits = wait[number] = True
        else:
            keep[number] = True
            last = keys[number][0][-1]
    return matches.selected(keep), matches.selected(wait)
