"""The runner of event queries: one query, fed with ordered rows of any number of open partitions.

Rows that cannot take part are not fed (`taking_part`); with the setting `partition_gap` they are left out here. Where
the partitions that are fed are finer than those of the query, because equalities make them, who feeds puts matches in
order and numbers them (`ranked`).
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.gaps import kept_rows
from sparkrex.columns.ordered import Columns
from sparkrex.errors import ExecutionError
from sparkrex.matching.event_order import check_order, order_columns
from sparkrex.matching.feed import Frame
from sparkrex.matching.reporting import feed_reporting, without_rows
from sparkrex.matching.slot_table import offsets_of
from sparkrex.matching.state import State
from sparkrex.matching.waking import Moment, first_wakes, holds_nothing
from sparkrex.modes.events.nfab.kept import FRESH, RUN_BYTES, TABLES, put_into, take_out
from sparkrex.modes.events.nfab.matcher import Feeding
from sparkrex.modes.events.nfab.windows import window_size
from sparkrex.modes.events.output import build_events
from sparkrex.modes.events.silent import lasting_of
from sparkrex.modes.events.taking_part import rows_taking_part
from sparkrex.modes.plan import columns_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.matching.feed import Feed
    from sparkrex.matching.silent import Lasting
    from sparkrex.modes.events.nfab.contract import EventMatches
    from sparkrex.modes.events.nfab.matcher import NfabMatcher
    from sparkrex.modes.events.plan import EventQuery


def tested_columns(query: EventQuery) -> set[str]:
    """Columns that the matcher reads: those of conditions and of the order."""
    return columns_of(query.tested()).union(order_columns(query))


def arranged_columns(query: EventQuery, frame: Frame) -> Columns:
    """What the matcher reads of a frame."""
    tested, own = tested_columns(query), frame.arrangement
    read = frame.table.select([name for name in frame.table.column_names if name in tested])
    return Columns(read, own.offsets, own.known_order, own.kept, own.scatter)


@dataclass(frozen=True, eq=False, slots=True)
class Decided:
    """The matches that a feed decides, in the frame that they are in, with their numbers in their partition, which
    count from 1; and what was counted on the way."""

    frame: Frame
    matches: EventMatches
    numbers: NDArray[np.int64]
    statistics: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class EventRunner:
    """See `matching.runner`."""

    query: EventQuery
    matcher: NfabMatcher
    threads: int = 1

    @property
    def refusal(self) -> str | None:
        """Backtracking reads events again for every run."""
        if self.matcher.settings.matcher != "backtrack":
            return None
        return "the matcher backtrack runs one run at a time, over whole partitions"

    def open(self) -> State:
        """The state before the first feed."""
        return State(FRESH, TABLES)

    def feed(self, state: State, feed: Feed) -> pa.Table:
        """The result rows that this feed decides."""
        if self.matcher.settings.reports:
            give_up = partial(without_rows, feed_once=self._feed_once)
            return feed_reporting(state, feed, self._feed_once, give_up)
        return self._feed_once(state, feed)

    def _feed_once(self, state: State, feed: Feed) -> pa.Table:
        return self.build(self.decide(state, feed))

    def decide(self, state: State, feed: Feed) -> Decided:
        """The matches that this feed decides. Changes the state."""
        assert self.refusal is None or feed.is_whole
        feed = self._taking_part(feed)
        if feed.is_whole:
            return self._decide_whole(state, feed)
        frame = state.open(feed)
        with placed(self.query, frame, feed.slots):
            if feed.table.num_rows:  # the row before the new ones is among those held back
                check_order(self.query, frame.table, frame.arrangement.order, frame.offsets)
            feeding = Feeding(
                take_out(state, feed.slots, frame.begin), frame.n_held, feed.closes, feed.horizon,
                in_order=state.n_numbered is None,
            )
            found = self.matcher.find(arranged_columns(self.query, frame), feeding)
            numbers = self._number(state, feed.slots, found.matches.places(frame.end))
            put_into(state, feed.slots, found.kept, found.first_held)
            state.close(feed, frame, found.first_held, self.matcher.settings)
        return Decided(frame, found.matches, numbers, found.statistics)

    def _taking_part(self, feed: Feed) -> Feed:
        """The feed without rows that cannot take part: with `partition_gap` they come too, because they end silence."""
        if self.query.partition_gap is None or self.query.relevant is None:
            return feed
        matcher = self.matcher
        keep = rows_taking_part(self.query, feed.table, matcher.evaluator, matcher.settings)
        table, arrangement = kept_rows(feed.table, feed.arrangement, keep)
        return replace(feed, table=table, arrangement=arrangement)

    def wakes(self, state: State, slots: NDArray[np.int64], horizon: int) -> NDArray[np.int64]:
        """See `matching.runner.Waking`: a window of time passes `size` behind its first event."""
        time = order_columns(self.query)[0]
        size = window_size(self.query, state.column_type(time))
        return first_wakes(state, slots, [] if size is None else [Moment(time, size)], horizon)

    def forgets(self, state: State, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """See `matching.runner.Waking`. Which matches a slot has had is known by their numbers alone."""
        return holds_nothing(state, slots)

    def lasting(self) -> list[Lasting]:
        """See `matching.runner.Waking`."""
        return lasting_of(self.query, FRESH.dtype.itemsize + RUN_BYTES)

    def build(self, decided: Decided) -> pa.Table:
        """The result rows of matches."""
        return build_events(
            self.query, decided.matches, decided.numbers, self.matcher.variables, decided.frame.table,
            decided.frame.arrangement.order, self.matcher.evaluator, threads=self.threads,
        )

    def _decide_whole(self, state: State, feed: Feed) -> Decided:
        """Partitions that begin and end here leave nothing, so that the state need not know of them."""
        state.reset(feed.slots[feed.slots < state.n_slots])
        n_partitions = len(feed.slots)
        frame = Frame(feed.table, feed.arrangement, np.zeros(n_partitions, np.int64))
        with placed(self.query, frame, feed.slots):
            check_order(self.query, frame.table, frame.arrangement.order, frame.offsets)
            found = self.matcher.find(arranged_columns(self.query, frame), Feeding.whole(n_partitions))
        place = found.matches.places(frame.end)
        if state.n_numbered is not None:
            numbers = self._number(state, feed.slots, place)
        else:
            numbers = number_within(place, np.zeros(n_partitions, np.int64))
        return Decided(frame, found.matches, numbers, found.statistics)

    def _number(self, state: State, slots: NDArray[np.int64], place: NDArray[np.int64]) -> NDArray[np.int64]:
        if state.n_numbered is not None:
            first, state.n_numbered = state.n_numbered, state.n_numbered + len(place)
            return 1 + np.arange(first, state.n_numbered)
        n_before = state.numbers["n_matches"][slots]
        state.numbers["n_matches"][slots] = n_before + np.bincount(place, minlength=len(slots))
        return number_within(place, n_before)


def number_within(place: NDArray[np.int64], n_before: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of matches, partition by partition, that count on from `n_before` in their partition."""
    first = offsets_of(np.bincount(place, minlength=len(n_before)))[:-1]
    return 1 + np.arange(len(place)) + (n_before - first)[place]


@contextmanager
def placed(query: EventQuery, frame: Frame, slots: NDArray[np.int64]) -> Iterator[None]:
    """Inside, an error says where in the query and in which slot it is."""
    try:
        yield
    except ExecutionError as error:
        if error.span in (None, query.span):
            # The whole relation is a large place.
            error.source, error.span = query.source, query.pattern.span or query.span
        if error.row is not None:
            error.slot = int(slots[frame.place_of(error.row)])
        raise
