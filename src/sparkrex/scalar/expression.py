"""Expressions of DEFINE and MEASURES after analysis.

Every column reference is a (target row, column). Everything that is not a reference, an aggregate or a literal is a
`Call`: an operator or function by its canonical name, with what else its meaning depends on as named attributes. No SQL
is in it: an engine which knows the name may compute it, and for a host `render_duckdb` and `render_spark` write it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Any, TypeAlias

from sparkrex.scalar.forms import written
from sparkrex.syntax.names import quote_name

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.scalar.host_syntax import HostSyntax
    from sparkrex.scalar.units import Units
    from sparkrex.source import Span


class Semantics(Enum):
    """RUNNING sees the match up to the current row, FINAL sees all of it."""

    RUNNING = "RUNNING"
    FINAL = "FINAL"


class End(Enum):
    """From which end of the mapped rows a logical offset counts."""

    FIRST = "FIRST"
    LAST = "LAST"


@dataclass(frozen=True, slots=True)
class Target:
    """The row that a reference reads.

    Among the match's rows mapped to one of `variables` (None: to any), those up to the current row under RUNNING, all
    under FINAL, take the one `offset` rows from the given end; from it go `shift` rows on in the partition (PREV is
    negative). Without such a row the reference is NULL. The default is the current row in DEFINE and in running
    MEASURES. `is_row_time` is for `ROW_TIME` alone.
    """

    variables: frozenset[str] | None = None
    semantics: Semantics = Semantics.RUNNING
    end: End = End.LAST
    offset: int = 0
    shift: int = 0
    is_row_time: bool = False

    def __str__(self) -> str:
        if self.is_row_time:
            return "row time"
        names = "" if self.variables is None else "|".join(quote_name(name) for name in sorted(self.variables)) + " "
        text = f"{names}{self.semantics.value.lower()} {self.end.value.lower()}"
        text += f" {self.offset}" if self.offset else ""
        return text + (f" {self.shift:+d}" if self.shift else "")


EACH_ROW = Target()
"""The target of references inside an aggregate's arguments: the row being aggregated."""

ROW_TIME = Target(semantics=Semantics.FINAL, is_row_time=True)
"""The target of MATCH_ROWTIME(): the match's last row or, which other targets do not have, the row at which an empty
match stands."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """What every expression node has."""

    span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Literal(Scalar):
    """NULL, a boolean, an integer, a decimal or float, or a string: the plain Python value."""

    value: Any

    # To Python 1, 1.0 and true are one value, and so are 0.0 and -0.0; to SQL they are not.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and (type(self.value), repr(self.value)) == (
            type(other.value), repr(other.value)
        )

    def __hash__(self) -> int:
        return hash((type(self.value), repr(self.value)))

    def __str__(self) -> str:
        if self.value is None or isinstance(self.value, Decimal):
            return "NULL" if self.value is None else str(self.value)
        return repr(self.value)


@dataclass(frozen=True, slots=True)
class ColumnAt(Scalar):
    """A column of the input, by its exact name, at a target row."""

    target: Target
    column: str

    def __str__(self) -> str:
        return f"{self.column}[{self.target}]"


@dataclass(frozen=True, slots=True)
class ClassifierAt(Scalar):
    """The name of the variable that the target row is mapped to.

    NULL where the target row is outside the match, or where it is not mapped to one of the target's variables.
    """

    target: Target

    def __str__(self) -> str:
        return f"CLASSIFIER[{self.target}]"


@dataclass(frozen=True, slots=True)
class MatchNumber(Scalar):
    """The sequential number of the match in its partition, from 1."""

    def __str__(self) -> str:
        return "MATCH_NUMBER()"


@dataclass(frozen=True, slots=True)
class MatchStatus(Scalar):
    """What the match is: 'MATCH', 'EMPTY' if it has no row, or 'TIMEOUT' if only a beginning of one was found."""

    def __str__(self) -> str:
        return "MATCH_STATUS()"


class OnZero(Enum):
    """What a division by zero is, where the query's dialect says so; elsewhere it is what it is to the host."""

    FAILS = "fails"
    INFINITE = "infinite"


class Difference(Enum):
    """What the difference of two dates or times is, where the host's own may be something else."""

    INTERVAL = "interval"
    DAYS = "days"
    NUMBER = "number"
    """A window's length: in microseconds, or in days of dates; of numbers a number."""


