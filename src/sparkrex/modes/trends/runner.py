"""Trend aggregates as a runner: rows of open partitions in, results of finished windows out.

Between two feeds it keeps, of every open window, its places: a few numbers, however many events it has had. Where
comparisons or negated parts read single events, it also keeps an entry for each event that may still be followed, and
its row. Under strict ties the events of the last time wait for others of that time.
"""

from __future__ import annotations

from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import ints_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError
from sparkrex.matching.feed import Frame
from sparkrex.matching.reporting import feed_reporting, without_rows
from sparkrex.matching.runner import Gathered
from sparkrex.matching.silent import Lasting
from sparkrex.matching.state import State
from sparkrex.matching.waking import NEVER, holds_nothing
from sparkrex.modes.trends.arranged import ArrangedRows
from sparkrex.modes.trends.conjunction import count_pairs
from sparkrex.modes.trends.keeping import ENTRIES, FRESH, WINDOWS, Groups, continue_units, read_kept, write_kept
from sparkrex.modes.trends.kernels.places import Store
from sparkrex.modes.trends.merge import combine_partials, partial_table
from sparkrex.modes.trends.prepared import Prepared
from sparkrex.modes.trends.results import PARTIAL_END, Finished, has_trends, result_table
from sparkrex.modes.trends.search import Problem, search, take_places
from sparkrex.modes.trends.units import units_in_windows, whole_partitions
from sparkrex.modes.trends.windows import bound_type
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feed import Feed
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.modes.trends.search import Kept
    from sparkrex.modes.trends.units import UnitRows
    from sparkrex.settings import Settings


