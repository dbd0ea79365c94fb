"""Cut a segment search between Spark and its workers, as `spark.lower` cuts row patterns.

Spark projects keys and every part of a condition or aggregate that speaks of one row, and computes the scalar
expressions of MEASURES; the workers find the segments and read first and last rows, aggregates, positions and numbers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkrex.analyze.split import row_local
from sparkrex.ir.plan import Measure, PartitionKey
from sparkrex.ir.scalar import Aggregate, ColumnAt, End, Literal, Semantics, Target
from sparkrex.physical.segments.output import INDEX, with_indexes
from sparkrex.spark.lower import Lowered, Lowering, lower_measures, lower_order, measure_sources
from sparkrex.spark.worker_language import is_of_segments

if TYPE_CHECKING:
    from sparkrex.ir.plan import SegmentDefinition, SegmentSearch
    from sparkrex.ir.scalar import Expression
    from sparkrex.ir.segment_pattern import Window


def lower_search(
    spark_search: SegmentSearch, worker_search: SegmentSearch, input_name: str, tie_break: tuple[str, ...]
) -> Lowered:
    """Cut a search, given once with Spark's templates and once with the worker's."""
    lowering = SegmentLowering(input_name)
    lowering.windows.add(INDEX)  # no column of the input: the workers make it
    keys = tuple(lowering.column(key.expression, "k") for key in spark_search.partition_by)
    order, order_by = lower_order(spark_search.order_by, tie_break, lowering)
    definitions = tuple(
        _definition(ours, theirs, lowering)
        for ours, theirs in zip(spark_search.definitions, worker_search.definitions, strict=True)
    )
    lowering.own = Target()
    measures, rendered = lower_measures(_indexed(spark_search), _indexed(worker_search), lowering)
    worker = replace(
        worker_search,
        input_columns=(),
        partition_by=tuple(PartitionKey(name, ColumnAt(Target(), name)) for name in dict.fromkeys(keys)),
        order_by=tuple(order_by),
        measures=tuple(measures),
        definitions=definitions,
        output_names=None,
    )
    outputs = dict(zip(spark_search.output_columns(), (*keys, *rendered), strict=True))
    spans = {**lowering.spans}
    for name, measure in zip(spark_search.output_columns()[len(keys) :], spark_search.measures, strict=True):
        spans[name] = measure.span
    return Lowered(
        lowering.projections, keys, tuple(order), worker, outputs, measure_sources(measures), lowering.aggregates, spans
    )


def cut_by_spark(search: SegmentSearch, number: str, *, keeps_order: bool) -> SegmentSearch:
    """The search over rows that Spark has ordered: `number` tells series apart, keys are read as measures.

    For keys and order columns that NumPy cannot compare as Spark does; `keeps_order` if it is the keys alone.
    """
    first = Target(semantics=Semantics.FINAL, end=End.FIRST)
    keys = tuple(Measure(key.name, ColumnAt(first, key.name)) for key in search.partition_by)
    by_number = (PartitionKey(number, ColumnAt(Target(), number)),) if keys else ()
    order_by = search.order_by if keeps_order else ()
    return replace(search, partition_by=by_number, order_by=order_by, measures=(*keys, *search.measures))


def _indexed(search: SegmentSearch) -> list[Measure]:
    return [replace(measure, expression=with_indexes(measure.expression)) for measure in search.measures]


def _definition(ours: SegmentDefinition, theirs: SegmentDefinition, lowering: SegmentLowering) -> SegmentDefinition:
    windows = tuple(_window(window, lowering) for window in ours.windows)
    if ours.condition is None or theirs.condition is None:
        return replace(theirs, windows=windows)
    lowering.own = Target(frozenset((ours.variable,)), Semantics.FINAL)
    condition = lowering.lowered(ours.condition, theirs.condition, is_guarded=False)
    return replace(theirs, windows=windows, condition=condition)


def _window(window: Window, lowering: SegmentLowering) -> Window:
    if window.column is None:
        return window
    return replace(window, column=lowering.column(ColumnAt(Target(), window.column), "c"))


@dataclass(slots=True)
class SegmentLowering(Lowering):
    """Collects what Spark projects for a search."""

    def _aggregate(self, ours: Aggregate, theirs: Aggregate) -> Aggregate:
        """Every argument a column. In `corr(A.x, B.x)` arguments name their variables: all their rows are there."""
        if ours.filter is not None or ours.order_by:
            return Lowering._aggregate(self, ours, theirs)

        def each(ours: Expression, theirs: Expression) -> Expression:
            found = None if isinstance(ours, Literal) else row_local(ours, is_guarded=False)
            if found is None:
                return theirs
            return ColumnAt(found.target, self.column(found.expression, "c"), span=theirs.span)

        arguments = tuple(each(s, w) for s, w in zip(ours.arguments, theirs.arguments, strict=True))
        return replace(theirs, arguments=arguments)

    def _aggregate_sql(self, ours: Aggregate, lowered: Aggregate) -> str:
        if not is_of_segments(ours.function):
            return Lowering._aggregate_sql(self, ours, lowered)
        return f"max(CAST(NULL AS {'BOOLEAN' if ours.function == 'equal_up_down_ticks' else 'DOUBLE'}))"
