"""What runs inside a Spark worker: order the rows of one Spark partition, match, give back Arrow batches.

No pandas and no call per group: the whole Spark partition is one batch of the engine. Above `sort_memory` the rows go
through an external sort and are matched chunk by chunk.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.cuts import cut_partitions, lap_order
from sparkrex.errors import ExecutionError, InternalError, RexError
from sparkrex.spark.worker_expressions import check_evaluators
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sparkrex.columns.external_sort import Sizes
    from sparkrex.hosts.duckdb.host import RelationEvaluator
    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feeding import ChunkFed
    from sparkrex.modes.plan import Plan
    from sparkrex.modes.protocol import Answering
    from sparkrex.settings import Settings
    from sparkrex.source import Span

_WHOLE_SHARE = 8
"""Whole partitions are gathered up to this share of `sort_memory`, unless one is larger."""
# A chunk is small beside what the sort may hold: matching it takes several times its own size.
_CHUNK_SHARE = 64
_SMALLEST_CHUNK, _LARGEST_CHUNK = 10_000, 1_000_000


@dataclass(frozen=True, slots=True)
class Carried:
    """How rows reach the workers, and what comes back.

    `schema` is the Arrow schema of the result. `is_ordered` says that Spark already ordered the rows; then `cut` names
    the column that is 1 at the first row of every partition, None if all rows are one partition. `version` is that of
    the driver's package.
    """

    schema: pa.Schema
    is_ordered: bool
    cut: str | None
    version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerTask:
    """One relation's work, shipped to the workers.

    `key_names` are the key columns with the names the user knows them by.
    """

    mode: Answering[Any]
    plan: Plan
    carried: Carried
    settings: Settings
    key_names: tuple[tuple[str, str], ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match one Spark partition."""
        yield from self.watched(batches, Stopwatch())

    def watched(self, batches: Iterator[pa.RecordBatch], watch: Stopwatch) -> Iterator[pa.RecordBatch]:
        """The same, its stages on a watch."""
        try:
            yield from self._run(batches, watch)
        except RexError as error:
            if error.source is None and error.span is not None:
                error.source = self.plan.source
            names = dict(self.key_names)
            error.partition = tuple((names.get(column, column), key) for column, key in error.partition)
            if isinstance(error, InternalError):
                raise  # with the frames, which the report needs
            # The frames below are ours, not the user's: the message is what matters.
            raise error.with_traceback(None) from None

    def _run(self, batches: Iterator[pa.RecordBatch], watch: Stopwatch) -> Iterator[pa.RecordBatch]:
        check_version(self.carried.version)
        check_evaluators(self.plan)
        evaluator: WorkerEvaluator | None = None
        try:
            # Spark has given this worker one core.
            task = replace(self, settings=replace(self.settings, threads=1))
            evaluator = WorkerEvaluator(task.plan, task.settings)
            task.prepare()
            watch.lap("start")
            for result in task._results(_counted(batches, watch), evaluator, watch):
                if result.num_rows:
                    yield from task._cast(result).to_batches(max_chunksize=100_000)
        except (RexError, MemoryError):
            raise
        except Exception as error:
            raise InternalError(
                "REX901", f"{type(error).__name__}: {error}", self.plan.source, self.plan.span,
                hint="this is a fault of SparkRex; please report it with the query and the traceback",
            ) from error
        finally:
            if evaluator is not None:
                evaluator.close()

    def prepare(self) -> None:
        """Before the first row: what a worker must be told beside the plan."""

    def _results(
        self, batches: Iterator[pa.RecordBatch], evaluator: Evaluator, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        if self.carried.is_ordered:
            yield from self._stream_rows(batches, evaluator, watch)
            return
        from sparkrex.columns.external_sort import Sizes, gather

        sizes = Sizes.within(self.settings.sort_memory)
        tables = gather(batches, sizes.gather_bytes)
        kept: list[pa.Table] = []
        n_bytes = 0
        for table in tables:
            kept.append(table)
            n_bytes += table.nbytes
            # To order rows in memory takes as much again.
            if n_bytes > self.settings.sort_memory // 2:
                del table  # from here on every table goes when its run is written
                yield from self._stream_rows(self._spill(kept, tables, sizes), evaluator, watch)
                return
        if kept:
            table = pa.concat_tables(kept)
            kept.clear()
            yield from self.mode.results(self.plan, table, evaluator, self.settings, watch)

    def _spill(self, kept: list[pa.Table], rest: Iterator[pa.Table], sizes: Sizes) -> Iterator[pa.RecordBatch]:
        """All rows in order, by way of the disk."""
        from sparkrex.columns.external_sort import SortColumn, sorted_batches
        from sparkrex.scalar.expression import ColumnAt

        def everything() -> Iterator[pa.Table]:
            kept.reverse()
            while kept:
                yield kept.pop()
            yield from rest

        by = {name: SortColumn(name) for name in self._keys()}
        for key in self.plan.order_by:
            if isinstance(key.expression, ColumnAt):  # a column a second time orders nothing
                column = key.expression.column
                by.setdefault(column, SortColumn(column, key.is_descending, key.nulls_first))
        return sorted_batches(everything(), list(by.values()), sizes, _spill_folder())

    def _stream_rows(
        self, batches: Iterator[pa.RecordBatch], evaluator: Evaluator, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        """Match ordered rows chunk by chunk, or some whole partitions at a time if the runner needs that."""
        from sparkrex.matching.feeding import ChunkFed
        from sparkrex.matching.side_rows import row_type_of

        first = next(batches, None)
        if first is None:
            return
        sample = self._number_series(pa.Table.from_batches([first]).slice(0, 0), np.zeros(1, np.int64))
        keys = self._key_columns()
        runner = self.mode.runner(self.plan, sample, keys, evaluator, self.settings, watch)
        names = [column for column, _ in self.key_names if column in sample.column_names]
        fed = ChunkFed(runner, names, row_type_of(sample.schema, self.settings))
        everything = chain((first,), batches)
        if runner.refusal is not None:
            for table, offsets in self._whole_partitions(everything):
                rows = self._number_series(table, offsets)
                yield _fed(fed, rows, offsets, watch, opens=True, closes=True)
            return
        opens = True
        for chunk, following in _with_next(_chunks(everything, self.settings)):
            offsets = self._offsets(chunk)
            closes = following is None or self._is_cut(chunk, following)
            rows = self._number_series(chunk, offsets)
            yield _fed(fed, rows, offsets, watch, opens=opens, closes=closes)
            opens = closes
            pa.default_memory_pool().release_unused()

    def _number_series(self, rows: pa.Table, offsets: NDArray[np.int64]) -> pa.Table:
        """The rows, with whatever the plan knows their partitions by."""
        return rows

    def _whole_partitions(self, batches: Iterator[pa.RecordBatch]) -> Iterator[tuple[pa.Table, NDArray[np.int64]]]:
        """Rows up to the end of a partition, with the offsets of all partitions among them.

        All are in memory: searching takes several times the size of the rows.
        """
        kept: list[pa.RecordBatch] = []
        n_bytes = 0
        enough = smallest = self.settings.sort_memory // _WHOLE_SHARE
        for batch in batches:
            kept.append(batch)
            n_bytes += batch.nbytes
            if n_bytes < enough:
                continue
            table = pa.Table.from_batches(kept)
            offsets = self._offsets(table)
            last = int(offsets[-2])
            if not last:
                enough = 2 * n_bytes  # a long partition: look again when there is much more
                continue
            yield table.slice(0, last), offsets[:-1]
            kept = table.slice(last).to_batches()
            n_bytes, enough = sum(part.nbytes for part in kept), smallest
        if kept:
            table = pa.Table.from_batches(kept)
            yield table, self._offsets(table)

    def _keys(self) -> list[str]:
        """Columns that rows of a partition agree in.

        Rows without a value in a column of `equal_by` are one partition of many that could be: any union of partitions
        gives the same matches.
        """
        return [*self._key_columns(), *self.plan.equal_by]

    def _key_columns(self) -> tuple[str, ...]:
        """The columns that hold the keys, which may have the user's names in the plan."""
        from sparkrex.scalar.expression import ColumnAt

        expressions = (key.expression for key in self.plan.partition_by)
        return tuple(expression.column for expression in expressions if isinstance(expression, ColumnAt))

    def _offsets(self, chunk: pa.Table) -> NDArray[np.int64]:
        offsets = self._key_offsets(chunk)
        time = self._gap_column()
        if time is None:
            return offsets
        from sparkrex.columns.gaps import cut_at_gaps
        from sparkrex.matching.gaps import gap_of

        times = chunk.column(time)
        gap = gap_of(self.plan, times.type)
        return offsets if gap is None else cut_at_gaps(offsets, times, gap)

    def _gap_column(self) -> str | None:
        """The column in which partitions end at gaps, if they do."""
        from sparkrex.scalar.expression import ColumnAt

        if self.plan.partition_gap is None:
            return None
        expression = self.plan.order_by[0].expression
        assert isinstance(expression, ColumnAt)  # workers have columns
        return expression.column

    def _key_offsets(self, chunk: pa.Table) -> NDArray[np.int64]:
        if not self.carried.is_ordered:
            return cut_partitions(chunk, self._keys())
        if self.carried.cut is None:
            return np.array([0, chunk.num_rows], np.int64)
        starts = np.flatnonzero(chunk.column(self.carried.cut).to_numpy() == 1)
        return np.unique(np.concatenate(([0], starts, [chunk.num_rows]))).astype(np.int64)

    def _is_cut(self, chunk: pa.Table, following: pa.Table) -> bool:
        """Whether a partition ends between two chunks."""
        edge = pa.concat_tables([chunk.slice(chunk.num_rows - 1), following.slice(0, 1)])
        return len(self._offsets(edge)) == 3

    def _cast(self, result: pa.Table) -> pa.Table:
        columns = []
        for field in self.carried.schema:
            column = result.column(field.name)
            columns.append(column if column.type == field.type else column.cast(field.type))
        return pa.table(columns, schema=self.carried.schema)


def check_version(version: str) -> None:
    """Raise REX404 where a worker has another version of the package than the driver."""
    import sparkrex

    if sparkrex.__version__ != version:
        raise ExecutionError(
            "REX404", f"the worker has sparkrex {sparkrex.__version__}, the driver {version}", None, None,
            hint="install the same version everywhere",
        )


def open_evaluator(plan: Plan, settings: Settings) -> RelationEvaluator:
    """DuckDB as the worker's evaluator: one thread, no tables."""
    from sparkrex.hosts.duckdb.host import DuckDbHost, RelationEvaluator
    from sparkrex.syntax.tokens import find_dialect

    host = DuckDbHost(plan.source, find_dialect(plan.dialect), plan.dialect, replace(settings, threads=1))
    return RelationEvaluator(host, "")


class WorkerEvaluator:
    """The worker's evaluator, loaded with the first expression that the engine leaves to it: most queries have none."""

    def __init__(self, plan: Plan, settings: Settings) -> None:
        self._plan = plan
        self._settings = settings
        self._opened: RelationEvaluator | None = None

    def evaluate(
        self, expressions: Sequence[str], table: pa.Table, spans: Sequence[Span | None], *, reads_relation: bool = False
    ) -> list[pa.ChunkedArray]:
        """See `hosts.host.Evaluator`."""
        return self._open().evaluate(expressions, table, spans, reads_relation=reads_relation) if expressions else []

    def query(self, sql: str, table: pa.Table, span: Span | None) -> pa.Table:
        """See `hosts.host.Evaluator`."""
        return self._open().query(sql, table, span)

    def close(self) -> None:
        """Let go of DuckDB."""
        if self._opened is not None:
            self._opened.host.close()

    def _open(self) -> RelationEvaluator:
        if self._opened is None:
            self._opened = open_evaluator(self._plan, self._settings)
        return self._opened


def _counted(batches: Iterator[pa.RecordBatch], watch: Stopwatch) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        watch.count("receive", "rows", batch.num_rows)
        yield batch


def _fed(
    fed: ChunkFed, rows: pa.Table, offsets: NDArray[np.int64], watch: Stopwatch, *, opens: bool, closes: bool
) -> pa.Table:
    """What some ordered rows decide; the runner laps its stages itself, if it has any."""
    lap_order(watch, offsets, goes_on=not opens)
    n_laps = len(watch.laps)
    result = fed.feed(rows, offsets, opens=opens, closes=closes)
    if len(watch.laps) == n_laps:
        watch.lap("match", {"rows": result.num_rows})
    return result


def _spill_folder() -> str | None:
    """Where Spark keeps its own temporary files: it has room there, and cleans up after a worker that was killed."""
    folders = os.environ.get("SPARK_LOCAL_DIRS", "").split(",")
    return next((folder for folder in folders if folder and Path(folder).is_dir()), None)


def _chunks(batches: Iterator[pa.RecordBatch], settings: Settings) -> Iterator[pa.Table]:
    """Tables of equal length; the last may be shorter."""
    kept: list[pa.RecordBatch] = []
    n_rows = 0
    n_wanted = settings.chunk_rows or 0
    for batch in batches:
        if n_wanted == 0 and batch.num_rows:
            n_wanted = settings.sort_memory // _CHUNK_SHARE // max(1, batch.nbytes // batch.num_rows)
            n_wanted = min(max(n_wanted, _SMALLEST_CHUNK), _LARGEST_CHUNK)
        kept.append(batch)
        n_rows += batch.num_rows
        if n_wanted and n_rows >= n_wanted:
            table = pa.Table.from_batches(kept)
            n_whole = n_rows // n_wanted
            for number in range(n_whole):
                yield table.slice(number * n_wanted, n_wanted)
            kept = table.slice(n_whole * n_wanted).to_batches()
            n_rows -= n_whole * n_wanted
    if n_rows:
        yield pa.Table.from_batches(kept)


def _with_next(tables: Iterator[pa.Table]) -> Iterator[tuple[pa.Table, pa.Table | None]]:
    current: pa.Table | None = None
    for table in tables:
        if current is not None:
            yield current, table
        current = table
    if current is not None:
        yield current, None
