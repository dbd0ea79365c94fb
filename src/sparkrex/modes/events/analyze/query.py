"""A parsed event query becomes a `plan.EventQuery`.

What concerns the whole query is here: the strategy and its variables, negation. Where a conjunct is tested is
`placement`'s, what it reads `expressions`', the columns of the stream are `modes.event_stream`'s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.modes.event_stream import Spelling, find_stream
from sparkrex.modes.event_time import window_size
from sparkrex.modes.events.analyze.conditions import Conditions, is_true, joined
from sparkrex.modes.events.analyze.expressions import EventConverter, at_placement
from sparkrex.modes.events.analyze.placement import Placement, Role
from sparkrex.modes.events.analyze.shape import PatternShape
from sparkrex.modes.events.pattern import Absent, AllOf, Event, Kleene, Sequence, allows_empty, children
from sparkrex.modes.events.plan import EventQuery, EventWindow, Strategy, must_wait
from sparkrex.modes.plan import Definition, Measure, PartitionKey
from sparkrex.modes.sub_clauses import check_output
from sparkrex.scalar.expression import EACH_ROW, ColumnAt
from sparkrex.source import Span
from sparkrex.syntax.names import NameRules
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from sparkrex.languages.events.syntax import StreamOptions
    from sparkrex.modes.event_stream import Stream
    from sparkrex.modes.events.language.syntax import EventText
    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.modes.events.plan import Conjunct
    from sparkrex.modes.sub_clauses import Relation
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.scalar.expression import Expression

_SPELLING = Spelling("MATCH_EVENTS", "rex.events", "PATTERN")


@dataclass(frozen=True, slots=True)
class _Whole:
    """A query that is not a relation of a statement."""

    span: Span
    column_aliases: tuple[str, ...] | None = None
    columns_span: Span | None = None


def analyze_events(
    text: EventText, scope: Scope, place: Relation | Span, options: StreamOptions | None = None
) -> EventQuery:
    """The query over the columns of `scope`, whose `variables` may be empty: they come from the pattern.

    `options` None means that the text has them, as inside MATCH_EVENTS ( ... ).
    """
    shape = PatternShape(text.pattern)
    # References already have the pattern's own spelling of variables, as quoted names.
    scope = replace(scope, variables=tuple(shape.components), rules=NameRules(quoted_fold=False))
    _check_pattern(text, shape, scope)
    _check_strategy(text, shape, scope)
    stream = find_stream(text.options, options, scope, text.span, _SPELLING)
    scope = replace(scope, row_time=stream.time.name)
    window = _window(text, stream, scope)
    shared = {scope.column(name.text, name.span).name: name.span for name in text.equivalences}
    strategy = text.strategy.strategy
    types = _types(text, stream, scope)
    conditions, conjuncts = _conditions(text, shape, scope, types, shared)
    relation = _Whole(place) if isinstance(place, Span) else place
    query = EventQuery(
        input_columns=tuple(column.name for column in scope.columns),
        partition_by=() if strategy is Strategy.STRICT else tuple(
            PartitionKey(name, ColumnAt(EACH_ROW, name, span=span)) for name, span in shared.items()
        ),
        order_by=stream.order_keys(scope),
        pattern=text.pattern.pattern,
        strategy=strategy,
        begin=conditions.definitions(Role.BEGIN),
        take=conditions.definitions(Role.TAKE),
        leave=conditions.definitions(Role.LEAVE),
        absent=conditions.definitions(Role.ABSENT),
        relevant=_relevant(text, stream, strategy, window, scope),
        window=window,
        measures=_measures(text, shape, scope, frozenset(shared)),
        is_non_overlapping=text.is_non_overlapping,
        has_strict_ties=stream.has_strict_ties,
        dialect=scope.dialect_name,
        source=scope.source,
        span=relation.span,
        type_column=None if stream.types.column is None else stream.types.column.name,
        type_names=stream.types.names_in_column(text.pattern.types()),
        types=types,
        conjuncts=conjuncts,
    )
    names = check_output(query.output_columns(), query.measures or (), relation, scope)
    return query if names is None else replace(query, output_names=names)


def _check_pattern(text: EventText, shape: PatternShape, scope: Scope) -> None:
    """Some event is required, and negation at an end has a window to look through."""
    pattern = shape.pattern
    assert isinstance(pattern, Sequence | AllOf)  # the parser makes one of every pattern
    if not shape.positive:
        raise AnalysisError(
            "REX225", "all components are negated: a match needs an event to be a match of", scope.source, pattern.span,
            hint="PATTERN SEQ(Shelf a, ~(Register b), Exit c)",
        )
    if allows_empty(pattern):
        raise AnalysisError(
            "REX227", "the pattern requires no event at all", scope.source, pattern.span,
            hint="+ requires one event where * and ? do not",
        )
    if shape.has_any_order:
        _check_any_order(pattern, scope)
    for position, item in enumerate(pattern.items if isinstance(pattern, Sequence) else ()):
        if not isinstance(item, Absent) or text.within is not None:
            continue
        is_first = all(map(allows_empty, pattern.items[:position]))
        is_last = all(map(allows_empty, pattern.items[position + 1 :]))
        if is_first or is_last:
            where = "before the first event" if is_first else "after the last event"
            raise AnalysisError(
                "REX225", f"{item} can be looked for {where} only inside a window", scope.source, item.span,
                hint="add WITHIN: it says how far to look",
            )


def _check_any_order(pattern: EventPattern, scope: Scope) -> None:
    """In a pattern with AND a repetition has one type and no bounds."""
    pending = [pattern]
    while pending:
        node = pending.pop()
        pending.extend(reversed(children(node)))
        if not isinstance(node, Kleene) or node.maximum == 1:
            continue
        what = None
        if not isinstance(node.body, Event):
            what, hint = "a repeated group", "+ and * repeat one type of events: KL(Type variable) is Type+ variable[]"
        elif node.maximum is not None or node.minimum > 1:
            what, hint = "a repetition with bounds", f"{Kleene(node.body, min(node.minimum, 1), None)} has no bounds"
        if what is not None:
            raise UnsupportedError(
                "REX301", f"{what} in a pattern with AND is not supported yet", scope.source, node.span, hint=hint
            )


def _check_strategy(text: EventText, shape: PatternShape, scope: Scope) -> None:
    strategy = text.strategy
    listed = [name.text for name in strategy.variables]
    missing = next((name for name in shape.positive if name not in listed), None)
    if missing is not None:
        everything = ", ".join(
            name + ("[]" if shape.components[name].is_repeated else "") for name in shape.positive
        )
        raise AnalysisError(
            "REX223", f"the strategy does not list {missing}", scope.source, strategy.span,
            hint=f"{strategy.strategy.value}({everything})",
        )
    if strategy.strategy is Strategy.PARTITION and not text.equivalences:
        raise AnalysisError(
            "REX223", "partition contiguity needs an equivalence test, which makes the partitions", scope.source,
            strategy.name_span, hint="{ [attribute] AND ... }; strict_contiguity has the whole stream for a partition",
        )


def _window(text: EventText, stream: Stream, scope: Scope) -> EventWindow | None:
    """How far the last event of a match may be from the first, inclusive: within zero events are simultaneous."""
    if text.within is None:
        return None
    return EventWindow(*window_size(text.within, stream.time, scope.source), text.within.span)


def _types(text: EventText, stream: Stream, scope: Scope) -> tuple[Definition, ...]:
    """What tells that an event is of a variable's type, where that is not every event."""
    known = text.pattern.types()
    found = [
        (component.variable.text, stream.types.condition(component.type, known, scope.source))
        for component in text.pattern.components
    ]
    return tuple(
        Definition(name, condition) for name, condition in found if condition is not None and not is_true(condition)
    )


