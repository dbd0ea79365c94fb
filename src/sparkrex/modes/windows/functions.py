"""Functions over the rows of a match: aggregates, and the value at a row of it.

A row without a match, or with an empty one, sees no rows: a count is 0 there, anything else what the host says of none.
Arguments are computed once for every row of the input, not once for every match that the row is in.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.gather import take_or_null
from sparkrex.columns.values import plain
from sparkrex.matching.output import one_row
from sparkrex.matching.row_values import row_values
from sparkrex.modes.windows.forest import reader_of
from sparkrex.scalar.expression import EACH_ROW, Aggregate, Call, ColumnAt, Literal, is_volatile

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.windows.found import Found
    from sparkrex.modes.windows.plan import PatternWindow, RowValue
    from sparkrex.scalar.expression import Expression


def with_arguments(
    plan: PatternWindow, table: pa.Table, evaluator: Evaluator
) -> tuple[PatternWindow, pa.Table]:
    """The plan and the table with a column for each argument of an aggregate that is not one yet."""
    columns: dict[Expression, str] = {}

    def column_of(expression: Expression) -> Expression:
        if isinstance(expression, ColumnAt | Literal) or is_volatile(expression):
            return expression
        name = columns.setdefault(expression, f"rex_argument_{len(columns)}")
        return ColumnAt(EACH_ROW, name, span=expression.span)

    def rewritten(expression: Expression) -> Expression:
        match expression:
            case Aggregate():
                order = tuple(replace(item, expression=column_of(item.expression)) for item in expression.order_by)
                return replace(
                    expression, arguments=tuple(map(column_of, expression.arguments)), order_by=order,
                    filter=expression.filter,
                )
            case Call(operands=operands):
                return replace(expression, operands=tuple(map(rewritten, operands)))
            case _:
                return expression

    functions = tuple(replace(one, expression=rewritten(one.expression)) for one in plan.functions)
    values = row_values(list(columns), table, evaluator)
    for name, column in zip(columns.values(), values, strict=True):
        table = table.append_column(name, column)
    return replace(plan, functions=functions), table


def aggregate_values(
    plan: PatternWindow, table: pa.Table, arrangement: Arrangement, found: Found, evaluator: Evaluator, threads: int
) -> list[pa.ChunkedArray]:
    """The aggregates over each match, and behind them over no rows."""
    if not plan.functions:
        return []
    reader = reader_of(
        table, arrangement, found.with_none(), None, plan.search_variables(), plan.dialect, evaluator, threads
    )
    return reader.evaluate(
        [function.expression for function in plan.functions], one_row(reader),
        [function.span for function in plan.functions],
    )


def row_of(
    value: RowValue, table: pa.Table, arrangement: Arrangement, found: Found, evaluator: Evaluator
) -> pa.ChunkedArray:
    """The value at a row of each match, NULL for a match that has no such row."""
    (column,) = row_values([value.argument], table, evaluator)
    start, end = found.matches.start, found.matches.end
    if value.ignores_nulls and column.null_count:
        is_valid = plain(column).is_valid().to_numpy(zero_copy_only=False)
        if arrangement.order is not None:
            is_valid = is_valid[arrangement.order]
        present = np.flatnonzero(is_valid)
        before = np.concatenate(([0], np.cumsum(is_valid)))  # how many values stand before a position
        place = before[end] - 1 - value.offset if value.from_last else before[start] + value.offset
        is_inside = (place >= before[start]) & (place < before[end])
        positions = np.full(len(place), -1)
        positions[is_inside] = present[place[is_inside]]
    else:
        positions = end - 1 - value.offset if value.from_last else start + value.offset
        positions = np.where((positions >= start) & (positions < end), positions, -1)
    return take_or_null(column, _input_rows(arrangement, positions))


def _input_rows(arrangement: Arrangement, positions: NDArray[np.int64]) -> NDArray[np.int64]:
    if arrangement.order is None or not len(arrangement.order):
        return positions
    return np.where(positions < 0, -1, arrangement.order[positions])
