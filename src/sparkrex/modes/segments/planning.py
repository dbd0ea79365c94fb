"""A segment search becomes a plan: rewritten once, planned over a sample of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.modes.segments.analyze.forms import check_parts
from sparkrex.modes.segments.operators.arguments import check_numbers, has_exact_differences, number_column
from sparkrex.modes.segments.operators.conditions import SegmentConditions
from sparkrex.modes.segments.operators.mappings import check_conditions
from sparkrex.modes.segments.operators.series import Series
from sparkrex.modes.segments.planner.containment_sample import with_containments
from sparkrex.modes.segments.planner.logical import Leaf, parts
from sparkrex.modes.segments.planner.make_logical import make_logical, order_column
from sparkrex.modes.segments.planner.planners import make_plan
from sparkrex.modes.segments.planner.statistics import collect
from sparkrex.modes.segments.planner.validate import check_order
from sparkrex.modes.segments.planner.weights import shipped_weights
from sparkrex.modes.segments.rewrite.driver import rewrite_logical, rewrite_plain
from sparkrex.modes.segments.rewrite.text import logical_text
from sparkrex.scalar.expression import Aggregate, ColumnAt, walk
from sparkrex.warn import warn_user

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.hosts.host import Evaluator
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


def plan_search(
    search: SegmentSearch, columns: Columns, evaluator: Evaluator, settings: Settings
) -> Planned | Mapped:
    """Rewrite, sample and plan. `columns` are in order."""
    check_numbers(search, columns.table.schema)
    rewritten = rewrite_search(search, columns.table, settings.without_rules)
    if rewritten.logical is None:
        check_conditions(rewritten.search, columns.table, evaluator)
        return Mapped(rewritten.search)
    rows = read_rows(rewritten.logical, columns, None, evaluator, rewritten.search)
    return Planned(
        rewritten.search, rewritten.steps, rewritten.logical, plan_over(rewritten.logical, rows, settings), *rows
    )


def read_rows(
    logical: Logical, columns: Columns, first: NDArray[np.int64] | None, evaluator: Evaluator, search: SegmentSearch
) -> tuple[Series, SegmentConditions]:
    """The rows as operators read them: columns as numbers, and conditions that are compiled for them."""
    series = make_series(logical, columns, first)
    conditions = [leaf.condition for leaf in _leaves(logical) if leaf.condition is not None]
    return series, SegmentConditions(list(dict.fromkeys(conditions)), series, columns, evaluator, search.source)


def plan_over(logical: Logical, rows: tuple[Series, SegmentConditions], settings: Settings) -> Plan:
    """The plan that the sampled rows suggest."""
    series, conditions = rows
    statistics = collect(logical, series, conditions, shipped_weights(), settings.sample_series)
    statistics = with_containments(statistics, logical, series, conditions, shipped_weights())
    return make_plan(logical, statistics, settings.planner or "optimizer")


def rewrite_search(search: SegmentSearch, table: pa.Table, without_rules: Collection[str] = ()) -> Rewritten:
    """Apply the rules. Of the rows only types matter, and whether the first column of ORDER BY has NULLs."""
    written, (search, steps) = search, rewrite_plain(search, _units(table.schema), without_rules)
    if search.is_plain:
        return Rewritten(written, (), None)
    check_parts(search.pattern, search.source)
    pruning = order_column(search)
    if pruning is not None:
        values = table.column(pruning)
        pruning = pruning if has_exact_differences(values.type) and not values.null_count else None
    logical, more = rewrite_logical(make_logical(search, pruning), without_rules)
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
        n_candidates = count_candidates(planned.series, plan.logical)
        if n_candidates > most:
            most, where = n_candidates, logical_text(plan.logical)
    if most > _MANY_CANDIDATES:
        warn_user(f"{where} has {most:,} segments to go through: bound it, or the whole pattern, by a window")


def count_candidates(series: Series, node: Logical) -> int:
    """How many segments the windows of a node allow, exactly."""
    first_end, last_end, _, _ = series.bounds(node.windows)
    return int(np.maximum(last_end - first_end + 1, 0).sum())


def make_series(logical: Logical, columns: Columns, first: NDArray[np.int64] | None = None) -> Series:
    """The columns that windows and aggregates read, as numbers."""
    names: dict[str, None] = {}
    for node in nodes_of(logical):
        names.update({window.column: None for window in node.windows if window.column is not None})
        condition = node.condition if isinstance(node, Leaf) else None
        for part in walk(condition) if condition is not None else ():
            if isinstance(part, Aggregate):
                names.update({argument.column: None for argument in part.arguments if isinstance(argument, ColumnAt)})
    return Series({name: number_column(columns.table.column(name)) for name in names}, columns.offsets, first)


def _units(schema: pa.Schema) -> dict[str, int]:
    """Microseconds in a unit of each column of times."""
    units = {field.name: 1 for field in schema if pa.types.is_timestamp(field.type)}
    return units | {field.name: 86_400_000_000 for field in schema if pa.types.is_date(field.type)}


def nodes_of(logical: Logical) -> Iterator[Logical]:
    pending = [logical]
    while pending:
        node = pending.pop()
        yield node
        pending += parts(node)


def _leaves(logical: Logical) -> Iterator[Leaf]:
    return (node for node in nodes_of(logical) if isinstance(node, Leaf))
