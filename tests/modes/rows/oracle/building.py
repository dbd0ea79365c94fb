"""Plans and expressions by hand, in the few words that tests need.

`letters("ABBC")` is a table of four rows with the columns `n` (from 0) and `letter`; by default a variable is defined
as its letter, so that a pattern reads like a regular expression over the string.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparkrex.languages.match_recognize.traverse import variables as variables_of
from sparkrex.modes.plan import Definition, Measure, OrderKey, PartitionKey, RowsPerMatch, Skip, SkipTo
from sparkrex.modes.rows.plan import MatchRecognize
from sparkrex.scalar.expression import (
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    End,
    Expression,
    Literal,
    Semantics,
    SortItem,
    Target,
)
from sparkrex.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.languages.match_recognize.row_pattern import RowPattern

PAST_LAST_ROW = Skip(SkipTo.PAST_LAST_ROW)
NEXT_ROW = Skip(SkipTo.NEXT_ROW)


def skip_to_first(*names: str) -> Skip:
    """AFTER MATCH SKIP TO FIRST the variable, or the union of several."""
    return Skip(SkipTo.FIRST, frozenset(names), "|".join(names))


def skip_to_last(*names: str) -> Skip:
    """AFTER MATCH SKIP TO LAST the variable, or the union of several."""
    return Skip(SkipTo.LAST, frozenset(names), "|".join(names))


def letters(text: str) -> list[dict[str, Any]]:
    """One row for each letter; a blank is NULL."""
    return [{"n": number, "letter": None if letter == " " else letter} for number, letter in enumerate(text)]


def target(
    *names: str, end: End = End.LAST, offset: int = 0, shift: int = 0, final: bool = False
) -> Target:
    """A target row; no names means any variable."""
    semantics = Semantics.FINAL if final else Semantics.RUNNING
    return Target(frozenset(names) or None, semantics, end, offset, shift)


def column(name: str, at: Target | None = None) -> ColumnAt:
    """A column at a target, by default at the current row."""
    return ColumnAt(at or Target(), name)


def first(name: str, *names: str, offset: int = 0, shift: int = 0, final: bool = False) -> ColumnAt:
    """FIRST(v.name, offset)."""
    return ColumnAt(target(*names, end=End.FIRST, offset=offset, shift=shift, final=final), name)


def last(name: str, *names: str, offset: int = 0, shift: int = 0, final: bool = False) -> ColumnAt:
    """LAST(v.name, offset)."""
    return ColumnAt(target(*names, offset=offset, shift=shift, final=final), name)


def prev(name: str, shift: int = 1) -> ColumnAt:
    """PREV(name, shift)."""
    return ColumnAt(target(shift=-shift), name)


def following(name: str, shift: int = 1) -> ColumnAt:
    """NEXT(name, shift)."""
    return ColumnAt(target(shift=shift), name)


def classifier(at: Target | None = None) -> ClassifierAt:
    """CLASSIFIER() at a target, by default of the current row."""
    return ClassifierAt(at or Target())


def call(function: str, *operands: Any) -> Call:
    """An operator or function; plain values become literals."""
    return Call(function, tuple(map(expression, operands)))


def aggregate(
    function: str, *arguments: Any, over: Sequence[str] = (), final: bool = False, distinct: bool = False,
    where: Expression | None = None, order_by: Sequence[SortItem] = (),
) -> Aggregate:
    """An aggregate over the rows of some variables; none named means all."""
    semantics = Semantics.FINAL if final else Semantics.RUNNING
    return Aggregate(
        function, tuple(map(expression, arguments)), frozenset(over) or None, semantics, is_distinct=distinct,
        filter=where, order_by=tuple(order_by),
    )


def expression(operand: Any) -> Expression:
    """An expression as it is, any other value as a literal."""
    kinds = (Literal, ColumnAt, ClassifierAt, Call, Aggregate)
    return operand if isinstance(operand, kinds) or hasattr(operand, "span") else Literal(operand)


def order_key(name: str, *, descending: bool = False, nulls_first: bool = True) -> OrderKey:
    """ORDER BY a column."""
    return OrderKey(column(name), descending, nulls_first, name)


def make_plan(
    pattern: RowPattern, *, measures: Mapping[str, Expression] | None = None,
    define: Mapping[str, Expression | None] | None = None, skip: Skip = PAST_LAST_ROW,
    mode: RowsPerMatch = RowsPerMatch.ONE, partition_by: Sequence[str] = (), order_by: Sequence[OrderKey] = (),
    columns: Sequence[str] = ("n", "letter"),
) -> MatchRecognize:
    """A plan; variables that `define` does not name mean their letter, those it maps to None mean any row."""
    conditions: dict[str, Expression | None] = {
        name: call("eq", column("letter"), name) for name in variables_of(pattern)
    }
    conditions.update(define or {})
    return MatchRecognize(
        input_columns=tuple(columns),
        partition_by=tuple(PartitionKey(name, column(name)) for name in partition_by),
        order_by=tuple(order_by),
        measures=tuple(Measure(name, measure) for name, measure in (measures or {}).items()),
        rows_per_match=mode,
        skip=skip,
        pattern=pattern,
        subsets=(),
        definitions=tuple(
            Definition(name, condition) for name, condition in conditions.items() if condition is not None
        ),
        dialect="spark",
        source=Source(""),
        span=Span(0, 0),
    )
