"""The setting `on_error="report"`: a search goes on where it fails, and says at which rows it did.

A feed that fails is undone and repeated in halves, down to the slots that fail, so that an error costs no other slot
anything. What is given up of such a slot is for its mode to say; `without_rows` is the way of modes that read events.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError
from sparkrex.matching.side_rows import Failure, row_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.matching.feed import Feed
    from sparkrex.matching.state import State

    Feeding = Callable[[State, Feed], pa.Table]

REPORTED = frozenset({
    "REX401", "REX402", "REX403", "REX404", "REX405", "REX406", "REX409", "REX410", "REX414",
})
"""Errors that concern a row. Others, such as too little memory for all partitions, stop the query as ever."""


def feed_reporting(state: State, feed: Feed, feed_once: Feeding, give_up: Feeding) -> pa.Table:
    """The result rows of a feed; `give_up` feeds a single slot that fails."""
    try:
        return undoing(state, feed, feed_once)
    except ExecutionError as error:
        if error.code not in REPORTED:
            raise
    n_slots = len(feed.slots)
    if n_slots == 1:
        return give_up(state, feed)
    halves = (feed.part(0, n_slots // 2), feed.part(n_slots // 2, n_slots))
    return pa.concat_tables([feed_reporting(state, half, feed_once, give_up) for half in halves])


def undoing(state: State, feed: Feed, feed_once: Feeding) -> pa.Table:
    """Feed; after an error the state is as it was before."""
    state.mark()
    try:
        result = feed_once(state, feed)
    except BaseException:
        state.undo()
        raise
    state.forget_mark()
    return result


def without_rows(state: State, feed: Feed, feed_once: Feeding) -> pa.Table:
    """Feed a single slot, and leave out every row that it fails at: the rest is as if it had not come.

    That row is the last one of the shortest beginning that fails, so it is the same however rows are cut into feeds.
    """
    failures = []
    while True:
        try:
            result = undoing(state, feed, feed_once)
            break
        except ExecutionError as error:
            if error.code not in REPORTED:
                raise
            place, reason = _first_failing(state, feed, feed_once, error)
            failures.append(Failure(reason, row_at(feed.table, int(feed.arrangement.input_rows(place)[0]))))
            keep = np.ones(feed.arrangement.n_rows, np.bool_)
            keep[place] = False
            feed = _rows_of(feed, np.flatnonzero(keep))
    state.failures += failures
    return result


def _first_failing(
    state: State, feed: Feed, feed_once: Feeding, error: ExecutionError
) -> tuple[np.ndarray[tuple[int], np.dtype[np.int64]], ExecutionError]:
    """The position of the row that fails first, and its error. `error` is that of all rows."""
    low, high = 0, int(feed.arrangement.offsets[-1]) + 1  # `low` rows pass; so many as `high` fail, if it is so few
    reason: ExecutionError | None = None
    while high - low > 1:
        middle = (low + high) // 2
        beginning = replace(_rows_of(feed, np.arange(middle)), closes=np.zeros(1, np.bool_), horizon=None)
        try:
            state.mark()
            feed_once(state, beginning)
        except ExecutionError as found:
            high, reason = middle, found
        else:
            low = middle
        finally:
            state.undo()
    if reason is None:  # no row does: that no more come is what fails
        raise error
    return np.array([high - 1]), reason


def _rows_of(feed: Feed, positions: np.ndarray[tuple[int], np.dtype[np.int64]]) -> Feed:
    """The feed of a single slot with some of its rows."""
    table = feed.table.take(wrap(feed.arrangement.input_rows(positions)))
    offsets = np.array([0, len(positions)], np.int64)
    return replace(feed, table=table, arrangement=Arrangement(None, offsets, len(positions)))
