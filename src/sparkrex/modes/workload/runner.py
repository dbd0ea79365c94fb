"""The runner of a group of patterns that share a plan: fed with ordered rows of any number of open partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sparkrex.columns.arrange import Arrangement
from sparkrex.errors import ExecutionError
from sparkrex.matching.event_order import check_order, order_columns
from sparkrex.matching.feed import Feed, Frame
from sparkrex.matching.state import ROWS
from sparkrex.matching.waking import NEVER, Moment, first_wakes
from sparkrex.modes.events.nfab.windows import window_size
from sparkrex.modes.events.runner import number_within, placed
from sparkrex.modes.plan import columns_of
from sparkrex.modes.workload.counts import Counts
from sparkrex.modes.workload.kept import Kept, put_into, put_waiting, take_out, waiting_until
from sparkrex.modes.workload.segment_search import FrameSearch
from sparkrex.modes.workload.state import new_state
from sparkrex.modes.workload.waiting import Waiting, order_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.state import State
    from sparkrex.modes.events.nfab.contract import EventMatches
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.workload.prepared import Prepared
    from sparkrex.settings import Settings

PastStops: TypeAlias = "Mapping[int, NDArray[np.int64]]"
"""By pattern and partition of a feed of the past: the row at which it stopped, -1 if before, `NEVER` if it has not."""


@dataclass(frozen=True, eq=False, slots=True)
class Decided:
    """The matches that a feed decides, by pattern, their numbers, and the frame whose rows they refer to.

    `stops` are patterns that stopped in this feed, with the row at which they did. `n_looks` and `n_made` are how many
    pairs of partial matches were looked at and how many were made, `seconds` what that took of the processor.
    """

    frame: Frame
    matches: list[EventMatches]
    numbers: list[NDArray[np.int64]]
    stops: list[tuple[int, int]]
    n_looks: int = 0
    n_made: int = 0
    seconds: float = 0.0


class GroupRunner:
    """Patterns of one group under one plan. `max_kleene` is how many events of a Kleene a window may have."""

    def __init__(
        self, prepared: Prepared, evaluator: Evaluator, settings: Settings, *, max_kleene: int = 20
    ) -> None:
        self.prepared, self.evaluator, self.settings, self.max_kleene = prepared, evaluator, settings, max_kleene
        self.queries = [pattern.query for pattern in prepared.patterns]
        self.read = {name for query in self.queries for name in _columns_read(query)}
        """The columns that are searched."""
        self.room = 0
        """How much room instances needed in a segment so far."""

    @property
    def refusal(self) -> str | None:
        """It takes partitions in pieces."""
        return None

    def open(self) -> State:
        """The state before the first feed."""
        return new_state()

    def decide(self, state: State, feed: Feed, *, at_once: bool = False, past: PastStops | None = None) -> Decided:
        """Find the matches that a feed decides. Changes the state.

        They come in the order of `rex.events`, however the rows are fed: those behind an undecided one wait for it,
        unless they are to be given `at_once`, or their numbers do not show the order, as on streams. In a feed of the
        past no pattern stops, but where it did (`live`).
        """
        frame = state.open(feed)
        with placed(self.queries[0], frame, feed.slots):
            self._check_ties(frame)
        kept, waiting = take_out(state, feed, frame, self.prepared)
        counts = Counts.read(state, feed)
        may_stop = sorted(set().union(*self.prepared.patterns_of_kleene.values()))
        stop_rows = counts.stop_rows(may_stop) if past is None else {number: past[number].copy() for number in may_stop}
        search = FrameSearch(self, frame, feed, stop_rows, may_stop=past is None)
        search.run(kept, waiting)
        matches, numbers = self._given(search, frame, at_once=at_once or state.n_numbered is not None)
        if state.n_numbered is None:
            numbers = self._numbered(matches, frame, counts)
        first_held = np.where(feed.closes, frame.end, search.first_held)
        for own in search.waiting.values():
            np.minimum.at(first_held, own.matches.places(frame.end), own.low)
        put_into(state, feed, frame, Kept.joined(self.prepared, search.kept), first_held)
        put_waiting(state, feed, frame, search.waiting, first_held, self.prepared)
        stops = [] if past is not None else counts.stop(search.stop_row)
        counts.write(state, feed)
        state.close(feed, frame, first_held, self.settings)
        return Decided(frame, matches, numbers, stops, search.n_looks, search.n_made, search.seconds)

    def remake(self, state: State, slots: NDArray[np.int64]) -> None:
        """Partial matches of this plan out of the rows that are held back, in the place of those of another.

        All that rows to come may complete has its events there. What is complete has been given, or waits.
        """
        table, offsets = state.tables[ROWS].read(slots)
        if table is None:
            return
        never = np.zeros(len(slots), np.bool_)
        feed = Feed(table, Arrangement(None, offsets, table.num_rows), slots, never, never)
        frame = Frame(table, feed.arrangement, np.zeros(len(slots), np.int64))
        may_stop = sorted(set().union(*self.prepared.patterns_of_kleene.values()))
        search = FrameSearch(self, frame, feed, Counts.read(state, feed).stop_rows(may_stop), may_stop=False)
        search.run(Kept.joined(self.prepared, []), {})
        put_into(state, feed, frame, Kept.joined(self.prepared, search.kept), frame.begin)

    def wakes(self, state: State, slots: NDArray[np.int64], horizon: int) -> NDArray[np.int64]:
        """See `matching.runner.Waking`: rows go when the largest window has passed them, and matches wait for theirs.
        """
        time = order_columns(self.queries[0])[0]
        kind = state.column_type(time)
        sizes = {window: window_size(self.prepared.query_of(window), kind) for window in self.prepared.windows}
        lasting = [sizes[root.window] for root in self.prepared.roots]
        bounds = [size for size in lasting if size is not None]
        moments = [Moment(time, max(bounds))] if bounds and len(bounds) == len(lasting) else []
        by_clause = np.full(len(lasting), NEVER)
        for root, size in zip(self.prepared.roots, lasting, strict=True):
            by_clause[root.clause] = NEVER if size is None else min(size, NEVER)
        return np.minimum(
            first_wakes(state, slots, moments, horizon), waiting_until(state, slots, time, by_clause, horizon)
        )

    def _given(
        self, search: FrameSearch, frame: Frame, *, at_once: bool
    ) -> tuple[list[EventMatches], list[NDArray[np.int64]]]:
        """The matches of each pattern that can be given, in order, and room for their numbers."""
        matches, numbers = [], []
        for number, pattern in enumerate(self.prepared.patterns):
            found = search.found(number)
            if pattern.waits:
                own = Waiting.joined([search.waiting.pop(number)] if number in search.waiting else []).in_order()
                given = own.is_decided if at_once else own.given(frame.end)
                found = own.matches.selected(given)
                if not given.all():
                    search.waiting[number] = own.where(~given)
            elif len(found) > 1:
                found = found.reordered(order_of(found))
            matches.append(found)
            numbers.append(np.zeros(len(found), np.int64))
        return matches, numbers

    @staticmethod
    def _numbered(matches: list[EventMatches], frame: Frame, counts: Counts) -> list[NDArray[np.int64]]:
        """The numbers of the matches in their patterns and partitions."""
        numbers = []
        for number, found in enumerate(matches):
            numbers.append(np.empty(0, np.int64))
            if len(found):
                place = found.places(frame.end)
                numbers[-1] = number_within(place, counts.of(number))
                counts.add(number, place)
        return numbers

    def _check_ties(self, frame: Frame) -> None:
        """Events that one pattern may use must have an order. Others may be tied: nobody compares them."""
        order, offsets = frame.arrangement.order, frame.offsets
        try:
            check_order(self.queries[0], frame.table, order, offsets)
        except ExecutionError:
            FrameSearch.check_ties(self, frame)


def _columns_read(query: EventQuery) -> set[str]:
    """Columns of the order, of types and of conditions."""
    types = [definition.condition for definition in query.types]
    conjuncts = [conjunct.expression for conjunct in query.conjuncts]
    return columns_of([*types, *conjuncts]).union(order_columns(query))
