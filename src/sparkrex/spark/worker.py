"""What runs inside a Spark worker: order the rows of one Spark partition, match, give back Arrow batches.

No pandas and no call per group: the whole Spark partition is one batch of the engine. Above `sort_memory` the rows go
through an external sort and are matched chunk by chunk.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.cuts import cut_partitions
from sparkrex.errors import ExecutionError, InternalError, RexError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sparkrex.config import Settings
    from sparkrex.hosts.duckdb import RelationEvaluator
    from sparkrex.ir.plan import MatchRecognize

# A chunk is small beside what the sort may hold: matching it takes several times its own size.
_CHUNK_SHARE = 16
_SMALLEST_CHUNK, _LARGEST_CHUNK = 10_000, 1_000_000


@dataclass(frozen=True, slots=True)
class WorkerTask:
    """One relation's work, shipped to the workers.

    `schema` is the Arrow schema of the result. `is_ordered` says that Spark already ordered the rows; then `cut` names
    the column that is 1 at the first row of every partition, None if all rows are one partition. `key_names` are the
    key columns with the names the user knows them by.
    """

    version: str
    plan: MatchRecognize
    schema: pa.Schema
    settings: Settings
    is_ordered: bool
    cut: str | None
    key_names: tuple[tuple[str, str], ...]

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Match one Spark partition."""
        try:
            yield from self._run(batches)
        except RexError as error:
            for column, name in self.key_names:
                error.notes = tuple(note.replace(f"{column} = ", f"{name} = ") for note in error.notes)
            # The frames below are ours, not the user's: the message is what matters.
            raise error.with_traceback(None) from None

    def _run(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import sparkrex

        if sparkrex.__version__ != self.version:
            raise ExecutionError(
                "REX404", f"the worker has sparkrex {sparkrex.__version__}, the driver {self.version}", None, None,
                hint="install the same version everywhere",
            )
        evaluator = open_evaluator(self.plan, self.settings)
        try:
            for result in self._results(batches, evaluator):
                if result.num_rows:
                    yield from self._cast(result).to_batches(max_chunksize=100_000)
        except RexError:
            raise
        except Exception as error:
            raise InternalError(
                "REX901", f"{type(error).__name__}: {error}", self.plan.source, self.plan.span,
                hint="this is a fault of SparkRex; please report it with the query",
            ) from error
        finally:
            evaluator.host.close()

    def _results(self, batches: Iterator[pa.RecordBatch], evaluator: RelationEvaluator) -> Iterator[pa.Table]:
        from sparkrex.engine import run_relation

        if self.is_ordered:
            yield from self._streamed(batches, evaluator)
            return
        kept: list[pa.RecordBatch] = []
        n_bytes = 0
        for batch in batches:
            kept.append(batch)
            n_bytes += batch.nbytes
            if n_bytes > self.settings.sort_memory:
                yield from self._spilled(kept, batches, evaluator)
                return
        if kept:
            table = pa.Table.from_batches(kept)
            kept.clear()
            yield run_relation(self.plan, table, evaluator, self.settings)

    def _spilled(
        self, kept: list[pa.RecordBatch], rest: Iterator[pa.RecordBatch], evaluator: RelationEvaluator
    ) -> Iterator[pa.Table]:
        from sparkrex.hosts.duckdb_sort import sorted_batches
        from sparkrex.ir.scalar import ColumnAt

        schema = kept[0].schema

        def everything() -> Iterator[pa.RecordBatch]:
            kept.reverse()
            while kept:
                yield kept.pop()
            yield from rest

        keys = [key.name for key in self.plan.partition_by]
        order = [(key.expression.column, key) for key in self.plan.order_by if isinstance(key.expression, ColumnAt)]
        ordered = sorted_batches(everything(), schema, keys, order, self.settings.sort_memory)
        yield from self._streamed(ordered, evaluator)

    def _streamed(self, batches: Iterator[pa.RecordBatch], evaluator: RelationEvaluator) -> Iterator[pa.Table]:
        """Match ordered rows chunk by chunk."""
        from sparkrex.physical.streamed import StreamedRelation, measure_reach
        from sparkrex.planner.choose_matcher import choose_matcher

        relation: StreamedRelation | None = None
        opens = True
        for chunk, following in _with_next(_chunks(batches, self.settings)):
            if relation is None:
                choice = choose_matcher(
                    self.plan, chunk.slice(0, 0), evaluator, self.settings, measure_reach(self.plan)
                )
                keys = [key.name for key in self.plan.partition_by]
                relation = StreamedRelation(self.plan, choice.matcher, choice.variables, evaluator, keys)
            offsets = self._offsets(chunk)
            closes = following is None or self._is_cut(chunk, following)
            yield relation.feed(chunk, offsets, opens=opens, closes=closes)
            opens = closes
            pa.default_memory_pool().release_unused()

    def _offsets(self, chunk: pa.Table) -> NDArray[np.int64]:
        if not self.is_ordered:
            return cut_partitions(chunk, [key.name for key in self.plan.partition_by])
        if self.cut is None:
            return np.array([0, chunk.num_rows], np.int64)
        starts = np.flatnonzero(chunk.column(self.cut).to_numpy() == 1)
        return np.unique(np.concatenate(([0], starts, [chunk.num_rows]))).astype(np.int64)

    def _is_cut(self, chunk: pa.Table, following: pa.Table) -> bool:
        """Whether a partition ends between two chunks."""
        if self.is_ordered:
            return self.cut is not None and following.column(self.cut)[0].as_py() == 1
        edge = pa.concat_tables([chunk.slice(chunk.num_rows - 1), following.slice(0, 1)])
        return len(cut_partitions(edge, [key.name for key in self.plan.partition_by])) == 3

    def _cast(self, result: pa.Table) -> pa.Table:
        columns = []
        for field in self.schema:
            column = result.column(field.name)
            columns.append(column if column.type == field.type else column.cast(field.type))
        return pa.table(columns, schema=self.schema)


def open_evaluator(plan: MatchRecognize, settings: Settings) -> RelationEvaluator:
    """DuckDB as the worker's evaluator: one thread, no tables."""
    from sparkrex.hosts.duckdb import DuckDbHost, RelationEvaluator
    from sparkrex.statement.tokens import find_dialect

    host = DuckDbHost(plan.source, find_dialect(plan.dialect), plan.dialect, settings)
    host.connection.execute("SET threads = 1")
    return RelationEvaluator(host, "")


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