class TrendRunner:
    """See `matching.runner`. `sample` has the columns of the rows that are fed, and no rows."""

    def __init__(
        self, query: TrendQuery, sample: pa.Table, evaluator: Evaluator, settings: Settings, threads: int = 1
    ) -> None:
        self.query = query
        self.prepared = Prepared(query, sample, evaluator, settings, threads)
        self.layout = self.prepared.layout

    @property
    def refusal(self) -> str | None:
        """None: everything can be fed."""
        return None

    def open(self) -> State:
        """The state before the first feed."""
        return State(FRESH, (WINDOWS, ENTRIES))

    def wakes(self, state: State, slots: NDArray[np.int64], horizon: int) -> NDArray[np.int64]:
        """See `matching.runner.Waking`: a window is finished one tick before its end."""
        found = np.full(len(slots), NEVER)
        windows, window = self.prepared.windows, self.query.window
        opened, offsets = state.tables[WINDOWS].read(slots)
        if windows is None or window is None or opened is None or window.unit is WindowUnit.EVENTS:
            return found
        ends = windows.ends(opened.column("number").to_numpy()) - 1
        has_windows = np.flatnonzero(np.diff(offsets))
        found[has_windows] = np.minimum.reduceat(np.maximum(ends, horizon + 1), offsets[has_windows])
        return found

    def forgets(self, state: State, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """See `matching.runner.Waking`. Where windows count events, it counts on."""
        forgotten = holds_nothing(state, slots)
        if self.query.window is not None and self.query.window.unit is WindowUnit.EVENTS:
            forgotten &= state.numbers["n_seen"][slots] == 0
        return forgotten

    def lasting(self) -> list[Lasting]:
        """See `matching.runner.Waking`."""
        window = self.query.window
        if window is not None and window.unit is not WindowUnit.EVENTS:
            return []
        why = "WITHIN counts events, and time does not end such a window"
        if window is None:
            why = "without WITHIN a partition is one window, which has no end"
        span = self.query.span if window is None else window.span
        remedies, record = ("WITHIN with a length of time", "the setting partition_gap"), FRESH.dtype.itemsize
        return [Lasting("open windows, and events that may be followed", why, remedies, record, None, span)]

    @property
    def gathers(self) -> bool:
        """See `matching.runner.Gathering`: groups of several partitions are merged behind it."""
        return self.query.is_partial

    def gather(self, partials: pa.Table, horizon: int | None) -> Gathered:
        """See `matching.runner.Gathering`. One for each group and window.

        A partition that ends at a gap gives the results of its windows before these end, and any other one of the group
        may still add to them. Windows that count events, and a query without windows, may get some until the end.
        """
        together = combine_partials(self.query, self.layout, partials)
        if horizon is None or not together.num_rows:
            return Gathered(together, together.slice(0, 0), NEVER)
        if self.query.window is None or self.query.window.unit is WindowUnit.EVENTS:
            return Gathered(together.slice(0, 0), together, NEVER)
        last = ints_of(plain(together.column(PARTIAL_END))) - 1
        is_final = last <= horizon
        due = int(last[~is_final].min(initial=NEVER))
        return Gathered(together.filter(wrap(is_final)), together.filter(wrap(~is_final)), due)

    def feed(self, state: State, feed: Feed) -> pa.Table:
        """The results that this feed decides, of windows that are finished."""
        if self.prepared.settings.reports:
            give_up = partial(without_rows, feed_once=self._feed_once)
            return feed_reporting(state, feed, self._feed_once, give_up)
        return self._feed_once(state, feed)

    def _feed_once(self, state: State, feed: Feed) -> pa.Table:
        if feed.is_whole:
            state.reset(feed.slots[feed.slots < state.n_slots])
            frame = Frame(feed.table, feed.arrangement, np.zeros(len(feed.slots), np.int64))
        else:
            frame = state.open(feed)
        with _placed(self.query, frame, feed.slots):
            return self._search(state, feed, frame)

    def _search(self, state: State, feed: Feed, frame: Frame) -> pa.Table:
        prepared = self.prepared
        n_slots = len(feed.slots)
        numbers = np.full(n_slots, FRESH, FRESH.dtype) if feed.is_whole else state.numbers[feed.slots]
        rows = ArrangedRows(prepared, frame, numbers)
        begin = rows.offsets[:-1] + numbers["n_done"]
        until = np.maximum(rows.decided(feed), begin)  # rows that were searched before are not searched again
        kept_before = read_kept(state, feed)
        opened = kept_before.opened
        if prepared.windows is None:
            units = whole_partitions(begin, until, feed.closes, opened)
        else:
            units = units_in_windows(
                self.query, prepared.windows, rows.ticks, begin, until, opened, numbers["last_window"],
                rows.is_past(feed),
            )
        problem = Problem(
            self.layout, rows.machine, rows.pairs, rows.weights, rows.rows, prepared.automaton.n_negated,
            prepared.algorithm,
        )
        kept = search(problem, units, continue_units(kept_before, units, problem, rows), prepared.threads)
        groups = Groups(self.query, rows, kept_before.windows, units)
        result = self._results(problem, units, kept, groups)
        if not feed.is_whole:
            write_kept(state, feed, rows, units, kept, until, problem, groups, prepared.settings)
        return result

    def _results(self, problem: Problem, units: UnitRows, kept: Kept, groups: Groups) -> pa.Table:
        """The windows that are finished and have trends."""
        n_kinds = problem.machine.n_kinds
        finals = (np.arange(len(units.first)) + 1) * problem.n_places - n_kinds
        store = take_places(kept.store, finals, self.layout)
        if len(self.query.patterns) > 1:
            every = (finals[:, None] + np.arange(n_kinds)).reshape(-1)
            classes = take_places(kept.store, every, self.layout).numbers.reshape(len(finals), n_kinds, 3)
            store = Store(count_pairs(classes, self.layout.counts), store.reals, store.extremes, store.seen)
        is_found = (units.closes & has_trends(store, self.layout))[units.window_unit]
        store = take_places(store, units.window_unit[is_found], self.layout)
        start, end = self._bounds(units.window_number[is_found])
        finished = Finished(groups.take(np.flatnonzero(is_found)), start, end, store)
        if self.query.is_partial:
            return partial_table(self.query, self.layout, finished)
        return result_table(self.query, self.layout, finished)

    def _bounds(self, numbers: NDArray[np.int64]) -> tuple[pa.Array, pa.Array]:
        windows = self.prepared.windows
        if windows is None:
            kind = bound_type(self.query, self.prepared.time_type)
            return pa.nulls(len(numbers), kind), pa.nulls(len(numbers), kind)
        return windows.bounds(windows.starts(numbers)), windows.bounds(windows.ends(numbers))


@contextmanager
def _placed(query: TrendQuery, frame: Frame, slots: NDArray[np.int64]) -> Iterator[None]:
    """Inside, an error says where in the query and in which slot it is."""
    try:
        yield
    except ExecutionError as error:
        if error.span == query.span:
            error.span = query.patterns[0].span or query.span  # the whole relation is a large place
        if error.row is not None:
            error.slot = int(slots[frame.place_of(error.row)])
        raise
