"""The pipeline of a window in one process: arrange, find where frames end, search, read, give every row its values."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.cuts import lap_order
from sparkrex.columns.gather import take_or_null
from sparkrex.columns.ordered import Columns
from sparkrex.errors import ExecutionError
from sparkrex.matching.output import NO_COLUMNS, name_partition, one_row
from sparkrex.matching.row_values import arrange_rows
from sparkrex.modes.plan import columns_of
from sparkrex.modes.rows.matcher import GivesUpError
from sparkrex.modes.rows.proven import find_facts
from sparkrex.modes.rows.relation_columns import add_relation_columns
from sparkrex.modes.windows.choose import Choice, choose_search, next_choice
from sparkrex.modes.windows.forest import reader_of
from sparkrex.modes.windows.found import Found
from sparkrex.modes.windows.frames import frame_ends
from sparkrex.modes.windows.functions import aggregate_values, row_of, with_arguments
from sparkrex.modes.windows.interpreted import InterpretedSearch, when_tested

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.windows.plan import PatternWindow
    from sparkrex.settings import Settings
    from sparkrex.stopwatch import Stopwatch


_OF_VALUES = ("REX404", "REX405", "REX414")


@dataclass(frozen=True, eq=False, slots=True)
class WindowSearch:
    """A plan with the search that was chosen for it."""

    plan: PatternWindow
    choice: Choice
    evaluator: Evaluator
    settings: Settings
    watch: Stopwatch

    def values(
        self, table: pa.Table, arrangement: Arrangement, partition_columns: list[pa.ChunkedArray]
    ) -> list[pa.ChunkedArray]:
        """The values of the plan's calls, by row of the table."""
        found, ends = self.find(table, arrangement, partition_columns)
        values = self._read(table, arrangement, found, ends)
        self.watch.lap("values", {"rows": table.num_rows})
        return values

    def find(
        self, table: pa.Table, arrangement: Arrangement, partition_columns: list[pa.ChunkedArray]
    ) -> tuple[Found, NDArray[np.int64] | None]:
        """The match of every row that has one, and where frames end (see `frame_ends`)."""
        with self._placed(table, arrangement, partition_columns):
            ends = frame_ends(self.plan, table, arrangement, self.evaluator)
            found = self._search(table, arrangement, ends)
        self.watch.lap("match", {"matches": len(found.row)})
        return found, ends

    def _search(self, table: pa.Table, arrangement: Arrangement, ends: NDArray[np.int64] | None) -> Found:
        if self.choice.problem.is_impossible and self.settings.matcher is None:
            return Found.joined([])
        used = columns_of(self.plan.search.tested())
        columns = table.select([name for name in table.column_names if name in used])
        if not used:
            columns = pa.table({"rex_row": pa.nulls(table.num_rows, pa.int8())})
        frame = Columns(columns, arrangement.offsets, arrangement.order, arrangement.kept, arrangement.scatter)
        choice = self.choice
        try:
            while True:
                try:
                    return choice.search.search(frame, ends, is_seek=self.plan.is_seek)
                except GivesUpError:
                    choice = next_choice(choice, is_bounded=ends is not None)
        except ExecutionError as error:
            # Conditions of rows are evaluated for all rows. One that fails counts only if it is tested.
            tested = when_tested(self.choice.problem) if error.code in _OF_VALUES else None
            if tested is None:
                raise
        return InterpretedSearch(tested).search(frame, ends, is_seek=self.plan.is_seek)

    def _read(
        self, table: pa.Table, arrangement: Arrangement, found: Found, ends: NDArray[np.int64] | None
    ) -> list[pa.ChunkedArray]:
        """Each call's value by row of the table."""
        plan, threads = self.plan, self.settings.thread_count()
        match = np.full(table.num_rows, -1)
        match[arrangement.input_rows(found.row)] = np.arange(len(found.row))
        reader = reader_of(
            table, arrangement, found, ends, plan.search_variables(), plan.dialect, self.evaluator, threads
        )
        views = one_row(reader)
        measures = reader.evaluate(
            [measure.expression for measure in plan.measures], views, [measure.span for measure in plan.measures]
        )
        aggregates: list[pa.ChunkedArray] = []
        if plan.functions:
            with_columns, widened = with_arguments(plan, table, self.evaluator)
            aggregates = aggregate_values(
                with_columns, widened, arrangement, found, self.evaluator, threads
            )
        results = []
        for call in plan.calls:
            if call.measure is not None:
                results.append(take_or_null(measures[call.measure], match, threads))
            elif call.value is not None:
                values = row_of(call.value, table, arrangement, found, self.evaluator)
                results.append(take_or_null(values, match, threads))
            else:
                assert call.aggregate is not None  # one of the three
                none = len(found.row)
                results.append(take_or_null(aggregates[call.aggregate], np.where(match < 0, none, match), threads))
        return results

    @contextmanager
    def _placed(
        self, table: pa.Table, arrangement: Arrangement, partition_columns: list[pa.ChunkedArray]
    ) -> Iterator[None]:
        """Inside, an error says where in the query it is, and in which partition."""
        try:
            yield
        except ExecutionError as error:
            if error.span is None:
                error.source, error.span = self.plan.source, self.plan.search.pattern.span or self.plan.span
            if error.row is not None:
                row = error.row
                first = int(arrangement.offsets[np.searchsorted(arrangement.offsets, row, side="right") - 1])
                error.notes += (f"the frame begins at row {row - first + 1} of its partition",)
                (at,) = arrangement.input_rows(np.array([row])).tolist()
                name_partition(error, [key.name for key in self.plan.partition_by], partition_columns, at)
            raise


def window_results(
    plan: PatternWindow, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch,
    choice: Choice | None = None,
) -> pa.Table:
    """The input with a column for each call. By the search that was chosen, if it was."""
    facts = find_facts(plan.search, table, settings)
    passed = table.select(list(plan.input_columns))
    search, table = add_relation_columns(plan.search, table, evaluator)
    plan = replace(plan, search=search, measures=search.measures)
    arrangement, partition_columns = arrange_rows(plan, table, evaluator, settings.thread_count())
    lap_order(watch, arrangement.offsets)
    if choice is None:
        choice = choose_search(plan, table.slice(0, 0), evaluator, settings, facts)
    searching = WindowSearch(plan, choice, evaluator, settings, watch)
    values = searching.values(table, arrangement, partition_columns)
    for call, column in zip(plan.calls, values, strict=True):
        passed = passed.append_column(call.column, column)
    return passed if passed.num_columns else pa.table({NO_COLUMNS: pa.nulls(table.num_rows, pa.int8())})
