"""An event query fed in ordered chunks, with the rows that undecided matches need held back between feeds.

The whole input at once is one such chunk. Chunks hold all columns that the query reads or returns; results come out as
soon as they are decided, so memory is bounded by the chunk and the window, not by the partition.

Where the partitions are finer than those of the query, because equalities make them, `ranks` puts the matches in the
order of the query's own.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.ordered import Columns
from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError
from sparkrex.matching.output import name_partition
from sparkrex.modes.events.buffer import buffer_table
from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.nfab.contract import EventMatches
from sparkrex.modes.events.order import check_order, order_columns
from sparkrex.modes.events.output import build_events
from sparkrex.scalar.expression import ColumnAt, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.nfab.matcher import NfabMatcher
    from sparkrex.modes.events.plan import EventQuery


_COUNTED = {
    "run steps": codes.RUN_STEPS, "edge evaluations": codes.EDGE_TESTS, "runs merged": codes.MERGES,
    "nodes in the buffer": codes.NODES, "ends of matches": codes.MATCH_ENDS,
}


def tested_columns(query: EventQuery) -> set[str]:
    """Columns that the matcher reads: those of conditions and of the order."""
    conditions = [definition.condition for definition in query.conditions()]
    used = {node.column for condition in conditions for node in walk(condition) if isinstance(node, ColumnAt)}
    return used.union(order_columns(query))


@dataclass
class StreamedEvents:
    """Runs one query over chunks. Changes with every feed. `keys` are the columns that hold the partition keys.

    `rank`, if it is given, is a column of whole numbers: matches come in the order of it in their last event.
    """

    query: EventQuery
    matcher: NfabMatcher
    evaluator: Evaluator
    keys: list[str]
    threads: int = 1
    rank: str | None = None

    def __post_init__(self) -> None:
        self.state = self.matcher.open()
        self.rows: pa.Table | None = None
        self.last: pa.Table | None = None
        self.n_matches = 0
        # Of the matches so far, if they are ranked: the rank, and how many rows of the result they have.
        self.ended: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self.statistics = np.zeros(codes.N_STATISTICS, np.int64)

    def feed(self, chunk: pa.Table, offsets: NDArray[np.int64], *, opens: bool, closes: bool) -> pa.Table:
        """The result rows that this chunk, whose rows are in order, decides."""
        return self._fed(chunk, Columns(self._read(chunk), offsets), opens=opens, closes=closes)

    def feed_whole(self, table: pa.Table, arrangement: Arrangement) -> pa.Table:
        """All result rows of whole partitions, whose rows are in any order."""
        return self._fed(table, self._arranged(table, arrangement), opens=True, closes=True)

    def compress(self, table: pa.Table, arrangement: Arrangement) -> pa.Table:
        """All matches of whole partitions as the buffer they share."""
        columns = self._arranged(table, arrangement)
        with self._placed(table, columns.order):
            self._check(table, columns)
            buffer = self.matcher.feed_compressed(columns)
        if self.rank is not None and table.num_rows:
            rank = _in_order(table, self.rank, columns.order)
            ends = np.argsort(rank[buffer.row[buffer.end_node]], kind="stable")
            # Inside a partition ranks ascend as positions do, so versions are compared alike.
            buffer = replace(
                buffer, youngest=rank[buffer.youngest], end_node=buffer.end_node[ends],
                end_first=rank[buffer.end_first[ends]],
            )
        return buffer_table(buffer, self.matcher.variables, self.query.input_columns, table, columns.order)

    def check_order(self, table: pa.Table, arrangement: Arrangement) -> None:
        """Fail if the order of the query's own partitions is not definite, where those that are fed are finer."""
        with self._placed(table, arrangement.order):
            check_order(self.query, table, arrangement.order, arrangement.offsets)

    def in_order_of_rank(self, result: pa.Table) -> pa.Table:
        """The results of all feeds in the order of their matches' ranks."""
        if len(self.ended) < 2:
            return result
        rank, length = (np.concatenate(parts) for parts in zip(*self.ended, strict=True))
        order = np.argsort(rank, kind="stable")
        result = result.take(wrap(_spans(np.cumsum(length) - length, length, order)))
        if self.query.measures is not None:
            return result
        name = self.query.output_columns()[0]
        place = result.column_names.index(name)
        return result.set_column(place, name, wrap(1 + np.repeat(np.arange(len(order)), length[order])))

    def _ranked(self, matches: EventMatches, rank: NDArray[np.int64]) -> EventMatches:
        rank = rank[matches.rows[matches.offsets[1:] - 1]]
        order = np.argsort(rank, kind="stable")
        length = np.diff(matches.offsets)
        events = _spans(matches.offsets[:-1], length, order)
        offsets = np.concatenate(([0], np.cumsum(length[order]))).astype(np.int64)
        n_rows = length[order] if self.query.measures is None else np.ones(len(order), np.int64)
        self.ended.append((rank[order], n_rows))
        return EventMatches(matches.rows[events], matches.labels[events], offsets)

    def counted(self) -> dict[str, int]:
        """What the matcher counted, by name."""
        return {name: int(self.statistics[place]) for name, place in _COUNTED.items()}

    def _fed(self, chunk: pa.Table, columns: Columns, *, opens: bool, closes: bool) -> pa.Table:
        if opens:
            self.rows = self.last = None
        frame = chunk if self.rows is None else pa.concat_tables([self.rows, chunk])
        with self._placed(frame, columns.order):
            self._check(chunk, columns)
            matches = self.matcher.feed(self.state, columns, opens=opens, closes=closes)
        self.statistics += self.matcher.statistics
        if self.rank is not None:
            matches = self._ranked(matches, _in_order(frame, self.rank, columns.order))
        first_id = self.n_matches + 1
        self.n_matches += len(matches)
        result = build_events(
            self.query, matches, self.matcher.variables, frame, columns.order, self.evaluator, first_id=first_id,
            threads=self.threads,
        )
        n_kept = 0 if closes else self.state.n_held
        self.rows = frame.slice(frame.num_rows - n_kept) if n_kept else None
        if chunk.num_rows:
            self.last = None if closes else chunk.slice(chunk.num_rows - 1)
        return result

    def _read(self, chunk: pa.Table) -> pa.Table:
        tested = tested_columns(self.query)
        return chunk.select([name for name in chunk.column_names if name in tested])

    def _arranged(self, table: pa.Table, arrangement: Arrangement) -> Columns:
        return Columns(
            self._read(table), arrangement.offsets, arrangement.order, arrangement.kept, arrangement.scatter
        )

    def _check(self, chunk: pa.Table, columns: Columns) -> None:
        """The chunk, and how it follows the row before it, is in a definite order."""
        offsets, n_before = columns.offsets, 0
        if self.last is not None:
            names = list(order_columns(self.query))
            chunk = pa.concat_tables([self.last.select(names), chunk.select(names)])
            offsets, n_before = np.concatenate(([0], offsets[1:] + 1)), 1
        try:
            check_order(self.query, chunk, columns.order, offsets)
        except ExecutionError as error:
            assert error.row is not None  # it is about a row of the chunk, never about the one before
            error.row += (0 if self.rows is None else self.rows.num_rows) - n_before
            raise

    @contextmanager
    def _placed(self, frame: pa.Table, order: NDArray[np.int64] | None) -> Iterator[None]:
        """Inside, an error says where in the query and in which partition it is."""
        try:
            yield
        except ExecutionError as error:
            if error.span in (None, self.query.span):
                # The whole relation is a large place.
                error.source, error.span = self.query.source, self.query.pattern.span or self.query.span
            if error.row is not None:
                row = error.row if order is None else int(order[error.row])
                names = [key.name for key in self.query.partition_by]
                name_partition(error, names, [frame.column(name) for name in self.keys], row)
            raise


def _in_order(table: pa.Table, name: str, order: NDArray[np.int64] | None) -> NDArray[np.int64]:
    values: NDArray[np.int64] = numpy_of(plain(table.column(name)))
    return values if order is None else values[order]


def _spans(first: NDArray[np.int64], length: NDArray[np.int64], order: NDArray[np.int64]) -> NDArray[np.int64]:
    """The numbers of all spans `first` to `first + length`, span by span in an order."""
    length = length[order]
    before = np.cumsum(length) - length
    return np.repeat(first[order] - before, length) + np.arange(int(length.sum()))
