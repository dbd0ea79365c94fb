"""Cut a trend query between Spark and its workers.

Spark leaves out the events that cannot take part. Of the others it projects whatever reads one event: keys, times,
whether the event can be bound to a variable, both sides of comparisons of adjacent events, arguments of aggregates. The
workers count. Where several partitions are one group, their results are partial ones, and workers merge those of a
group and window.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrex.matching.event_order import order_columns
from sparkrex.modes.plan import Definition, OrderKey, PartitionKey
from sparkrex.modes.trends.guarded import guarded
from sparkrex.modes.trends.layout import make_layout
from sparkrex.modes.trends.merge import group_column
from sparkrex.modes.trends.partials import MergedGroups
from sparkrex.modes.trends.plan import RowTime, Semantics, TrendAggregate
from sparkrex.modes.trends.results import PARTIAL_END, PARTIAL_PLACES, PARTIAL_START, result_type
from sparkrex.modes.trends.symbols import variables_of
from sparkrex.modes.trends.windows import bound_type
from sparkrex.scalar.expression import Call, ColumnAt, Target, walk
from sparkrex.scalar.render.spark import render
from sparkrex.spark.lowering import Lowered, Lowering
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.trends.layout import Layout
    from sparkrex.modes.trends.plan import Adjacent, Returned, TrendQuery
    from sparkrex.scalar.expression import Expression
    from sparkrex.spark.lowering import Origin


def lower_trends(query: TrendQuery, input_name: str) -> Lowered:
    """Cut a query. What the workers give is still to be said: `with_results`."""
    query = guarded(query)
    lowering = Lowering(input_name)
    # A prefix that no user's column has: errors have keys by column or by the user's name.
    keys = tuple(lowering.column(key.expression, "rex_key") for key in query.partition_by)
    order = tuple(lowering.column(key.expression, "o") for key in query.order_by)
    cut = _Cut(lowering)
    worker = replace(
        query,
        input_columns=(),
        # Under the user's names: messages have them.
        partition_by=tuple(
            PartitionKey(key.name, ColumnAt(Target(), name))
            for key, name in zip(query.partition_by, keys, strict=True)
        ),
        order_by=tuple(
            replace(key, expression=ColumnAt(Target(), name))
            for key, name in zip(query.order_by, order, strict=True)
        ),
        definitions=tuple(
            Definition(definition.variable, cut.column(definition.condition)) for definition in query.definitions
        ),
        named=_named(query, cut),
        adjacent=tuple(map(cut.comparison, query.adjacent)),
        items=tuple(map(cut.item, query.items)),
        output_names=tuple(f"r{number}" for number in range(len(query.items) + 2)),
        type_column=None,  # whether a type occurs is not known to a worker, which sees a part of the events
        type_names=(),
        is_partial=query.needs_merge(),
    )
    outputs = dict(zip(query.output_columns(), worker.output_columns(), strict=True))
    spans = {name: item.span for name, item in zip(query.output_columns()[2:], query.items, strict=True)}
    where = _taking_part(query, lowering)
    return Lowered(lowering.projections, keys, order, worker, outputs, {}, {}, {**lowering.spans, **spans}, where)


def with_results(lowered: Lowered, sample: pa.Table, evaluator: Evaluator) -> Lowered:
    """The same with what the workers give. The sample has the projected columns, and no rows."""
    query: TrendQuery = lowered.worker  # type: ignore[assignment]  # `lower_trends` has made it
    layout = make_layout(query, sample, evaluator)
    bound = bound_type(query, sample.column(order_columns(query)[0]).type)
    if not query.is_partial:
        return replace(lowered, sources=_final(query, layout, bound, dict(_group_columns(query))))
    groups = {group_column(number): column for number, (_, column) in enumerate(_group_columns(query))}
    keys = (*groups, PARTIAL_START, PARTIAL_END)
    merged = MergedGroups(
        input_columns=(), partition_by=tuple(PartitionKey(name, ColumnAt(Target(), name)) for name in keys),
        order_by=(OrderKey(ColumnAt(Target(), PARTIAL_START), False, True, None),), measures=(), dialect=query.dialect,
        source=query.source, span=query.span, query=replace(query, is_partial=False), layout=layout,
    )
    final = _final(query, layout, bound, dict(zip(query.group_by, groups, strict=True)))
    return replace(
        lowered, sources={**groups, PARTIAL_START: bound, PARTIAL_END: bound, PARTIAL_PLACES: pa.binary()},
        following=Lowered({}, keys, (PARTIAL_START,), merged, {}, final, {}, {}),
    )


def _group_columns(query: TrendQuery) -> Iterable[tuple[str, str]]:
    """The names of GROUP-BY and their projected columns."""
    columns = {
        key.name: key.expression.column for key in query.partition_by if isinstance(key.expression, ColumnAt)
    }
    return ((name, columns[name]) for name in query.group_by)


def _final(query: TrendQuery, layout: Layout, bound: pa.DataType, groups: dict[str, str]) -> dict[str, Origin]:
    """Where the types of results come from; `groups` are the columns that hold those of GROUP-BY."""
    types: list[Origin] = [
        result_type(item.value, layout) if isinstance(item.value, TrendAggregate)
        else bound if isinstance(item.value, RowTime)
        else groups[item.value]
        for item in query.items
    ]
    return dict(zip(query.output_columns(), [bound, bound, *types], strict=True))


class _Cut:
    """Expressions of one event as projected columns."""

    def __init__(self, lowering: Lowering) -> None:
        self._lowering = lowering

    def column(self, expression: Expression) -> ColumnAt:
        return ColumnAt(Target(), self._lowering.column(expression, "p"), span=expression.span)

    def comparison(self, comparison: Adjacent) -> Adjacent:
        return replace(comparison, left=self.column(comparison.left), right=self.column(comparison.right))

    def item(self, item: Returned) -> Returned:
        value = item.value
        if not isinstance(value, TrendAggregate) or value.argument is None:
            return item
        return replace(item, value=replace(value, argument=self.column(value.argument)))


def _named(query: TrendQuery, cut: _Cut) -> Expression | None:
    """Whether an event's type is one of the pattern's, for workers that ask: those that look for what lies between."""
    if query.named is None or query.semantics is not Semantics.CONTIGUOUS:
        return None
    return cut.column(query.named)


def _taking_part(query: TrendQuery, lowering: Lowering) -> str | None:
    """What holds for the events that can influence a result."""
    tests = [
        f"{render(key.expression, lowering.input_column)} IS NOT NULL"
        for key in query.partition_by if key.name in query.equivalent
    ]
    conditions = _needed(query)
    if conditions is not None:
        fits = [f"({render(condition, lowering.input_column)})" for condition in conditions]
        if query.semantics is Semantics.CONTIGUOUS and query.named is not None:
            # What the pattern does not name can stand between two events.
            fits.append(f"({render(query.named, lowering.input_column)}) IS NOT TRUE")
        tests.append(" OR ".join(fits))
    return " AND ".join(f"({test})" for test in tests) or None


def _needed(query: TrendQuery) -> list[Expression] | None:
    """The conditions of which an event meets one if it can be bound to a variable; None if no event may be dropped.

    Windows that count events count all of them, and `partition_gap` is between all of them. A condition that is not
    the same when it is evaluated again is left to the workers, who test the one that was projected.
    """
    if query.partition_gap is not None or (query.window is not None and query.window.unit is WindowUnit.EVENTS):
        return None
    by_variable = {definition.variable: definition.condition for definition in query.definitions}
    if not by_variable.keys() >= set(variables_of(query)):
        return None
    conditions = list(dict.fromkeys(by_variable.values()))
    nodes = (node for condition in conditions for node in walk(condition))
    return conditions if all(node.is_deterministic for node in nodes if isinstance(node, Call)) else None
