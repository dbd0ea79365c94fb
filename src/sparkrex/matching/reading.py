"""Read the rows of found matches: the values that navigation, CLASSIFIER, MATCH_NUMBER and aggregates stand for.

A `MatchReader` answers for many output rows at once. An output row belongs to a match and sees it from one of its rows,
or, for an empty match, from none. What a target or an aggregate stands for is found once per match, or, where every row
sees something else, once per mapped row, for all references of the query together; output rows then read it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap, wrap_strings
from sparkrex.kernels.lazy import kernel_for
from sparkrex.kernels.navigate import find_final, find_running, shift_inside, unfold
from sparkrex.matching.aggregation import aggregate_together
from sparkrex.matching.labels import selecting
from sparkrex.matching.list_aggregation import fill_with_empty
from sparkrex.scalar.expression import (
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    End,
    Expression,
    MatchNumber,
    MatchStatus,
    Semantics,
    Target,
)
from sparkrex.scalar.render.duckdb import render
from sparkrex.scalar.render.renderer import Leaf, leaves, reads_relation
from sparkrex.threads import in_parallel, ranges, spread

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.matches import Matches
    from sparkrex.source import Span

_STATUS = pa.chunked_array([["MATCH", "EMPTY", "TIMEOUT"]])
_TIMEOUT = 2
_READS_OF_A_MOVE = 8
"""To read a row anywhere costs about so many times as much as to move it with all others."""


@dataclass(frozen=True, eq=False, slots=True)
class Viewpoints:
    """Output rows: the match of each, and the mapped row it sees the match from (-1 for none).

    `at_end` says that every output row sees its match from the match's last row, where RUNNING and FINAL agree.
    `is_each` says that there is one output row for each match if `at_end`, else for each mapped row, in order.
    """

    match: NDArray[np.int64]
    mapped_row: NDArray[np.int64]
    at_end: bool
    is_each: bool = False

    def __len__(self) -> int:
        return len(self.match)

    def sees_final(self, semantics: Semantics) -> bool:
        """Whether an output row sees the whole match."""
        return self.at_end or semantics is Semantics.FINAL


class MatchReader:
    """Reads `table`, whose rows `arrangement` orders, under `matches` given as positions in that order."""

    def __init__(
        self, table: pa.Table, arrangement: Arrangement, matches: Matches, variables: tuple[str, ...], dialect: str,
        evaluator: Evaluator, threads: int = 1,
    ) -> None:
        self.table = table
        self.arrangement = arrangement
        self.matches = matches
        self.variables = variables
        self.dialect = dialect
        self.evaluator = evaluator
        self.threads = threads
        self._found: dict[tuple[Target, bool], NDArray[np.int64]] = {}
        self._rows: dict[tuple[Viewpoints, Target], NDArray[np.int64]] = {}
        self._aggregates: dict[tuple[Aggregate, bool], pa.ChunkedArray] = {}

    @cached_property
    def pieces(self) -> list[tuple[int, int]]:
        """Ranges of matches, one a thread."""
        return ranges(len(self.matches), self.threads)

    @cached_property
    def has_empty(self) -> bool:
        """Whether a match is empty."""
        return bool((self.matches.start == self.matches.end).any())

    @cached_property
    def _unfolded(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        matches = self.matches
        row_match, row_position = np.empty(matches.n_mapped, np.int64), np.empty(matches.n_mapped, np.int64)
        kernel = kernel_for(unfold, matches.n_mapped)
        spread(
            lambda begin, end: kernel(matches.label_offsets, matches.start, begin, end, row_match, row_position),
            self.pieces,
        )
        return row_match, row_position

    @property
    def row_match(self) -> NDArray[np.int64]:
        """The match of every mapped row."""
        return self._unfolded[0]

    @property
    def row_position(self) -> NDArray[np.int64]:
        """The position of every mapped row."""
        return self._unfolded[1]

    @cached_property
    def match_partition(self) -> NDArray[np.int64]:
        """The partition of every match."""
        offsets = self.arrangement.offsets
        n_matches = np.diff(np.searchsorted(self.matches.start, offsets))
        return np.repeat(np.arange(len(offsets) - 1), n_matches)

    @cached_property
    def partition_bounds(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """First position of every match's partition, and the one behind its last."""
        offsets = self.arrangement.offsets
        return offsets[self.match_partition], offsets[self.match_partition + 1]

    def evaluate(
        self, expressions: Sequence[Expression], views: Viewpoints, spans: Sequence[Span | None]
    ) -> list[pa.ChunkedArray]:
        """The values of expressions, one array each. Bare references are not touched; the host computes the rest."""
        wanted: dict[Leaf, str] = {}
        for expression in expressions:
            for leaf in leaves(expression):
                wanted.setdefault(leaf, f"c{len(wanted)}")
        self._prepare(wanted, views)
        columns = in_parallel([partial(self.leaf, leaf, views) for leaf in wanted], self.threads, len(views))
        values: dict[Expression, pa.ChunkedArray] = dict(zip(wanted, columns, strict=True))
        for expression in expressions:
            if isinstance(expression, Call) and expression.function == "or_empty":
                operand = values.get(expression.operands[0])
                if operand is not None and pa.types.is_list(operand.type):
                    values[expression] = fill_with_empty(operand)
        computed = [
            (number, expression) for number, expression in enumerate(expressions) if expression not in values
        ]
        results: dict[int, pa.ChunkedArray] = {}
        if computed:
            table = pa.table(
                {name: values[leaf] for leaf, name in wanted.items()} or {"c": pa.nulls(len(views), pa.int8())}
            )
            texts = [render(expression, lambda leaf: f"rex_rows.{wanted[leaf]}") for _, expression in computed]
            columns = self.evaluator.evaluate(
                texts, table, [spans[number] for number, _ in computed],
                reads_relation=any(reads_relation(expression) for _, expression in computed),
            )
            results = {number: column for (number, _), column in zip(computed, columns, strict=True)}
        return [
            results[number] if number in results else values[expression]
            for number, expression in enumerate(expressions)
        ]

    def _prepare(self, wanted: Iterable[Leaf], views: Viewpoints) -> None:
        """Find what several leaves can share: one walk over the labels for all targets, one over each column."""
        targets = [leaf.target for leaf in wanted if isinstance(leaf, ColumnAt | ClassifierAt)]
        self._find_final([target for target in targets if views.sees_final(target.semantics)])
        columns = [leaf for leaf in wanted if isinstance(leaf, ColumnAt)]
        n_reads = Counter(leaf.column for leaf in columns)
        for leaf in columns:
            self._put_in_order(leaf.column, n_reads[leaf.column] * len(views))
            if leaf.column in self.arrangement.kept:
                self.positions_of(leaf.target, views)
            else:
                self.target_rows(leaf.target, views)
        for is_final in (True, False):
            nodes = [
                leaf for leaf in wanted
                if isinstance(leaf, Aggregate) and views.sees_final(leaf.semantics) is is_final
                and (leaf, is_final) not in self._aggregates
            ]
            for node, values in aggregate_together(self, nodes, is_final=is_final).items():
                self._aggregates[node, is_final] = values

    def _put_in_order(self, column: str, n_reads: int) -> None:
        """Keep a column in order if that costs less than so many reads of rows far apart."""
        values, scatter = self.table.column(column), self.arrangement.scatter
        is_number = pa.types.is_int64(values.type) or pa.types.is_float64(values.type)
        if (
            scatter is not None and column not in self.arrangement.kept and _READS_OF_A_MOVE * n_reads >= len(values)
            and (is_number or pa.types.is_timestamp(values.type)) and not values.null_count
        ):
            self.arrangement.kept[column] = scatter.put(numpy_of(plain(values).view(pa.int64())))

    def leaf(self, leaf: Leaf, views: Viewpoints) -> pa.ChunkedArray:
        """What one leaf stands for, per output row."""
        match leaf:
            case ColumnAt(target, column):
                values = self.table.column(column)
                if column in self.arrangement.kept:
                    # Positions ascend, and the rows of a match lie together.
                    ordered = wrap(self.arrangement.kept[column]).view(values.type)
                    return take_or_null(ordered, self.positions_of(target, views))
                return take_or_null(values, self.target_rows(target, views))
            case ClassifierAt(target):
                return self.classifiers_at(self.positions_of(target, views), views)
            case MatchNumber():
                return self._match_numbers(views)
            case MatchStatus():
                return self._status(views)
            case Aggregate():
                return self.aggregate_over(leaf, views)

    def _status(self, views: Viewpoints) -> pa.ChunkedArray:
        """What the match of every output row is."""
        status = (self.matches.start == self.matches.end).astype(np.int64)
        if self.matches.is_timeout is not None:
            status[self.matches.is_timeout] = _TIMEOUT
        return take_or_null(_STATUS, status[views.match])

    def _match_numbers(self, views: Viewpoints) -> pa.ChunkedArray:
        """The number of the match of every output row."""
        number, is_timeout = self.matches.number, self.matches.is_timeout
        if not (views.at_end and views.is_each):
            number = number[views.match]
            is_timeout = None if is_timeout is None else is_timeout[views.match]
        return pa.chunked_array([wrap(number, is_timeout)])

    def input_rows(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """Input rows at these positions, -1 where the position is negative."""
        order = self.arrangement.order
        if order is None or not len(positions):
            return positions
        rows = np.empty(len(positions), np.int64)

        def read(begin: int, end: int) -> None:
            here, to = positions[begin:end], rows[begin:end]
            np.take(order, here, out=to, mode="wrap")
            if here.min() < 0:
                to[here < 0] = -1

        spread(read, ranges(len(positions), self.threads))
        return rows

    def target_rows(self, target: Target, views: Viewpoints) -> NDArray[np.int64]:
        """The input row of the target row per output row, -1 where there is none."""
        if (views, target) not in self._rows:
            self._rows[views, target] = self.input_rows(self.positions_of(target, views))
        return self._rows[views, target]

    def positions_of(self, target: Target, views: Viewpoints) -> NDArray[np.int64]:
        """The position of the target row per output row, -1 where there is none."""
        is_final = views.sees_final(target.semantics)
        key = self._key(target, is_final)
        if key not in self._found:
            if is_final:
                self._find_final([target])
            else:
                self._found[key] = self._find_running(key[0])
        positions = self._found[key]
        if not views.is_each or views.at_end != is_final:
            positions = self._see_from(positions, views, is_final)
        if target.shift:
            first, behind = self.partition_bounds
            shifted = np.empty(len(positions), np.int64)
            kernel = kernel_for(shift_inside, len(positions))
            spread(
                lambda begin, end: kernel(
                    positions, views.match, first, behind, target.shift, begin, end, shifted
                ),
                ranges(len(positions), self.threads),
            )
            return shifted
        return positions

    @staticmethod
    def _see_from(found: NDArray[np.int64], views: Viewpoints, is_final: bool) -> NDArray[np.int64]:
        """What was found per match, or per mapped row, as output rows see it."""
        if is_final:
            return found[views.match]
        if not len(found):
            return np.full(len(views), -1)
        return np.where(views.mapped_row < 0, -1, found[views.mapped_row])

    def _key(self, target: Target, is_final: bool) -> tuple[Target, bool]:
        """Targets that find the same rows have one key."""
        semantics = Semantics.FINAL if is_final else Semantics.RUNNING
        variables = selecting(target.variables, self.variables)
        return replace(target, variables=variables, semantics=semantics, shift=0), is_final

    def _find_final(self, targets: list[Target]) -> None:
        """Positions per match of several targets that see the whole match."""
        matches = self.matches
        keys = [key for key in dict.fromkeys(self._key(target, True) for target in targets) if key not in self._found]
        by_label = []
        for key in keys:
            target, _ = key
            if target.is_row_time:
                self._found[key] = np.maximum(matches.end - 1, matches.start)
                continue
            if target.variables is not None:
                by_label.append(target)
                continue
            is_first = target.end is End.FIRST
            positions = matches.start + target.offset if is_first else matches.end - (1 + target.offset)
            if target.offset or self.has_empty:
                positions[(positions < matches.start) | (positions >= matches.end)] = -1
            self._found[key] = positions
        if not by_label:
            return
        is_member = np.array([self.is_member(target.variables or frozenset()) for target in by_label])
        from_first = np.array([target.end is End.FIRST for target in by_label])
        offset = np.array([target.offset for target in by_label], np.int64)
        found = np.empty((len(by_label), len(matches)), np.int64)
        kernel = kernel_for(find_final, matches.n_mapped)
        spread(
            lambda begin, end: kernel(
                matches.label_offsets, matches.labels, matches.start, is_member, from_first, offset, begin, end, found
            ),
            self.pieces,
        )
        for target, positions in zip(by_label, found, strict=True):
            self._found[target, True] = positions

    def _find_running(self, target: Target) -> NDArray[np.int64]:
        """Positions per mapped row of a target that sees only the rows up to there."""
        matches = self.matches
        is_first = target.end is End.FIRST
        if target.variables is None:
            if not is_first and not target.offset:
                return self.row_position
            first = matches.start[self.row_match]
            if is_first and not target.offset:
                return first
            positions = first + target.offset if is_first else self.row_position - target.offset
            return np.where((positions >= first) & (positions <= self.row_position), positions, -1)
        found = np.empty(matches.n_mapped, np.int64)
        is_member = self.is_member(target.variables)
        kernel = kernel_for(find_running, matches.n_mapped)
        spread(
            lambda begin, end: kernel(
                matches.label_offsets, matches.labels, matches.start, is_member, is_first, target.offset, begin, end,
                found,
            ),
            self.pieces,
        )
        return found

    def is_member(self, variables: frozenset[str]) -> NDArray[np.bool_]:
        """Per label, whether it says one of these variables."""
        return np.repeat(np.array([name in variables for name in self.variables], np.bool_), 2)

    def classifiers_at(self, positions: NDArray[np.int64], views: Viewpoints) -> pa.ChunkedArray:
        """The variables that rows are mapped to; NULL for rows outside of the match."""
        matches = self.matches
        names = wrap_strings(self.variables).cast(pa.string())
        if views.is_each and not views.at_end and positions is self.row_position:
            return take_or_null(names, (matches.labels >> 1).astype(np.int64))
        start, end, first = matches.start, matches.end, matches.label_offsets[:-1]
        if not (views.is_each and views.at_end):
            start, end, first = start[views.match], end[views.match], first[views.match]
        inside = (positions >= start) & (positions < end)
        label = np.full(len(views), -1)
        label[inside] = matches.labels[(first + positions - start)[inside]] >> 1
        return take_or_null(names, label)

    def aggregate_over(self, node: Aggregate, views: Viewpoints) -> pa.ChunkedArray:
        """Aggregates are computed per match, or per mapped row, and then read per output row."""
        is_final = views.sees_final(node.semantics)
        if (node, is_final) not in self._aggregates:
            self._aggregates[node, is_final] = aggregate_together(self, [node], is_final=is_final)[node]
        values = self._aggregates[node, is_final]
        if views.is_each and views.at_end == is_final:
            return values
        result = take_or_null(values, views.match if is_final else views.mapped_row)
        if node.function in ("count", "count_if"):
            # Over the rows of an empty match a count is 0.
            result = result.fill_null(0)
        return result

    @cached_property
    def each_mapped_row(self) -> Viewpoints:
        """One output row for each mapped row."""
        return Viewpoints(self.row_match, np.arange(self.matches.n_mapped), at_end=False, is_each=True)

    def each_row(self, expressions: Sequence[Expression], rows: NDArray[np.int64]) -> list[pa.ChunkedArray]:
        """Expressions over mapped rows themselves, as aggregates see them; `rows` are their ascending numbers."""
        if len(rows) == self.matches.n_mapped:
            views = self.each_mapped_row
        else:
            views = Viewpoints(self.row_match[rows], rows, at_end=False)
        return self.evaluate(expressions, views, [expression.span for expression in expressions])
