"""Expressions of one row that workers evaluate as Spark does, computed by Arrow.

The language is small on purpose: what cannot fail, and has one meaning whatever the session. Comparisons of values of
one type, AND, OR, NOT, IS NULL, and sums, differences and products of doubles. NaN equals NaN and is above every
number, as in Spark; strings are compared by their bytes. `row_sql` reads expressions from Spark's SQL; whatever is
outside makes a query take the ordinary way. `tests/spark/test_files.py` compares every form with Spark's own value.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import pyarrow as pa
import pyarrow.compute as pc


class OutsideError(Exception):
    """What is read is not in the language; the text says what it is."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the files."""

    name: str
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Constant:
    """A value; dates are days and times microseconds since 1970."""

    value: Any
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Operation:
    """A function of the language over its operands."""

    function: str
    operands: tuple[Row, ...]
    type: pa.DataType


Row: TypeAlias = Column | Constant | Operation


def columns_in(row: Row) -> set[str]:
    """The columns that an expression reads."""
    match row:
        case Column(name):
            return {name}
        case Operation(_, operands):
            return set().union(*map(columns_in, operands))
        case _:
            return set()


def evaluate(row: Row, table: pa.Table) -> pa.ChunkedArray | pa.Array:
    """The values of an expression."""
    match row:
        case Column(name):
            return table.column(name)
        case Constant(value, kind):
            return pa.repeat(_scalar(value, kind), table.num_rows)
        case Operation(function, operands):
            values = [_operand(operand, table) for operand in operands]
            return _apply(function, values, operands[0].type)


def _operand(row: Row, table: pa.Table) -> Any:
    return _scalar(row.value, row.type) if isinstance(row, Constant) else evaluate(row, table)


def _scalar(value: Any, kind: pa.DataType) -> pa.Scalar:
    return pa.scalar(value, kind)


def _apply(function: str, values: list[Any], kind: pa.DataType) -> Any:
    match function:
        case "and" | "or":
            combined = values[0]
            for value in values[1:]:
                combined = pc.and_kleene(combined, value) if function == "and" else pc.or_kleene(combined, value)
            return combined
        case "not":
            return pc.invert(values[0])
        case "is_null":
            return pc.is_null(values[0])
        case "widen":
            return pc.cast(values[0], pa.float64() if pa.types.is_floating(kind) else pa.int64())
        case "add":
            return pc.add(*values)
        case "subtract":
            return pc.subtract(*values)
        case "multiply":
            return pc.multiply(*values)
        case "same":
            left, right = values
            is_same = pc.fill_null(_comparison("eq", left, right, kind), False)
            return pc.or_(is_same, pc.and_(pc.is_null(left), pc.is_null(right)))
        case _:
            left, right = values
            return _comparison(function, left, right, kind)


def _comparison(function: str, left: Any, right: Any, kind: pa.DataType) -> Any:
    match function:
        case "gt":
            return _comparison("lt", right, left, kind)
        case "ge":
            return pc.invert(_comparison("lt", left, right, kind))
        case "le":
            return pc.invert(_comparison("lt", right, left, kind))
        case "ne":
            return pc.invert(_comparison("eq", left, right, kind))
    if not pa.types.is_floating(kind):
        return pc.less(left, right) if function == "lt" else pc.equal(left, right)
    left_is_nan, right_is_nan = pc.is_nan(left), pc.is_nan(right)
    if function == "eq":
        return pc.or_(pc.equal(left, right), pc.and_(left_is_nan, right_is_nan))
    return pc.or_(pc.less(left, right), pc.and_(right_is_nan, pc.invert(left_is_nan)))
