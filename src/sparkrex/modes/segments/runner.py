"""A segment search as a runner: planned over the first rows that it has to search, then fed.

A feed looks at the rows held back and the new ones, and searches from the starts that have become decided since the
last one (`operators.decided`). So every start is searched once, results come in order of their starts, and what is held
back are the rows from the first undecided start on, and as many before it as conditions and measures read. The value of
an aggregate does not depend on where its rows are cut (`kernels.pivots`).

Under ALL MATCHES no later row changes a segment that is there. On a stream, unless matches are numbered, it does not
wait for its start: a feed searches from all starts that may still have segments, with the ends that are new. So every
start is searched once with each end.

The plan is kept in the state: it is made of rows that the state has seen, and a runner is immutable. It is not saved:
whatever the plan, the answers are the same. One that was made of few rows is made again over many more.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from math import floor
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.ordered import Columns
from sparkrex.errors import ExecutionError, InternalError
from sparkrex.matching.silent import Lasting
from sparkrex.matching.state import State
from sparkrex.matching.waking import NEVER, Moment, first_wakes, holds_nothing
from sparkrex.modes.segments.aggregates.registry import find
from sparkrex.modes.segments.aggregates.user_defined import UserDefined
from sparkrex.modes.segments.find import find_results
from sparkrex.modes.segments.mapped import run_mapped
from sparkrex.modes.segments.operators.arguments import check_numbers, with_argument_columns
from sparkrex.modes.segments.operators.arrays import no_segments
from sparkrex.modes.segments.operators.build import Builder
from sparkrex.modes.segments.operators.decided import first_undecided, reach_of
from sparkrex.modes.segments.operators.mappings import check_conditions
from sparkrex.modes.segments.operators.output import INDEX, Counted, build_rows, with_indexes
from sparkrex.modes.segments.operators.skip import skipped_to
from sparkrex.modes.segments.planning import (
    Planned,
    Rewritten,
    plan_over,
    read_rows,
    rewrite_search,
    warn_of_candidates,
)
from sparkrex.scalar.expression import ColumnAt, MatchNumber, aggregates, walk
from sparkrex.stopwatch import Stopwatch
from sparkrex.threads import run_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feed import Feed, Frame
    from sparkrex.modes.segments.operators.contract import Segments
    from sparkrex.modes.segments.operators.decided import Reach
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.planner.planners import Plan
    from sparkrex.settings import Settings

    Rows = NDArray[np.int64]

FRESH = np.array((0, 0, 0, 1), [
    ("position", np.int64), ("next_start", np.int64), ("next_end", np.int64), ("next_number", np.int64),
])
"""Of each slot: the positions, in its partition, of its first row held back, of its first undecided start, and of the
first end that no segment was given with (0 where segments are given by starts); the number of its next match."""
_MANY_MORE = 16
"""A plan is made again for so many times the rows that it was made of."""


@dataclass(frozen=True, eq=False, slots=True)
class _Made:
    """A plan, and over how many rows it was made."""

    rewritten: Rewritten
    plan: Plan
    n_rows: int


@dataclass(frozen=True, eq=False)
class SegmentRunner:
    """One search over columns as in `sample`, which has no rows. `keys` are the columns that hold the partition keys.

    `builder` makes the operators; laps go to `watch`.
    """

    search: SegmentSearch
    sample: pa.Table
    keys: tuple[str, ...]
    evaluator: Evaluator
    settings: Settings
    builder: Callable[..., Builder] = Builder
    watch: Stopwatch = field(default_factory=Stopwatch)

    @cached_property
    def _with_arguments(self) -> tuple[SegmentSearch, pa.Table]:
        """The search and its columns with those that aggregates have expressions of."""
        return with_argument_columns(self.search, self.sample, self.evaluator)

    @cached_property
    def _computes_arguments(self) -> bool:
        return self._with_arguments[0] is not self.search

    @cached_property
    def rewritten(self) -> Rewritten:
        """The search as a logical plan, if the first column of ORDER BY has no NULLs."""
        search, table = self._with_arguments
        check_numbers(search, table.schema)
        rewritten = rewrite_search(search, table, self.settings.without_rules)
        if rewritten.logical is None:
            check_conditions(rewritten.search, table, self.evaluator)
        return rewritten

    @cached_property
    def reach(self) -> Reach | None:
        """How far matches reach; None if every mapping is tried."""
        logical = self.rewritten.logical
        return None if logical is None else reach_of(self.rewritten.search, logical)

    @cached_property
    def refusal(self) -> str | None:
        """See the contract."""
        if self.reach is None:
            return "every mapping of rows to variables is tried: no segments stand for its references"
        if not self.reach.is_bounded:
            return "the pattern has no upper bound, neither in rows nor in the first column of ORDER BY"
        search = self.rewritten.search
        expressions = [*search.tested(), *(measure.expression for measure in search.measures)]
        for node in (node for expression in expressions for node in aggregates(expression)):
            found = find(node.function)
            if isinstance(found, UserDefined) and found.has_index:
                return f"{found.name} has an index of its own, which is made of all rows"
        return None

    def open(self) -> State:
        """See the contract."""
        return State(FRESH)

    def wakes(self, state: State, slots: NDArray[np.int64], horizon: int) -> NDArray[np.int64]:
        """See `matching.runner.Waking`: the whole pattern's window has passed so far behind a start."""
        reach = self.reach
        if reach is None or reach.growth is None or reach.column is None:
            return np.full(len(slots), NEVER)
        return first_wakes(state, slots, [Moment(reach.column, floor(reach.growth))], horizon)

    def forgets(self, state: State, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """See `matching.runner.Waking`."""
        forgotten = holds_nothing(state, slots)
        numbers = state.numbers[slots]
        if self._reads_index:
            forgotten &= numbers["position"] == 0
        if self._reads_number:
            forgotten &= numbers["next_number"] == FRESH["next_number"]
        return forgotten

    @cached_property
    def _reads_index(self) -> bool:
        """Whether a position in the partition is asked for."""
        measures = (with_indexes(measure.expression) for measure in self.search.measures)
        return any(isinstance(node, ColumnAt) and node.column == INDEX for one in measures for node in walk(one))

    def lasting(self) -> list[Lasting]:
        """See `matching.runner.Waking`."""
        reach, record, span = self.reach, FRESH.dtype.itemsize, self.search.pattern.span
        gap = ("the setting partition_gap",)
        found = []
        if self._reads_index:
            found.append(Lasting("a number", "START_INDEX() and END_INDEX() count the rows of a key", gap, record))
        if self._reads_number:
            found.append(Lasting("a number", "MATCH_NUMBER() counts the matches of a key", gap, record))
        if reach is None:
            return found
        if reach.before:
            rows = "the last row" if reach.before == 1 else f"the last {reach.before} rows"
            why = "a condition or a measure reads rows before a segment"
            found.append(Lasting(rows, why, gap, record, reach.before, span))
        if reach.growth is None:
            why, remedies = "windows count rows, and time does not end them", ("a window on the ORDER BY column", *gap)
            found.append(Lasting("open rows", why, remedies, record, None, span))
        elif reach.after:
            why = "NEXT reads behind a segment, a row that may never come"
            found.append(Lasting("open rows", why, gap, record, None, span))
        return found

    @cached_property
    def _gives_by_ends(self) -> bool:
        """Whether a segment may come before those of earlier starts."""
        return self.search.skip is None and not self._reads_number

    @cached_property
    def _reads_number(self) -> bool:
        """Whether the number of a match is asked for."""
        expressions = [*self.search.tested(), *(measure.expression for measure in self.search.measures)]
        return any(isinstance(node, MatchNumber) for expression in expressions for node in walk(expression))

    def feed(self, state: State, feed: Feed) -> pa.Table:
        """See the contract."""
        if self.refusal is not None and not feed.is_whole:
            raise InternalError("REX901", f"fed in parts: {self.refusal}", self.search.source, self.search.span)
        stops: list[Callable[[], None]] = []

        def stop() -> None:
            for give_up in stops:
                give_up()

        # Kernels may run for long, and sampling calls aggregates that users wrote.
        return run_aside(partial(self._feed, state, feed, stops.append), stop)

    def _feed(self, state: State, feed: Feed, on_stop: Callable[[Callable[[], None]], None]) -> pa.Table:
        if self._computes_arguments:
            feed = replace(feed, table=with_argument_columns(self.search, feed.table, self.evaluator)[1])
        frame = state.open(feed)
        with naming_slots(frame.offsets, feed.slots):
            if self.reach is not None:
                return self._decide(state, feed, frame, self.reach, on_stop)
            keys = [frame.table.column(key) for key in self.keys]
            return run_mapped(
                self.rewritten.search, frame.table, frame.arrangement, keys, self.evaluator, self.settings, self.watch
            )

    def _decide(
        self, state: State, feed: Feed, frame: Frame, reach: Reach, on_stop: Callable[[Callable[[], None]], None]
    ) -> pa.Table:
        numbers = state.numbers[feed.slots]
        ordered = Columns(frame.table, frame.offsets, frame.arrangement.order).ordered
        low = frame.begin + numbers["next_start"] - numbers["position"]
        high = frame.end.copy()
        if not feed.closes.all():
            column = None if reach.column is None or reach.growth is None else ordered.column(reach.column)
            high = first_undecided(reach, frame.offsets, column, feed.closes, feed.horizon)
        high = np.maximum(low, high)
        result: pa.Table | None = None
        stop, ends = high, None
        if self._gives_by_ends and (feed.horizon is not None or (numbers["next_end"] > numbers["next_start"]).any()):
            end_stop = np.maximum(np.where(feed.closes, frame.end, frame.end - reach.after), frame.begin)
            ends = frame.begin + np.maximum(numbers["next_end"] - numbers["position"], 0), end_stop
            stop = np.maximum(low, np.where(ends[0] < end_stop, end_stop, low))
            numbers["next_end"] = numbers["position"] + end_stop - frame.begin
        if (low < stop).any() or feed.is_whole:
            n_starts = int((stop - low).sum())
            planned = self._plan_search(state, frame, ordered, numbers["position"].copy(), n_starts)
            on_stop(planned.series.give_up)
            counting, found = find_results(planned, self.settings, self.builder, (low, stop), ends)
            self.watch.lap("find", {"segments": len(found)})
            if planned.search.skip is not None:
                np.maximum.at(high, _places(frame, counting), skipped_to(planned.search, counting))
            if len(found):
                counted = Counted(numbers["position"].copy(), numbers["next_number"].copy())
                keys = [frame.table.column(key) for key in self.keys]
                result = build_rows(
                    planned.search, found, frame.table, frame.arrangement, counted, keys, self.evaluator
                )
                numbers["next_number"] += np.bincount(_places(frame, found), minlength=len(numbers))
            self.watch.lap("measures", {"rows": len(found)})
        first = np.clip(high - reach.before, frame.begin, frame.end)
        numbers["next_start"] = numbers["position"] + high - frame.begin
        numbers["position"] += first - frame.begin
        state.numbers[feed.slots] = numbers
        state.close(feed, frame, first, self.settings)
        return self._nothing if result is None else result

    @cached_property
    def _nothing(self) -> pa.Table:
        """The result without rows."""
        search, table = self.rewritten.search, self._with_arguments[1]
        nothing = Arrangement(None, np.zeros(1, np.int64), 0)
        keys = [table.column(key) for key in self.keys]
        return build_rows(
            search, no_segments(search.measured), table, nothing, Counted.whole(nothing), keys, self.evaluator
        )

    def _plan_search(self, state: State, frame: Frame, ordered: pa.Table, first: Rows, n_starts: int) -> Planned:
        """The search over the frame, by the state's plan, or by a new one that the state then has."""
        made: dict[bool, _Made] = state.plan or {}  # by whether the first column of ORDER BY has NULLs
        rewritten = self.rewritten
        column = None if self.reach is None else self.reach.column
        has_nulls = column is not None and ordered.column(column).null_count > 0
        known = made.get(has_nulls)
        if known is not None:
            rewritten = known.rewritten
        elif has_nulls:
            rewritten = rewrite_search(self._with_arguments[0], ordered, self.settings.without_rules)
        assert rewritten.logical is not None
        columns = Columns(ordered, frame.offsets)
        rows = read_rows(rewritten.logical, columns, first, self.evaluator, rewritten.search)
        is_new = known is None or n_starts > _MANY_MORE * known.n_rows
        if is_new:
            known = _Made(rewritten, plan_over(rewritten.logical, rows, self.settings), max(n_starts, 1))
            state.plan = {**made, has_nulls: known}
            self.watch.lap("sample and plan")
        assert known is not None
        planned = Planned(rewritten.search, rewritten.steps, rewritten.logical, known.plan, *rows)
        if is_new:
            warn_of_candidates(planned)
        planned.series.limit_steps(self.settings.max_steps)
        return planned


@contextmanager
def naming_slots(offsets: Rows, slots: Rows | None = None) -> Iterator[None]:
    """Inside, an error at a row says in which slot that is; without `slots`, partitions are slots."""
    try:
        yield
    except ExecutionError as error:
        if error.row is not None and error.slot is None:
            place = int(np.searchsorted(offsets, error.row, side="right")) - 1
            error.slot = place if slots is None else int(slots[place])
        raise


def _places(frame: Frame, segments: Segments) -> Rows:
    """The partitions that segments lie in."""
    places: Rows = np.searchsorted(frame.offsets, segments.start, side="right") - 1
    return places
