"""The runner of a group of patterns that share a plan: fed with ordered rows of any number of open partitions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from sparkrex.errors import ExecutionError
from sparkrex.matching.event_order import check_order, order_columns
from sparkrex.matching.state import State
from sparkrex.modes.events.runner import number_within, placed
from sparkrex.modes.plan import columns_of
from sparkrex.modes.workload.counts import COUNTS, Counts
from sparkrex.modes.workload.kept import CELLS, INSTANCES, WAITING, Kept, put_into, take_out
from sparkrex.modes.workload.segment_search import FrameSearch
from sparkrex.modes.workload.waiting import Waiting, order_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feed import Feed, Frame
    from sparkrex.modes.events.nfab.contract import EventMatches
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.workload.prepared import Prepared
    from sparkrex.settings import Settings

PastStops: TypeAlias = "Mapping[int, NDArray[np.int64]]"
"""By pattern and partition of a feed of the past: the row at which it stopped, -1 if before, `NEVER` if it has not."""
FRESH = np.zeros((), [("is_open", np.int8)])
"""Of a slot nothing is kept but tables."""


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
        unless they are to be given `at_once`. In a feed of the past no pattern stops, but where it did (`live`).
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
        matches, numbers = self._numbered(search, frame, counts, at_once=at_once)
        first_held = np.where(feed.closes, frame.end, search.first_held)
        for own in search.waiting.values():
            np.minimum.at(first_held, own.matches.places(frame.end), own.low)
        put_into(state, feed, frame, Kept.joined(self.prepared, search.kept), search.waiting, first_held)
        stops = [] if past is not None else counts.stop(search.stop_row)
        counts.write(state, feed)
        state.close(feed, frame, first_held, self.settings)
        return Decided(frame, matches, numbers, stops, search.n_looks, search.n_made, search.seconds)

    def _numbered(
        self, search: FrameSearch, frame: Frame, counts: Counts, *, at_once: bool
    ) -> tuple[list[EventMatches], list[NDArray[np.int64]]]:
        """The matches of each pattern that can be given, in order, and their numbers."""
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
            numbers.append(np.empty(0, np.int64))
            if len(found):
                place = found.places(frame.end)
                numbers[-1] = number_within(place, counts.of(number))
                counts.add(number, place)
        return matches, numbers

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


def new_state() -> State:
    """The state before the first feed, whatever the plan."""
    return State(FRESH, (INSTANCES, CELLS, WAITING, COUNTS))
