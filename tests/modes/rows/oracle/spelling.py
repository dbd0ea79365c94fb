"""What a call means where its name and operands do not say it all.

The analysis names a function after sqlglot's class and keeps the rest as syntax: which side is trimmed or padded, the
unit of a date function, a DISTINCT or FILTER inside an aggregate that only the host knows. The oracle reads these from
the tree, or says that it cannot.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from sqlglot import exp
from tests.modes.rows.oracle.errors import CannotEvaluate

if TYPE_CHECKING:
    from sparkrex.scalar.expression import Aggregate, Call

# `skewness({0})`, `foo({0}, {1})`
_PLAIN_AGGREGATE = re.compile(r"\w+\((\{\d+\}(, )?)*\)\Z")


def spelled(call: Call) -> tuple[str, tuple[Any, ...]]:
    """The function's name, and first operands that stand in its syntax only."""
    if call.units is not None:
        return call.units.value, (str(call.unit).lower(),)
    match None if call.syntax is None else call.syntax.tree:
        case exp.Trim() as trim:
            side = str(trim.args.get("position") or "").upper()
            return {"": "trim", "BOTH": "trim", "LEADING": "ltrim", "TRAILING": "rtrim"}[side], ()
        case exp.Pad() as pad:
            return "lpad" if pad.args.get("is_left") else "rpad", ()
        case exp.Extract() as extract if len(call.operands) == 1:
            return "extract", (extract.name.lower(),)
        case exp.TimestampTrunc() | exp.DateTrunc() as truncated if len(call.operands) == 1:
            return "date_trunc", (truncated.text("unit").lower(),)
    return call.function, ()


def check_plain(aggregate: Aggregate) -> None:
    """Refuse an aggregate whose syntax says more than its fields."""
    if aggregate.syntax is not None and not _PLAIN_AGGREGATE.match(aggregate.syntax.text):
        raise CannotEvaluate(f"aggregate {aggregate.syntax.text}")
