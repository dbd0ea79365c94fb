"""Partial results, one per partition and window, put together by group and window."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import SortKey, arrange
from sparkrex.columns.wrap import wrap
from sparkrex.kernels.lazy import kernel_for
from sparkrex.modes.trends.kernels.merging import merge_places
from sparkrex.modes.trends.packing import pack_places, unpack_places
from sparkrex.modes.trends.plan import Counts
from sparkrex.modes.trends.results import PARTIAL_END, PARTIAL_PLACES, PARTIAL_START, Finished, result_table

if TYPE_CHECKING:
    from sparkrex.columns.arrange import Arrangement
    from sparkrex.modes.trends.layout import Layout
    from sparkrex.modes.trends.plan import TrendQuery


def group_column(number: int) -> str:
    """The name of a column of GROUP-BY in partial results."""
    return f"group{number}"


def partial_table(query: TrendQuery, layout: Layout, finished: Finished) -> pa.Table:
    """Results that others of the same group are still to be added to."""
    columns = {group_column(number): finished.groups[name] for number, name in enumerate(query.group_by)}
    columns |= {PARTIAL_START: finished.start, PARTIAL_END: finished.end}
    return pa.table({**columns, PARTIAL_PLACES: pack_places(layout, finished.store).cast(pa.large_binary())})


def merge_partials(query: TrendQuery, layout: Layout, partials: pa.Table, threads: int = 1) -> pa.Table:
    """The results of all groups and windows in partial results, window by window of each group."""
    names = [group_column(number) for number in range(len(query.group_by))]
    by_window = SortKey(partials.column(PARTIAL_START), False, True)
    order = arrange([partials.column(name) for name in names], [by_window], partials.num_rows, threads).order
    ordered = partials if order is None else partials.take(wrap(order))
    return result_table(query, layout, merge_arranged(query, layout, ordered, _by_group(query, ordered, threads)))


def combine_partials(query: TrendQuery, layout: Layout, partials: pa.Table) -> pa.Table:
    """Partial results, one per group and window: those that others are still to be added to, but fewer of them."""
    arrangement = _by_group(query, partials, 1)
    if len(arrangement.offsets) - 1 == partials.num_rows:
        return partials
    return partial_table(query, layout, merge_arranged(query, layout, partials, arrangement))


def merge_arranged(query: TrendQuery, layout: Layout, partials: pa.Table, arrangement: Arrangement) -> Finished:
    """What is known of the trends of each group in a window: the partitions of an arrangement."""
    order = arrangement.order if arrangement.order is not None else np.arange(partials.num_rows)
    merged = layout.store(len(arrangement.offsets) - 1)
    store = unpack_places(layout, partials.column(PARTIAL_PLACES))
    is_text = layout.counts is Counts.TEXT
    kernel = merge_places.interpreted if is_text else kernel_for(merge_places, partials.num_rows)
    kernel(store, order, arrangement.offsets, layout.shape, merged)
    first = wrap(order[arrangement.offsets[:-1]])
    groups = {name: partials.column(group_column(number)).take(first) for number, name in enumerate(query.group_by)}
    start, end = (partials.column(name).take(first) for name in (PARTIAL_START, PARTIAL_END))
    return Finished(groups, start, end, merged)


def _by_group(query: TrendQuery, partials: pa.Table, threads: int) -> Arrangement:
    names = [group_column(number) for number in range(len(query.group_by))]
    keys = [partials.column(name) for name in (*names, PARTIAL_START, PARTIAL_END)]
    return arrange(keys, [], partials.num_rows, threads)
