"""The pipeline of a workload in one process: drop what cannot take part, arrange, find a plan, match."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.cuts import lap_order
from sparkrex.matching.feeding import feeds_of, partition_named
from sparkrex.matching.unknown_types import warn_of_unknown_types
from sparkrex.modes.events.engine import arrange_kept, check_events
from sparkrex.modes.events.taking_part import key_columns
from sparkrex.modes.workload.combined import Detected, WorkloadRunner
from sparkrex.modes.workload.contradictions import refuse_contradictions
from sparkrex.modes.workload.estimate import estimate
from sparkrex.modes.workload.naming import inside
from sparkrex.modes.workload.output import build_workload
from sparkrex.modes.workload.taking_part import rows_taking_part

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feed import Feed
    from sparkrex.modes.workload.choose import Chosen
    from sparkrex.modes.workload.plan import WorkloadPlan
    from sparkrex.settings import Settings
    from sparkrex.stopwatch import Stopwatch


def detect(
    plan: WorkloadPlan, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch,
    on_progress: Callable[[int, float], None] | None = None, on_plan: Callable[[Chosen], None] | None = None,
) -> Iterator[Detected]:
    """The matches of all patterns as they are decided: in one piece, or chunk by chunk. `on_plan` is told the plan."""
    warn_of_types(plan, table)
    refuse_contradictions(plan, table.schema)
    keep = rows_taking_part(plan, table, evaluator, settings)
    watch.lap("drop", {"rows can take part": int(np.count_nonzero(keep))})
    table, arrangement = arrange_kept(plan.queries[0], table, keep, settings)
    lap_order(watch, arrangement.offsets)
    runner = WorkloadRunner(plan, evaluator, settings, on_progress)
    state = runner.open()
    n_matches = 0
    for number, feed in enumerate(feeds_of(table, arrangement, settings.chunk_rows)):
        with partition_of(plan, feed):
            if not number and runner.compiled.shared:
                chosen = runner.chosen(state, feed)
                if on_plan is not None:
                    on_plan(chosen)
                watch.lap("plan", _plan_text(chosen))
            detected = runner.decide(state, feed)
        n_matches += sum(len(part.matches) for part in detected.parts)
        yield detected
    watch.lap("match", {"matches": n_matches})


def workload_results(
    plan: WorkloadPlan, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
) -> Iterator[pa.Table]:
    """The events of all matches, and a row for every pattern that stopped."""
    for detected in detect(plan, table, evaluator, settings, watch):
        yield build_workload(plan, detected, is_with_stops=True)


def warn_of_types(plan: WorkloadPlan, table: pa.Table) -> None:
    """Warn of types that no event has."""
    columns = {query.type_column for query in plan.queries}
    for column in columns:
        names = (name for query in plan.queries if query.type_column == column for name in query.type_names)
        warn_of_unknown_types(column, tuple(dict.fromkeys(names)), table)


def partition_of(plan: WorkloadPlan, feed: Feed) -> AbstractContextManager[None]:
    """Inside, an error of a slot says in which partition it is."""
    keys = key_columns(plan.queries[0])
    return partition_named(feed, [key.name for key in plan.queries[0].partition_by], keys)


def check_workload(plan: WorkloadPlan, sample: pa.Table, evaluator: Evaluator, settings: Settings) -> None:
    """Fail, before there are any events, if conditions cannot be tested; `sample` has their columns and no row."""
    refuse_contradictions(plan, sample.schema)
    runner = WorkloadRunner(plan, evaluator, settings)
    for number in runner.own:
        with inside(plan.patterns[number]):
            check_events(plan.queries[number], sample, evaluator, settings)
    if runner.compiled.shared:
        estimate(runner.compiled, sample, Arrangement(None, np.zeros(1, np.int64), 0), runner.evaluator, settings)


def _plan_text(chosen: Chosen) -> str:
    optimized = chosen.optimized
    if optimized is None:
        return ""
    return f"{optimized.method}, {optimized.steps:,} steps, cost {optimized.cost:,.4g}"

