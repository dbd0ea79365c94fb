"""Reads matches that are paths of a forest: every value once for each node, whatever the number of rows in all matches.

Navigation, classifiers and the aggregates that `matching.aggregation` computes itself are found so. Any other aggregate
is read from the rows of some matches at a time, in their own memory, and takes time by their rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import put_in_order, take_or_null
from sparkrex.columns.values import plain
from sparkrex.columns.wrap import wrap, wrap_strings
from sparkrex.errors import ExecutionError
from sparkrex.matching.aggregation import ACCUMULATED, Statistics, buffers_of, finish_aggregate, fits_kernel
from sparkrex.matching.host_aggregation import as_declared
from sparkrex.matching.labels import selecting
from sparkrex.matching.matches import Matches
from sparkrex.matching.output import one_row
from sparkrex.matching.row_values import row_values
from sparkrex.modes.windows.found import Found
from sparkrex.modes.windows.kernels.forest import find_nodes, labels_of, total_doubles, total_integers
from sparkrex.modes.windows.reader import FrameReader
from sparkrex.scalar.expression import (
    EACH_ROW,
    Aggregate,
    ClassifierAt,
    ColumnAt,
    End,
    Expression,
    Literal,
    is_volatile,
    references,
)
from sparkrex.scalar.render.duckdb import DUCKDB
from sparkrex.scalar.render.renderer import render_literal

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.reading import Viewpoints
    from sparkrex.scalar.expression import Target
    from sparkrex.scalar.render.renderer import Leaf

_LISTS = ("array_agg", "string_agg", "map_agg", "min_by", "max_by")
"""Aggregates whose values are as long as the matches, or which the host has no tree for."""
_BLOCK_ROWS = 1 << 22
"""So many rows of matches are in memory at a time for aggregates that need them one by one."""


class ForestReader(FrameReader):
    """A reader of what was found as a forest."""

    def __init__(
        self, table: pa.Table, arrangement: Arrangement, found: Found, ends: NDArray[np.int64] | None,
        variables: tuple[str, ...], dialect: str, evaluator: Evaluator, threads: int = 1,
    ) -> None:
        super().__init__(table, arrangement, found, ends, variables, dialect, evaluator, threads)
        assert found.forest is not None  # else it is not read by this
        self.forest = found.forest
        self._node_of: dict[tuple[Any, ...], NDArray[np.int64]] = {}

    def _prepare(self, wanted: Iterable[Leaf], views: Viewpoints) -> None:
        super()._prepare([leaf for leaf in wanted if not isinstance(leaf, Aggregate)], views)
        for leaf in wanted:
            if isinstance(leaf, Aggregate):
                # Some ask the host, which has one connection, and one table of rows: not from several threads.
                self.aggregate_over(leaf, views)

    def _find_final(self, targets: list[Target]) -> None:
        """Positions per match; those of some variables are found in the forest."""
        by_label: list[Target] = []
        others: list[Target] = []
        for target in targets:
            named = not target.is_row_time and selecting(target.variables, self.variables) is not None
            (by_label if named else others).append(target)
        super()._find_final(others)
        for target in by_label:
            key = self._key(target, True)
            if key not in self._found:
                self._found[key] = self._read_nodes(self._target_node(key[0]), 0)

    def _target_node(self, target: Target) -> NDArray[np.int64]:
        """The node of a target row per match, -1 where there is none; without the target's shift."""
        from_first = target.end is End.FIRST
        key = (selecting(target.variables, self.variables), from_first, target.offset)
        if key not in self._node_of:
            forest = self.forest
            found = find_nodes(forest.nodes, forest.runs, self._members(target.variables), from_first, target.offset)
            self._node_of[key] = self._at_heads(found, -1)
        return self._node_of[key]

    def _read_nodes(self, node: NDArray[np.int64], field: int) -> NDArray[np.int64]:
        """A number of each node, -1 where there is none; all matches may be empty, so that there are no nodes."""
        nodes = self.forest.nodes
        return np.where(node < 0, -1, nodes[node, field]) if len(nodes) else np.full(len(node), -1, np.int64)

    def _members(self, variables: frozenset[str] | None) -> NDArray[np.bool_]:
        chosen = selecting(variables, self.variables)
        return np.ones(2 * max(1, len(self.variables)), np.bool_) if chosen is None else self.is_member(chosen)

    def _at_heads(self, by_node: NDArray[Any], nothing: Any) -> NDArray[Any]:
        """What is known of nodes, at the first node of each match."""
        heads = self.forest.heads
        if not len(by_node):
            return np.full(len(heads), nothing, by_node.dtype)
        return np.where(heads < 0, np.asarray(nothing, by_node.dtype), by_node[heads])

    def leaf(self, leaf: Leaf, views: Viewpoints) -> pa.ChunkedArray:
        """See `matching.reading`."""
        if isinstance(leaf, ClassifierAt) and not leaf.target.shift and not leaf.target.is_row_time:
            node = self._target_node(leaf.target)
            names = wrap_strings(self.variables).cast(pa.string())
            labels = self._read_nodes(node, 1) >> 1
            labels[node < 0] = 0
            return pa.chunked_array([names.take(wrap(labels, node < 0))])
        return super().leaf(leaf, views)

    def classifiers_at(self, positions: NDArray[np.int64], views: Viewpoints) -> pa.ChunkedArray:
        """Of rows at a distance from others: read from the rows of some matches at a time."""
        parts = []
        for first, last, reader in self._blocks():
            parts += reader.classifiers_at(positions[first:last], one_row(reader)).chunks
        return pa.chunked_array(parts, pa.string())

    def aggregate_over(self, node: Aggregate, views: Viewpoints) -> pa.ChunkedArray:
        """Per match, from what the forest adds up to, or from rows."""
        key = (node, True)
        if key not in self._aggregates:
            found = self._from_forest(node)
            if found is None:
                found = self._from_host(node)
            if found is None:
                parts: list[pa.Array] = []
                for _, _, reader in self._blocks():
                    parts += reader.aggregate_over(node, one_row(reader)).chunks
                found = pa.chunked_array(parts)
            self._aggregates[key] = found
        return self._aggregates[key]

    def _blocks(self) -> Iterable[tuple[int, int, FrameReader]]:
        """Some matches after the other, with a reader of their rows."""
        matches = self.matches
        first = 0
        while first < len(matches):
            most = matches.label_offsets[first] + _BLOCK_ROWS
            last = max(first + 1, int(np.searchsorted(matches.label_offsets, most, side="right")) - 1)
            offsets = matches.label_offsets[first : last + 1] - matches.label_offsets[first]
            labels = np.empty(int(offsets[-1]), np.int16)
            labels_of(self.forest.nodes, self.forest.heads[first:last], offsets, labels)
            own = Matches(
                matches.start[first:last], matches.end[first:last], matches.number[first:last], labels, offsets
            )
            yield first, last, FrameReader(
                self.table, self.arrangement, Found(self._frames[first:last], own), self._ends, self.variables,
                self.dialect, self.evaluator, self.threads,
            )
            first = last

    def _from_forest(self, node: Aggregate) -> pa.ChunkedArray | None:
        """The aggregate per match, None if it needs the rows one by one."""
        if node.function not in ACCUMULATED or node.is_distinct or len(node.arguments) > 1:
            return None
        read = [*node.arguments, *([] if node.filter is None else [node.filter])]
        if not all(map(_is_of_one_row, read)):
            return None
        try:
            columns = row_values(read, self.table, self.evaluator)
        except ExecutionError:
            return None  # it fails for a row, which may be in no match
        argument = plain(columns[0]) if node.arguments else None
        is_wide = argument is not None and node.function == "sum" and pa.types.is_integer(argument.type)
        if argument is not None and not (fits_kernel(node, argument.type, self.dialect) or is_wide):
            return None
        n_rows = self.arrangement.n_rows
        valid = np.ones(n_rows, np.uint8)
        if argument is not None and argument.null_count:
            valid &= argument.is_valid().to_numpy(zero_copy_only=False).astype(np.uint8)
        if node.filter is not None:
            valid &= plain(columns[-1]).fill_null(False).to_numpy(zero_copy_only=False).astype(np.uint8)
        reads_values = argument is not None and node.function != "count"
        values: NDArray[Any] = np.zeros(n_rows, np.int64)
        if argument is not None and reads_values:
            values = buffers_of(argument, reads_values=True)[0]
        order = self.arrangement.order
        values, valid = put_in_order(values, order), put_in_order(valid, order)
        return self._add_up(node, values, valid, None if argument is None else argument.type, is_wide=is_wide)

    def _from_host(self, node: Aggregate) -> pa.ChunkedArray | None:
        """The aggregate as a window of the host's, from each row's match to its end; None if it is no such aggregate.

        The host has trees of its own for frames that overlap.
        """
        read: list[Expression] = [argument for argument in node.arguments if not isinstance(argument, Literal)]
        is_plain = node.variables is None and node.filter is None and not node.order_by
        is_counted = not node.is_distinct or node.function == "count"
        if not (is_plain and is_counted and all(map(_is_of_one_row, read))) or node.function in _LISTS:
            return None
        try:
            columns = row_values(read, self.table, self.evaluator)
        except ExecutionError:
            return None  # it fails for a row, which may be in no match
        n_rows, matches = self.arrangement.n_rows, self.matches
        # Without a match a row has a frame without rows, and so has one more row, which stands for empty matches.
        first, last = np.ones(n_rows + 1, np.int64), np.zeros(n_rows + 1, np.int64)
        has_rows = matches.end > matches.start
        own = self._frames[has_rows]
        first[own], last[own] = matches.start[has_rows] - own, matches.end[has_rows] - 1 - own
        rows = np.append(self.arrangement.input_rows(np.arange(n_rows)), -1)
        names = [f"a{number}" for number in range(len(read))]
        table = pa.table(
            {"i": np.arange(n_rows + 1), "f": first, "l": last}
            | {name: take_or_null(column, rows) for name, column in zip(names, columns, strict=True)}
        )
        text = iter(names)
        call = DUCKDB.aggregate(node, [
            render_literal(one.value) if isinstance(one, Literal) else next(text) for one in node.arguments
        ])
        if node.is_distinct:
            call = f"count(DISTINCT {names[0]})"
        over = "OVER (ORDER BY i ROWS BETWEEN f FOLLOWING AND l FOLLOWING)"
        result = self.evaluator.query(f"SELECT i, {call} {over} AS v FROM rex_rows ORDER BY i", table, node.span)
        values = take_or_null(result.column("v"), np.where(has_rows, self._frames, n_rows))
        return as_declared(node, values, self.dialect)

    def _add_up(
        self, node: Aggregate, values: NDArray[Any], valid: NDArray[np.uint8], kind: pa.DataType | None, *,
        is_wide: bool,
    ) -> pa.ChunkedArray:
        forest = self.forest
        n_nodes, is_real = len(forest.nodes), values.dtype.kind == "f"
        members = self._members(node.variables)
        count = np.zeros(n_nodes, np.int64)
        least, most = np.zeros((2, n_nodes), values.dtype)
        mean, square = np.zeros((2, n_nodes))
        if is_real:
            high, low, added = np.zeros((3, n_nodes))
            total_doubles(
                forest.nodes, forest.runs, members, values, valid, count, high, low, added, least, most, mean, square
            )
            total: NDArray[Any] = self._at_heads(np.where(np.isfinite(high), high, added), 0.0)
        else:
            wide, narrow = np.zeros(n_nodes, np.int64), np.zeros(n_nodes, np.uint64)
            total_integers(
                forest.nodes, forest.runs, members, values, valid, count, wide, narrow, least, most, mean, square
            )
            upper, lower = self._at_heads(wide, 0), self._at_heads(narrow, 0)
            if is_wide and self.dialect == "duckdb":
                return _decimals(upper, lower, self._at_heads(count, 0) == 0)
            total = lower.view(np.int64)
            if node.function in ("sum", "avg") and (upper != (total >> 63)).any():
                raise ExecutionError("REX405", f"{node.function} is out of the range of BIGINT", None, node.span)
        found = Statistics(
            self._at_heads(count, 0), total, self._at_heads(least, 0), self._at_heads(most, 0),
            self._at_heads(square, 0.0),
        )
        return finish_aggregate(node.function, found, kind)


def reader_of(
    table: pa.Table, arrangement: Arrangement, found: Found, ends: NDArray[np.int64] | None,
    variables: tuple[str, ...], dialect: str, evaluator: Evaluator, threads: int,
) -> FrameReader:
    """The reader of what was found."""
    kind = FrameReader if found.forest is None else ForestReader
    return kind(table, arrangement, found, ends, variables, dialect, evaluator, threads)


def _is_of_one_row(expression: Expression) -> bool:
    """Whether it may be computed for all rows, whatever matches they are in."""
    is_plain = all(isinstance(node, ColumnAt) and node.target == EACH_ROW for node in references(expression))
    return is_plain and not is_volatile(expression)


def _decimals(high: NDArray[np.int64], low: NDArray[np.uint64], is_null: NDArray[np.bool_]) -> pa.ChunkedArray:
    """Numbers of 128 bits as DuckDB gives its HUGEINT."""
    words = np.empty((len(low), 2), np.uint64)
    words[:, 0], words[:, 1] = low, high.view(np.uint64)
    valid = pa.array(~is_null).buffers()[1]
    return pa.chunked_array([
        pa.Array.from_buffers(pa.decimal128(38, 0), len(low), [valid, pa.py_buffer(words)], int(is_null.sum()))
    ])
