"""Expressions of Spark's SQL as expressions that workers evaluate, or what of them is outside that language.

Both sides of a comparison are values of one type. A literal takes the type of the other side where Spark would compare
so: integers as the widest integers, decimals beside doubles as doubles, texts beside dates and times as these.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlglot import exp

from sparkrex.spark.files.row_language import Column, Constant, Operation, OutsideError, Row

if TYPE_CHECKING:
    from collections.abc import Mapping

_EPOCH = dt.datetime(1970, 1, 1)
_UTC = ("utc", "etc/utc", "gmt", "z", "+00:00")
_ISO_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_ISO_TIME = re.compile(r"\d{4}-\d{2}-\d{2}([ T]\d{2}:\d{2}:\d{2}(\.\d{1,6})?)?")
_EXACT, _EXACT_FLOAT = 1 << 53, 1 << 24
_MOST_DIGITS = 15
"""Decimals of so many digits have one nearest double, whoever looks for it."""
_COMPARED: dict[type[exp.Expr], str] = {
    exp.EQ: "eq", exp.NEQ: "ne", exp.LT: "lt", exp.LTE: "le", exp.GT: "gt", exp.GTE: "ge", exp.NullSafeEQ: "same",
}
_COMPUTED: dict[type[exp.Expr], str] = {exp.Add: "add", exp.Sub: "subtract", exp.Mul: "multiply"}


def read_row(tree: exp.Expr, types: Mapping[str, pa.DataType]) -> Row:
    """An expression of Spark's SQL over columns of these types, whose names are exact."""
    match tree:
        case exp.Paren():
            return read_row(tree.this, types)
        case exp.Column():
            return Column(tree.name, types[tree.name])
        case exp.Boolean():
            return Constant(bool(tree.this), pa.bool_())
        case exp.And() | exp.Or():
            sides = tuple(_truth(side, types) for side in (tree.left, tree.right))
            return Operation("and" if isinstance(tree, exp.And) else "or", sides, pa.bool_())
        case exp.Not():
            return Operation("not", (_truth(tree.this, types),), pa.bool_())
        case exp.Is() if isinstance(tree.expression, exp.Null):
            return Operation("is_null", (read_row(tree.this, types),), pa.bool_())
        case exp.Between():
            low = _compared("ge", tree.this, tree.args["low"], types)
            high = _compared("le", tree.this, tree.args["high"], types)
            if tree.args.get("symmetric"):
                raise OutsideError("BETWEEN SYMMETRIC")
            return Operation("and", (low, high), pa.bool_())
        case exp.In() if tree.expressions and not tree.args.get("query"):
            tests = tuple(_compared("eq", tree.this, item, types) for item in tree.expressions)
            return Operation("or", tests, pa.bool_())
    if type(tree) in _COMPARED:
        return _compared(_COMPARED[type(tree)], tree.this, tree.expression, types)
    if type(tree) in _COMPUTED:
        left, right = _alike(tree.this, tree.expression, types)
        if left.type != pa.float64():
            raise OutsideError(f"{_shown(tree)}, which can leave the range of its type")
        return Operation(_COMPUTED[type(tree)], (left, right), pa.float64())
    raise OutsideError(_shown(tree))


def _truth(tree: exp.Expr, types: Mapping[str, pa.DataType]) -> Row:
    found = read_row(tree, types)
    if found.type != pa.bool_():
        raise OutsideError(f"{_shown(tree)} as a condition")
    return found


def _compared(
    function: str, left: exp.Expr, right: exp.Expr, types: Mapping[str, pa.DataType]
) -> Operation:
    return Operation(function, _alike(left, right, types), pa.bool_())


def _alike(left: exp.Expr, right: exp.Expr, types: Mapping[str, pa.DataType]) -> tuple[Row, Row]:
    """Both sides as values of one type, at least one of them no literal."""
    left, right = left.unnest(), right.unnest()
    first, second = (None if _is_literal(side) else read_row(side, types) for side in (left, right))
    if first is None and second is None:
        raise OutsideError(f"{_shown(left)} beside {_shown(right)}")
    if first is None:
        assert second is not None
        second = _widened(second, left)
        return _constant(left, second.type), second
    first = _widened(first, right)
    if second is None:
        return first, _constant(right, first.type)
    second = _widened(second, left)
    if first.type != second.type:
        raise OutsideError(f"{_shown(left)} of type {first.type} beside {_shown(right)} of type {second.type}")
    return first, second


