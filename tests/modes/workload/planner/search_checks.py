"""Baselines and searches against the oracle on random workloads; a check gives what is wrong for a seed."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from tests.modes.workload.planner import oracle
from tests.modes.workload.planner.checks import WINDOWS, is_same
from tests.modes.workload.planner.workloads import random_workload, related_workload

from sparkrex.modes.workload.planner.annealing import anneal
from sparkrex.modes.workload.planner.budget import Budget
from sparkrex.modes.workload.planner.incumbent import Incumbent
from sparkrex.modes.workload.planner.local_plans import LocalPlans
from sparkrex.modes.workload.planner.multitree import Multitree
from sparkrex.modes.workload.planner.neighbourhoods import NEIGHBOURHOODS, Neighbourhood
from sparkrex.modes.workload.planner.optimizer import optimize
from sparkrex.modes.workload.planner.search_state import SearchState
from sparkrex.modes.workload.planner.tabu import search_tabu
from sparkrex.modes.workload.planner.tree import left_deep, order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.workload.clause import Clause
    from sparkrex.modes.workload.planner.search_state import Undo
    from sparkrex.modes.workload.planner.statistics import Statistics
    from sparkrex.modes.workload.planner.tree import Tree

SEARCHES = ("sa-edge", "ts-edge", "sa-vertex4", "ts-vertex8")
PREFIX_SEARCHES = ("sa-edge-prefix", "ts-edge-prefix")
N_STEPS = 300
WITHIN = 1.1


def baselines(seed: int) -> str | None:
    """Plans to compare with cost what their trees cost; those that share nothing, the sum over clauses."""
    clauses, statistics = random_workload(seed, 6, 5, "ABCDEFG", windows=WINDOWS, can_repeat=seed % 4 == 0)
    costs = {}
    for method in ("none", "re", "sh", "sh-rr", "sh-mdt"):
        optimized = optimize(clauses, statistics, method)
        trees = optimized.multitree.trees()
        parts = [oracle.tree_parts(clause, trees[at], statistics) for at, clause in enumerate(clauses)]
        is_unshared = method in ("none", "re")
        expected = sum(oracle.total([plan]) for plan in parts) if is_unshared else oracle.total(parts)
        if not is_same(optimized.cost, expected):
            return f"{method}: a cost of {optimized.cost} for {expected}"
        if any(sorted(oracle.items_in(tree)) != list(range(5)) for tree in trees.values()):
            return f"{method}: {trees} do not have every item once"
        if method == "none" and set(trees.values()) != {((((0, 1), 2), 3), 4)}:
            return f"none: {trees} are not as written"
        if method == "re" and (problem := _greedy_problem(clauses, trees, statistics)):
            return problem
        costs[method] = optimized.cost
    as_written = oracle.total(
        [oracle.tree_parts(clause, left_deep(range(5)), statistics) for clause in clauses]
    )
    return None if costs["sh-mdt"] <= as_written * (1 + 1e-9) else f"sh-mdt: {costs['sh-mdt']} above {as_written}"


def _greedy_problem(clauses: Sequence[Clause], trees: dict[int, Tree], statistics: Statistics) -> str | None:
    """Each item of an order is the one with which there are the fewest partial matches."""
    for number, clause in enumerate(clauses):
        order = order_of(trees[number])
        if order is None:
            return f"re: {trees[number]} is no order"
        for at, item in enumerate(order):
            counts = {
                other: oracle.instances(clause, (*order[:at], other), statistics, oracle.window_of(clause))
                for other in order[at:]
            }
            if not is_same(counts[item], min(counts.values())):
                return f"re: {order} of {clause.pattern} is not greedy"
    return None


def cheapest_of(clauses: Sequence[Clause], trees: Sequence[Tree], statistics: Statistics) -> oracle.Cheapest:
    """The cheapest multitree of all."""
    return oracle.cheapest(
        [[oracle.tree_parts(clause, tree, statistics) for tree in trees] for clause in clauses]
    )


def searches(seed: int) -> str | None:
    """A search finds a plan near the cheapest of all, never above `none`, `re` and `sh`; its cost is right."""
    clauses, statistics = related_workload(seed, 4, 4, can_repeat=seed % 4 == 0, windows=WINDOWS)
    method = (*SEARCHES, *PREFIX_SEARCHES)[seed % 6]
    optimized = optimize(clauses, statistics, method, seed=seed, max_steps=N_STEPS)
    trees = optimized.multitree.trees()
    parts = [oracle.tree_parts(clause, trees[at], statistics) for at, clause in enumerate(clauses)]
    if not is_same(optimized.cost, oracle.total(parts)):
        return f"{method}: a cost of {optimized.cost} for {oracle.total(parts)}"
    if optimized.cost > min(optimized.costs.values()) * (1 + 1e-9):
        return f"{method}: {optimized.cost} is above {optimized.costs}"
    options = oracle.every_tree(4)
    if method in PREFIX_SEARCHES:
        options = [left_deep(order) for order in oracle.every_order(4)]
        if any(order_of(tree) is None for tree in trees.values()):
            return f"{method}: {trees} are not all orders"
    least = cheapest_of(clauses, options, statistics).cost
    return None if least * (1 - 1e-9) <= optimized.cost <= least * WITHIN else f"{method}: {optimized.cost} for {least}"


def repeatable(seed: int) -> str | None:
    """With the same seed the plan is the same; with another number of steps the sequence begins the same."""
    clauses, statistics = random_workload(seed, 8, 5, "ABCDEF", windows=WINDOWS)
    method = (*SEARCHES, *PREFIX_SEARCHES)[seed % 6]

    def run(max_steps: int) -> tuple[list[tuple[int, float]], dict[int, Tree], int]:
        seen: list[tuple[int, float]] = []
        found = optimize(
            clauses, statistics, method, seed=seed, max_steps=max_steps,
            on_progress=lambda steps, cost: seen.append((steps, cost)),
        )
        return seen, found.multitree.trees(), found.steps

    first, again, longer = run(600), run(600), run(1400)
    if first != again:
        return f"{method}: {first} and {again} of the same seed"
    if longer[0][: len(first[0])] != first[0]:
        return f"{method}: {longer[0]} does not begin as {first[0]}"
    return None if first[2] == 600 else f"{method}: {first[2]} steps"


def neighbours(seed: int) -> str | None:
    """A step changes as many clauses as it may, what it gives leads back, and the cost is kept along."""
    clauses, statistics = random_workload(seed, 8, 4, "ABCDE", windows=WINDOWS, can_repeat=seed % 2 > 0)
    neighbourhood, random = list(NEIGHBOURHOODS.values())[seed % 3], Random(seed)
    state = _best_of_each(clauses, statistics)
    multitree = state.multitree
    for _ in range(60):
        cost, roots = multitree.cost, _roots(multitree)
        undo = neighbourhood.step(state, random)
        changed = {number for number, root in _roots(multitree).items() if root != roots[number]}
        if not changed <= {number for number, _ in undo} or len(undo) > neighbourhood.n_clauses:
            return f"{changed} have other plans, {undo} is undone"
        if not is_same(multitree.cost, multitree.recomputed_cost()):
            return f"a cost of {multitree.cost} for {multitree.recomputed_cost()}"
        if undo and random.random() < 0.5:
            state.undo(undo, cost)
            if _roots(multitree) != roots or not is_same(cost, multitree.recomputed_cost()):
                return "a step back does not lead back"
    return None


def _roots(multitree: Multitree) -> dict[int, int]:
    return {number: plan.root for number, plan in multitree.plans.items()}


def tabu(seed: int) -> str | None:
    """A tabu search visits no solution twice, and its best is the cheapest that it looked at."""
    clauses, statistics = related_workload(seed, 4, 4)
    state = _best_of_each(clauses, statistics)
    multitree = state.multitree
    visited, costs = [_roots(multitree)], [multitree.cost]
    incumbent = Incumbent(state)

    class Watched(Neighbourhood):
        def step(self, state: SearchState, random: Random) -> Undo:
            if _roots(multitree) != visited[-1]:
                visited.append(_roots(multitree))
            undo = super().step(state, random)
            costs.append(multitree.recomputed_cost())
            return undo

    search_tabu(state, Watched(), Random(seed), Budget(1500, None), incumbent)
    if len({tuple(solution.items()) for solution in visited}) < len(visited):
        return "a solution is visited twice"
    return None if is_same(incumbent.cost, min(costs)) else f"{incumbent.cost} is kept, {min(costs)} was seen"


def annealing(seed: int) -> str | None:
    """Simulated annealing keeps the cheapest solution that it looked at."""
    clauses, statistics = related_workload(seed, 4, 4)
    state = _best_of_each(clauses, statistics)
    multitree = state.multitree
    costs, incumbent = [multitree.cost], Incumbent(state)

    class Watched(Neighbourhood):
        def step(self, state: SearchState, random: Random) -> Undo:
            undo = super().step(state, random)
            costs.append(multitree.recomputed_cost())
            return undo

    anneal(state, Watched(), Random(seed), Budget(1500, None), incumbent)
    kept = Multitree(statistics)
    for number, clause in enumerate(clauses):
        kept.add(number, clause, incumbent.plans[number].tree)
    if not is_same(incumbent.cost, kept.cost):
        return f"{incumbent.cost} is kept, its plans cost {kept.cost}"
    return None if incumbent.cost <= min(costs) * (1 + 1e-9) else f"{incumbent.cost} is kept, {min(costs)} was seen"


def _best_of_each(clauses: Sequence[Clause], statistics: Statistics) -> SearchState:
    """A solution in which every clause has the plan that is best for it alone."""
    multitree = Multitree(statistics)
    for number, clause in enumerate(clauses):
        multitree.add(number, clause, LocalPlans.of(clause, multitree).best())
    return SearchState(multitree)
