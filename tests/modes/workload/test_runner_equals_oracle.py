"""Random workloads: every plan, however its rows are fed, finds what the oracle finds, numbered and in order.

`REX_WORKLOAD_EXAMPLES` sets how many examples are run and `REX_SEED` the seed.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.matching.schedules import disturb, scattered
from tests.modes.events.engine_runs import engine_matches, evaluator_of
from tests.modes.workload import oracle
from tests.modes.workload.draws import Workload, describe, drawn_workload
from tests.modes.workload.running import arranged, by_partition, fed, new_runner, nonempty, shared_forms

from sparkrex.matching.feeding import feeds_of
from sparkrex.modes.workload import search, segment_search
from sparkrex.modes.workload.planner.multitree import JoinNode
from sparkrex.modes.workload.planner.optimizer import METHODS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.workload.oracle import Match
    from tests.modes.workload.running import Found, Shared

    from sparkrex.hosts.duckdb.host import RelationEvaluator
    from sparkrex.matching.state import State
    from sparkrex.modes.workload.runner import GroupRunner

N_EXAMPLES = int(os.environ.get("REX_WORKLOAD_EXAMPLES", "60"))
SEED = int(os.environ.get("REX_SEED", "20210417"))
LEAST_PERCENT = {
    "matched": 70, "two patterns matched": 50, "NOT at the start": 12, "NOT in the middle": 12, "NOT at the end": 12,
    "NOT in AND": 12, "AND": 50, "OR": 25, "Kleene": 40, "optional": 25, "count windows": 40, "strict ties": 30,
    "a node serves two patterns": 30, "equal patterns": 20, "stopped": 2, "formulas": 20,
}
"""The share of examples in which each must have happened."""


@pytest.fixture(scope="module")
def evaluator() -> RelationEvaluator:
    """One host for all queries."""
    return evaluator_of(drawn_workload(random.Random(0)).queries["p0"])


def expected_of(workload: Workload) -> Found:
    return {
        name: nonempty(oracle.find_matches(query, workload.rows, workload.max_kleene))
        for name, query in workload.queries.items()
    }


def alike(found: list[list[Match]]) -> list[tuple[list[int], list[Match]]]:
    """By partition the last events in order, and all matches."""
    return sorted(([rows[-1] for rows, _ in matches], sorted(matches)) for matches in found if matches)


def run(way: str, runner: GroupRunner, workload: Workload, draw: random.Random) -> Found:
    """Feed a runner with all rows."""
    table, arrangement = arranged(runner.queries, workload.rows)
    if way == "many slots" and table.num_rows:
        order = "t" if draw.random() < 0.7 else None

        def between(state: State) -> State:
            disturb(state, draw)
            return state

        return fed(runner, scattered(table, arrangement, draw, order), between)
    chunk = draw.choice([1, 2, 3, 5]) if way == "chunks" else None
    return fed(
        runner, feeds_of(table, arrangement, chunk),
        lambda state: runner.open().restore(state.snapshot("plan"), "plan"),
    )


def happened(workload: Workload, shared: Shared, expected: Found) -> set[str]:
    found = set().union(*(describe(query) for query in workload.queries.values()))
    unlimited = {name: nonempty(oracle.find_matches(query, workload.rows)) for name, query in workload.queries.items()}
    n_matched = sum(bool(matches) for matches in expected.values())
    questions = {
        "matched": n_matched > 0, "two patterns matched": n_matched > 1, "stopped": unlimited != expected,
        "count windows": any("EVENTS" in text for text in workload.texts.values()),
        "equal patterns": len(set(workload.texts.values())) < len(workload.texts),
        "strict ties": workload.has_strict_ties,
        "formulas": any(type(one).__name__ == "Formula" for one in shared.symbols.conditions),
    }
    return found | {name for name, is_so in questions.items() if is_so}


def test_every_plan_finds_what_the_oracle_finds(
    evaluator: RelationEvaluator, record_property: Callable[[str, object], None], monkeypatch: pytest.MonkeyPatch,
) -> None:
    counts: Counter[str] = Counter()
    tally: Counter[str] = Counter()
    for number in range(N_EXAMPLES):
        seed = SEED + number
        draw = random.Random(seed)
        workload = drawn_workload(draw)
        shared = shared_forms(workload.queries)
        counts["unshared"] += len(shared.refusals)
        if not shared.forms:
            continue
        expected, is_shared = expected_of(workload), False
        for way in ("whole", "chunks", "many slots", "segments"):
            method = METHODS[draw.randrange(len(METHODS))]
            prepared = shared.prepared(method, draw)
            with monkeypatch.context() as patch:
                patch.setattr(search, "BLOCK_ROWS", draw.choice([1, 2, 5, 4096]))
                patch.setattr(search, "ROOM", draw.choice([1, 100, 1 << 14]))
                patch.setattr(search, "FEW", draw.choice([0, 3, 256]))
                patch.setattr(search, "MOST_COMPLETE", draw.choice([1, 1 << 20]))
                if way == "segments" or draw.random() < 0.3:
                    patch.setattr(segment_search, "SEGMENT_ROWS", draw.choice([1, 2, 3]))
                runner = new_runner(
                    prepared, evaluator, threads=draw.choice([1, 2]), max_kleene=workload.max_kleene
                )
                found = run(way, runner, workload, draw)
            for pattern in prepared.patterns:
                assert nonempty(found.get(pattern.name, [])) == expected[pattern.name], (
                    f"seed {seed}, {method}, {way}, {pattern.name}\n{workload}"
                )
            counts.update({way: 1, method: 1})
            is_shared |= any(isinstance(node, JoinNode) and len(node.served) > 1 for node in prepared.multitree.nodes())
        for name, query in workload.queries.items():
            if workload.max_kleene == 20:
                matches = by_partition(query, workload.rows, engine_matches(query, workload.rows, evaluator=evaluator))
                # It promises the order of last events; which of several with the same comes first, it does not.
                assert alike(matches) == alike(expected[name]), f"seed {seed}, rex.events, {name}\n{workload}"
                counts["equal to rex.events"] += 1
        counts.update(examples=1, matches=sum(len(one) for matches in expected.values() for one in matches))
        tally.update(happened(workload, shared, expected) | ({"a node serves two patterns"} if is_shared else set()))
    shares = {name: round(100 * tally[name] / max(1, counts["examples"])) for name in LEAST_PERCENT}
    record_property("coverage", f"workloads against the oracle: {dict(counts)}, percent {shares}")
    print(dict(counts), shares)
    if counts["examples"] >= 100:
        assert {name: share for name, share in shares.items() if share < LEAST_PERCENT[name]} == {}