def _widened(row: Row, beside: exp.Expr) -> Row:
    """Integers as the widest ones, single precision as double where a literal decides it."""
    if pa.types.is_signed_integer(row.type):
        return row if row.type == pa.int64() else Operation("widen", (row,), pa.int64())
    if row.type == pa.float32() and _is_literal(beside):
        number = beside.this if isinstance(beside, exp.Neg) else beside
        if isinstance(number, exp.Literal) and number.name.isdecimal() and int(number.name) > _EXACT_FLOAT:
            raise OutsideError(f"{_shown(beside)} beside a value of type {row.type}")  # it may become a float first
        return Operation("widen", (row,), pa.float64())
    known = (pa.bool_(), pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.date32())
    if row.type in known or (pa.types.is_timestamp(row.type) and row.type.unit == "us"):
        return row
    raise OutsideError(f"a comparison of {row.type}")


def _is_literal(tree: exp.Expr) -> bool:
    match tree:
        case exp.Literal() | exp.Boolean():
            return True
        case exp.Neg():
            return isinstance(tree.this, exp.Literal)
        case exp.Cast():
            return isinstance(tree.this, exp.Literal) and tree.this.is_string
        case _:
            return False


def _constant(tree: exp.Expr, kind: pa.DataType) -> Constant:
    """A literal as a value of the type of the other side, where Spark would compare it so."""
    match tree:
        case exp.Boolean() if kind == pa.bool_():
            return Constant(bool(tree.this), kind)
        case exp.Literal(is_string=True):
            return Constant(_of_text(tree.name, kind, tree), kind)
        case exp.Literal():
            return Constant(_of_number(tree.name, kind, tree), kind)
        case exp.Neg():
            return Constant(_of_number(f"-{tree.this.name}", kind, tree), kind)
        case exp.Cast():
            target = tree.to.this
            is_date = target == exp.DataType.Type.DATE and kind == pa.date32()
            zoned = (exp.DataType.Type.TIMESTAMP, exp.DataType.Type.TIMESTAMPTZ, exp.DataType.Type.TIMESTAMPLTZ)
            is_time = pa.types.is_timestamp(kind) and (
                (target in zoned and kind.tz is not None)
                or (target == exp.DataType.Type.TIMESTAMPNTZ and kind.tz is None)
            )
            if is_date or is_time:
                return Constant(_of_text(tree.this.name, kind, tree), kind)
    raise OutsideError(f"{_shown(tree)} beside a value of type {kind}")


def _of_number(text: str, kind: pa.DataType, tree: exp.Expr) -> int | float:
    """A literal without an exponent: with one it is a double, and Spark reads it by itself."""
    if re.fullmatch(r"-?\d+", text) and pa.types.is_integer(kind) and -(1 << 63) <= int(text) < 1 << 63:
        return int(text)
    if kind == pa.float64() and re.fullmatch(r"-?\d+(\.\d*)?|-?\.\d+", text):
        digits = Decimal(text)
        if len(digits.as_tuple().digits) <= _MOST_DIGITS and abs(digits) <= _EXACT:
            return float(digits)
    raise OutsideError(f"{_shown(tree)} beside a value of type {kind}")


def _of_text(text: str, kind: pa.DataType, tree: exp.Expr) -> str | int:
    if kind == pa.string():
        return text
    try:
        if kind == pa.date32() and _ISO_DATE.fullmatch(text):
            return (dt.date.fromisoformat(text) - _EPOCH.date()).days
        if pa.types.is_timestamp(kind) and _ISO_TIME.fullmatch(text) and (kind.tz is None or kind.tz.lower() in _UTC):
            return (dt.datetime.fromisoformat(text) - _EPOCH) // dt.timedelta(microseconds=1)
    except ValueError:
        pass  # Spark says what is wrong with it
    raise OutsideError(f"{_shown(tree)} beside a value of type {kind}")


def _shown(tree: exp.Expr) -> str:
    text = tree.sql(dialect="spark")
    return text if len(text) <= 60 else f"{text[:57]}..."
