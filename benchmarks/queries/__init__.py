"""One file per query: its data, the query, its answer computed without SparkRex, and the same by hand elsewhere.

W1 to W6 are the names used in the project's list of measured facts. A file holds several queries where only a constant
or the layout of the data differs.
"""

from __future__ import annotations

from benchmarks.queries import (
    all_rows,
    alternation_ten,
    anchored,
    funnels,
    growing_runs,
    head_and_shoulders,
    long_quantifier,
    merge_ranges,
    nested_quantifiers,
    optional_prefix,
    overlapping,
    permute_five,
    sessions,
    streaks,
    strings,
    ten_aggregates,
    times,
    tiny_partitions,
    two_row_scan,
    w1_v_shape,
    w3_funnel,
    w4_double_bottom,
    w5_running_average,
    w6_never_ends,
    wide_measures,
)

ALL = {
    query.name: query
    for queries in (
        w1_v_shape.QUERIES, w3_funnel.QUERIES, w4_double_bottom.QUERIES, w5_running_average.QUERIES,
        w6_never_ends.QUERIES, nested_quantifiers.QUERIES, two_row_scan.QUERIES, tiny_partitions.QUERIES,
        long_quantifier.QUERIES, alternation_ten.QUERIES, permute_five.QUERIES, optional_prefix.QUERIES,
        sessions.QUERIES, streaks.QUERIES, merge_ranges.QUERIES, funnels.QUERIES, head_and_shoulders.QUERIES,
        growing_runs.QUERIES, ten_aggregates.QUERIES, all_rows.QUERIES, anchored.QUERIES, overlapping.QUERIES,
        strings.QUERIES, times.QUERIES, wide_measures.QUERIES,
    )
    for query in queries
}
"""All queries by name, in the order in which they are measured."""
