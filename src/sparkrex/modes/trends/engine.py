"""The pipeline of a trend query in one process: drop what belongs to no partition, arrange, count, merge by group."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import SortKey, arrange
from sparkrex.columns.cuts import lap_order
from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.matching.event_order import order_columns
from sparkrex.matching.feeding import feeds_of, partition_named
from sparkrex.matching.gaps import end_at_gaps
from sparkrex.matching.unknown_types import warn_of_types_as_variables, warn_of_unknown_types
from sparkrex.modes.trends.guarded import guarded
from sparkrex.modes.trends.merge import merge_partials
from sparkrex.modes.trends.pattern import events
from sparkrex.modes.trends.runner import TrendRunner
from sparkrex.scalar.expression import ColumnAt

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.settings import Settings
    from sparkrex.stopwatch import Stopwatch


def key_columns(query: TrendQuery) -> list[str]:
    """The columns that partitions are by, which have other names in a Spark worker."""
    return [key.expression.column for key in query.partition_by if isinstance(key.expression, ColumnAt)]


def trend_results(
    query: TrendQuery, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
) -> Iterator[pa.Table]:
    """The results: in one piece, or chunk by chunk as windows are finished. Those that are merged come at the end."""
    query = guarded(query)
    warn_of_unknown_types(query.type_column, query.type_names, table)
    # A query whose types all have conditions of their own does not read the column.
    warn_of_types_as_variables(query.type_column if query.type_names else None, _own_variables(query), table)
    table = in_partitions(query, table)
    is_merged = query.needs_merge() and not query.is_partial
    counted = replace(query, is_partial=True) if is_merged else query
    runner = TrendRunner(counted, table.slice(0, 0), evaluator, settings, settings.thread_count())
    arrangement = arrange_trends(query, table, settings)
    lap_order(watch, arrangement.offsets)
    state = runner.open()
    partials = []
    n_rows = 0
    for feed in feeds_of(table, arrangement, None if runner.refusal else settings.chunk_rows):
        with partition_named(feed, [key.name for key in query.partition_by], key_columns(query)):
            part = runner.feed(state, feed)
        if is_merged:
            partials.append(part)
        else:
            n_rows += part.num_rows
            yield part
    watch.lap("count", {"windows with trends": sum(part.num_rows for part in partials) or n_rows})
    if is_merged:
        merged = merge_partials(query, runner.layout, pa.concat_tables(partials), settings.thread_count())
        watch.lap("merge", {"groups in windows": merged.num_rows})
        yield merged


def _own_variables(query: TrendQuery) -> list[str]:
    """Variables with names of their own, other than those of types that the pattern names."""
    components = [event for pattern in query.patterns for event in events(pattern)]
    types = {event.type for event in components}
    return [event.variable for event in components if event.variable not in types]


def in_partitions(query: TrendQuery, table: pa.Table) -> pa.Table:
    """The rows without NULL in an attribute of [..]."""
    keep = np.ones(table.num_rows, np.bool_)
    for key in query.partition_by:
        if key.name in query.equivalent and isinstance(key.expression, ColumnAt):
            column = table.column(key.expression.column)
            if column.null_count:
                keep &= numpy_of(plain(column.is_valid()))
    return table if keep.all() else table.filter(wrap(keep))


def arrange_trends(query: TrendQuery, table: pa.Table, settings: Settings) -> Arrangement:
    """Partitions, in order of time and tie-breaks."""
    sort_keys = [
        SortKey(table.column(name), key.is_descending, key.nulls_first)
        for name, key in zip(order_columns(query), query.order_by, strict=True)
    ]
    keys = [table.column(name) for name in key_columns(query)]
    return end_at_gaps(query, arrange(keys, sort_keys, table.num_rows, settings.thread_count()), sort_keys)
