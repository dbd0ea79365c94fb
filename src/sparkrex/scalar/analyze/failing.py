"""Whether an operator or function can raise an error, where the types of its operands settle that.

Adding doubles cannot fail, adding integers can; `hour(x)` fails on no timestamp but on some strings; comparing a string
with a number casts the string. Takes sqlglot nodes and their types; what types do not settle is left to the function's
name, which `scalar.guards` knows.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.scalar.guards import is_safe_name

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparkrex.scalar.analyze.sqlglot_types import NodeTypes

_Type = exp.DataType.Type
_TIMES = {_Type.DATE, _Type.DATE32, _Type.TIMESTAMP, _Type.TIMESTAMPTZ, _Type.TIMESTAMPLTZ, _Type.TIMESTAMPNTZ}
_TEXTS = exp.DataType.TEXT_TYPES
_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Abs)
# Functions of dates and times that fail only where they are given a string that is neither.
_OF_TIMES = {
    "year", "month", "day", "dayofmonth", "dayofweek", "dayofyear", "weekofyear", "weekday", "quarter", "hour",
    "minute", "second", "extract", "lastday", "timestamptrunc", "datetrunc", "monthsbetween", "datediff",
    "timestampdiff", "timetostr", "dayname", "monthname", "tsordstodate", "unix_date", "unixdate", "unix_seconds",
    "unixseconds", "unix_millis", "unixmillis", "unix_micros", "unixmicros",
}


def can_fail(node: exp.Expr, types: NodeTypes) -> bool | None:
    """Whether the node itself can fail, its operands left aside; None if its types do not say."""
    operands = [part.unnest() for part in _operands(node)]
    if isinstance(node, _COMPARISONS) or (isinstance(node, exp.Between | exp.In) and not node.args.get("query")):
        # A literal is cast once, whatever the rows hold.
        compared = _known_types([part for part in operands if not isinstance(part, exp.Literal)], types)
        is_text = [kind in _TEXTS for kind in compared]
        has_number = any(isinstance(part, exp.Literal) and not part.is_string for part in operands)
        return any(is_text) and (has_number or not all(is_text))
    known = _known_types(operands, types)
    if isinstance(node, _ARITHMETIC):
        return not (_are_numbers(known) and len(known) == len(operands) and any(map(_is_floating, known)))
    if isinstance(node, exp.Cast):
        is_time = isinstance(node.this, exp.Literal) and _is_time(node.this.name, node.to.this)
        return not (isinstance(node, exp.TryCast) or is_time or _always_fits(known, node.to.this))
    name = node.name.lower() if isinstance(node, exp.Anonymous) else node.key
    if name in _OF_TIMES:
        return not (len(known) == len(operands) and all(kind in _TIMES for kind in known))
    return None


def can_whole_fail(node: exp.Expr, types: NodeTypes) -> bool:
    """Whether the node or anything under it can fail."""
    for part in node.walk():
        if isinstance(part, exp.Query) and isinstance(part.parent, exp.Exists | exp.In | exp.Subquery):
            continue  # any number of rows will do; of a scalar subquery, `Subquery` stands for it
        if isinstance(part, exp.Func | exp.Binary | exp.Unary | exp.Bracket | exp.Query | exp.Between | exp.In):
            decided = can_fail(part, types)
            name = part.name.lower() if isinstance(part, exp.Anonymous) else part.key
            if decided or (decided is None and not isinstance(part, exp.Paren) and not is_safe_name(name)):
                return True
    return False


def _operands(node: exp.Expr) -> Iterable[exp.Expr]:
    """What the node computes with: not units, formats and target types."""
    if isinstance(node, exp.Anonymous):
        return [part for part in node.expressions if isinstance(part, exp.Expr)]
    if isinstance(node, exp.Extract):
        return [node.expression]
    return [
        part
        for key, value in node.args.items() if key not in ("unit", "format", "to", "zone")
        for part in (value if isinstance(value, list) else [value])
        if isinstance(part, exp.Expr) and not isinstance(part, exp.Var)
    ]


def _known_types(nodes: list[exp.Expr], types: NodeTypes) -> list[exp.DType]:
    """The types of those nodes that have one."""
    kinds = [types.get(id(node)) for node in nodes]
    return [kind.this for kind in kinds if kind is not None and kind.this not in (_Type.UNKNOWN, _Type.NULL)]


def _are_numbers(kinds: list[exp.DType]) -> bool:
    return all(kind in exp.DataType.NUMERIC_TYPES for kind in kinds)


def _is_floating(kind: exp.DType) -> bool:
    return kind in exp.DataType.FLOAT_TYPES


def _is_time(text: str, target: exp.DType) -> bool:
    """Whether the text of a literal, `DATE '2024-01-31'`, is a value of that type."""
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return target in _TIMES


def _always_fits(source: list[exp.DType], target: exp.DType) -> bool:
    """Whether every value of the one type has a value in the other."""
    if target in _TEXTS:
        return True
    if len(source) != 1:
        return False
    (kind,) = source
    if kind in _TIMES:
        return target in _TIMES
    if kind in exp.DataType.NUMERIC_TYPES:
        widths = [_Type.TINYINT, _Type.SMALLINT, _Type.INT, _Type.BIGINT]
        is_wider = kind in widths and target in widths and widths.index(kind) <= widths.index(target)
        return _is_floating(target) or is_wider
    return False
