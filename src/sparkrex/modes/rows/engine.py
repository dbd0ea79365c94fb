"""The pipeline of a row pattern in one process: arrange, match, read, build."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrex.evaluate.bitmaps import host_reasons
from sparkrex.matching.feeding import feeds_of, partition_named
from sparkrex.matching.row_values import arrange_rows
from sparkrex.modes.rows.choose import choose_matcher
from sparkrex.modes.rows.explain import RowsExplained
from sparkrex.modes.rows.relation_columns import add_relation_columns
from sparkrex.modes.rows.runner import RowRunner
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.settings import Settings


def run_pattern(
    plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
) -> pa.Table:
    """The result of one MATCH_RECOGNIZE over its input."""
    return pa.concat_tables(pattern_results(plan, table, evaluator, settings, watch))


def pattern_results(
    plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
) -> Iterator[pa.Table]:
    """The same, as it is decided: in one piece, or chunk by chunk."""
    plan, table = add_relation_columns(plan, table, evaluator)
    arrangement, partition_columns = arrange_rows(plan, table, evaluator, settings.thread_count())
    watch.lap("order", f"{table.num_rows:,} rows, {len(arrangement.offsets) - 1:,} partitions")
    keys = tuple(f"rex_key_{number}" for number in range(len(partition_columns)))
    for name, column in zip(keys, partition_columns, strict=True):
        table = table.append_column(name, column)
    runner = RowRunner.of(plan, table.slice(0, 0), keys, evaluator, settings, watch)
    state = runner.open()
    names = [key.name for key in plan.partition_by]
    for feed in feeds_of(table, arrangement, settings.chunk_rows):
        with partition_named(feed, names, list(keys)):
            result = runner.feed(state, feed)
        yield result


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
