"""The pipeline of a row pattern in one process: arrange, match, read, build."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.cuts import cut_chunks
from sparkrex.columns.ordered import Columns
from sparkrex.errors import ExecutionError
from sparkrex.evaluate.bitmaps import host_reasons
from sparkrex.matching.output import name_partition
from sparkrex.matching.reading import MatchReader
from sparkrex.matching.row_values import arrange_rows
from sparkrex.modes.plan import columns_of
from sparkrex.modes.rows.choose import choose_matcher
from sparkrex.modes.rows.explain import RowsExplained
from sparkrex.modes.rows.output import build_output
from sparkrex.modes.rows.relation_columns import add_relation_columns
from sparkrex.modes.rows.streamed import StreamedRelation, measure_reach
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.contract import Matches
    from sparkrex.modes.rows.choose import Choice
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.settings import Settings


def run_pattern(
    plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
) -> pa.Table:
    """The result of one MATCH_RECOGNIZE over its input."""
    plan, table = add_relation_columns(plan, table, evaluator)
    arrangement, partition_columns = arrange_rows(plan, table, evaluator, settings.thread_count())
    watch.lap("order", f"{table.num_rows:,} rows, {len(arrangement.offsets) - 1:,} partitions")
    if settings.chunk_rows is not None and table.num_rows:
        result = _run_in_chunks(plan, table, arrangement, partition_columns, evaluator, settings)
        watch.lap("match and measures, in chunks", f"{result.num_rows:,} rows")
        return result
    choice = choose_matcher(plan, table.slice(0, 0), evaluator, settings)
    try:
        matches = find_matches(plan, table, arrangement, choice)
    except ExecutionError as error:
        if error.row is not None:
            names = [key.name for key in plan.partition_by]
            name_partition(error, names, partition_columns, int(arrangement.input_rows(np.array([error.row]))[0]))
        raise
    watch.lap("match", f"{len(matches):,} matches")
    reader = MatchReader(
        table, arrangement, matches, choice.variables, plan.dialect, evaluator, settings.thread_count()
    )
    result = build_output(plan, reader, partition_columns)
    watch.lap("measures", f"{result.num_rows:,} rows")
    return result


def explain_pattern(
    plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
) -> RowsExplained:
    """The matcher that is chosen; with `analyze`, after a run, with its stages."""
    widened, sample = add_relation_columns(plan, table.slice(0, 0), evaluator)
    choice = choose_matcher(widened, sample, evaluator, settings)
    watch = Stopwatch()
    if analyze:
        run_pattern(plan, table, evaluator, settings, watch)
    return RowsExplained(plan, choice, host_reasons(choice.conditions, sample), watch.laps)


def find_matches(plan: MatchRecognize, table: pa.Table, arrangement: Arrangement, choice: Choice) -> Matches:
    """Feed the matcher with the columns that conditions read."""
    used = columns_of(plan.tested())
    read = table.select([name for name in table.column_names if name in used])
    if not used:
        read = pa.table({"rex_row": pa.nulls(table.num_rows, pa.int8())})
    columns = Columns(read, arrangement.offsets, arrangement.order, arrangement.kept, arrangement.scatter)
    return choice.matcher.feed(choice.matcher.open(), columns, opens=True, closes=True)


def _run_in_chunks(
    plan: MatchRecognize, table: pa.Table, arrangement: Arrangement, partition_columns: list[pa.ChunkedArray],
    evaluator: Evaluator, settings: Settings,
) -> pa.Table:
    """The same answer, fed `chunk_rows` rows at a time."""
    keys = [f"rex_key_{number}" for number in range(len(partition_columns))]
    for name, column in zip(keys, partition_columns, strict=True):
        table = table.append_column(name, column)
    if arrangement.order is not None:
        table = table.take(pa.array(arrangement.order))
    choice = choose_matcher(plan, table.slice(0, 0), evaluator, settings, measure_reach(plan))
    relation = StreamedRelation(plan, choice.matcher, choice.variables, evaluator, keys)
    results = [
        relation.feed(
            table.slice(chunk.first, chunk.last - chunk.first), chunk.offsets, opens=chunk.opens, closes=chunk.closes
        )
        for chunk in cut_chunks(arrangement.offsets, settings.chunk_rows or arrangement.n_rows)
    ]
    return pa.concat_tables(results)
