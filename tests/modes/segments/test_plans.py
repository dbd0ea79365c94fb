"""Random physical plans over random searches find what the oracle finds."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from sqlglot import Dialect
from tests.modes.segments.arrays import columns_of, series_of
from tests.modes.segments.draws import Example, examples
from tests.modes.segments.oracle import find_segments
from tests.modes.segments.plans import NoOrderError, random_plan

from sparkrex.hosts.duckdb.host import DuckDbHost, RelationEvaluator
from sparkrex.modes.segments.operators.build import Builder
from sparkrex.modes.segments.operators.conditions import SegmentConditions
from sparkrex.modes.segments.operators.execute import find_segments as execute
from sparkrex.modes.segments.planner.logical import Both, Leaf
from sparkrex.modes.segments.planner.make_logical import make_logical
from sparkrex.settings import Settings
from sparkrex.source import Source

if TYPE_CHECKING:
    from sparkrex.modes.segments.planner.physical_plan import Physical
    from sparkrex.scalar.expression import Expression

LIMIT = 1_000_000


def evaluator() -> RelationEvaluator:
    """Only for constants: an operator with NULL in it, say."""
    return RelationEvaluator(
        DuckDbHost(Source("SELECT 1"), Dialect.get_or_raise("duckdb"), "duckdb", Settings()), ""
    )


def conditions_of(plan: Physical) -> list[Expression]:
    """The conditions of all leaves below, each once."""
    found: dict[Expression, None] = {}

    def visit(logical: object) -> None:
        if isinstance(logical, Leaf) and logical.condition is not None:
            found[logical.condition] = None
        elif isinstance(logical, Both):
            for part in logical.parts:
                visit(part)

    pending = [plan]
    while pending:
        node = pending.pop()
        visit(node.logical)
        pending += node.children
    return list(found)


def found_by(plan: Physical, example: Example) -> list[tuple[Any, ...]]:
    """What a plan finds, as the oracle would say it: partition, start, end, bindings."""
    columns = columns_of(example)
    series = series_of(columns)
    conditions = SegmentConditions(conditions_of(plan), series, columns, evaluator(), example.search.source)
    operator = Builder(series, conditions, LIMIT).build(plan)
    found = []
    for segments in execute(operator, series, plan.logical.windows):
        for k, (start, end) in enumerate(zip(segments.start.tolist(), segments.end.tolist(), strict=True)):
            partition = int(np.searchsorted(columns.offsets, start, side="right")) - 1
            base = int(columns.offsets[partition])
            bindings = tuple(
                None if (first := int(segments.bindings[name][0][k])) < 0
                else (first - base, int(segments.bindings[name][1][k]) - base)
                for name in example.search.measured
            )
            found.append(("ab"[partition], start - base, end - base, *bindings))
    return found


def shape(plan: Physical) -> str:
    """The operators of a plan."""
    return f"{plan.op.value}({', '.join(map(shape, plan.children))})"


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(examples(depth=3, n_leaves=4, n_rows=6, with_skip=False), st.integers(0, 1000))
def test_every_plan_finds_what_the_oracle_finds(example: Example, seed: int) -> None:
    logical = make_logical(example.search, "t")
    expected = [
        (one.partition[0], one.start, one.end, *one.bindings) for one in find_segments(example.search, example.rows)
    ]
    event("matches" if expected else "no match")
    for attempt in range(4):
        try:
            plan = random_plan(logical, Random(seed + attempt))
        except NoOrderError:
            continue
        found = found_by(plan, example)
        # Sets first: they say more when they differ.
        assert set(found) == set(expected), f"{shape(plan)}\n{example}"
        assert len(found) == len(expected), f"twice: {shape(plan)}\n{example}"
