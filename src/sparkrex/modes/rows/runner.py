"""A row pattern over any number of open partitions: find, read, hold back what is not decided."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.ordered import Columns
from sparkrex.columns.values import python_value
from sparkrex.errors import ExecutionError
from sparkrex.evaluate.context import values_in_rows
from sparkrex.evaluate.facts import is_positive
from sparkrex.matching.feed import Frame
from sparkrex.matching.reading import MatchReader
from sparkrex.matching.reporting import feed_reporting
from sparkrex.matching.side_rows import Failure, row_at
from sparkrex.matching.state import State
from sparkrex.matching.waking import first_wakes, holds_nothing
from sparkrex.modes.plan import columns_of
from sparkrex.modes.rows.choose import Choice, choose_matcher, next_choice
from sparkrex.modes.rows.giving_up import feed_giving_up
from sparkrex.modes.rows.matcher import GivesUpError, Partitions
from sparkrex.modes.rows.output import Decided, build_output
from sparkrex.modes.rows.overtaking import MARKS, Marks, may_overtake
from sparkrex.modes.rows.silent import lasting_of
from sparkrex.modes.rows.timeouts import add_timeouts
from sparkrex.modes.rows.unread import targets_behind, unread_matches, wait_for_rows
from sparkrex.scalar.expression import ColumnAt
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feed import Feed
    from sparkrex.matching.matches import Matches
    from sparkrex.matching.silent import Lasting
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.scalar.prove import Facts
    from sparkrex.settings import Settings

_FRESH = np.array((True, 0, 1, 0, 0), [
    ("begins", np.bool_), ("start", np.int64), ("number", np.int64), ("covered", np.int64), ("dropped", np.int64),
])
"""Of a slot: whether the rows held begin with its first row; the next start, counted from the first row held; the
number of the next match; rows before `covered`, so counted, lie in a match that was given; how many rows are no longer
held."""


NONE_GIVEN_UP: Mapping[int, ExecutionError] = MappingProxyType({})


@dataclass(frozen=True, eq=False, slots=True)
class RowRunner:
    """See `matching.runner`. `keys` are the columns that hold the partition keys."""

    choice: Choice
    keys: tuple[str, ...]
    evaluator: Evaluator
    settings: Settings
    watch: Stopwatch

    @staticmethod
    def of(
        plan: MatchRecognize, sample: pa.Table, keys: tuple[str, ...], evaluator: Evaluator, settings: Settings,
        watch: Stopwatch | None = None, facts: Facts | None = None,
    ) -> RowRunner:
        """The runner of a plan over columns of the sample's types; the sample has no rows."""
        return RowRunner(
            choose_matcher(plan, sample, evaluator, settings, facts), keys, evaluator, settings, watch or Stopwatch()
        )

    @property
    def refusal(self) -> str | None:
        """Every row pattern can be fed in parts."""
        return None

    @property
    def plan(self) -> MatchRecognize:
        """The plan that it runs."""
        return self.choice.problem.plan

    def open(self) -> State:
        """The state before the first feed."""
        return State(_FRESH, (MARKS,) if may_overtake(self.choice.matcher) else ())

    def wakes(self, state: State, slots: NDArray[np.int64], horizon: int) -> NDArray[np.int64]:
        """See `matching.runner.Waking`."""
        limit_of = partial(values_in_rows, evaluator=self.evaluator)
        return first_wakes(state, slots, self.choice.matcher.known_moments, horizon, limit_of)

    def forgets(self, state: State, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """See `matching.runner.Waking`."""
        forgotten = holds_nothing(state, slots)
        numbers = state.numbers[slots]
        if self.choice.problem.reads_number:
            forgotten &= numbers["number"] == _FRESH["number"]
        if self.choice.problem.reads_begin:
            forgotten &= numbers["begins"]
        return forgotten

    def lasting(self) -> list[Lasting]:
        """See `matching.runner.Waking`."""
        return lasting_of(self.choice, _FRESH.dtype.itemsize)

    def feed(self, state: State, feed: Feed) -> pa.Table:
        """See `matching.runner`."""
        if not self.settings.reports:
            return self.feed_once(state, feed, self.choice)
        return feed_reporting(
            state, feed, partial(self.feed_once, choice=self.choice), partial(feed_giving_up, self)
        )

    def feed_once(
        self, state: State, feed: Feed, choice: Choice, given_up: Mapping[int, ExecutionError] = NONE_GIVEN_UP
    ) -> pa.Table:
        """Feed, with one matcher. At the positions `given_up` no match starts."""
        failures: list[tuple[int, ExecutionError]] | None = [] if self.settings.reports else None
        if feed.is_whole:
            frame = Frame(feed.table, feed.arrangement, np.zeros(len(feed.slots), np.int64))
            partitions = replace(
                Partitions.whole(frame.offsets), failures=failures, given_up=frozenset(given_up)
            )
            matches = self.find_matches(feed, frame, partitions, frame.n_held, choice)
            result = self.read(frame, matches, None)
            self._report(state, frame, partitions, given_up)
            return result
        frame = state.open(feed)
        numbers = state.numbers[feed.slots]
        begin = frame.begin
        first, covered = begin + numbers["start"], begin + numbers["covered"]
        marks = None
        if may_overtake(self.choice.matcher):
            marks = Marks.of(state, feed, frame, first, covered)
        partitions = Partitions(
            frame.offsets, np.ascontiguousarray(numbers["begins"]), feed.closes, first.copy(),
            numbers["number"].copy(), feed.horizon, failures, frozenset(given_up),
            None if marks is None else marks.asked,
        )
        matches = self.find_matches(feed, frame, partitions, numbers["dropped"], choice)
        matches = self._wait_for_rows(frame, partitions, matches)
        if marks is None:
            result = self.read(frame, matches, Decided(np.maximum(first, covered), partitions.start))
            np.maximum.at(covered, np.searchsorted(frame.offsets, matches.start, side="right") - 1, matches.end)
        else:
            partitions.stand_at_first_asked()
            result = self.read(frame, matches, Decided(first, partitions.start, marks.is_covered.copy()))
            marks.cover(matches)
            covered = begin.copy()  # the marks say it
        keep = np.maximum(begin, partitions.start - self.choice.problem.reach_back)
        after = np.empty(len(numbers), numbers.dtype)
        after["begins"] = numbers["begins"] & (keep == begin)
        after["start"], after["number"] = partitions.start - keep, partitions.number
        after["covered"], after["dropped"] = np.maximum(covered - keep, 0), numbers["dropped"] + keep - begin
        state.numbers[feed.slots] = after
        if marks is not None:
            marks.keep(state, feed, frame, keep, partitions.start)
        with self._place_errors():
            try:
                state.close(feed, frame, keep, self.settings)
            except ExecutionError as error:
                if error.slot is not None:  # its oldest open start is what holds the rows back
                    error.row = int(partitions.start[np.flatnonzero(feed.slots == error.slot)[0]])
                raise
        self._report(state, frame, partitions, given_up)
        return result

    def _report(
        self, state: State, frame: Frame, partitions: Partitions, given_up: Mapping[int, ExecutionError]
    ) -> None:
        """Note the starts that the search has given up, and will not come to again."""
        for row, error in (*(partitions.failures or ()), *given_up.items()):
            asked = partitions.asked
            is_done = row < partitions.start[frame.place_of(row)] if asked is None else not asked[row]
            if is_done:
                (at,) = frame.arrangement.input_rows(np.array([row])).tolist()
                state.failures.append(Failure(error, row_at(frame.table, at)))

    def find_matches(
        self, feed: Feed, frame: Frame, partitions: Partitions, dropped: NDArray[np.int64], choice: Choice
    ) -> Matches:
        """The matches that the frame decides; of each partition `dropped` rows stood before it."""
        try:
            matches = self.search(frame, partitions, choice)
        except ExecutionError as error:
            if error.row is not None:
                place = frame.place_of(error.row)
                error.slot = int(feed.slots[place])
                row = error.row - int(frame.begin[place] - dropped[place])
                error.notes += (f"the match starts at row {row + 1} of its partition",)
                if feed.horizon is not None:  # rows of keys that were forgotten are counted anew
                    error.notes += (f"it is the row of {self.time_of(frame, error.row)}",)
            raise
        self.watch.lap("match", {"matches": len(matches)})
        return matches

    def search(self, frame: Frame, partitions: Partitions, choice: Choice) -> Matches:
        """The matches of a frame's rows; an error has the row where its match starts. Changes `partitions`."""
        used = columns_of(self.plan.tested())
        table = frame.table.select([name for name in frame.table.column_names if name in used])
        if not used:
            table = pa.table({"rex_row": pa.nulls(frame.table.num_rows, pa.int8())})
        arrangement = frame.arrangement
        columns = Columns(table, arrangement.offsets, arrangement.known_order, arrangement.kept, arrangement.scatter)
        is_kept = self.plan.timeout is not None or partitions.failures is not None or partitions.asked is not None
        before = partitions.copy() if is_kept else partitions
        with self._place_errors():
            self._check_positive(frame.table)
            while True:
                try:
                    matches = choice.matcher.find(columns, partitions)
                    if self.plan.timeout is not None:
                        matches = add_timeouts(choice.problem, columns, partitions, before, matches)
                    return matches
                except GivesUpError:
                    choice = next_choice(choice)
                    if is_kept:
                        partitions.go_back(before)

    def _wait_for_rows(self, frame: Frame, partitions: Partitions, matches: Matches) -> Matches:
        """The matches whose measures read no row that is not there yet."""
        targets, inside = targets_behind(self.plan)
        if not (targets or inside) or not len(matches):
            return matches
        unread = unread_matches(targets, inside, self._reader(frame, matches), partitions)
        return wait_for_rows(matches, unread, partitions)

    def time_of(self, frame: Frame, row: int) -> object:
        """What the row at a position is ordered by first."""
        expression = self.plan.order_by[0].expression
        assert isinstance(expression, ColumnAt)  # there is a horizon in workers only, which have columns
        (at,) = frame.arrangement.input_rows(np.array([row])).tolist()
        return python_value(frame.table.column(expression.column)[at])

    def _check_positive(self, table: pa.Table) -> None:
        """Fail where the setting `positive`, which proofs believed, is not true."""
        for name in self.settings.positive:
            if name in table.column_names and not is_positive(table.column(name)):
                raise ExecutionError(
                    "REX417", f"column {name} has a value that is not above zero, and the setting positive names it",
                    None, None, hint="take it out of the setting; of a whole table the least value is looked up anyway",
                )

    def read(self, frame: Frame, matches: Matches, decided: Decided | None) -> pa.Table:
        """The result rows of matches; of unmatched rows those that are decided, None for all."""
        try:
            return self._read_all(frame, matches, decided)
        except ExecutionError as error:
            if self.settings.reports and len(frame.n_held) == 1 and len(matches):
                error.row = self._first_unreadable(frame, matches)
            raise

    def _first_unreadable(self, frame: Frame, matches: Matches) -> int:
        """Where the first match starts of which a measure cannot be computed."""
        low, high = 0, len(matches)  # the first `low` can be read, the first `high` cannot
        while high - low > 1:
            middle = (low + high) // 2
            try:
                self._read_all(frame, matches.take(np.arange(middle)), None)
            except ExecutionError:
                high = middle
            else:
                low = middle
        return int(matches.start[high - 1])

    def _read_all(self, frame: Frame, matches: Matches, decided: Decided | None) -> pa.Table:
        reader = self._reader(frame, matches)
        result = build_output(self.plan, reader, [frame.table.column(name) for name in self.keys], decided)
        self.watch.lap("measures", {"rows": result.num_rows})
        return result

    def _reader(self, frame: Frame, matches: Matches) -> MatchReader:
        return MatchReader(
            frame.table, frame.arrangement, matches, self.choice.variables, self.plan.dialect, self.evaluator,
            self.settings.thread_count(),
        )

    @contextmanager
    def _place_errors(self) -> Iterator[None]:
        """Inside, an error says where in the query it is."""
        try:
            yield
        except ExecutionError as error:
            if error.span is None:
                error.source, error.span = self.plan.source, self.plan.pattern.span or self.plan.span
            raise