def _conditions(
    text: EventText, shape: PatternShape, scope: Scope, types: tuple[Definition, ...], shared: dict[str, Span]
) -> tuple[Conditions, tuple[Conjunct, ...]]:
    """What is tested of every variable, and the conjuncts of WHERE."""
    conditions = Conditions(shape)
    for definition in types:
        conditions.add_to_events(definition.variable, definition.condition)
    if text.strategy.strategy is Strategy.STRICT:
        for column, span in shared.items():
            conditions.add_equivalence(column, span)
    negated = shape.components.keys() - set(shape.positive)
    conjuncts = []
    for written in text.conjuncts:
        placement, conjunct = EventConverter(scope, written, shape, is_condition=True).convert_condition()
        if is_true(conjunct.expression):
            continue
        conjuncts.append(conjunct)
        if placement is None:
            # It mentions no event: it holds for whichever comes first, or there is no match.
            for variable in shape.positive:
                conditions.add(Placement(Role.BEGIN, variable), conjunct.expression)
        elif not shape.has_any_order or not must_wait(conjunct, negated):
            conditions.add(placement, at_placement(conjunct, placement))
    return conditions, tuple(conjuncts)


def _relevant(
    text: EventText, stream: Stream, strategy: Strategy, window: EventWindow | None, scope: Scope
) -> Expression | None:
    """What holds for all events that the query can use; None where others count too, or where there are no others."""
    if strategy in (Strategy.STRICT, Strategy.PARTITION):
        return None
    if window is not None and window.unit is WindowUnit.EVENTS:
        return None
    types = text.pattern.types()
    conditions = [stream.types.condition(kind, types, scope.source) for kind in types]
    given = [condition for condition in conditions if condition is not None and not is_true(condition)]
    if len(given) < len(conditions):
        return None
    return joined("or", list(dict.fromkeys(given)))


def _measures(
    text: EventText, shape: PatternShape, scope: Scope, shared: frozenset[str]
) -> tuple[Measure, ...] | None:
    if text.returned is None:
        return None
    return tuple(
        Measure(
            item.name, EventConverter(scope, item.expression, shape, is_condition=False).convert_returned(shared),
            item.expression.span,
        )
        for item in text.returned
    )
