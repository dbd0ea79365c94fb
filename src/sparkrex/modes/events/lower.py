"""Cut an event query between Spark and its workers, as `spark.lowering` cuts row patterns.

Spark leaves out the events that cannot take part, projects the attributes of equivalence tests, the order and every
part of a condition that reads one event, and computes the scalar expressions of RETURN; the workers find matches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrex.columns.values import kind_of
from sparkrex.modes.events.analyze.equalities import find_partition, key_text
from sparkrex.modes.events.plan import MATCH_ID, VARIABLE
from sparkrex.modes.plan import Definition, PartitionKey
from sparkrex.scalar.expression import Call, ColumnAt, Target, walk
from sparkrex.scalar.guards import can_fail
from sparkrex.scalar.render.spark import render
from sparkrex.scalar.split import conjunction, conjuncts, is_row_condition, row_local
from sparkrex.spark.lowering import Lowered, Lowering, lower_measures, measure_sources

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.events.plan import Conjunct, EventQuery
    from sparkrex.scalar.expression import Expression
    from sparkrex.scalar.split import Projection
    from sparkrex.spark.lowering import Origin


def lower_events(
    query: EventQuery, input_name: str, wanted: frozenset[str] | None, unheld: frozenset[str] = frozenset()
) -> Lowered:
    """Cut a query; `wanted` as for `lower`.

    `unheld` are projections, as Spark SQL, whose values kernels cannot hold: workers compute them from their parts.
    """
    lowering = EventLowering(input_name, unheld=unheld)
    keys = tuple(lowering.column(key.expression, "k") for key in query.partition_by)
    order = [lowering.column(key.expression, "o") for key in query.order_by]

    def lowered(definitions: Sequence[Definition]) -> tuple[Definition, ...]:
        return tuple(lower_definition(definition, lowering) for definition in definitions)

    worker = replace(
        query,
        input_columns=(),
        partition_by=tuple(PartitionKey(name, ColumnAt(Target(), name)) for name in keys),
        # Under the user's names: messages have them.
        order_by=tuple(
            replace(key, expression=ColumnAt(Target(), name))
            for key, name in zip(query.order_by, order, strict=True)
        ),
        begin=lowered(query.begin),
        take=lowered(query.take),
        leave=lowered(query.leave),
        absent=lowered(query.absent),
        # What is in conditions is not projected a second time.
        types=(),
        conjuncts=tuple(lower_conjunct(conjunct, lowering) for conjunct in query.open_conjuncts()),
        relevant=relevant_column(query.relevant, lowering) if query.partition_gap is not None else None,
        output_names=None,
        type_column=None,  # whether a type occurs is not known to a worker, which sees a part of the events
        type_names=(),
    )
    equal = _equal_columns(query, lowering)
    worker = replace(worker, equal_by=tuple(equal))
    spans = {}
    names = query.output_columns()
    sources: dict[str, Origin]
    if query.measures is None:
        passed = {
            output: lowering.column(ColumnAt(Target(), name), "c")
            for output, name in zip(names[2:], query.input_columns, strict=True)
            if wanted is None or name.lower() in wanted
        }
        worker = replace(worker, input_columns=tuple(passed.values()))
        sources = {MATCH_ID: pa.int64(), VARIABLE: pa.string()}
        outputs = {names[0]: MATCH_ID, names[1]: VARIABLE, **passed}
    else:
        measures, rendered = lower_measures(query.measures, lowering)
        worker = replace(worker, measures=tuple(measures))
        sources = measure_sources(measures)
        outputs = dict(zip(names, rendered, strict=True))
        spans = {name: measure.span for name, measure in zip(names, query.measures, strict=True)}
    return Lowered(
        lowering.projections, keys, tuple(order), worker, outputs, sources, lowering.aggregates,
        {**lowering.spans, **spans}, _taking_part(query, lowering), equal,
    )


def tested_projections(lowered: Lowered) -> list[str]:
    """The projected columns that conditions read."""
    nodes = (node for condition in lowered.worker.tested() for node in walk(condition))
    return sorted({node.column for node in nodes if isinstance(node, ColumnAt)})


def unheld_projections(lowered: Lowered, tested: pa.Schema) -> frozenset[str]:
    """Those of the tested ones, as Spark SQL, that kernels cannot hold, such as decimals of more than 64 bits."""
    return frozenset(lowered.projections[column.name] for column in tested if kind_of(column.type) is None)


@dataclass(slots=True)
class EventLowering(Lowering):
    """Collects what Spark projects for an event query."""

    unheld: frozenset[str] = frozenset()

    def _row_local(self, expression: Expression, *, is_guarded: bool) -> Projection | None:
        found = row_local(expression, is_guarded=is_guarded)
        if found is None or not isinstance(expression, Call):
            return found
        return None if render(found.expression, self.input_column) in self.unheld else found


def relevant_column(relevant: Expression | None, lowering: Lowering) -> Expression | None:
    """The test of what can take part as a projected column, for workers that get all events."""
    return None if relevant is None else ColumnAt(Target(), lowering.column(relevant, "p"))


def lower_conjunct(conjunct: Conjunct, lowering: Lowering) -> Conjunct:
    """A conjunct over projected columns."""
    return replace(conjunct, expression=lowering.lowered(conjunct.expression, is_guarded=False))


def lower_definition(definition: Definition, lowering: Lowering) -> Definition:
    """A condition, whose conjuncts have no order: as in memory, what one event decides comes first.

    It guards nothing of what relates several events.
    """
    found = conjuncts(definition.condition)
    of_one = [conjunct for conjunct in found if is_row_condition(conjunct)]
    of_several = [conjunct for conjunct in found if not is_row_condition(conjunct)]
    parts = [lowering.lowered(_all(part), is_guarded=False) for part in (of_one, of_several) if part]
    return Definition(definition.variable, _all(parts))


def _all(parts: list[Expression]) -> Expression:
    whole = conjunction(parts)
    assert whole is not None  # a condition has at least one conjunct
    return whole


def _equal_columns(query: EventQuery, lowering: EventLowering) -> dict[str, str]:
    """The keys of equalities as projected columns. One that can fail is none, unless it is computed anyway.

    Where matches are numbered, or `partition_gap` is between all events of it, a partition of the query stays whole.
    """
    found: dict[str, str] = {}
    if query.measures is None or query.partition_gap is not None:
        return found
    for key in find_partition(query).keys:
        text = render(key, lowering.input_column)
        if not can_fail(key) or text in lowering.projections.values():
            found[lowering.column(key, "e")] = key_text(key)
    return found


def _taking_part(query: EventQuery, lowering: Lowering) -> str | None:
    """What holds for the events that can influence a match, or, with `partition_gap`, for those of its partitions."""
    tests = []
    if query.relevant is not None and query.partition_gap is None:
        tests.append(render(query.relevant, lowering.input_column))
    tests += [f"{render(key.expression, lowering.input_column)} IS NOT NULL" for key in query.partition_by]
    return " AND ".join(f"({test})" for test in tests) or None
