"""Cut a segment search between Spark and its workers, as `spark.lowering` cuts row patterns.

Spark projects keys and every part of a condition or aggregate that reads one row, and computes the scalar
expressions of MEASURES; the workers find the segments and read first and last rows, aggregates, positions and numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrex.modes.plan import Measure, PartitionKey
from sparkrex.modes.segments.aggregates.registry import find
from sparkrex.modes.segments.operators.output import INDEX, with_indexes
from sparkrex.scalar.expression import Aggregate, ColumnAt, End, Literal, Semantics, Target
from sparkrex.scalar.split import row_local
from sparkrex.spark.lowering import Lowered, Lowering, lower_measures, lower_order, measure_sources
from sparkrex.spark.worker_language import is_aggregate_of_spark

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import Window
    from sparkrex.modes.segments.plan import SegmentDefinition, SegmentSearch
    from sparkrex.scalar.expression import Expression


def lower_search(search: SegmentSearch, input_name: str) -> Lowered:
    """Cut a search."""
    lowering = SegmentLowering(input_name)
    lowering.windows.add(INDEX)  # no column of the input: the workers make it
    keys = tuple(lowering.column(key.expression, "k") for key in search.partition_by)
    order, order_by = lower_order(search.order_by, lowering)
    definitions = tuple(_definition(definition, lowering) for definition in search.definitions)
    lowering.own = Target()
    measures, rendered = lower_measures(_index_measures(search), lowering)
    worker = replace(
        search,
        input_columns=(),
        partition_by=tuple(PartitionKey(name, ColumnAt(Target(), name)) for name in dict.fromkeys(keys)),
        order_by=tuple(order_by),
        measures=tuple(measures),
        definitions=definitions,
        output_names=None,
    )
    outputs = dict(zip(search.output_columns(), (*keys, *rendered), strict=True))
    spans = {**lowering.spans}
    for name, measure in zip(search.output_columns()[len(keys) :], search.measures, strict=True):
        spans[name] = measure.span
    return Lowered(
        lowering.projections, keys, tuple(order), worker, outputs, measure_sources(measures, {INDEX: pa.int64()}),
        lowering.aggregates, spans,
    )


def cut_by_spark(search: SegmentSearch, number: str, *, keeps_order: bool) -> SegmentSearch:
    """The search over rows that Spark has ordered: `number` tells series apart, keys are read as measures.

    For keys and order columns that NumPy cannot compare as Spark does; `keeps_order` if it is the keys alone.
    """
    first = Target(semantics=Semantics.FINAL, end=End.FIRST)
    keys = tuple(Measure(key.name, ColumnAt(first, key.name)) for key in search.partition_by)
    by_number = (PartitionKey(number, ColumnAt(Target(), number)),) if keys else ()
    # Where partitions end at gaps, at least the time is there.
    order_by = search.order_by if keeps_order else search.order_by[: search.partition_gap is not None]
    return replace(search, partition_by=by_number, order_by=order_by, measures=(*keys, *search.measures))


def _index_measures(search: SegmentSearch) -> list[Measure]:
    return [replace(measure, expression=with_indexes(measure.expression)) for measure in search.measures]


def _definition(definition: SegmentDefinition, lowering: SegmentLowering) -> SegmentDefinition:
    windows = tuple(_window(window, lowering) for window in definition.windows)
    if definition.condition is None:
        return replace(definition, windows=windows)
    lowering.own = Target(frozenset((definition.variable,)), Semantics.FINAL)
    condition = lowering.lowered(definition.condition, is_guarded=False)
    return replace(definition, windows=windows, condition=condition)


def _window(window: Window, lowering: SegmentLowering) -> Window:
    if window.column is None:
        return window
    return replace(window, column=lowering.column(ColumnAt(Target(), window.column), "c"))


@dataclass(slots=True)
class SegmentLowering(Lowering):
    """Collects what Spark projects for a search."""

    def _aggregate(self, aggregate: Aggregate) -> Aggregate:
        """Every argument a column. In `corr(A.x, B.x)` arguments name their variables: all their rows are there."""
        if aggregate.filter is not None or aggregate.order_by:
            return Lowering._aggregate(self, aggregate)

        def each(argument: Expression) -> Expression:
            found = None if isinstance(argument, Literal) else row_local(argument, is_guarded=False)
            if found is None:
                return argument
            return ColumnAt(found.target, self.column(found.expression, "c"), span=argument.span)

        return replace(aggregate, arguments=tuple(map(each, aggregate.arguments)))

    def _aggregate_sql(self, aggregate: Aggregate, lowered: Aggregate) -> str:
        if is_aggregate_of_spark(aggregate.function) or find(aggregate.function) is None:
            return Lowering._aggregate_sql(self, aggregate, lowered)
        return f"max(CAST(NULL AS {'BOOLEAN' if aggregate.function == 'equal_up_down_ticks' else 'DOUBLE'}))"
