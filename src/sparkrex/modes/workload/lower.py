"""Cut a workload between Spark and its workers, as an event query is cut.

Spark leaves out the events that no pattern can use, and projects what conditions read of one event, each expression
once for all patterns. A type that is told by its name stays a test of the type column, which workers look up for all
types at once.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrex.modes.events.lower import EventLowering, lower_conjunct, lower_definition, relevant_column
from sparkrex.modes.events.pattern import AnyOf, Event, Kleene, children
from sparkrex.modes.events.plan import MATCH_ID, VARIABLE
from sparkrex.modes.plan import PartitionKey
from sparkrex.modes.workload.compiled import compile_plan
from sparkrex.modes.workload.conditions import named_type
from sparkrex.modes.workload.plan import PATTERN
from sparkrex.modes.workload.taking_part import relevant_parts
from sparkrex.scalar.expression import EACH_ROW, Call, ColumnAt, Literal, Target
from sparkrex.scalar.render.spark import render
from sparkrex.spark.lowering import Lowered

if TYPE_CHECKING:
    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.plan import Definition
    from sparkrex.modes.workload.plan import WorkloadPlan
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Span
    from sparkrex.spark.lowering import Origin


def lower_workload(plan: WorkloadPlan, input_name: str, unheld: frozenset[str] = frozenset()) -> Lowered:
    """Cut a plan; `unheld` as for event queries."""
    own = compile_plan(plan).own
    while True:
        lowered = _lower(plan, WorkloadLowering(input_name, unheld=unheld), own)
        # What Spark computes may leave a condition that only the event matcher knows.
        left = compile_plan(lowered.worker).own  # type: ignore[arg-type]  # a plan of ours
        if left.keys() == own.keys():
            return lowered
        own = left


@dataclass(slots=True)
class WorkloadLowering(EventLowering):
    """Collects what Spark projects for a workload. `certain` are variables that every match of a pattern has."""

    certain: frozenset[str] = frozenset()

    def sql(self, text: str, prefix: str, span: Span | None = None, *, is_shared: bool = True) -> str:
        """See `Lowering`. Columns are named by what they are: to a stream that goes on with other patterns they are the
        same columns."""
        own = text.replace(f"{self.input_name}.", "")
        plain = own.strip("`")
        name = f"{prefix}_{plain if plain.isidentifier() else hashlib.sha256(own.encode()).hexdigest()[:_DIGITS]}"
        if not is_shared:
            name += f"_{len(self.projections)}"
        known = next((name for name, known in self.projections.items() if known == text), None) if is_shared else None
        if known is not None:
            return known
        self.projections[name] = text
        self.spans[name] = span
        return name

    def _or_missing(self, value: ColumnAt, expression: Expression) -> Expression:
        if (value.target.variables or frozenset()) <= self.certain:
            return value
        return EventLowering._or_missing(self, value, expression)  # not super(): a class with slots is made twice


_DIGITS = 12
"""Of the hash in the name of a column: 48 bits."""


def _lower(plan: WorkloadPlan, lowering: WorkloadLowering, own: dict[int, str]) -> Lowered:
    keys = tuple(lowering.column(key.expression, "k") for key in plan.partition_by)
    order = [lowering.column(key.expression, "o") for key in plan.order_by]
    partition_by = tuple(PartitionKey(name, ColumnAt(Target(), name)) for name in keys)
    order_by = tuple(
        replace(key, expression=ColumnAt(Target(), name)) for key, name in zip(plan.order_by, order, strict=True)
    )

    passed = {name: lowering.column(ColumnAt(Target(), name), "c") for name in plan.input_columns}
    columns = tuple(passed.values())
    has_gap = plan.partition_gap is not None
    taking_part = _taking_part(plan, lowering)
    relevant = ColumnAt(Target(), lowering.sql(taking_part, "p")) if has_gap and taking_part is not None else None
    patterns = tuple(
        replace(pattern, own=own.get(number), query=replace(
            _lowered(pattern.query, lowering, is_shared=number not in own), input_columns=columns,
            partition_by=partition_by, order_by=order_by, output_names=None,
            relevant=relevant_column(pattern.query.relevant, lowering) if has_gap and number in own else relevant,
            type_column=None, type_names=(), measures=None,
        ))
        for number, pattern in enumerate(plan.patterns)
    )
    worker = replace(
        plan, input_columns=columns, partition_by=partition_by, order_by=order_by, patterns=patterns, output_names=None
    )
    sources: dict[str, Origin] = {PATTERN: pa.string(), MATCH_ID: pa.int64(), VARIABLE: pa.string()}
    outputs = {PATTERN: PATTERN, MATCH_ID: MATCH_ID, VARIABLE: VARIABLE, **passed}
    return Lowered(
        lowering.projections, keys, tuple(order), worker, outputs, sources, lowering.aggregates, lowering.spans,
        _where(plan, lowering),
    )


def _lowered(query: EventQuery, lowering: WorkloadLowering, *, is_shared: bool) -> EventQuery:
    """The conditions of a query as its matcher reads them, over projected columns."""
    lowering.certain = _certain(query.pattern) if is_shared else frozenset()
    if is_shared:
        return replace(
            query, begin=(), take=(), leave=(), absent=(), types=tuple(_type(one, lowering) for one in query.types),
            conjuncts=tuple(lower_conjunct(conjunct, lowering) for conjunct in query.conjuncts),
        )

    def lowered(definitions: tuple[Definition, ...]) -> tuple[Definition, ...]:
        return tuple(lower_definition(definition, lowering) for definition in definitions)

    return replace(
        query, begin=lowered(query.begin), take=lowered(query.take), leave=lowered(query.leave),
        absent=lowered(query.absent), types=(),
        conjuncts=tuple(lower_conjunct(conjunct, lowering) for conjunct in query.open_conjuncts()),
    )


def _certain(pattern: EventPattern) -> frozenset[str]:
    """The variables that a condition always finds an event for; of a negated one it is the event that may not be."""
    if isinstance(pattern, AnyOf) or (isinstance(pattern, Kleene) and pattern.minimum == 0):
        return frozenset()
    own = frozenset((pattern.variable,)) if isinstance(pattern, Event) else frozenset()
    return own.union(*map(_certain, children(pattern)))


def _type(definition: Definition, lowering: EventLowering) -> Definition:
    named = named_type(definition.condition)
    if named is None:
        condition = lowering.lowered(definition.condition, is_guarded=False)
    else:
        column = lowering.column(ColumnAt(Target(), named[0]), "c")
        condition = Call("eq", (ColumnAt(EACH_ROW, column), Literal(named[1])), span=definition.condition.span)
    return replace(definition, condition=condition)


def _taking_part(plan: WorkloadPlan, lowering: EventLowering) -> str | None:
    """What holds for the events that a pattern names; None if it is all of them."""
    parts = relevant_parts(plan)
    if parts is None:
        return None
    options = []
    for column, names in parts[0].items():
        listed = ", ".join(render(Literal(name), lowering.input_column) for name in names)
        options.append(f"{lowering.input_column(ColumnAt(Target(), column))} IN ({listed})")
    options += [render(condition, lowering.input_column) for condition in parts[1]]
    return " OR ".join(f"({option})" for option in options)


def _where(plan: WorkloadPlan, lowering: EventLowering) -> str | None:
    """What holds for the events that can influence a match, or, with `partition_gap`, for those of its partitions."""
    taking_part = _taking_part(plan, lowering)
    tests = [taking_part] if taking_part is not None and plan.partition_gap is None else []
    tests += [f"{render(key.expression, lowering.input_column)} IS NOT NULL" for key in plan.partition_by]
    return " AND ".join(f"({test})" for test in tests) or None

