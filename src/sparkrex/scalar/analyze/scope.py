"""What names can mean inside one MATCH_RECOGNIZE: columns, variables, union variables, the input's alias."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.dialects.dialect import NormalizationStrategy

from sparkrex.errors import AnalysisError, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from sqlglot import exp
    from sqlglot.dialects.dialect import Dialect

    from sparkrex.source import Source, Span
    from sparkrex.syntax.names import NameRules

_WITHOUT_CASE = {
    NormalizationStrategy.CASE_INSENSITIVE, NormalizationStrategy.CASE_INSENSITIVE_UPPERCASE,
}


@dataclass(frozen=True, slots=True)
class InputColumn:
    """A column of the input: exact name and type, as sqlglot names types."""

    name: str
    type: exp.DataType


@dataclass(frozen=True, slots=True)
class Scope:
    """The names of one clause.

    `variables` are the primary variables of the pattern, `unions` the union variables with their members;
    `aggregate_names` are functions of the host that aggregate, in lower case; `table_columns` gives the column names
    of another table, in lower case, None if they cannot be known; `outer_names` are words of the queries around, in
    lower case.

    `host_dialect` is the SQL of the host. `schema` are the names before the alias of an input that goes by its full
    name. `zero_gives_null` is Spark's division without ANSI mode. `session_variable` gives the type of a variable of
    the Spark session by name, None if there is no such variable. `row_time` is the column of MATCH_ROWTIME(), None
    where no column is the first to order the rows.
    """

    source: Source
    dialect: Dialect
    dialect_name: str
    host_dialect: str
    rules: NameRules
    columns: tuple[InputColumn, ...]
    alias: str | None
    variables: tuple[str, ...]
    unions: dict[str, frozenset[str]]
    aggregate_names: Container[str]
    table_columns: Callable[[str], frozenset[str] | None]
    outer_names: frozenset[str]
    zero_gives_null: bool = False
    schema: tuple[str, ...] = ()
    session_variable: Callable[[str], exp.DataType | None] | None = None
    row_time: str | None = None

    def variable_set(self, name: str) -> frozenset[str] | None:
        """The primary variables of a variable or union variable, None if the name is neither."""
        if name in self.unions:
            return self.unions[name]
        return frozenset((name,)) if name in self.variables else None

    def is_alias(self, name: str) -> bool:
        """Whether the name is the input's own."""
        return self.alias is not None and name.lower() == self.alias.lower()

    def count_qualifiers(self, names: list[str]) -> int:
        """How many of the first names are the input's own: `t.x` has one, `s.t.x` two if the input is `s.t`."""
        path = [*(name.lower() for name in self.schema), *([] if self.alias is None else [self.alias.lower()])]
        folded = [name.lower() for name in names]
        fitting = (n for n in range(len(path), 0, -1) if folded[:n] == path[-n:] and len(names) > n)
        return next(fitting, 0)

    def nulls_come_first(self, *, is_descending: bool) -> bool:
        """Where NULLs sort when the query does not say."""
        match self.dialect.NULL_ORDERING:
            case "nulls_are_small":
                return not is_descending
            case "nulls_are_large":
                return is_descending
            case _:
                return False

    def find_column(self, name: str, span: Span) -> InputColumn | None:
        """The column of that name, matched without regard to case.

        Where the dialect's quoted names have a case, an exact spelling wins; elsewhere x and X are one name.
        """
        found = [column for column in self.columns if column.name.lower() == name.lower()]
        if len(found) > 1:
            exact = [column for column in found if column.name == name]
            if len(exact) == 1 and self.dialect.normalization_strategy not in _WITHOUT_CASE:
                return exact[0]
            names = ", ".join(column.name for column in found)
            raise AnalysisError(
                "REX202", f"column {name} is ambiguous: {names}", self.source, span,
                hint="give one of them another name before the query reads them",
            )
        return found[0] if found else None

    def column(self, name: str, span: Span) -> InputColumn:
        """The column of that name, or an error that suggests one."""
        found = self.find_column(name, span)
        if found is None:
            names = [column.name for column in self.columns]
            hint = nearest(name, names) or f"the input has {', '.join(names) or 'no columns'}"
            raise AnalysisError("REX201", f"column {name} does not exist in the input", self.source, span, hint=hint)
        return found