class Fraction(Enum):
    """What becomes of the fraction when a number is cast to an integer."""

    CUT_OFF = "cut off"
    ROUNDED = "rounded"


@dataclass(frozen=True, slots=True)
class Call(Scalar):
    """An operator or function over operands.

    `syntax` is there for what only the host knows; a call without it is one of ours, whose name says what it means. A
    cast has the name of its type, as DuckDB spells it, as second operand, and in `to` the type as the query's dialect
    has it; a difference in units has its `unit`, and `units` says what counts. `is_deterministic` is false for
    random() and the like; `reads_relation` is true for window functions and subqueries, which only the host can
    evaluate, over the whole input. `can_fail` is set where the types of the operands settle whether an evaluation can
    raise an error; None leaves it to the function's name (`scalar.guards`).
    """

    function: str
    operands: tuple[Expression, ...]
    syntax: HostSyntax | None = None
    on_zero: OnZero | None = field(default=None, kw_only=True)
    difference: Difference | None = field(default=None, kw_only=True)
    to: HostSyntax | None = field(default=None, kw_only=True)
    fraction: Fraction | None = field(default=None, kw_only=True)
    unit: str | None = field(default=None, kw_only=True)
    units: Units | None = field(default=None, kw_only=True, metadata={"later": True})
    is_deterministic: bool = field(default=True, kw_only=True)
    reads_relation: bool = field(default=False, kw_only=True)
    can_fail: bool | None = field(default=None, kw_only=True, compare=False, repr=False)

    def __str__(self) -> str:
        return written(self, [str(operand) for operand in self.operands])


@dataclass(frozen=True, slots=True)
class SortItem:
    """One item of ORDER BY inside an aggregate."""

    expression: Expression
    is_descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class Aggregate(Scalar):
    """An aggregate over the match's rows mapped to `variables` (None: to any), in row order unless `order_by`.

    Arguments, filter and order refer to the aggregated row (`EACH_ROW`). `count(*)` and `count(v.*)` are
    `function="count"` with no argument. `occurrence` tells apart equal aggregates of volatile expressions, which are
    computed for each place they stand at. `syntax` is there for an aggregate that only the host knows.
    """

    function: str
    arguments: tuple[Expression, ...]
    variables: frozenset[str] | None
    semantics: Semantics
    syntax: HostSyntax | None = None
    is_distinct: bool = False
    filter: Expression | None = None
    order_by: tuple[SortItem, ...] = ()
    occurrence: int = field(default=0, kw_only=True, repr=False)

    def __str__(self) -> str:
        names = "" if self.variables is None else " over " + "|".join(sorted(self.variables))
        inner = ", ".join(map(str, self.arguments)) or "*"
        distinct = "DISTINCT " if self.is_distinct else ""
        where = f" filter {self.filter}" if self.filter is not None else ""
        return f"{self.semantics.value.lower()} {self.function}({distinct}{inner}{where}{names})"


Expression: TypeAlias = Literal | ColumnAt | ClassifierAt | MatchNumber | MatchStatus | Call | Aggregate


def parts(expression: Expression) -> tuple[Expression, ...]:
    """The direct sub-expressions. An aggregate's arguments count: they are evaluated for other rows."""
    match expression:
        case Call():
            return expression.operands
        case Aggregate():
            extra = () if expression.filter is None else (expression.filter,)
            return expression.arguments + extra + tuple(item.expression for item in expression.order_by)
        case _:
            return ()


def walk(expression: Expression) -> Iterator[Expression]:
    """The expression and everything under it, parents first."""
    pending = [expression]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(parts(node)))


def is_volatile(expression: Expression) -> bool:
    """Whether two evaluations over the same rows may differ."""
    return any(not node.is_deterministic for node in walk(expression) if isinstance(node, Call))


def references(expression: Expression) -> Iterator[ColumnAt | ClassifierAt]:
    """Column and classifier references outside aggregates, left to right."""
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, ColumnAt | ClassifierAt):
            yield node
        elif isinstance(node, Call):
            pending.extend(reversed(node.operands))


def aggregates(expression: Expression) -> Iterator[Aggregate]:
    """The aggregates in an expression, left to right."""
    return (node for node in walk(expression) if isinstance(node, Aggregate))
