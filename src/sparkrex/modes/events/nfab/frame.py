"""One feed of an event query as the arrays that kernels take: bitmaps, bytecode, windows, ties, negated candidates."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.errors import UnsupportedError
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.evaluate.bytecode import CannotCompileError
from sparkrex.evaluate.context import Context
from sparkrex.evaluate.records import FUNCTIONS
from sparkrex.modes.events import pattern as ep
from sparkrex.modes.events.kernels.arguments import Absences, Apart, Cells, Events, Plan, Tests, Values
from sparkrex.modes.events.kernels.codes import AROUND, BEFORE, BEHIND
from sparkrex.modes.events.kernels.merge import BY_CANDIDATES, BY_ROWS
from sparkrex.modes.events.kernels.windows import next_set
from sparkrex.modes.events.nfab.equivalence import merge_reads
from sparkrex.modes.events.nfab.lookup import lookup_tables
from sparkrex.modes.events.nfab.windows import Times
from sparkrex.scalar.expression import is_volatile

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.kernels import arguments as kernel
    from sparkrex.modes.events.nfab.absences import AbsencePlan
    from sparkrex.modes.events.nfab.automaton import Automaton
    from sparkrex.modes.events.nfab.conditions import Conditions
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.scalar.split import Condition
    from sparkrex.settings import Settings
    from sparkrex.source import Source


class FeedArrays:
    """Everything about a frame that does not change during the search. See `kernels.arguments`."""

    def __init__(
        self, query: EventQuery, automaton: Automaton, conditions: Conditions, plan: AbsencePlan, frame: Columns,
        evaluator: Evaluator, settings: Settings, *, looks_up: bool = False,
    ) -> None:
        threads = settings.thread_count()
        variables = ep.positive_variables(query.pattern)
        split = conditions.split()
        names = tuple(condition.variable for condition in split)
        bitmap_of, bitmaps = self._bitmaps(split, frame, evaluator, query.source, threads)
        try:
            self.context = Context(split, variables + names, frame, evaluator, threads)
        except CannotCompileError as error:
            listed = ", ".join(sorted(FUNCTIONS))
            raise UnsupportedError(
                "REX301", f"WHERE cannot test this over several events: {error.said_of(query.source)}",
                query.source, error.span or query.span,
                hint="functions may read one event; between events there are arithmetic, comparison and the aggregates "
                f"{listed}; RETURN may compute anything, to be filtered outside",
            ) from error
        begin, end = self.context.code_begin[len(variables) :], self.context.code_end[len(variables) :]
        self.tests = Tests(bitmap_of, bitmaps, begin, end)
        code_ranges = list(zip(begin.tolist(), end.tolist(), strict=True))
        self.reads = merge_reads(automaton, conditions, plan, self.context.bytecode, code_ranges)
        self.lookup = lookup_tables(conditions, self.context.bytecode, code_ranges) if looks_up else None
        records = self.context.bytecode.records
        # The rows around a gap: no event in front of it can follow, and the first behind it stays the first.
        self._postponed = np.array([
            [k, records.last_row(plan.before[k], 0), records.first_row(plan.behind[k], 0)] for k in plan.postponed
        ], np.int64).reshape(-1, 3)
        self.initial = (np.array(records.initial, np.int64), np.zeros(records.n_floats))
        self._updates = records.updates(variables + names)
        self.times = Times(query, frame, threads)
        window_first = self.times.window_first()
        can_start = self._can_start(conditions, frame.n_rows)
        # Of a time that is outside every window, its own too, nothing starts.
        can_start[window_first > np.arange(frame.n_rows)] = 0
        ties = self.times.ties() if query.has_strict_ties else np.empty(0, np.int64)
        self.events = Events(window_first, ties, can_start)
        self._accepts = conditions.accepts
        self.absences = self._absences(conditions, plan, variables, frame.n_rows)
        self.apart = self.what_keeps_apart(query, conditions, plan)

    @staticmethod
    def _bitmaps(
        split: tuple[Condition, ...], frame: Columns, evaluator: Evaluator, source: Source, threads: int
    ) -> tuple[NDArray[np.int64], NDArray[np.uint8]]:
        """By condition the number of its bitmap, or -1; and all bitmaps. Edges that differ in what they settle test the
        event under test alike: what is the same each time is evaluated once."""
        distinct: dict[object, Condition] = {}
        keys: list[object] = []
        for number, condition in enumerate(split):
            row = condition.row
            keys.append(row if row is None or not is_volatile(row) else number)
            if row is not None:
                distinct.setdefault(keys[-1], condition)
        numbers, bitmaps = evaluate_bitmaps(tuple(distinct.values()), frame, evaluator, source, threads)
        found = [-1 if key is None else numbers[distinct[key].variable] for key in keys]
        return np.array(found or [-1], np.int64), bitmaps

    @property
    def absences_of_runs(self) -> Absences | None:
        """The same, None if the search needs nothing of them (`kernels.nfab.advance`)."""
        begin, end = self.tests.code_begin, self.tests.code_end
        ends_by_match = any(number >= 0 and begin[number] < end[number] for number in self._accepts)
        return self.absences if ends_by_match or len(self.absences.conditions) else None

    def values(self) -> Values:
        """What conditions are tested with, with room for one record: each thread has its own."""
        n_ints, n_floats = len(self.initial[0]), len(self.initial[1])
        columns = self.context.columns
        path = (*self._updates, np.empty((2, n_ints), np.int64), np.empty((2, n_floats)))
        cells = Cells(columns, columns.floats.view(np.int64))
        return Values(self.tests, self.context.machine(), cells, path, np.empty(0, np.int16))

    def plan(self, automaton: kernel.Automaton, options: kernel.Options) -> Plan:
        """What a search reads."""
        return Plan(automaton, self.events, options, self.reads, self.apart, self.values())

    def _can_start(self, conditions: Conditions, n_rows: int) -> NDArray[np.uint8]:
        can_start = np.zeros(n_rows, np.uint8)
        for number in conditions.edges[0]:
            if number < 0 or self.tests.bitmap_of[number] < 0:
                return np.ones(n_rows, np.uint8)
            can_start |= self.tests.bitmaps[self.tests.bitmap_of[number]]
        return can_start

    def _absences(
        self, conditions: Conditions, plan: AbsencePlan, variables: tuple[str, ...], n_rows: int
    ) -> Absences:
        n_absent = len(plan.before)
        sides = [[BEFORE if name in names else BEHIND for name in variables] for names in plan.before]
        side = np.array(sides, np.uint8)
        if plan.is_around:
            side[:] = AROUND
        bitmap_of, bitmaps = self.tests.bitmap_of, self.tests.bitmaps
        candidates = np.empty((n_absent, n_rows + 1), np.int64)
        for k, number in enumerate(conditions.absent):
            has_bitmap = number >= 0 and bitmap_of[number] >= 0
            candidates[k] = next_set(bitmaps[bitmap_of[number]]) if has_bitmap else np.arange(n_rows + 1)
        return Absences(
            np.array(conditions.absent, np.int64), side.reshape(n_absent, len(variables)), candidates,
            self.events.window_first, self.times.window_last() if n_absent else np.empty(0, np.int64),
            np.array(plan.at_end, np.int64), *plan.edge_tables(), *plan.end_tables(), self._postponed,
        )

    def what_keeps_apart(self, query: EventQuery, conditions: Conditions, plan: AbsencePlan) -> Apart:
        """What tells runs apart that are otherwise the same, because a negation reads it."""
        begin, end = self.tests.code_begin, self.tests.code_end
        by = BY_ROWS if plan.may_be_partitioned else BY_CANDIDATES
        reads_run = [by if number >= 0 and begin[number] < end[number] else 0 for number in conditions.absent]
        by_start = bool(plan.at_end) or (query.is_non_overlapping and query.window is not None)
        candidates = self.absences.next_candidate
        rows = np.arange(candidates.shape[1] - 1)
        is_candidate = candidates[self._postponed[:, 0], :-1] == rows
        return Apart(
            *plan.gap_tables(), np.array(reads_run, np.uint8), by_start, query.is_non_overlapping, candidates,
            self._postponed, np.maximum.accumulate(np.where(is_candidate, rows, -1), axis=1),
        )
