"""Random workloads: every plan, however its rows are fed, finds what the oracle finds, numbered and in order.

`REX_WORKLOAD_EXAMPLES` sets how many examples are run and `REX_SEED` the seed.
"""

from __future__ import annotations

import os
import random
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from tests.modes.events.engine_runs import engine_matches, evaluator_of
from tests.modes.workload import oracle
from tests.modes.workload.comparing import difference, drawn_example
from tests.modes.workload.directed import DIRECTED
from tests.modes.workload.draws import Workload, describe, drawn_workload
from tests.modes.workload.running import by_partition, nonempty

from sparkrex.modes.workload.planner.multitree import JoinNode

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.workload.oracle import Match
    from tests.modes.workload.running import Found, Shared

    from sparkrex.hosts.duckdb.host import RelationEvaluator

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


def alike(found: list[list[Match]]) -> list[tuple[list[int], list[Match]]]:
    """By partition the last events in order, and all matches."""
    return sorted(([rows[-1] for rows, _ in matches], sorted(matches)) for matches in found if matches)


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
    evaluator: RelationEvaluator, record_property: Callable[[str, object], None]
) -> None:
    counts: Counter[str] = Counter()
    tally: Counter[str] = Counter()
    for number in range(N_EXAMPLES):
        example = drawn_example(SEED + number)
        workload, shared, expected = example.workload, example.shared, example.expected
        counts["unshared"] += len(shared.refusals)
        is_shared = False
        for way, (method, multitree) in example.plans.items():
            problem = difference(example, way, evaluator)
            assert problem is None, problem
            counts.update({way: 1, method: 1})
            is_shared |= any(isinstance(node, JoinNode) and len(node.served) > 1 for node in multitree.nodes())
        if not example.plans:
            continue
        for name, query in workload.queries.items():
            if workload.max_kleene == 20:
                matches = by_partition(query, workload.rows, engine_matches(query, workload.rows, evaluator=evaluator))
                # It promises the order of last events; which of several with the same comes first, it does not.
                assert alike(matches) == alike(expected[name]), f"seed {example.seed}, rex.events, {name}\n{workload}"
                counts["equal to rex.events"] += 1
        counts.update(examples=1, matches=sum(len(one) for matches in expected.values() for one in matches))
        tally.update(happened(workload, shared, expected) | ({"a node serves two patterns"} if is_shared else set()))
    shares = {name: round(100 * tally[name] / max(1, counts["examples"])) for name in LEAST_PERCENT}
    record_property("coverage", f"workloads against the oracle: {dict(counts)}, percent {shares}")
    print(dict(counts), shares)
    if counts["examples"] >= 100:
        assert {name: share for name, share in shares.items() if share < LEAST_PERCENT[name]} == {}


@pytest.mark.parametrize("name", DIRECTED)
def test_examples_by_hand_find_what_the_oracle_finds(name: str, evaluator: RelationEvaluator) -> None:
    for seed in range(3):
        example = DIRECTED[name].example(seed)
        assert example.shared.refusals == {}
        assert [difference(example, way, evaluator) for way in example.plans] == [None] * len(example.plans)
