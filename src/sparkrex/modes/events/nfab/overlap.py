"""Matches after the search: in order of their last event, each once, without those that overlap."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.events.kernels.overlap import without_overlaps
from sparkrex.modes.events.nfab.contract import EventMatches

if TYPE_CHECKING:
    from numpy.typing import NDArray

Key = tuple[tuple[int, ...], tuple[int, ...]]
"""Rows and labels."""


_BLOCK = 1 << 14
"""Matches that are put in order at a time: the numbers of their events take more than the events."""


def by_last_event(matches: EventMatches) -> EventMatches:
    """In order of the last event; those of one last event stay in order."""
    order = np.argsort(matches.rows[matches.offsets[1:] - 1], kind="stable")
    lengths = np.diff(matches.offsets)[order]
    offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    rows, labels = np.empty_like(matches.rows), np.empty_like(matches.labels)
    for begin in range(0, len(order), _BLOCK):
        block = slice(begin, min(begin + _BLOCK, len(order)))
        low, high = offsets[block.start], offsets[block.stop]
        moved = matches.offsets[order[block]] - offsets[block]
        events = np.repeat(moved, lengths[block]) + np.arange(low, high)
        rows[low:high], labels[low:high] = matches.rows[events], matches.labels[events]
    return EventMatches(rows, labels, offsets)


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
    matches: EventMatches, is_open: NDArray[np.bool_], offsets: NDArray[np.int64], ties: NDArray[np.int64],
    blocked: NDArray[np.int64],
) -> tuple[EventMatches, EventMatches]:
    """By partition the matches that complete first and overlap none before them; and those that an open one keeps open.

    `blocked` is, by partition, the last row of the match before, and afterwards of the last match.
    """
    first, last = matches.rows[matches.offsets[:-1]], matches.rows[matches.offsets[1:] - 1]
    order = np.lexsort([np.diff(matches.offsets), first, last])
    keep, wait = np.zeros(len(matches), np.bool_), np.zeros(len(matches), np.bool_)
    without_overlaps(
        order, matches.rows, matches.labels, matches.offsets, is_open, offsets, ties, blocked, keep, wait
    )
    return matches.selected(keep), matches.selected(wait)
