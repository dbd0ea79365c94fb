"""The optimizer as a whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.modes.workload.planner import checks, oracle, search_checks
from tests.modes.workload.planner.checks import is_same
from tests.modes.workload.planner.workloads import conjunction, paper_workload, random_workload, seq

from sparkrex.modes.workload.planner import budget, optimizer
from sparkrex.modes.workload.planner.budget import PROGRESS_STEPS
from sparkrex.modes.workload.planner.incumbent import Incumbent
from sparkrex.modes.workload.planner.multitree import Multitree
from sparkrex.modes.workload.planner.neighbourhoods import Neighbourhood
from sparkrex.modes.workload.planner.optimizer import GIVEN, METHODS, add_clause, improve, optimize, remove_clause
from sparkrex.modes.workload.planner.search_state import SearchState
from sparkrex.modes.workload.planner.statistics import Statistics

if TYPE_CHECKING:
    from random import Random

    from sparkrex.modes.workload.planner.search_state import Undo
    from sparkrex.modes.workload.planner.tree import Tree

SEARCHES = tuple(method for method in METHODS if method.startswith(("sa-", "ts-")))


def test_all_methods_have_names() -> None:
    assert METHODS == (
        "none", "re", "sh", "sh-rr", "sh-mdt", "sa-edge", "sa-vertex4", "sa-vertex8", "sa-edge-prefix", "ts-edge",
        "ts-vertex4", "ts-vertex8", "ts-edge-prefix",
    )
    with pytest.raises(ValueError, match="sa is no method; there are none, re, sh, sh-rr, sh-mdt, sa-edge, "):
        optimize([seq("AB")], Statistics({}), "sa")


@pytest.mark.parametrize("method", METHODS)
def test_no_clause_and_one(method: str) -> None:
    statistics = Statistics({"A": 5.0, "B": 4.0, "C": 1.0})
    assert optimize([], statistics, method).cost == 0.0
    assert optimize([seq("A")], statistics, method).cost == 50.0
    found = optimize([seq("ABC")], statistics, method)
    assert found.multitree.clauses.keys() == {0}
    if method in SEARCHES:
        assert found.cost == pytest.approx(50 + 40 + 10 + 40 * 10 + 50 * 40 * 10)


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("seed", range(3))
def test_a_search_is_never_worse_than_what_it_begins_with(method: str, seed: int) -> None:
    clauses, statistics = paper_workload(seed, 25, 12, windows=(10.0, 15.0))
    found = optimize(clauses, statistics, method, seed=seed, max_steps=200)
    assert found.cost <= min(found.costs.values()) * (1 + 1e-9)
    for name in ("none", "re", "sh"):
        assert is_same(found.costs[name], optimize(clauses, statistics, name).cost) or method.endswith("prefix")


@pytest.mark.parametrize("seed", range(36))
def test_the_plan_is_nearly_the_cheapest_and_its_cost_is_right(seed: int) -> None:
    assert search_checks.searches(seed) is None


@pytest.mark.parametrize("seed", range(12))
def test_the_same_seed_gives_the_same_plan(seed: int) -> None:
    assert search_checks.repeatable(seed) is None


@pytest.mark.parametrize("method", SEARCHES)
@pytest.mark.parametrize("max_steps", [0, 100])
@pytest.mark.parametrize("seed", range(3))
def test_a_plan_is_improved_from_where_it_is(method: str, max_steps: int, seed: int) -> None:
    clauses, before = paper_workload(seed, 25, 12, windows=(10.0, 15.0))
    labels = list(before.rates)
    rates = dict(zip(labels, [before.rates[label] for label in reversed(labels)], strict=True))
    after = Statistics(rates, before.selectivities, before.span)
    trees = [tree for _, tree in sorted(optimize(clauses, before, method, max_steps=200).multitree.trees().items())]
    present = Multitree(after)
    for number, (clause, tree) in enumerate(zip(clauses, trees, strict=True)):
        present.add(number, clause, tree)
    found = improve(trees, clauses, after, method, seed=seed, max_steps=max_steps)
    assert is_same(found.costs[GIVEN], present.cost)
    assert is_same(found.cost, found.multitree.recomputed_cost())
    assert found.cost < present.cost
    assert found.multitree.trees().keys() == present.trees().keys()
    again = improve(trees, clauses, after, method, seed=seed, max_steps=max_steps)
    assert again.multitree.trees() == found.multitree.trees()


def test_nothing_is_improved_to_nothing() -> None:
    assert improve([], [], Statistics({}), "sa-edge", max_steps=10).cost == 0.0


class Clock:
    """A clock that goes on by a hundredth of a second whenever it is asked."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 0.01
        return self.now


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """The neighbours that a search looks at, by the roots of all clauses."""
    seen: list[tuple[int, ...]] = []
    step = Neighbourhood.step

    def recorded(neighbourhood: Neighbourhood, state: SearchState, random: Random) -> Undo:
        undo = step(neighbourhood, state, random)
        seen.append(tuple(plan.root for plan in state.multitree.plans.values()))
        return undo

    monkeypatch.setattr(Neighbourhood, "step", recorded)
    return seen


