"""All patterns of a workload over a stream: group by group, in memory or as branches of one Spark query."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.results import to_library
from sparkrex.columns.values import numpy_of
from sparkrex.columns.wrap import wrap
from sparkrex.errors import RexError, UnsupportedError
from sparkrex.modes.events.engine import arrange_kept
from sparkrex.modes.events.plan import MATCH_ID, VARIABLE
from sparkrex.modes.workload.choose import Chosen, search_plan
from sparkrex.modes.workload.combined import WorkloadRunner
from sparkrex.modes.workload.compiled import compile_plan
from sparkrex.modes.workload.engine import detect
from sparkrex.modes.workload.estimate import estimate
from sparkrex.modes.workload.explain import WorkloadExplained
from sparkrex.modes.workload.language import in_pattern, is_named
from sparkrex.modes.workload.naming import inside
from sparkrex.modes.workload.output import build_returned, build_workload
from sparkrex.modes.workload.plan import PATTERN
from sparkrex.modes.workload.taking_part import rows_taking_part
from sparkrex.pipeline import INPUT, open_relation
from sparkrex.stopwatch import Stopwatch
from sparkrex.warn import warn_user
from sparkrex.workloads.found import Found, Stopped
from sparkrex.workloads.parsing import own_values

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sparkrex.columns.inputs import ArrowInput
    from sparkrex.modes.workload.combined import Detected
    from sparkrex.modes.workload.plan import WorkloadPlan
    from sparkrex.modes.workload.planner.optimizer import Optimized
    from sparkrex.pipeline import ParsedQuery
    from sparkrex.workloads.workload import Workload


def detect_in_memory(workload: Workload, table: ArrowInput, library: str) -> Found:
    """The matches in a table, as tables of a library."""
    parts, returned, stops = [], {}, []
    workload.last_plans = []
    for query in workload.groups().values():
        with open_relation(query, {INPUT: table}, workload.settings) as (plan, rows, evaluator):
            collected = Collected(plan, evaluator)
            watch, used = Stopwatch(), list[Chosen]()
            for detected in detect(
                collected.plan, rows, evaluator, workload.settings, watch, workload.on_progress, used.append
            ):
                collected.add(detected)
            optimized = used[0].optimized if used else None
            compiled = compile_plan(collected.plan)
            rates = f"rates and selectivities from {rows.num_rows:,} rows"
            workload.last_plans.append(WorkloadExplained(collected.plan, compiled, optimized, rates, watch.laps))
        parts += collected.tables
        returned.update(collected.returned)
        stops += collected.stops
    return found_of(workload.names, parts, returned, stops, library)


class Collected:
    """What the patterns of one group give, as tables."""

    def __init__(self, plan: Any, evaluator: Any) -> None:
        self.plan: WorkloadPlan = plan
        self.evaluator = evaluator
        self.tables: list[pa.Table] = []
        self.returned: dict[str, list[pa.Table]] = {}
        self.stops: list[Stopped] = []

    def add(self, detected: Detected) -> None:
        """One more part."""
        plan = self.plan
        self.tables.append(build_workload(plan, detected))
        for part in detected.parts:
            if plan.patterns[part.pattern].query.measures is not None:
                pattern = plan.patterns[part.pattern]
                with inside(pattern):
                    self.returned.setdefault(pattern.name, []).append(build_returned(plan, part, self.evaluator))
        for stop in detected.stops:
            order = stop.frame.arrangement.order
            row = stop.row if order is None else int(order[stop.row])
            event = stop.frame.table.select(list(plan.input_columns)).slice(row, 1).to_pylist()[0]
            self.stops.append(Stopped(plan.patterns[stop.pattern].name, event))
            warn_user(
                f"the pattern {self.stops[-1].pattern} has stopped: more than max_kleene = {plan.options.max_kleene} "
                f"events of a Kleene's type in a window, at {event}"
            )


def found_of(
    names: tuple[str, ...], parts: Sequence[pa.Table], returned: dict[str, list[pa.Table]], stops: Sequence[Stopped],
    library: str,
) -> Found:
    """The tables of all groups as one, patterns in the order in which they were given."""
    whole = pa.concat_tables(parts)
    encoded = whole.column(PATTERN).combine_chunks()
    encoded = encoded.dictionary_encode() if isinstance(encoded, pa.Array) else pa.array([], pa.string())
    rank = {name: number for number, name in enumerate(names)}
    if whole.num_rows:
        ranks = np.array([rank[name] for name in encoded.dictionary.to_pylist()], np.int64)
        order = ranks[numpy_of(encoded.indices.cast(pa.int64()))]
        if (np.diff(order) < 0).any():
            whole = whole.take(wrap(np.argsort(order, kind="stable")))

    def of_pattern(name: str) -> Any:
        if name in returned:
            return to_library(pa.concat_tables(returned[name]), library)
        import pyarrow.compute as pc

        return to_library(whole.filter(pc.equal(whole.column(PATTERN), name)).drop_columns([PATTERN]), library)

    return Found(to_library(whole, library), names, of_pattern, tuple(stops))


def empty_result(schema: pa.Schema) -> pa.Table:
    """No matches in a stream of these columns."""
    head = [(PATTERN, pa.string()), (MATCH_ID, pa.int64()), (VARIABLE, pa.string())]
    return pa.schema([*(pa.field(*one) for one in head), *schema]).empty_table()


def plan_in_memory(workload: Workload, table: ArrowInput) -> list[Optimized]:
    """The plan of every group that has patterns to share."""
    found = []
    for query in workload.groups().values():
        with open_relation(query, {INPUT: table}, workload.settings) as (plan, rows, evaluator):
            runner = WorkloadRunner(plan, evaluator, workload.settings)  # type: ignore[arg-type]
            if not runner.compiled.shared:
                continue
            keep = rows_taking_part(runner.plan, rows, evaluator, workload.settings)
            rows, arrangement = arrange_kept(runner.plan.queries[0], rows, keep, workload.settings)
            statistics = estimate(
                runner.compiled, rows, arrangement, evaluator, workload.settings, workload.options.seed
            )
            found.append(search_plan(runner.compiled, workload.options, statistics, workload.on_progress))
    return found


def detect_on_spark(workload: Workload, stream: Any, spark: Any, checkpoint: str | None = None) -> Found:
    """The matches in a DataFrame, lazily: one branch for every group. With a checkpoint, what the end of the stream
    decides.

    Branches are in the order of their keys: a stream that goes on with other patterns finds the state of each.
    """
    from sparkrex.spark.batch import run_on_spark

    def of_pattern(name: str) -> Any:
        from sparkrex.query import Query

        text = workload.patterns[name].source.text
        query = Query(
            text, workload.dialect, workload.settings, keyword="MATCH_EVENTS", options=workload.stream,
            args=own_values(text, workload.dialect, workload.args),
        )
        return query(stream, spark=spark)

    branches = []
    for _, query in sorted(workload.groups().items()):
        try:
            branches.append(run_on_spark(query, {INPUT: stream}, spark, workload.settings, checkpoint))
        except RexError as error:
            if error.span is not None and not is_named(error):
                _refuse_alone(query, of_pattern)
            raise
    whole = branches[0]
    for branch in branches[1:]:
        whole = whole.unionByName(branch)
    matches = whole.where(f"{MATCH_ID} IS NOT NULL")
    stopped = whole.where(f"{MATCH_ID} IS NULL").drop(MATCH_ID, VARIABLE)

    def drained_of(name: str) -> Any:
        if workload.patterns[name].text.returned is not None:
            raise _no_returned(name)
        return matches.where(matches[PATTERN] == name).drop(PATTERN)

    return Found(matches, workload.names, of_pattern if checkpoint is None else drained_of, stopped)


def _no_returned(name: str) -> UnsupportedError:
    return UnsupportedError(
        "REX302", f"what RETURN gives of the pattern {name} is not drained with the other patterns: the states of a "
        "workload have the events of its matches", None, None,
        hint=f'drained.table.where("{PATTERN} = {name!r}") has these; for RETURN start the pattern as a query of its '
        "own, with rex.events, and drain that",
    )


def _refuse_alone(query: ParsedQuery, of_pattern: Callable[[str], Any]) -> None:
    """Fail with the error of the pattern that Spark refuses: alone, it has a text to point at."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the patterns were warned of together
        for pattern in query.clauses[0].patterns:
            with in_pattern(pattern.name):
                of_pattern(pattern.name)
