"""Conjuncts written so that a bound in time can be seen: a column on its own that must not exceed something.

People write one bound in many ways: `C.ts - INTERVAL '1' HOUR <= A.ts`, or BETWEEN. Search and streams look for
`column <= other + constant`, so that form is what conditions are compiled in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.scalar.expression import Call, ColumnAt, walk
from sparkrex.scalar.intervals import fixed_interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sparkrex.scalar.expression import Expression

def as_bounds(conjunct: Expression, is_time: Callable[[ColumnAt], bool]) -> Iterator[Expression]:
    """Conjuncts that together say the same. An interval that is taken from a time is added to the
    other side.

    `is_time` tells columns of timestamps: a time of day less an interval is one again, and an earlier or a later one.
    """
    match conjunct:
        case Call("between", (value, low, high)) if _is_deterministic(value):
            yield from as_bounds(Call("ge", (value, low), span=conjunct.span), is_time)
            yield from as_bounds(Call("le", (value, high), span=conjunct.span), is_time)
        case Call("lt" | "le" as name, (Call("subtract", (ColumnAt() as value, interval)), limit)) if (
            isinstance(limit, ColumnAt) and fixed_interval(interval) and is_time(value) and is_time(limit)
        ):
            yield Call(name, (value, Call("add", (limit, interval), span=limit.span)), span=conjunct.span)
        case Call("gt" | "ge" as name, (limit, Call("subtract", (ColumnAt() as value, interval)))) if (
            isinstance(limit, ColumnAt) and fixed_interval(interval) and is_time(value) and is_time(limit)
        ):
            yield Call(name, (Call("add", (limit, interval), span=limit.span), value), span=conjunct.span)
        case _:
            yield conjunct


def _is_deterministic(expression: Expression) -> bool:
    return all(node.is_deterministic for node in walk(expression) if isinstance(node, Call))