def test_another_seed_goes_another_way(taken: list[tuple[int, ...]]) -> None:
    clauses, statistics = paper_workload(1, 12, 8)
    sequences = []
    for seed in (0, 1, 0):
        taken.clear()
        optimize(clauses, statistics, seed=seed, max_steps=100)
        sequences.append(list(taken))
    assert sequences[0] == sequences[2] != sequences[1]


@pytest.mark.parametrize("method", ["sa-edge", "ts-edge"])
def test_a_time_limit_ends_the_same_sequence_earlier(
    method: str, taken: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    clauses, statistics = paper_workload(2, 12, 8)
    sequences, costs = [], []
    for seconds in (3.0, 12.0, 18.0):
        monkeypatch.setattr(budget, "perf_counter", Clock())
        taken.clear()
        found = optimize(clauses, statistics, method, seed=5, max_steps=None, seconds=seconds)
        assert found.steps == len(taken) == pytest.approx(seconds / 0.01, abs=2)
        sequences.append(list(taken))
        costs.append(found.cost)
    assert sequences[1][: len(sequences[0])] == sequences[0]
    assert sequences[2][: len(sequences[1])] == sequences[1]
    assert costs == sorted(costs, reverse=True)
    assert optimize(clauses, statistics, method, seed=5, max_steps=len(sequences[1])).cost == costs[1]


@pytest.mark.parametrize("method", ["sa-edge", "ts-edge", "sa-vertex4"])
@pytest.mark.parametrize("at", [1, 150, 1700])
def test_an_interrupt_gives_the_best_so_far(
    method: str, at: int, taken: list[tuple[int, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A user interrupts in the middle of a step, when a clause has been taken out and not been put in again."""
    clauses, statistics = paper_workload(3, 15, 10)
    settle, made, n_interrupts = SearchState.settle, list[Incumbent](), 0

    def interrupted(state: SearchState, number: int, tree: Tree) -> None:
        nonlocal n_interrupts
        if len(taken) >= at and not n_interrupts:
            n_interrupts += 1
            raise KeyboardInterrupt
        settle(state, number, tree)

    def watched(state: SearchState) -> Incumbent:
        made.append(Incumbent(state))
        return made[-1]

    monkeypatch.setattr(SearchState, "settle", interrupted)
    monkeypatch.setattr(optimizer, "Incumbent", watched)
    found = optimize(clauses, statistics, method, seed=1, max_steps=5000)
    assert at < found.steps < at + 50
    parts = [
        oracle.tree_parts(clause, found.multitree.tree(number), statistics) for number, clause in enumerate(clauses)
    ]
    assert is_same(found.cost, oracle.total(parts))
    assert found.cost <= made[0].cost * (1 + 1e-9)
    assert made[0].cost <= min(found.costs.values()) * (1 + 1e-9)


def test_an_interrupt_before_the_search_gives_the_best_of_what_it_begins_with(monkeypatch: pytest.MonkeyPatch) -> None:
    clauses, statistics = paper_workload(3, 15, 10)
    descents = 0
    descend = SearchState.descend

    def interrupted(state: SearchState) -> None:
        nonlocal descents
        descents += 1
        if descents == 2:
            raise KeyboardInterrupt
        descend(state)

    monkeypatch.setattr(SearchState, "descend", interrupted)
    found = optimize(clauses, statistics)
    assert found.steps == 0
    assert found.cost <= min(found.costs.values())


def test_progress_is_told() -> None:
    clauses, statistics = paper_workload(4, 15, 10)
    told: list[tuple[int, float]] = []
    found = optimize(
        clauses, statistics, seed=2, max_steps=5 * PROGRESS_STEPS, on_progress=lambda *known: told.append(known)
    )
    assert [steps for steps, _ in told] == [PROGRESS_STEPS * at for at in range(1, 6)]
    costs = [cost for _, cost in told]
    assert costs == sorted(costs, reverse=True)
    assert found.cost <= costs[-1] * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(15))
def test_clauses_come_and_go_in_a_plan_in_use(seed: int) -> None:
    assert checks.in_use(seed) is None


def test_the_clause_that_owned_a_shared_node_goes() -> None:
    """AB was there for the first clause, the second took it; what is left is what the second needs."""
    statistics = Statistics({"A": 1.0, "B": 1.0, "C": 5.0, "D": 5.0})
    multitree = optimize([seq("ABC")], statistics).multitree
    shared = multitree.find(seq("AB"), (0, 1))
    assert shared is not None
    add_clause(multitree, 7, seq("ABD"))
    assert multitree.tree(7) == ((0, 1), 2)
    assert [node.served for node in multitree.nodes() if node.number == shared] == [(0, 7)]
    remove_clause(multitree, 0)
    assert multitree.find(seq("AB"), (0, 1)) == shared
    assert {node.served for node in multitree.nodes()} == {(7,)}
    assert multitree.cost == pytest.approx(10 + 10 + 50 + 10 * 10 + 10 * 10 * 50)
    assert multitree.find(seq("C"), 0) is None


def test_a_shared_node_keeps_the_largest_window_and_shrinks_again() -> None:
    statistics = Statistics({"A": 1.0, "B": 1.0, "C": 5.0, "D": 5.0})
    multitree = optimize([seq("ABC", window=10.0)], statistics).multitree
    before = multitree.cost
    add_clause(multitree, 1, seq("ABD", window=30.0))
    shared = multitree.find(seq("AB"), (0, 1))

    def windows() -> dict[int, float | None]:
        return {node.number: node.window for node in multitree.nodes()}

    assert shared is not None
    assert windows()[shared] == 30.0
    assert windows()[multitree.root(0).node] == 10.0
    assert windows()[multitree.root(1).node] == 30.0
    remove_clause(multitree, 1)
    assert set(windows().values()) == {10.0}
    assert multitree.cost == pytest.approx(before)


def test_a_wide_clause_may_find_it_cheaper_not_to_widen_what_exists() -> None:
    """AB exists within 10. Within 1000 it would count 1000 times 1000; DA of the new clause is rare."""
    statistics = Statistics({"A": 1.0, "B": 1.0, "D": 1.0}, {"rare": 1e-5})
    multitree = Multitree(statistics)
    multitree.add(0, conjunction("AB", window=10.0), (0, 1))
    add_clause(multitree, 1, conjunction("ABD", (0, 2, "rare"), window=1000.0))
    assert multitree.root(0).node not in multitree.plans[1].nodes


@pytest.mark.parametrize("method", ["sa-edge", "ts-edge"])
def test_a_kleene_that_costs_more_than_all_else_leaves_no_rounding(method: str) -> None:
    """2^200 arrays: what is left of a sum after they have gone is nothing, unless it is taken anew."""
    clauses, _ = random_workload(5, 6, 4, "ABCDE", kleene=0.3)
    statistics = Statistics({"A": 20.0, "B": 0.5, "C": 0.7, "D": 0.2, "E": 1.0})
    found = optimize(clauses, statistics, method, max_steps=600)
    parts = [
        oracle.tree_parts(clause, found.multitree.tree(number), statistics) for number, clause in enumerate(clauses)
    ]
    assert is_same(found.cost, oracle.total(parts))
    cheap = [clause for clause in clauses if not any(item.is_kleene and item.label == "A" for item in clause.items)]
    assert 1 < len(cheap) < len(clauses)
    multitree = found.multitree
    for number, clause in enumerate(clauses):
        if clause not in cheap:
            multitree.remove(number)
    assert is_same(multitree.cost, multitree.recomputed_cost())
