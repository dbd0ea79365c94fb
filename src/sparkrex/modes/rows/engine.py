"""The pipeline of a row pattern in one process: arrange, match, read, build."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.cuts import lap_order
from sparkrex.errors import ExecutionError
from sparkrex.evaluate.bitmaps import host_reasons
from sparkrex.matching.feed import Feed, Frame
from sparkrex.matching.feeding import feeds_of, partition_named
from sparkrex.matching.located import Located, Pieces
from sparkrex.matching.row_values import arrange_rows
from sparkrex.matching.side_rows import row_type_of, with_failures
from sparkrex.modes.plan import Measure, RowsPerMatch
from sparkrex.modes.rows.choose import choose_matcher
from sparkrex.modes.rows.explain import RowsExplained
from sparkrex.modes.rows.idle import without_idle_rows
from sparkrex.modes.rows.matcher import Partitions
from sparkrex.modes.rows.proven import find_facts
from sparkrex.modes.rows.relation_columns import add_relation_columns
from sparkrex.modes.rows.runner import RowRunner
from sparkrex.modes.rows.timeouts import describe_timeouts
from sparkrex.scalar.expression import EACH_ROW, ClassifierAt
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.rows.choose import Choice
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.scalar.prove import Facts
    from sparkrex.settings import Settings


def run_pattern(
    plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch,
    choice: Choice | None = None,
) -> pa.Table:
    """The result of one MATCH_RECOGNIZE over its input."""
    return pa.concat_tables(pattern_results(plan, table, evaluator, settings, watch, choice))


def pattern_results(
    plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch,
    choice: Choice | None = None,
) -> Iterator[pa.Table]:
    """The same, as it is decided: in one piece, or chunk by chunk. By the matcher that was chosen, if it was."""
    facts = find_facts(plan, table, settings)
    plan, table = add_relation_columns(plan, table, evaluator)
    if (needed := without_idle_rows(plan, table, evaluator, settings)) is not None:
        watch.lap("leave out", f"{needed.num_rows:,} of {table.num_rows:,} rows may be mapped to a condition")
        try:
            yield from list(_results(plan, needed, evaluator, settings, watch, choice, facts))
            return
        except ExecutionError:
            pass  # Errors count the rows of partitions: all of them.
    yield from _results(plan, table, evaluator, settings, watch, choice, facts)


def _results(
    plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch,
    choice: Choice | None, facts: Facts,
) -> Iterator[pa.Table]:
    arrangement, partition_columns = arrange_rows(plan, table, evaluator, settings.thread_count())
    lap_order(watch, arrangement.offsets)
    keys = tuple(f"rex_key_{number}" for number in range(len(partition_columns)))
    for name, column in zip(keys, partition_columns, strict=True):
        table = table.append_column(name, column)
    if choice is None:
        runner = RowRunner.of(plan, table.slice(0, 0), keys, evaluator, settings, watch, facts)
    else:
        runner = RowRunner(choice, keys, evaluator, settings, watch)
    state = runner.open()
    row_type = row_type_of(table.schema, settings)
    names = [key.name for key in plan.partition_by]
    for feed in feeds_of(table, arrangement, settings.chunk_rows):
        with partition_named(feed, names, list(keys)):
            result = runner.feed(state, feed)
        yield with_failures(result, state.take_failures(), row_type)


def explain_pattern(
    plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
) -> RowsExplained:
    """The matcher that is chosen; with `analyze`, after a run, with its stages."""
    widened, sample = add_relation_columns(plan, table.slice(0, 0), evaluator)
    choice = choose_matcher(widened, sample, evaluator, settings, find_facts(plan, table, settings))
    watch = Stopwatch()
    if analyze:
        # By the same matcher, which then knows what it did.
        run_pattern(plan, table, evaluator, settings, watch, choice)
    reasons, timeouts = host_reasons(choice.conditions, sample), describe_timeouts(choice.problem)
    return RowsExplained(plan, choice, reasons, watch.laps, timeouts)


def locate_matches(
    plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings
) -> Located:
    """The rows of every match, and the variable of each: as if CLASSIFIER() were all that is measured."""
    facts = find_facts(plan, table, settings)
    classifier = Measure("classifier", ClassifierAt(EACH_ROW))
    plan = replace(plan, measures=(classifier,), rows_per_match=RowsPerMatch.ONE, timeout=None)
    plan, widened = add_relation_columns(plan, table, evaluator)
    arrangement, partition_columns = arrange_rows(plan, widened, evaluator, settings.thread_count())
    keys = tuple(f"rex_key_{number}" for number in range(len(partition_columns)))
    for name, column in zip(keys, partition_columns, strict=True):
        widened = widened.append_column(name, column)
    runner = RowRunner.of(plan, widened.slice(0, 0), keys, evaluator, settings, None, facts)
    feed = Feed.whole(widened, arrangement)
    frame = Frame(widened, arrangement, np.zeros(len(feed.slots), np.int64))
    partitions = replace(Partitions.whole(frame.offsets), failures=[] if settings.reports else None)
    names = [key.name for key in plan.partition_by]
    with partition_named(feed, names, list(keys)):
        matches = runner.find_matches(feed, frame, partitions, frame.n_held, runner.choice)
    return Located(
        table, arrangement, tuple(zip(names, partition_columns, strict=True)), runner.choice.variables,
        matches.start, matches.end, matches.number, Pieces.of_matches(matches),
    )
