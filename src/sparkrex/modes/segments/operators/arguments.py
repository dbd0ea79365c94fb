"""What aggregates over segments read: columns of numbers. Arguments that are expressions become columns first.

`avg(a - b)` speaks of one row at a time, so the host computes `a - b` once for every row, and the aggregate is over
that column. On Spark that has happened before the rows come to a worker.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import floats_of, ints_of, kind_of, nulls_of, plain
from sparkrex.errors import AnalysisError, ExecutionError
from sparkrex.matching.row_values import row_values
from sparkrex.modes.segments.aggregates.registry import find, is_of_segments
from sparkrex.modes.segments.operators.decimals import Decimals, is_decimal
from sparkrex.modes.segments.operators.series import Column
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, Target, aggregates, references
from sparkrex.scalar.render.duckdb import render

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.scalar.expression import Expression
    from sparkrex.scalar.render.renderer import Leaf

_WHOLE = ("int", "bool", "date", "timestamp", "time")


def with_argument_columns(
    search: SegmentSearch, table: pa.Table, evaluator: Evaluator
) -> tuple[SegmentSearch, pa.Table]:
    """The search whose aggregates over segments have columns as arguments, and the table with these columns."""
    arguments = _Arguments(set(table.column_names))
    definitions = tuple(
        one if one.condition is None else replace(one, condition=arguments.named(one.condition, lambda _: True))
        for one in search.definitions
    )
    measures = tuple(
        replace(one, expression=arguments.named(one.expression, lambda node: is_of_segments(node.function)))
        for one in search.measures
    )
    if not arguments.names:
        return search, table
    for name, values in zip(arguments.names.values(), row_values(list(arguments.names), table, evaluator), strict=True):
        table = table.append_column(name, values)
    return replace(search, definitions=definitions, measures=measures), table


@dataclass(slots=True)
class _Arguments:
    """Collects expressions of one row, and gives each a name that no column has: as it is written."""

    taken: set[str]
    names: dict[Expression, str] = field(default_factory=dict)

    def named(self, expression: Expression, is_meant: Callable[[Aggregate], bool]) -> Expression:
        """The expression with columns in the place of other arguments."""
        match expression:
            case Aggregate(arguments=arguments) if is_meant(expression):
                found = find(expression.function)
                n_columns = len(arguments) if found is None else found.arity
                columns = tuple(map(self._column, arguments[:n_columns]))
                return replace(expression, arguments=(*columns, *arguments[n_columns:]))
            case Call(operands=operands):
                return replace(expression, operands=tuple(self.named(operand, is_meant) for operand in operands))
            case _:
                return expression

    def _column(self, argument: Expression) -> Expression:
        if isinstance(argument, ColumnAt):
            return argument
        # Analysis has made sure that all of them mean the same row.
        target = next((reference.target for reference in references(argument)), Target())
        row = _at_each_row(argument)
        if row not in self.names:
            name = render(row, _write_leaf)
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            self.names[row] = name
        return ColumnAt(target, self.names[row], span=argument.span)


def _at_each_row(expression: Expression) -> Expression:
    match expression:
        case ColumnAt():
            return replace(expression, target=Target())
        case Call(operands=operands):
            return replace(expression, operands=tuple(map(_at_each_row, operands)))
        case _:
            return expression


def _write_leaf(leaf: Leaf) -> str:
    return leaf.column if isinstance(leaf, ColumnAt) else str(leaf)


def check_numbers(search: SegmentSearch, schema: pa.Schema) -> None:
    """Refuse aggregates over segments of what is no number, where analysis did not know the type."""
    called = [node for one in search.definitions if one.condition is not None for node in aggregates(one.condition)]
    measured = [node for measure in search.measures for node in aggregates(measure.expression)]
    called += [node for node in measured if is_of_segments(node.function)]
    for node in called:
        for argument in node.arguments if node.function != "count" else ():
            if isinstance(argument, ColumnAt) and not is_number(type_ := schema.field(argument.column).type):
                raise AnalysisError(
                    "REX214", f"{node.function} needs numbers, dates or timestamps, not {type_}", search.source,
                    argument.span or node.span, hint="cast the column in the input, if it holds numbers",
                )


def is_number(type_: pa.DataType) -> bool:
    """Whether values of the type can be added up or compared as numbers; times count as such."""
    kind = kind_of(type_)
    is_other_number = pa.types.is_integer(type_) or pa.types.is_decimal(type_)
    return is_other_number or (kind is not None and kind.name not in ("string", "interval", "bool"))


def has_exact_differences(type_: pa.DataType) -> bool:
    """Whether last minus first is, among the numbers of a column, what SQL says: decimals would be rounded."""
    kind = kind_of(type_)
    return kind is not None and kind.name in ("int", "float", "date", "timestamp", "time")


def _microseconds(times: pa.Array) -> pa.Array:
    try:
        return times.cast(pa.timestamp("us", times.type.tz))
    except pa.ArrowInvalid as error:
        raise ExecutionError(
            "REX414", "a time has nanoseconds, and this is computed in microseconds", None, None,
            hint="round it in the input, for example CAST(ts AS TIMESTAMP)",
        ) from error


def number_column(values: pa.ChunkedArray) -> Column:
    """A column as numbers, times in microseconds; of one that holds none, only what is NULL."""
    array = plain(values)
    nulls = nulls_of(array) if array.null_count else None
    if pa.types.is_timestamp(array.type):
        array = _microseconds(array)  # windows are in microseconds
    elif pa.types.is_time(array.type):
        array = array.cast(pa.time64("us"), safe=False)
    kind = kind_of(array.type)
    if kind is not None and kind.name in _WHOLE:
        return Column(ints_of(array), nulls)
    if not is_number(array.type):
        return Column(np.zeros(len(array), np.int64), nulls)
    if array.type == pa.uint64():
        array = array.cast(pa.float64(), safe=False)  # rounded, as doubles are
    return Column(floats_of(array), nulls, Decimals(array) if is_decimal(array.type) else None)
