"""A window with a row pattern after analysis, and what is called over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sparkrex.languages.match_recognize import traverse
from sparkrex.modes.plan import Plan, columns_of

if TYPE_CHECKING:
    from sparkrex.modes.plan import Measure
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Span


@dataclass(frozen=True, slots=True)
class RowValue:
    """`first_value`, `last_value` or `nth_value`: `argument` at the row of the match so far from its first or last.

    With `ignores_nulls` only rows count at which the argument has a value.
    """

    argument: Expression
    offset: int
    from_last: bool
    ignores_nulls: bool

    def __str__(self) -> str:
        end = "last" if self.from_last else "first"
        nulls = " ignoring NULLs" if self.ignores_nulls else ""
        return f"{end}{f' {self.offset}' if self.offset else ''} {self.argument}{nulls}"


@dataclass(frozen=True, slots=True)
class WindowCall:
    """What is called over the window, and its column.

    `measure` is one of the search's by its place; else it is a function over the rows of the match: an `aggregate` by
    its place among the functions of the plan, or the value of a row.
    """

    column: str
    span: Span
    measure: int | None = None
    aggregate: int | None = None
    value: RowValue | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PatternWindow(Plan):
    """One window with a row pattern: a row out for each row in, with the values of its calls.

    `search` is pattern, conditions, AFTER MATCH SKIP and the measures that are called; `functions` are aggregates over
    the rows of a match, which an unmatched row sees as over no rows. `frame_end` is how many rows behind the current
    one the frame ends, None for UNBOUNDED FOLLOWING.
    """

    mode: ClassVar[str] = "windows"
    keyword: ClassVar[str] = "WINDOW"
    returns_keys: ClassVar[bool] = False
    has_side_rows: ClassVar[bool] = False
    needs_whole_partitions: ClassVar[bool] = True
    whole_advice: ClassVar[str] = "MATCH_RECOGNIZE in FROM reads streams"

    measures: tuple[Measure, ...]
    search: MatchRecognize
    functions: tuple[Measure, ...]
    calls: tuple[WindowCall, ...]
    is_seek: bool
    frame_end: Expression | None
    frame_span: Span

    def output_columns(self) -> tuple[str, ...]:
        """The input's columns, then those of the calls."""
        return (*self.input_columns, *(call.column for call in self.calls))

    def search_variables(self) -> tuple[str, ...]:
        """The pattern variables by number."""
        return traverse.variables(self.search.pattern)

    def tested(self) -> tuple[Expression, ...]:
        """The conditions of DEFINE, and where frames end."""
        return self.search.tested() if self.frame_end is None else (*self.search.tested(), self.frame_end)

    def returned(self) -> tuple[Measure, ...]:
        """Measures and functions."""
        return (*self.measures, *self.functions)

    def passed_columns(self) -> tuple[str, ...]:
        """All columns of the input."""
        return self.input_columns

    def searched_columns(self) -> set[str]:
        """Columns that the search reads beside its keys."""
        values = [call.value.argument for call in self.calls if call.value is not None]
        return Plan.searched_columns(self) | columns_of(values)
