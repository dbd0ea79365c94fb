"""Conditions over segments that only the host can evaluate: `ln(last(x) / first(x)) > 0.1`. Slow, and complete.

What a condition reads of the segments becomes the columns of a table, a row for every segment, and the host computes
the rest of it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.errors import AnalysisError
from sparkrex.evaluate.blocks import Value
from sparkrex.scalar.expression import Call, ColumnAt, Difference
from sparkrex.scalar.render.duckdb import render
from sparkrex.scalar.render.renderer import leaves

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.columns.values import Kind
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.segments.operators.conditions import SegmentBlock
    from sparkrex.scalar.expression import Expression
    from sparkrex.scalar.render.renderer import Leaf
    from sparkrex.source import Source


class HostCondition:
    """A condition as the host's SQL. `aggregates` and `decimals` have the kinds and values of those leaves."""

    def __init__(
        self, expression: Expression, aggregates: dict[Leaf, tuple[Kind, Callable[[SegmentBlock], Value]]],
        decimals: dict[Leaf, tuple[pa.DataType, Callable[[SegmentBlock], pa.Array]]],
        places: dict[Leaf, int], table: pa.Table, evaluator: Evaluator, source: Source,
    ) -> None:
        self.expression = expression
        self.aggregates = aggregates
        self.decimals = decimals
        self.places = places
        self.table = table
        self.evaluator = evaluator
        names = {leaf: f"rex_rows.c{number}" for number, leaf in enumerate(leaves(expression))}
        self.leaves = list(names)
        self.text = render(_with_differences(expression, table.schema), names.__getitem__)
        nothing = pa.table(
            {f"c{n}": pa.nulls(0, self._type(leaf)) for n, leaf in enumerate(self.leaves)} or {"c": pa.nulls(0)}
        )
        (found,) = evaluator.evaluate([self.text], nothing, [expression.span])
        if not (pa.types.is_boolean(found.type) or pa.types.is_null(found.type)):
            raise AnalysisError("REX214", f"a condition is a boolean, not {found.type}", source, expression.span)

    def _type(self, leaf: Leaf) -> pa.DataType:
        if isinstance(leaf, ColumnAt):
            return self.table.schema.field(leaf.column).type
        if leaf in self.decimals:
            return self.decimals[leaf][0]
        kind, _ = self.aggregates[leaf]
        return _TYPES.get(kind.name) or pa.timestamp("us", "UTC" if "zoned" in str(kind.detail) else None)

    def run(self, block: SegmentBlock) -> Value:
        """Where the condition holds."""
        columns = {f"c{number}": self._values(leaf, block) for number, leaf in enumerate(self.leaves)}
        table = pa.table(columns or {"c": pa.nulls(block.length, pa.int8())})
        (found,) = self.evaluator.evaluate([self.text], table, [self.expression.span])
        array = plain(found.cast(pa.bool_()))
        return Value(numpy_of(array.fill_null(False)), numpy_of(array.is_null()))

    def _values(self, leaf: Leaf, block: SegmentBlock) -> pa.ChunkedArray:
        if isinstance(leaf, ColumnAt):
            positions, missing = block.positions(self.places[leaf])
            rows = positions if missing is None else np.where(missing, -1, positions)
            return take_or_null(self.table.column(leaf.column), rows)
        if leaf in self.decimals:
            return pa.chunked_array([self.decimals[leaf][1](block)])
        value = self.aggregates[leaf][1](block)
        data = np.ascontiguousarray(np.broadcast_to(value.data, (block.length,)))
        nulls = None if value.nulls is None else np.broadcast_to(value.nulls, (block.length,))
        type_ = self._type(leaf)
        array = wrap(data.astype(np.int32) if pa.types.is_date32(type_) else data, nulls)
        return pa.chunked_array([array if array.type == type_ else array.view(type_)])


_TYPES = {"int": pa.int64(), "float": pa.float64(), "bool": pa.bool_(), "date": pa.date32()}


def _with_differences(expression: Expression, schema: pa.Schema) -> Expression:
    """The expression with last minus first of a window that is a condition as the types of its columns have it."""
    if not isinstance(expression, Call):
        return expression
    inside = tuple(_with_differences(operand, schema) for operand in expression.operands)
    expression = replace(expression, operands=inside)
    if expression.difference is not Difference.NUMBER:
        return expression
    types = [schema.field(operand.column).type for operand in inside if isinstance(operand, ColumnAt)]
    if all(pa.types.is_timestamp(type_) or pa.types.is_time(type_) for type_ in types):
        is_zoned = any(pa.types.is_timestamp(type_) and type_.tz is not None for type_ in types)
        return replace(expression, function="zoned_microseconds_between" if is_zoned else "microseconds_between")
    is_whole = all(map(pa.types.is_integer, types))
    return replace(expression, function="whole_difference" if is_whole else "subtract")
