"""A MATCH_RECOGNIZE relation after analysis: what matchers are chosen for and the oracle evaluates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sparkrex.modes.plan import Plan, RowsPerMatch

if TYPE_CHECKING:
    from sparkrex.languages.match_recognize.row_pattern import RowPattern
    from sparkrex.modes.plan import Definition, Measure, Skip, Subset
    from sparkrex.scalar.expression import Expression


@dataclass(frozen=True, slots=True)
class PossessiveElement:
    """An element of a pattern whose stars give nothing back: a star takes rows while its condition holds."""

    variables: tuple[str, str]
    """The row pattern variables of its first row and of its later rows; the same one twice if they share it."""
    is_star: bool
    condition: Expression | None
    """Its own condition, references to the row under test named as the current row; None: any row."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRecognize(Plan):
    """One MATCH_RECOGNIZE relation. WITHIN is already part of every definition.

    `timeout` is there under SHOW TIMEOUT MATCHES: what WITHIN asks of a row, whatever its variable.
    `possessive`, if there are any, are elements that say the same as pattern and definitions together do.
    """

    mode: ClassVar[str] = "rows"
    gives_up_starts: ClassVar[bool] = True

    measures: tuple[Measure, ...]
    rows_per_match: RowsPerMatch
    skip: Skip
    pattern: RowPattern
    subsets: tuple[Subset, ...]
    definitions: tuple[Definition, ...]
    possessive: tuple[PossessiveElement, ...] = ()
    timeout: Expression | None = None

    def one_task_advice(self) -> str:
        """See `Plan`."""
        from sparkrex.modes.rows.slice_needs import why_whole

        advice = Plan.one_task_advice(self)
        if why_whole(self) is not None:
            return advice
        return (
            f"{advice}; with the setting slices, tasks share a series in Parquet files named by path if the pattern is "
            "bounded, as by WITHIN (rex.explain says what else it takes)"
        )

    def tested(self) -> tuple[Expression, ...]:
        """The conditions of DEFINE, of elements that give nothing back, and of the window that timeouts end."""
        elements = (element.condition for element in self.possessive if element.condition is not None)
        timeout = () if self.timeout is None else (self.timeout,)
        return (*(definition.condition for definition in self.definitions), *elements, *timeout)

    def definition(self, variable: str) -> Expression | None:
        """The condition of a variable, None if any row will do."""
        for definition in self.definitions:
            if definition.variable == variable:
                return definition.condition
        return None

    def passed_columns(self) -> tuple[str, ...]:
        """Input columns in the output: none under ONE ROW; else order columns first, then the rest.

        A column that PARTITION BY already gives is not repeated.
        """
        if self.rows_per_match is RowsPerMatch.ONE:
            return ()
        return self.order_columns() + self.rest_columns()

    def order_columns(self) -> tuple[str, ...]:
        """Columns that ORDER BY names, once each, without those of PARTITION BY."""
        if self.rows_per_match is RowsPerMatch.ONE:
            return ()
        keys = {key.name for key in self.partition_by}
        return tuple(dict.fromkeys(key.column for key in self.order_by if key.column and key.column not in keys))

    def rest_columns(self) -> tuple[str, ...]:
        """Input columns that neither PARTITION BY nor ORDER BY names; none under ONE ROW."""
        if self.rows_per_match is RowsPerMatch.ONE:
            return ()
        named = {key.name for key in self.partition_by} | set(self.order_columns())
        return tuple(column for column in self.input_columns if column not in named)

    def output_columns(self) -> tuple[str, ...]:
        """Names of the result's columns: partition, order, measures, the rest."""
        if self.output_names is not None:
            return self.output_names
        return (
            tuple(key.name for key in self.partition_by)
            + self.order_columns()
            + tuple(measure.name for measure in self.measures)
            + self.rest_columns()
        )
