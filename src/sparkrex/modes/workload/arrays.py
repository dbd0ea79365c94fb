"""The rows of a segment as arrays: which events every leaf has, keys by which values are compared, windows, ties.

Types that are told by their name are looked up in one pass over the type column, whatever their number: the paper's
dispatch lists. What a condition reads of an event is evaluated for the events of its type only.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.ordered import Columns
from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.errors import RexError
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.evaluate.joint_keys import joint_keys, own_keys
from sparkrex.evaluate.projected_rows import project_rows
from sparkrex.kernels.null_key import NULL_KEY
from sparkrex.modes.events.nfab.windows import Times
from sparkrex.modes.workload.conditions import named_type
from sparkrex.modes.workload.taking_part import is_binary
from sparkrex.scalar.expression import ColumnAt, walk
from sparkrex.scalar.split import Condition, conjunction

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.workload.lines import Side
    from sparkrex.modes.workload.prepared import Prepared, Window
    from sparkrex.scalar.expression import Expression


class SegmentArrays:
    """What kernels read of the rows of one segment, which are in order. Rows are counted from its first."""

    def __init__(self, prepared: Prepared, table: pa.Table, offsets: NDArray[np.int64], evaluator: Evaluator) -> None:
        self.prepared, self.table, self.offsets, self.evaluator = prepared, table, offsets, evaluator
        self.n_rows = table.num_rows
        self._by_type: dict[str, dict[str, NDArray[np.int64]]] = {}
        self._ranks: dict[str, int] = {}
        self._rank_lines = [np.arange(self.n_rows)]
        self._leaf_rows: dict[int, NDArray[np.int64]] = {}
        self._kleene: dict[int, tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]] = {}
        self._times: dict[Window, Times] = {}
        self._window_last: dict[Window, NDArray[np.int64]] = {}
        self._parts: list[NDArray[np.int64]] = []
        self._line_keys: dict[int, NDArray[np.int64]] = {}
        self.n_static = 0
        """How much of the pool the keys and rows take that do not change."""

    # Windows and ties.

    def times(self, window: Window) -> Times:
        """The times of the rows with one of the workload's windows."""
        found = self._times.get(window)
        if found is None:
            columns = Columns(self.table, self.offsets)
            found = self._times[window] = Times(self.prepared.query_of(window), columns, 1)
        return found

    @cached_property
    def window_first(self) -> NDArray[np.int64]:
        """By window and row: the first row that a match which ends there may have."""
        return np.stack([self.times(window).window_first() for window in self.prepared.windows])

    def window_last(self, window: Window) -> NDArray[np.int64]:
        """By row: the last row that a match which begins there may have."""
        if window not in self._window_last:
            self._window_last[window] = self.times(window).window_last()
        return self._window_last[window]

    @cached_property
    def ordinal(self) -> NDArray[np.int64]:
        """By row: the first row of its time under strict ties, else the row itself."""
        if not self.prepared.has_strict_ties:
            return self._rank_lines[0]
        ties = self._ties
        return np.searchsorted(ties, ties)

    @cached_property
    def last_of_time(self) -> NDArray[np.int64]:
        """By row: the last row of its time under strict ties, else the row itself."""
        if not self.prepared.has_strict_ties:
            return self._rank_lines[0]
        ties = self._ties
        return np.searchsorted(ties, ties, side="right") - 1

    @cached_property
    def _ties(self) -> NDArray[np.int64]:
        return self.times(self.prepared.windows[0]).ties()

    # Leaves.

    def leaf_rows(self, label: int) -> NDArray[np.int64]:
        """The rows of the events of a leaf, ascending; of a Kleene first and later ones."""
        leaf = self.prepared.symbols.leaves[label]
        if leaf.is_kleene:
            return self.kleene_rows(label)[0]
        found = self._leaf_rows.get(label)
        if found is None:
            rows = self.type_rows(leaf.type)
            found = self._leaf_rows[label] = rows[self._truth(leaf.own, rows)] if leaf.own else rows
        return found

    def kleene_rows(self, label: int) -> tuple[NDArray[np.int64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Rows, and which of them may be the first of an array, and which a later one."""
        found = self._kleene.get(label)
        if found is None:
            leaf = self.prepared.symbols.leaves[label]
            rows = self.type_rows(leaf.type)
            begins, continues = self._truth(leaf.own, rows), self._truth(leaf.later, rows)
            either = begins | continues
            found = self._kleene[label] = rows[either], begins[either], continues[either]
        return found

    def type_rows(self, condition: Expression | None) -> NDArray[np.int64]:
        """The rows of the events of a type."""
        named = named_type(condition)
        if named is not None:
            column, value = named
            if column not in self._by_type:
                self._by_type[column] = self._rows_by_value(column)
            return self._by_type[column].get(value, np.empty(0, np.int64))
        everything = self._rank_lines[0]
        return everything if condition is None else everything[self._truth((condition,), everything)]

    def _rows_by_value(self, column: str) -> dict[str, NDArray[np.int64]]:
        values = plain(self.table.column(column))
        encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
        names = encoded.dictionary.to_pylist()
        if is_binary(values.type):
            names = [name if name is None else name.decode(errors="surrogateescape") for name in names]
        kind = np.int16 if len(names) < 1 << 15 else np.int64  # of small integers the order is found by counting
        codes = numpy_of(encoded.indices.cast(pa.int64()).fill_null(len(names))).astype(kind)
        order = np.argsort(codes, kind="stable")
        cuts = np.searchsorted(codes[order], np.arange(len(names) + 2))
        rank = np.empty(self.n_rows, np.int64)
        rank[order] = np.arange(self.n_rows) - np.repeat(cuts[:-1], np.diff(cuts))
        self._ranks[column] = len(self._rank_lines)
        self._rank_lines.append(rank)
        return {name: order[cuts[number] : cuts[number + 1]] for number, name in enumerate(names)}

    def _truth(self, conditions: Sequence[Expression], rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Where all conditions hold, of some rows."""
        whole = conjunction(list(conditions))
        if whole is None:
            return np.ones(len(rows), np.bool_)
        names = [node.column for node in walk(whole) if isinstance(node, ColumnAt)]
        columns = Columns(self.take(names, rows), np.array([0, len(rows)], np.int64))
        # The place of one of them, by which an error is told to be in a pattern.
        condition = Condition("an event", replace(whole, span=conditions[0].span), None)
        try:
            _, bitmaps = evaluate_bitmaps([condition], columns, self.evaluator, self.prepared.source)
        except RexError as error:
            error.span = whole.span if error.span is conditions[0].span else error.span
            raise
        truth: NDArray[np.bool_] = bitmaps[0].view(np.bool_)
        return truth

    def take(self, names: Sequence[str], rows: NDArray[np.int64]) -> pa.Table:
        """Some columns of some rows."""
        unique = list(dict.fromkeys(names))
        if not unique:
            return pa.table({"rex_row": pa.nulls(len(rows), pa.int8())})
        return self.table.select(unique).take(wrap(rows))

    # Keys, and what else stands in the pool and does not change.

    def put(self, array: NDArray[np.int64]) -> int:
        """Put an array into the pool; returns where it stands."""
        self._parts.append(array)
        self.n_static += len(array)
        return self.n_static - len(array)

    def static(self, room: int) -> NDArray[np.int64]:
        """The pool, with room for more behind what was put into it."""
        pool = np.empty(self.n_static + room, np.int64)
        np.concatenate([*self._parts, np.empty(0, np.int64)], out=pool[: self.n_static])
        return pool

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """By way of ranking and row: where its key stands in a line. Not before all lines are there."""
        return np.stack(self._rank_lines)

    @cached_property
    def lines(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """By line of keys: where it stands in the pool, and how rows are ranked in it."""
        pairs = self.prepared.lines.pairs
        values = self._values(list(dict.fromkeys(side for pair in pairs for side in pair)))
        where, ranks = np.zeros(2 * len(pairs), np.int64), np.zeros(2 * len(pairs), np.int64)
        own: dict[Side, tuple[int, NDArray[np.int64]] | None] = {}
        for (left, right), (line, source, span) in pairs.items():
            if values[left].type == values[right].type:
                for side in (left, right):
                    if side not in own:
                        own[side] = self._put_keys(side, own_keys(values[side]))
                put = own[left], own[right]
            else:
                put = None, None
            if put[0] is None or put[1] is None:
                keys = joint_keys(values[left], values[right], source, span)
                put = self._put_keys(left, keys[0]), self._put_keys(right, keys[1])
            for number, side, found in zip((line, line + 1), (left, right), put, strict=True):
                assert found is not None  # keys of both are there by now
                where[number], self._line_keys[number] = found
                ranks[number] = self._rank_of(side)
        return where, ranks

    def _put_keys(self, side: Side, keys: NDArray[np.int64] | None) -> tuple[int, NDArray[np.int64]] | None:
        """Where the keys of the events of a type are put, and these; by row if types are not told by names."""
        if keys is None:
            return None
        if side[1] is not None and named_type(side[1]) is None:
            spread = np.full(self.n_rows, NULL_KEY)
            spread[self.type_rows(side[1])] = keys
            keys = spread
        return self.put(keys), keys

    def keys_of(self, label: int, line: int) -> int:
        """Where the keys of the rows of a leaf stand."""
        leaf = self.prepared.symbols.leaves[label]
        where, ranks = self.lines
        if not leaf.own and (ranks[line] or leaf.type is None):
            return int(where[line])  # the leaf has all rows of its type
        return self.put(self.keys_at(line, self.leaf_rows(label)))

    def keys_at(self, line: int, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """The keys of some rows, which must be of the line's type."""
        _, ranks = self.lines
        keys: NDArray[np.int64] = self._line_keys[line][self._rank_lines[ranks[line]][rows]]
        return keys

    def _rank_of(self, side: Side) -> int:
        named = named_type(side[1])
        return 0 if named is None else self._ranks[named[0]]

    def _values(self, sides: list[Side]) -> dict[Side, pa.Array]:
        """What each side reads of the events of its type."""
        by_type: dict[Expression | None, list[Expression]] = {}
        for expression, type_ in sides:
            by_type.setdefault(type_, []).append(expression)
        found: dict[Side, pa.Array] = {}
        for type_, expressions in by_type.items():
            names = [node.column for one in expressions for node in walk(one) if isinstance(node, ColumnAt)]
            table = self.take(names, self.type_rows(type_))
            columns = project_rows(expressions, table, self.evaluator)
            found |= {(one, type_): plain(column) for one, column in zip(expressions, columns, strict=True)}
        return found
