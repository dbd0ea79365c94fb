"""Event queries by hand, in the few words that tests need.

A component `A a` is an event of type A: one whose `kind` is 'A', unless the type is `Any`, which every event is of. The
test of the type is added to the conditions here, as analysis does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.modes.segments.building import call

from sparkrex.modes.events.pattern import Absent, AnyOf, Event, EventPattern, Kleene, Sequence, absences, events
from sparkrex.modes.events.plan import EventQuery, EventWindow, Strategy
from sparkrex.modes.plan import Definition, Measure, OrderKey, PartitionKey
from sparkrex.scalar.expression import EACH_ROW, Aggregate, ColumnAt, End, Expression, Semantics, Target
from sparkrex.source import Source, Span
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ANY_TYPE = "Any"


def seq(*items: EventPattern | str) -> Sequence:
    """`SEQ(...)`; an item may be text, as `component` takes it."""
    return Sequence(tuple(map(_pattern, items)))


def either(*options: EventPattern | str) -> AnyOf:
    """One of them."""
    return AnyOf(tuple(map(_pattern, options)))


def repeat(body: EventPattern | str, minimum: int = 1, maximum: int | None = None) -> Kleene:
    """`body` from `minimum` to `maximum` times; one or more by default."""
    return Kleene(_pattern(body), minimum, maximum)


def component(text: str) -> EventPattern:
    """`A a`, `A+ a`, `A* a`, `A? a`, `~A a`."""
    kind, variable = text.split()
    if kind.startswith("~"):
        return Absent(Event(kind[1:], variable))
    bounds = {"+": (1, None), "*": (0, None), "?": (0, 1)}.get(kind[-1])
    if bounds is None:
        return Event(kind, variable)
    return Kleene(Event(kind[:-1], variable), *bounds)


def _pattern(item: EventPattern | str) -> EventPattern:
    return component(item) if isinstance(item, str) else item


def here(column: str) -> ColumnAt:
    """A column of the event under test."""
    return ColumnAt(EACH_ROW, column)


def first(variable: str, column: str) -> ColumnAt:
    """`v[1].column`."""
    return ColumnAt(Target(frozenset({variable}), Semantics.RUNNING, End.FIRST), column)


def last(variable: str, column: str) -> ColumnAt:
    """`v[i-1].column`, `v[v.LEN].column`, or `v.column` of a single v."""
    return ColumnAt(Target(frozenset({variable}), Semantics.RUNNING, End.LAST), column)


def first_of_all(pattern: EventPattern, column: str) -> ColumnAt:
    """A column of the first event of the match, whatever its variable."""
    negated = {event.variable for event in absences(pattern)}
    positive = frozenset(event.variable for event in events(pattern)) - negated
    return ColumnAt(Target(positive, Semantics.RUNNING, End.FIRST), column)


def aggregate(function: str, variable: str, column: str | None = None) -> Aggregate:
    """`function(v[..i-1].column)`; in a later variable's condition `function(v[].column)`."""
    arguments = () if column is None else (ColumnAt(EACH_ROW, column),)
    return Aggregate(function, arguments, frozenset({variable}), Semantics.RUNNING)


def final(expression: Expression) -> Expression:
    """The same reference or aggregate in RETURN: it sees the whole match."""
    match expression:
        case ColumnAt(target, column):
            return ColumnAt(Target(target.variables, Semantics.FINAL, target.end), column)
        case Aggregate():
            return Aggregate(expression.function, expression.arguments, expression.variables, Semantics.FINAL)
        case _:
            raise ValueError(f"{expression} is no reference")


def both(*conditions: Expression | None) -> Expression | None:
    """Their conjunction; None is no condition."""
    given = [condition for condition in conditions if condition is not None]
    if len(given) < 2:
        return given[0] if given else None
    return call("and", *given)


def type_test(kind: str) -> Expression | None:
    """What tells that an event is of the type."""
    return None if kind == ANY_TYPE else call("eq", here("kind"), kind)


def query(
    pattern: EventPattern,
    strategy: Strategy,
    *,
    begin: Mapping[str, Expression] | None = None,
    take: Mapping[str, Expression] | None = None,
    leave: Mapping[str, Expression] | None = None,
    absent: Mapping[str, Expression] | None = None,
    within: Any = None,
    unit: WindowUnit = WindowUnit.NUMBER,
    time: str = "t",
    tie_break: Iterable[str] = (),
    partition: Iterable[str] = (),
    measures: Iterable[Measure] | None = None,
    non_overlapping: bool = False,
    strict_ties: bool = False,
    columns: Iterable[str] = ("k", "t", "kind", "x"),
) -> EventQuery:
    """A query over rows whose time is `t`; the tests of the types are added to the conditions."""
    negated = {event.variable for event in absences(pattern)}
    arrays = _variables_under_kleene(pattern)
    kinds = {event.variable: event.type for event in events(pattern)}
    tested = [type_test(kind) for kind in dict.fromkeys(kinds.values())]
    may_drop = strategy in (Strategy.NEXT, Strategy.ANY) and not (within is not None and unit is WindowUnit.EVENTS)
    relevant = None
    if may_drop and all(test is not None for test in tested):
        relevant = call("or", *(test for test in tested if test is not None)) if len(tested) > 1 else tested[0]
    return EventQuery(
        input_columns=tuple(columns),
        partition_by=tuple(PartitionKey(name, here(name)) for name in partition),
        order_by=tuple(OrderKey(here(name), False, False, name) for name in (time, *tie_break)),
        pattern=pattern,
        strategy=strategy,
        begin=_definitions(begin, {name: kind for name, kind in kinds.items() if name not in negated}),
        take=_definitions(take, {name: kind for name, kind in kinds.items() if name in arrays}),
        leave=_definitions(leave, {}),
        absent=_definitions(absent, {name: kind for name, kind in kinds.items() if name in negated}),
        relevant=relevant,
        window=None if within is None else EventWindow(within, unit),
        measures=None if measures is None else tuple(measures),
        is_non_overlapping=non_overlapping,
        has_strict_ties=strict_ties,
        dialect="duckdb",
        source=Source(""),
        span=Span(0, 0),
    )


def _definitions(given: Mapping[str, Expression] | None, kinds: Mapping[str, str]) -> tuple[Definition, ...]:
    conditions = dict(given or {})
    joined = {
        name: both(type_test(kinds[name]) if name in kinds else None, conditions.get(name))
        for name in dict.fromkeys((*kinds, *conditions))
    }
    return tuple(Definition(name, condition) for name, condition in joined.items() if condition is not None)


def _variables_under_kleene(pattern: EventPattern) -> set[str]:
    match pattern:
        case Kleene(body=body):
            return {event.variable for event in events(body)}
        case Sequence(items=parts) | AnyOf(options=parts):
            return set().union(*map(_variables_under_kleene, parts))
        case _:
            return set()


def stream(*kinds_and_values: Any, key: Any = "k") -> list[dict[str, Any]]:
    """Events of one partition: t counts from 1; each is a kind, or (kind, x)."""
    pairs = [given if isinstance(given, tuple) else (given, 0) for given in kinds_and_values]
    return [{"k": key, "t": t, "kind": kind, "x": x} for t, (kind, x) in enumerate(pairs, 1)]
