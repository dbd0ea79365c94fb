"""Random segment queries as text: the engine's answer is the oracle's, by every planner and by plans drawn at random.

`REX_SEGMENT_EXAMPLES` sets how many examples are run and `REX_SEED` the seed. The summary at the end of the test run
shows what they covered; too little coverage is a failure.
"""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import hypothesis
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from tests.modes.segments.analysis import analyzed
from tests.modes.segments.oracle import evaluate
from tests.modes.segments.test_engine import rows, same
from tests.modes.segments.texts import SCHEMA, TYPES, clauses, containing_clauses, plain_clauses, tables

from sparkrex.modes.segments import planning, runner
from sparkrex.modes.segments.planner import cost
from sparkrex.modes.segments.planner.physical_plan import Op
from sparkrex.modes.segments.planner.planners import PLANNERS, Plan, make_plan
from sparkrex.modes.segments.planner.rule_planners import random_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.modes.segments.planner.physical_plan import Physical

N_EXAMPLES = int(os.environ.get("REX_SEGMENT_EXAMPLES", "200"))
SEED = int(os.environ.get("REX_SEED", "20230619"))
# Several tests, so that parallel test workers share the work.
N_SHARES = 4

LEAST_PERCENT = {
    "matched": 30, "segments": 20, "plain": 2, "contains": 15, "answered by Contains": 4, "not": 15, "Kleene": 15,
    "NULL": 30, "no NULL": 15, "NaN": 8, "decimals in conditions": 8, "a random plan": 25, "two partitions": 20,
}
"""The share of examples, of all, in which each must have happened."""


def operators(plan: Physical) -> set[Op]:
    """All operators of a plan."""
    return {plan.op}.union(*map(operators, plan.children))


@st.composite
def drawn_tables(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Tables with and without NULL and NaN: without, some operators take shortcuts."""
    nulls, nan = draw(st.sampled_from([(True, False), (True, False), (False, False), (True, True), (False, True)]))
    return draw(tables(n_rows=6, decimals=True, nulls=nulls, nan=nan))


def drawn_clauses() -> st.SearchStrategy[tuple[str, str]]:
    """Clauses and their kind."""
    kinds = {
        "segments": [clauses(), clauses(decimals=True), clauses(decimals=True)],
        "contains": [containing_clauses(), containing_clauses(decimals=True)], "plain": [plain_clauses()],
    }
    return st.one_of([st.tuples(st.just(kind), one) for kind, strategies in kinds.items() for one in strategies])


@pytest.mark.parametrize("share", range(N_SHARES))
def test_engine_equals_oracle(
    share: int, record_property: Callable[[str, object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    seed = SEED + share
    happened: Counter[str] = Counter()
    # A number: the seed of a random plan.
    way: list[str | int] = ["optimizer"]
    used: set[Op] = set()

    def planned(logical: Any, statistics: Any, planner: str, *rest: Any) -> Plan:
        plan = make_plan(logical, statistics, planner, *rest)
        if isinstance(way[0], int):
            plan = Plan(random_plan(logical, way[0]), plan.estimate, planner)
        used.update(operators(plan.physical))
        return plan

    monkeypatch.setattr(planning, "make_plan", planned)
    # On tables this small Contains would hardly ever pay.
    monkeypatch.setattr(cost, "_ROUND", 0.0)
    # The estimates are of another plan.
    monkeypatch.setattr(runner, "warn_of_candidates", lambda _: None)

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=max(1, N_EXAMPLES // N_SHARES), deadline=None, database=None,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink),
    )
    @given(
        drawn_clauses(), drawn_tables(),
        st.one_of(st.sampled_from(["optimizer", *PLANNERS]), st.integers(0, 1000)),
    )
    def run(drawn: tuple[str, str], data: list[dict[str, Any]], asked: str | int) -> None:
        kind, clause = drawn
        way[0] = asked
        used.clear()
        found = rows(
            clause, pa.Table.from_pylist(data, schema=SCHEMA),
            **({"planner": asked} if isinstance(asked, str) and kind != "plain" else {}),
        )
        expected = evaluate(analyzed(clause, columns=TYPES), data)
        assert len(found) == len(expected), f"{asked}: {clause}\n{data}\n{found}\n{expected}"
        for ours, theirs in zip(found, expected, strict=True):
            assert all(map(same, ours, theirs)), f"{asked}: {clause}\n{data}\n{ours}\n{theirs}"
        values = [value for row in data for value in row.values()]
        has = {
            "matched": bool(expected), kind: True, "answered by Contains": Op.CONTAINS in used, "not": "~" in clause,
            "Kleene": bool(re.search(r"[+*]|\{", clause.split("PATTERN")[1].split("DEFINE")[0])),
            "NULL": None in values, "no NULL": None not in values,
            "NaN": any(isinstance(value, float) and math.isnan(value) for value in values),
            "decimals in conditions": bool(re.search(r"\b[dw]\b", clause.partition("DEFINE")[2])),
            "a random plan": isinstance(asked, int), "two partitions": data[-1]["k"] == "b",
        }
        happened.update([name for name, is_so in has.items() if is_so])
        happened["examples"] += 1

    run()
    n = max(1, happened["examples"])
    lines = [f"{name:34} {happened[name]:7} {100 * happened[name] / n:6.1f}%" for name in LEAST_PERCENT]
    record_property("coverage", "\n".join([f"segment queries, seed {seed}: {n} examples", *lines]))
    # The share of a kind in a handful of examples says nothing.
    if n >= 200:
        assert [name for name, least in LEAST_PERCENT.items() if 100 * happened[name] / n < least] == []
