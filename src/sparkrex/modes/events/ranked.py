"""Matches of partitions that are finer than those of the query, in the order and with the numbers of the query's own.

Equalities between variables make such partitions (`analyze.equalities`), which must not show. Every row has a *rank*:
its position in the order of the query's own partitions.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.matching.slot_table import rows_of_spans
from sparkrex.modes.events.runner import Decided, number_within

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.modes.events.nfab.contract import EventBuffer
    from sparkrex.modes.events.plan import EventQuery


@dataclass(slots=True)
class Ranking:
    """`column` has the ranks; `offsets` cut ranks into the query's own partitions.

    `ended` are, feed by feed, the ranks of the matches' last events, and how many rows of the result they have.
    """

    column: str
    offsets: NDArray[np.int64]
    ended: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = field(default_factory=list)

    def in_order(self, table: pa.Table, order: NDArray[np.int64] | None) -> NDArray[np.int64]:
        """The ranks of rows that `order` puts in order."""
        ranks: NDArray[np.int64] = numpy_of(plain(table.column(self.column)))
        return ranks if order is None else ranks[order]

    def place(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The query's own partitions that rows are in."""
        return np.searchsorted(self.offsets[1:], ranks, side="right")

    def rank(self, query: EventQuery, decided: Decided) -> Decided:
        """The matches of one feed in the order of their last events' ranks; with their numbers, if it is the only one.
        """
        matches = decided.matches
        ranks = self.in_order(decided.frame.table, decided.frame.arrangement.order)
        ranks = ranks[matches.rows[matches.offsets[1:] - 1]]
        order = np.argsort(ranks, kind="stable")
        matches, ranks = matches.reordered(order), ranks[order]
        lengths = np.diff(matches.offsets) if query.measures is None else np.ones(len(matches), np.int64)
        self.ended.append((ranks, lengths))
        return replace(decided, matches=matches, numbers=self._numbers(ranks))

    def rank_all(self, query: EventQuery, result: pa.Table) -> pa.Table:
        """The results of all feeds, one after the other, in the order of their matches' ranks and numbered in it."""
        if len(self.ended) < 2:
            return result
        ranks, length = (np.concatenate(parts) for parts in zip(*self.ended, strict=True))
        order = np.argsort(ranks, kind="stable")
        result = result.take(wrap(rows_of_spans((np.cumsum(length) - length)[order], length[order])))
        if query.measures is not None:
            return result
        name = query.output_columns()[0]
        numbers = np.repeat(self._numbers(ranks[order]), length[order])
        return result.set_column(result.column_names.index(name), name, wrap(numbers))

    def rank_buffer(self, buffer: EventBuffer, table: pa.Table, order: NDArray[np.int64] | None) -> EventBuffer:
        """Inside a partition ranks ascend as positions do, so that versions are compared alike."""
        ranks = self.in_order(table, order)
        ends = np.argsort(ranks[buffer.row[buffer.end_node]], kind="stable")
        return replace(
            buffer, youngest=ranks[buffer.youngest], end_node=buffer.end_node[ends],
            end_first=ranks[buffer.end_first[ends]],
        )

    def _numbers(self, ranks: NDArray[np.int64]) -> NDArray[np.int64]:
        """Those of matches in order."""
        return number_within(self.place(ranks), np.zeros(len(self.offsets) - 1, np.int64))
