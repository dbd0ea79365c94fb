"""Segment searches by hand, in the few words that tests need.

`concat` and `repeat` decide junctions by Definition 2.1 from the parts as given, so `concat(concat(s, p), q)` is the
parenthesised `(S P) Q` and `concat(s, p, q)` the chain `S P Q`.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from sparkrex.modes.plan import Measure, OrderKey, PartitionKey, Skip
from sparkrex.modes.segments.pattern import (
    Alternation,
    And,
    Concatenation,
    Kleene,
    Not,
    PointVariable,
    SegmentPattern,
    SegmentVariable,
    Window,
    children,
)
from sparkrex.modes.segments.plan import SegmentDefinition, SegmentSearch
from sparkrex.scalar.expression import (
    EACH_ROW,
    Aggregate,
    Call,
    ColumnAt,
    End,
    Expression,
    Literal,
    Scalar,
    Semantics,
    Target,
)
from sparkrex.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Sequence


def point(name: str) -> PointVariable:
    """A point variable."""
    return PointVariable(name)


def segment(name: str) -> SegmentVariable:
    """A segment variable."""
    return SegmentVariable(name)


def concat(*items: SegmentPattern) -> Concatenation:
    """One after the other."""
    shares = tuple(
        not (holds_only_points(left) and holds_only_points(right))
        for left, right in pairwise(items)
    )
    return Concatenation(items, shares)


def either(*options: SegmentPattern) -> Alternation:
    """One of them."""
    return Alternation(options)


def both(*items: SegmentPattern) -> And:
    """All of them, on the same segment."""
    return And(items)


def repeat(body: SegmentPattern, minimum: int = 1, maximum: int | None = None) -> Kleene:
    """`body` from `minimum` to `maximum` times; one or more by default."""
    return Kleene(body, minimum, maximum, shares=not holds_only_points(body))


def absent(body: SegmentPattern) -> Not:
    """`~body`."""
    return Not(body)


def holds_only_points(pattern: SegmentPattern) -> bool:
    """Whether no segment variable is in it."""
    return not isinstance(pattern, SegmentVariable) and all(map(holds_only_points, children(pattern)))


def first(variable: str, column: str, offset: int = 0) -> ColumnAt:
    """`first(V.column)`."""
    return ColumnAt(Target(frozenset({variable}), Semantics.FINAL, End.FIRST, offset), column)


def last(variable: str, column: str, offset: int = 0, shift: int = 0) -> ColumnAt:
    """`last(V.column)`; for point variables also rows at a fixed distance."""
    return ColumnAt(Target(frozenset({variable}), Semantics.FINAL, End.LAST, offset, shift), column)


def aggregate(function: str, variable: str, *columns: str, constants: Sequence[Any] = ()) -> Aggregate:
    """`function(V.column, ..., constant, ...)`."""
    arguments: list[Expression] = [ColumnAt(EACH_ROW, column) for column in columns]
    arguments += [Literal(constant) for constant in constants]
    return Aggregate(function, tuple(arguments), frozenset({variable}), Semantics.FINAL)


def corr(left: tuple[str, str], right: tuple[str, str]) -> Aggregate:
    """`corr(A.x, B.y)`: each argument names its variable."""
    arguments = tuple(last(variable, column) for variable, column in (left, right))
    return Aggregate("corr", arguments, frozenset({left[0], right[0]}), Semantics.FINAL)


def call(function: str, *operands: Expression | float | str | None) -> Call:
    """An operator over expressions and plain values."""
    given = tuple(operand if isinstance(operand, Scalar) else Literal(operand) for operand in operands)
    return Call(function, given)


def ratio(dividend: Expression, divisor: Expression) -> Call:
    """A division as analysis writes it: x / 0 is NULL."""
    return call("divide", dividend, call("nullif", divisor, 0))


def define(
    variable: str, condition: Expression | None = None, *windows: Window, point: bool = False
) -> SegmentDefinition:
    """A variable: a segment unless `point`."""
    return SegmentDefinition(variable, not point, windows, condition)


def rows_window(low: float | None, high: float | None) -> Window:
    """`window(low, high)`."""
    return Window(None, low, high)


def search(
    pattern: SegmentPattern,
    *definitions: SegmentDefinition,
    measured: Sequence[str] = (),
    skip: Skip | None = None,
    columns: Sequence[str] = ("k", "t", "x"),
) -> SegmentSearch:
    """A search partitioned by k and ordered by t; it measures where the match and the measured variables are."""
    whole = (Measure("first_row", call("start_index")), Measure("last_row", call("end_index")))
    of_variables = tuple(
        Measure(f"{name}_{word}", place(name, "t"))
        for name in measured for word, place in (("first", first), ("last", last))
    )
    return SegmentSearch(
        input_columns=tuple(columns),
        partition_by=(PartitionKey("k", ColumnAt(EACH_ROW, "k")),),
        order_by=(OrderKey(ColumnAt(EACH_ROW, "t"), False, False, "t"),),
        measures=whole + of_variables,
        skip=skip,
        pattern=pattern,
        definitions=definitions,
        measured=tuple(measured),
        dialect="duckdb",
        source=Source(""),
        span=Span(0, 0),
    )


def series(*values: Any, key: str = "a") -> list[dict[str, Any]]:
    """Rows of one partition: t counts from 0, x are the values."""
    return [{"k": key, "t": t, "x": x} for t, x in enumerate(values)]
