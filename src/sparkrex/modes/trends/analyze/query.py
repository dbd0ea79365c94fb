"""A parsed trend query becomes a `plan.TrendQuery`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError
from sparkrex.modes.event_stream import Spelling, find_stream
from sparkrex.modes.plan import Definition, PartitionKey
from sparkrex.modes.sub_clauses import check_output
from sparkrex.modes.trends.analyze.predicates import sort_conjuncts
from sparkrex.modes.trends.analyze.returned import returned_items
from sparkrex.modes.trends.analyze.window import trend_window
from sparkrex.modes.trends.plan import TrendQuery
from sparkrex.scalar.expression import EACH_ROW, Call, ColumnAt, Literal
from sparkrex.scalar.split import conjunction

if TYPE_CHECKING:
    from sparkrex.modes.event_stream import Stream
    from sparkrex.modes.sub_clauses import Relation
    from sparkrex.modes.trends.analyze.predicates import Predicates
    from sparkrex.modes.trends.language.syntax import PatternText, TrendOptions, TrendText
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.scalar.expression import Expression

_SPELLING = Spelling("MATCH_TRENDS", "rex.trends", "RETURN")


def analyze_trends(
    text: TrendText, scope: Scope, relation: Relation, options: TrendOptions | None = None
) -> TrendQuery:
    """The query over the columns of `scope`. `options` None means that the text has them, as inside MATCH_TRENDS."""
    stream = find_stream(text.options, None if options is None else options.stream, scope, text.span, _SPELLING)
    _check_ties(text, stream, scope)
    group_by = _group_by(text, scope)
    shared = {scope.column(name.text, name.span).name: name.span for name in text.equivalences}
    keys = {**dict.fromkeys(group_by), **shared}
    window = trend_window(text, None if options is None else options.origin, stream, scope)
    predicates = sort_conjuncts(text.conjuncts, text.pattern, scope)
    kinds = _type_conditions(text.pattern, stream, scope)
    query = TrendQuery(
        input_columns=tuple(column.name for column in scope.columns),
        partition_by=tuple(PartitionKey(name, ColumnAt(EACH_ROW, name, span=span)) for name, span in keys.items()),
        order_by=stream.order_keys(scope),
        measures=(),
        patterns=text.pattern.patterns,
        semantics=text.semantics,
        definitions=_definitions(text.pattern, kinds, predicates),
        named=_named(kinds),
        adjacent=tuple(predicates.adjacent),
        minimum_length=predicates.minimum_length,
        group_by=group_by,
        equivalent=tuple(shared),
        window=window,
        has_strict_ties=stream.has_strict_ties,
        counts=text.counts if options is None else options.counts,
        items=returned_items(text, scope, group_by, window),
        dialect=scope.dialect_name,
        source=scope.source,
        span=relation.span,
        type_column=None if stream.types.column is None else stream.types.column.name,
        type_names=stream.types.names_in_column(text.pattern.types()),
    )
    names = check_output(query.output_columns(), query.items, relation, scope)
    return query if names is None else replace(query, output_names=names)


def _check_ties(text: TrendText, stream: Stream, scope: Scope) -> None:
    """Columns that order events of one time are for those that may follow each other."""
    if not stream.has_strict_ties or not stream.tie_break:
        return
    message = "events of one time do not follow each other, so that there is nothing to order among them"
    if text.options is None:
        raise AnalysisError("REX217", f"tie_break=: {message}", None, None, hint='add ties="order"')
    raise AnalysisError("REX107", message, scope.source, text.options.tie_break[0].span, hint="add TIES ORDER")


def _group_by(text: TrendText, scope: Scope) -> tuple[str, ...]:
    found: list[str] = []
    for name in text.group_by:
        column = scope.column(name.text, name.span).name
        if column in found:
            raise AnalysisError("REX205", f"{column} is given twice", scope.source, name.span, hint="once is enough")
        found.append(column)
    return tuple(found)


def _type_conditions(pattern: PatternText, stream: Stream, scope: Scope) -> dict[str, Expression | None]:
    """What an event of each variable's type must fulfil, None where every event will do."""
    found: dict[str, Expression | None] = {}
    for part in pattern.components:
        condition = stream.types.condition(part.type, pattern.types(), scope.source)
        is_true = isinstance(condition, Literal) and condition.value is True
        found[part.variable.text] = None if is_true else condition
    return found


def _definitions(
    pattern: PatternText, kinds: dict[str, Expression | None], predicates: Predicates
) -> tuple[Definition, ...]:
    found = []
    for variable, kind in kinds.items():
        conditions = [*([] if kind is None else [kind]), *predicates.local.get(variable, [])]
        whole = conjunction(conditions)
        if whole is not None:
            found.append(Definition(variable, whole))
    return tuple(found)


def _named(kinds: dict[str, Expression | None]) -> Expression | None:
    """What holds for events of the types that the pattern names; None if it does for all events."""
    conditions = list(dict.fromkeys(condition for condition in kinds.values() if condition is not None))
    if None in kinds.values():
        return None
    return conditions[0] if len(conditions) == 1 else Call("or", tuple(conditions))
