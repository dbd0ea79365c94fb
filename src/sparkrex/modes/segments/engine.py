"""The pipeline of a segment search in one process: arrange, rewrite, plan, find, measure."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.ordered import Columns
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError
from sparkrex.matching.output import name_partition
from sparkrex.matching.row_values import arrange_rows
from sparkrex.modes.segments.analyze.forms import check_parts
from sparkrex.modes.segments.explain import SearchExplained
from sparkrex.modes.segments.operators.arguments import (
    check_numbers,
    has_exact_differences,
    number_column,
    with_argument_columns,
)
from sparkrex.modes.segments.operators.arrays import StepsSpentError, TooManySegmentsError, no_segments, together
from sparkrex.modes.segments.operators.build import Builder
from sparkrex.modes.segments.operators.conditions import SegmentConditions
from sparkrex.modes.segments.operators.execute import find_segments
from sparkrex.modes.segments.operators.mapped_reader import MappedReader
from sparkrex.modes.segments.operators.mappings import check_conditions, find_mappings, variables_of
from sparkrex.modes.segments.operators.measured import MeasuringBuilder
from sparkrex.modes.segments.operators.output import INDEX, build_rows, measured_table
from sparkrex.modes.segments.operators.rows_after import with_rows_after
from sparkrex.modes.segments.operators.series import Series
from sparkrex.modes.segments.planner.containment_sample import with_containments
from sparkrex.modes.segments.planner.logical import Leaf, Neither, Repeat, parts
from sparkrex.modes.segments.planner.make_logical import make_logical, order_column
from sparkrex.modes.segments.planner.planners import make_plan
from sparkrex.modes.segments.planner.statistics import collect
from sparkrex.modes.segments.planner.validate import check_order
from sparkrex.modes.segments.planner.weights import shipped_weights
from sparkrex.modes.segments.rewrite.driver import rewrite_logical
from sparkrex.modes.segments.rewrite.plain import rewrite_plain
from sparkrex.modes.segments.rewrite.text import logical_text
from sparkrex.scalar.expression import Aggregate, ColumnAt, walk
from sparkrex.stopwatch import Stopwatch
from sparkrex.threads import run_aside
from sparkrex.warn import warn_user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.segments.operators.contract import Segments
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.planner.logical import Logical
    from sparkrex.modes.segments.planner.planners import Plan
    from sparkrex.modes.segments.rewrite.driver import Step
    from sparkrex.settings import Settings


@dataclass(frozen=True, eq=False, slots=True)
class Rewritten:
    """A search as a logical plan, and how it came about.

    There is no plan of a plain query that no segments stand for: every mapping of rows to its variables is tried.
    """

    search: SegmentSearch
    steps: tuple[Step, ...]
    logical: Logical | None


@dataclass(frozen=True, eq=False, slots=True)
class Planned:
    """A search ready to run over its rows, and how it came about."""

    search: SegmentSearch
    steps: tuple[Step, ...]
    logical: Logical
    plan: Plan
    series: Series
    conditions: SegmentConditions


@dataclass(frozen=True, eq=False, slots=True)
class Mapped:
    """A plain query that is answered by trying every mapping."""

    search: SegmentSearch


def run_search(
    search: SegmentSearch, table: pa.Table, evaluator: Evaluator, settings: Settings
) -> pa.Table:
    """The result of one segment search over its input."""
    prepared = _prepared(search, table, evaluator, settings, Stopwatch())
    return _run(prepared, evaluator, Builder)


def explain_search(
    search: SegmentSearch, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
) -> SearchExplained:
    """How it is planned over its input; with `analyze`, after a run, with what happened."""
    prepared = _prepared(search, table, evaluator, settings, Stopwatch())
    planned = prepared.planned
    if isinstance(planned, Mapped):
        if analyze:
            _run(prepared, evaluator, Builder)
        return SearchExplained(search, (), None, laps=prepared.watch.laps if analyze else ())
    if not analyze:
        return SearchExplained(
            search, planned.steps, planned.logical, planned.plan, planned.conditions.by_host
        )
    builders: list[MeasuringBuilder] = []

    def builder(*arguments: Any) -> Builder:
        builders.append(MeasuringBuilder(*arguments))
        return builders[-1]

    _run(prepared, evaluator, builder)
    return SearchExplained(
        search, planned.steps, planned.logical, planned.plan, planned.conditions.by_host, builders[0].measured,
        prepared.watch.laps,
    )


@dataclass(frozen=True, eq=False, slots=True)
class _Prepared:
    """A planned search and its rows in order."""

    planned: Planned | Mapped
    table: pa.Table
    arrangement: Arrangement
    partition_columns: list[pa.ChunkedArray]
    settings: Settings
    watch: Stopwatch


def _prepared(
    search: SegmentSearch, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
) -> _Prepared:
    """Kernels here are linear in rows, or in the sample, but sampling calls aggregates that users wrote."""
    return run_aside(partial(_prepared_now, search, table, evaluator, settings, watch), lambda: None)


def _prepared_now(
    search: SegmentSearch, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
) -> _Prepared:
    arrangement, partition_columns = arrange_rows(search, table, evaluator, settings.thread_count())
    search, table = with_argument_columns(search, table, evaluator)
    columns = Columns(table, arrangement.offsets, arrangement.order)
    ordered = Columns(columns.ordered, arrangement.offsets)
    watch.lap("order", f"{table.num_rows:,} rows, {len(arrangement.offsets) - 1:,} partitions")
    with _partition_named(search, arrangement, partition_columns):
        planned = plan_search(search, ordered, evaluator, settings)
    watch.lap("sample and plan")
    return _Prepared(planned, table, arrangement, partition_columns, settings, watch)


def _run(prepared: _Prepared, evaluator: Evaluator, builder: Callable[..., Builder]) -> pa.Table:
    planned = prepared.planned
    if isinstance(planned, Planned):
        warn_of_candidates(planned)
        planned.series.limit_steps(prepared.settings.max_steps)
        return run_aside(partial(_run_now, prepared, evaluator, builder), planned.series.give_up)
    return run_aside(partial(_run_now, prepared, evaluator, builder), lambda: None)


def _run_now(prepared: _Prepared, evaluator: Evaluator, builder: Callable[..., Builder]) -> pa.Table:
    planned, arrangement = prepared.planned, prepared.arrangement
    indexed = prepared.table.append_column(INDEX, wrap(_indexes(arrangement)))
    with _partition_named(planned.search, arrangement, prepared.partition_columns):
        if isinstance(planned, Mapped):
            return _run_mapped(prepared, planned.search, indexed, evaluator)
        found = _found(planned, prepared.settings, builder)
        prepared.watch.lap("find", f"{len(found):,} segments")
        result = build_rows(planned.search, found, indexed, arrangement, prepared.partition_columns, evaluator)
    prepared.watch.lap("measures", f"{result.num_rows:,} rows")
    return result


def _run_mapped(prepared: _Prepared, search: SegmentSearch, table: pa.Table, evaluator: Evaluator) -> pa.Table:
    limit = prepared.settings.max_segments
    try:
        matches = find_mappings(search, table, prepared.arrangement, evaluator, limit)
    except TooManySegmentsError:
        raise ExecutionError(
            "REX408", f"there are more ways to map rows to variables than max_segments = {limit:,}", search.source,
            search.pattern.span or search.span, hint="say more in DEFINE, or raise the setting max_segments",
        ) from None
    prepared.watch.lap("find", f"{len(matches):,} matches")
    reader = MappedReader(table, prepared.arrangement, matches, variables_of(search), search.dialect, evaluator)
    result = measured_table(search, reader, prepared.partition_columns)
    prepared.watch.lap("measures", f"{result.num_rows:,} rows")
    return result


@contextmanager
def _partition_named(
    search: SegmentSearch, arrangement: Arrangement, partition_columns: list[pa.ChunkedArray]
) -> Iterator[None]:
    """Inside, an error at a row says in which partition that is."""
    try:
        yield
    except ExecutionError as error:
        if error.row is not None:
            row = int(arrangement.input_rows(np.array([error.row]))[0])
            name_partition(error, [key.name for key in search.partition_by], partition_columns, row)
        raise


def plan_search(
    search: SegmentSearch, columns: Columns, evaluator: Evaluator, settings: Settings
) -> Planned | Mapped:
    """Rewrite, sample and plan. `columns` are in order."""
    check_numbers(search, columns.table.schema)
    rewritten = rewrite_search(search, columns.table)
    search, logical = rewritten.search, rewritten.logical
    if logical is None:
        check_conditions(search, columns.table, evaluator)
        return Mapped(search)
    series = make_series(logical, columns)
    leaves = [leaf for leaf in _leaves(logical) if leaf.condition is not None]
    expressions = list(dict.fromkeys(leaf.condition for leaf in leaves if leaf.condition is not None))
    conditions = SegmentConditions(expressions, series, columns, evaluator, search.source)
    statistics = collect(logical, series, conditions, shipped_weights(), settings.sample_series)
    statistics = with_containments(statistics, logical, series, conditions, shipped_weights())
    plan = make_plan(logical, statistics, settings.planner or "optimizer")
    return Planned(search, rewritten.steps, logical, plan, series, conditions)


def rewrite_search(search: SegmentSearch, table: pa.Table) -> Rewritten:
    """Apply the rules. Of the rows only types matter, and whether the first column of ORDER BY has NULLs."""
    written, (search, steps) = search, rewrite_plain(search, _units(table.schema))
    if search.is_plain:
        return Rewritten(written, (), None)
    check_parts(search.pattern, search.source)
    pruning = order_column(search)
    if pruning is not None:
        values = table.column(pruning)
        pruning = pruning if has_exact_differences(values.type) and not values.null_count else None
    logical, more = rewrite_logical(make_logical(search, pruning))
    check_order(logical, search.source, search.span)
    return Rewritten(search, (*steps, *more), logical)


_MANY_CANDIDATES = 1_000_000_000
"""Segments to go through of which a query warns before it runs: some seconds at best."""


def warn_of_candidates(planned: Planned) -> None:
    """Say before the run how many segments a part of the plan goes through, if those are very many."""
    n_series = max(1, len(planned.series.offsets) - 1)
    most, where = 0, ""
    pending = [(planned.plan.physical, planned.plan.estimate)]
    while pending:
        plan, estimate = pending.pop()
        pending += zip(plan.children, estimate.children, strict=True)
        if not isinstance(plan.logical, Leaf) or plan.logical.is_point or estimate.spaces > n_series:
            continue  # what is probed is not gone through as a whole
        n_candidates = _candidates(planned.series, plan.logical)
        if n_candidates > most:
            most, where = n_candidates, logical_text(plan.logical)
    if most > _MANY_CANDIDATES:
        warn_user(f"{where} has {most:,} segments to go through: bound it, or the whole pattern, by a window")


def _candidates(series: Series, node: Logical) -> int:
    """How many segments the windows of a node allow, exactly."""
    first_end, last_end, _, _ = series.bounds(node.windows)
    return int(np.maximum(last_end - first_end + 1, 0).sum())


def _found(planned: Planned, settings: Settings, builder: Callable[..., Builder]) -> Segments:
    search = planned.search
    operator = builder(planned.series, planned.conditions, settings.max_segments).build(planned.plan.physical)
    parts_found: list[Segments] = []
    n_found = 0
    try:
        for part in find_segments(operator, planned.series, planned.logical.windows):
            parts_found.append(part)
            n_found += len(part)
            if n_found > settings.max_segments:
                raise TooManySegmentsError
    except TooManySegmentsError:
        raise ExecutionError(
            "REX408", f"a part of the pattern has more segments than max_segments = {settings.max_segments:,}",
            search.source, search.pattern.span or search.span, notes=(_largest(planned, settings.max_segments),),
            hint="bound it by a window, or raise the setting max_segments",
        ) from None
    except StepsSpentError:
        raise ExecutionError(
            "REX403", f"the search took more than {settings.max_steps:,} steps a row", search.source,
            search.pattern.span or search.span,
            hint="bound the pattern by a window, or raise the setting max_steps",
        ) from None
    found = together(parts_found) if parts_found else no_segments(search.measured)
    return with_rows_after(found, planned.series.offsets, search.rows_after)


def _largest(planned: Planned, limit: int) -> str:
    """Where the most segments are possible, and how many: a Not or a repetition, if there is one."""
    nodes = list(_nodes(planned.logical))
    suspects = [node for node in nodes if isinstance(node, Neither | Repeat)] or nodes
    sizes = {}
    for node in suspects:
        sizes[_candidates(planned.series, node)] = node
    made = "" if max(sizes) > limit else ", each in many ways"
    return f"{logical_text(sizes[max(sizes)])} may have up to {max(sizes):,} segments{made}"


def make_series(logical: Logical, columns: Columns) -> Series:
    """The columns that windows and aggregates read, as numbers."""
    names: dict[str, None] = {}
    for node in _nodes(logical):
        names.update({window.column: None for window in node.windows if window.column is not None})
        condition = node.condition if isinstance(node, Leaf) else None
        for part in walk(condition) if condition is not None else ():
            if isinstance(part, Aggregate):
                names.update({argument.column: None for argument in part.arguments if isinstance(argument, ColumnAt)})
    return Series({name: number_column(columns.table.column(name)) for name in names}, columns.offsets)


def _units(schema: pa.Schema) -> dict[str, int]:
    """Microseconds in a unit of each column of times."""
    units = {field.name: 1 for field in schema if pa.types.is_timestamp(field.type)}
    return units | {field.name: 86_400_000_000 for field in schema if pa.types.is_date(field.type)}


def _nodes(logical: Logical) -> Iterator[Logical]:
    pending = [logical]
    while pending:
        node = pending.pop()
        yield node
        pending += parts(node)


def _leaves(logical: Logical) -> Iterator[Leaf]:
    return (node for node in _nodes(logical) if isinstance(node, Leaf))


def _indexes(arrangement: Arrangement) -> NDArray[np.int64]:
    """For every input row its position in its partition."""
    lengths = np.diff(arrangement.offsets)
    positions = np.arange(arrangement.n_rows) - np.repeat(arrangement.offsets[:-1], lengths)
    if arrangement.order is None:
        return positions
    indexes = np.empty(arrangement.n_rows, np.int64)
    indexes[arrangement.order] = positions
    return indexes
