"""A MATCH_RECOGNIZE relation in segments after analysis: what the planner plans and the oracle evaluates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sparkrex.modes.plan import Plan

if TYPE_CHECKING:
    from sparkrex.modes.plan import Measure, Skip, Subset
    from sparkrex.modes.segments.pattern import SegmentPattern, Window
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Span


@dataclass(frozen=True, slots=True)
class SegmentDefinition:
    """A variable of a segment pattern.

    `windows` are the conjuncts that bound the segment's length; `condition` is the rest, None if there is none. In it
    `ColumnAt` has the target's variables set (exactly one, FINAL, FIRST or LAST with an offset), `Aggregate` likewise:
    this variable's own name for the segment under test, another's for a segment matched elsewhere. A point variable's
    condition may also read rows at a fixed distance (`shift`).

    An aggregate of pairs, `corr(A.x, B.x)`, has both variables in `variables`, and in its arguments the targets say
    whose rows each reads. A division by zero is NULL: its divisor is `nullif(divisor, 0)`. A window that is not a
    separate conjunct has become a comparison of `count(*)`, or of `subtract(last, first)`, with numbers in the
    column's own unit (see `Window`).
    """

    variable: str
    is_segment: bool
    windows: tuple[Window, ...]
    condition: Expression | None
    span: Span | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentSearch(Plan):
    """One MATCH_RECOGNIZE relation in segments.

    `skip` None means ALL MATCHES: one row per distinct (start, end, segments of the variables in `measured`). Else the
    earliest start, longest end, then lexicographically smallest segments of `measured`, and on from there. `measured`
    are the variables that MEASURES refers to, in order of appearance in the pattern. START_INDEX() and END_INDEX() are
    calls `start_index` and `end_index` without operands: positions of the match's rows in their partition, from 0.

    `is_plain` is set for a query of the standard under ALL MATCHES: no segment variables, no And, no Not. Then
    references are the standard's, to all rows mapped to one of `variables` (None: to any) in whatever iteration. In
    conditions they are RUNNING, but for those to the row itself, or to a single row mapped earlier in every match,
    which are FINAL. Only such a query has `subsets`, and `measured` then names the union variables that MEASURES does.

    `rows_after` rows follow the pattern's segment, whatever they are, and belong to the match: they must exist, and the
    match ends on the last of them (START_INDEX, END_INDEX and references without a variable see them).
    """

    mode: ClassVar[str] = "segments"
    needs_whole_partitions: ClassVar[bool] = True
    tests_doubles: ClassVar[bool] = True

    measures: tuple[Measure, ...]
    skip: Skip | None
    pattern: SegmentPattern
    definitions: tuple[SegmentDefinition, ...]
    measured: tuple[str, ...]
    is_plain: bool = False
    subsets: tuple[Subset, ...] = ()
    rows_after: int = 0

    def tested(self) -> tuple[Expression, ...]:
        """The conditions of DEFINE, without its windows."""
        return tuple(definition.condition for definition in self.definitions if definition.condition is not None)

    def searched_columns(self) -> set[str]:
        """Columns that conditions, windows and measures read."""
        windows = {window.column for one in self.definitions for window in one.windows if window.column is not None}
        return Plan.searched_columns(self) | windows

    def has_own_aggregate(self, function: str) -> bool:
        """Whether it is an aggregate over segments, ours or a user's."""
        from sparkrex.modes.segments.aggregates.registry import find

        return find(function) is not None

    def definition(self, variable: str) -> SegmentDefinition:
        """The definition of a variable of the pattern; every one has one, if only an empty one."""
        return next(definition for definition in self.definitions if definition.variable == variable)

    def output_columns(self) -> tuple[str, ...]:
        """Names of the result's columns: partition, measures."""
        if self.output_names is not None:
            return self.output_names
        return tuple(key.name for key in self.partition_by) + tuple(measure.name for measure in self.measures)
