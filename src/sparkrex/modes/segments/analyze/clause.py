"""A parsed clause of a segment query becomes an `ir.plan.SegmentSearch`.

A query is one in segments if DEFINE says SEGMENT, if PATTERN holds `&` or `~`, or under ALL MATCHES.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.languages.match_recognize import traverse
from sparkrex.modes.plan import Measure, RowsPerMatch, Subset
from sparkrex.modes.segments.analyze.aggregates import segment_aggregates
from sparkrex.modes.segments.analyze.expressions import SegmentConverter
from sparkrex.modes.segments.analyze.forms import check_parts, segment_form
from sparkrex.modes.segments.analyze.references import (
    Reference,
    check_no_circle,
    check_visible,
    is_mapped_before,
    references_of,
)
from sparkrex.modes.segments.plan import SegmentDefinition, SegmentSearch
from sparkrex.modes.sub_clauses import check_names, check_output, order_keys, partition_keys, row_time_column, skip_mode
from sparkrex.scalar.analyze.lateral import written_out
from sparkrex.scalar.expression import Semantics, Target
from sparkrex.scalar.targets import with_targets

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sparkrex.languages.match_recognize.syntax import Clause
    from sparkrex.modes.plan import Skip
    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.sub_clauses import Relation
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Span

NO_AGGREGATES: Mapping[str, int] = {}


def is_segment_clause(clause: Clause) -> bool:
    """Whether the clause is a query in segments."""
    return clause.all_matches is not None or _has_segments(clause)


def analyze_segments(
    clause: Clause, scope: Scope, relation: Relation, user_aggregates: Mapping[str, int] = NO_AGGREGATES
) -> SegmentSearch:
    """The plan of a clause. `scope` must already know the pattern's variables and unions.

    `user_aggregates` are the names of user-defined aggregates, with how many arguments each takes.
    """
    check_names(clause, scope)
    is_plain = not _has_segments(clause)
    _check_clauses(clause, scope, is_plain)
    segments = {item.variable.text for item in clause.definitions if item.is_segment}
    pattern = segment_form(clause.pattern, segments.__contains__, scope.source)
    if not is_plain:  # of a plain query the rewritten pattern counts, if it becomes one in segments
        check_parts(pattern, scope.source)
    order_by = order_keys(clause, scope)
    scope = replace(scope, row_time=row_time_column(order_by))
    converter = partial(
        SegmentConverter, scope, is_plain=is_plain, is_segment=segments.__contains__,
        aggregates=segment_aggregates(user_aggregates), time_column=scope.row_time,
    )
    definitions = _definitions(clause, scope, converter)
    if is_plain:
        definitions = tuple(_without_running(definition, pattern) for definition in definitions)
    else:
        _check_references(definitions, pattern, scope)
    measures = tuple(
        Measure(item.name, converter(item.expression, variable=None).convert_measure(), item.expression.span)
        for item in written_out(clause, scope)
    )
    skip = None if clause.skip is None else skip_mode(clause, scope)
    plan = SegmentSearch(
        input_columns=tuple(column.name for column in scope.columns),
        partition_by=partition_keys(clause, scope),
        order_by=order_by,
        measures=measures,
        skip=skip,
        pattern=pattern,
        definitions=definitions,
        measured=_measured_variables(measures, skip, pattern, scope, is_plain),
        dialect=scope.dialect_name,
        source=scope.source,
        span=relation.span,
        is_plain=is_plain,
        subsets=tuple(Subset(name, members) for name, members in scope.unions.items()),
    )
    names = check_output(plan.output_columns(), measures, relation, scope)
    return plan if names is None else replace(plan, output_names=names)


def _has_segments(clause: Clause) -> bool:
    return any(item.is_segment for item in clause.definitions) or traverse.speaks_of_segments(clause.pattern)


def _check_clauses(clause: Clause, scope: Scope, is_plain: bool) -> None:
    """Refuse the sub-clauses that segments give no meaning to."""
    if clause.timeouts is not None:
        raise AnalysisError(
            "REX221", "a segment query has no SHOW TIMEOUT MATCHES: its matches have no beginning that waits for a row",
            scope.source, clause.timeouts, hint="a row pattern has, with WITHIN",
        )
    if clause.rows_per_match is not RowsPerMatch.ONE:
        raise AnalysisError(
            "REX221", "a segment query gives one row per match: a row may belong to several variables", scope.source,
            clause.rows_span, hint="ONE ROW PER MATCH, and MEASURES for what is wanted of the rows",
        )
    if clause.within is not None:
        raise UnsupportedError(
            "REX301", "WITHIN in a segment query is not supported yet", scope.source, clause.within.span,
            hint="PATTERN ((...) & W) with DEFINE SEGMENT W AS window(column, low, high, unit)",
        )
    if clause.subsets and not is_plain:
        name = clause.subsets[0].name
        raise AnalysisError(
            "REX221", "a segment query has no union variables", scope.source, name.span,
            hint=f"PATTERN ((...) & {name.text}) with DEFINE SEGMENT {name.text} AS true",
        )


def _definitions(
    clause: Clause, scope: Scope, converter: Callable[..., SegmentConverter]
) -> tuple[SegmentDefinition, ...]:
    """One definition per variable of the pattern, in order of appearance; without a condition any row will do."""
    given = {item.variable.text: item for item in clause.definitions}
    definitions = []
    for variable in scope.variables:
        item = given.get(variable)
        if item is None:
            definitions.append(SegmentDefinition(variable, False, (), None))
            continue
        windows, condition = converter(item.condition, variable=variable).convert_condition()
        definitions.append(SegmentDefinition(variable, item.is_segment, windows, condition, item.variable.span))
    return tuple(definitions)


def _without_running(definition: SegmentDefinition, pattern: SegmentPattern) -> SegmentDefinition:
    """A plain definition in which RUNNING has become FINAL where the two are the same."""

    def change(target: Target, _: Span | None) -> Target:
        others = target.variables or frozenset()
        if len(others) == 1 and all(is_mapped_before(pattern, name, definition.variable) for name in others):
            return replace(target, semantics=Semantics.FINAL)
        return target

    condition = definition.condition
    return definition if condition is None else replace(definition, condition=with_targets(condition, change))


def _check_references(definitions: tuple[SegmentDefinition, ...], pattern: SegmentPattern, scope: Scope) -> None:
    refers: dict[str, list[Reference]] = {}
    for definition in definitions:
        found = [] if definition.condition is None else list(references_of(definition.condition))
        refers[definition.variable] = [mention for mention in found if mention.variable != definition.variable]
    check_no_circle(refers, scope.source)
    for variable, mentions in refers.items():
        for mention in mentions:
            check_visible(pattern, mention, variable, scope.source)


def _measured_variables(
    measures: tuple[Measure, ...], skip: Skip | None, pattern: SegmentPattern, scope: Scope, is_plain: bool
) -> tuple[str, ...]:
    """The variables that MEASURES refers to; SKIP TO, too, must go to one that can be seen."""
    mentions = [mention for measure in measures for mention in references_of(measure.expression)]
    if not is_plain:
        goal = [Reference(skip.variables, skip.span)] if skip is not None and skip.variables else []
        for mention in mentions + goal:
            check_visible(pattern, mention, None, scope.source)
    mentioned = {mention.variables for mention in mentions}
    return tuple(
        name for name in (*scope.variables, *scope.unions)
        if (scope.variable_set(name) or frozenset()) in mentioned
    )
