"""The optimizer: from clauses and statistics to a multitree, by a method that is given by name.

A local search begins at the cheapest of several solutions: the best plan of every clause alone, those of `re` and `sh`
(with whatever of them turns out to be equal shared), each improved by planning one clause after the other anew. So it
is never worse than any of them.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING

from sparkrex.modes.workload.planner.annealing import anneal
from sparkrex.modes.workload.planner.baselines import BASELINES, UNSHARED, Trees, locally_best
from sparkrex.modes.workload.planner.budget import Budget
from sparkrex.modes.workload.planner.incumbent import Incumbent
from sparkrex.modes.workload.planner.local_plans import LocalPlans
from sparkrex.modes.workload.planner.multitree import Multitree
from sparkrex.modes.workload.planner.neighbourhoods import NEIGHBOURHOODS
from sparkrex.modes.workload.planner.search_state import SearchState
from sparkrex.modes.workload.planner.tabu import search_tabu

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sparkrex.modes.workload.clause import Clause
    from sparkrex.modes.workload.planner.neighbourhoods import Neighbourhood
    from sparkrex.modes.workload.planner.statistics import Statistics
    from sparkrex.modes.workload.planner.tree import Tree

METAHEURISTICS = {"sa": anneal, "ts": search_tabu}
PREFIX = "edge-prefix"
GIVEN = "given"
"""The plan that another one is improved from."""

METHODS = (*BASELINES, *(f"{search}-{where}" for search in METAHEURISTICS for where in (*NEIGHBOURHOODS, PREFIX)))
"""All methods, by name."""


@dataclass(frozen=True, slots=True)
class Optimized:
    """A plan and what is known of it. `costs` has those of the methods to compare with: none, re, sh;
    of a plan that was improved it has that of the plan before.

    Where only orders are searched (`edge-prefix`), `sh` is that of orders too: one prefix of each clause is shared.
    """

    multitree: Multitree
    method: str
    cost: float
    costs: dict[str, float]
    steps: int
    seconds: float


def optimize(
    clauses: Sequence[Clause], statistics: Statistics, method: str = "sa-edge", *, seed: int = 0,
    max_steps: int | None = 20_000, seconds: float | None = None,
    on_progress: Callable[[int, float], None] | None = None,
) -> Optimized:
    """Plan a workload; clauses are numbered as they stand. With the same seed and `max_steps` the plan is the same.

    Ctrl+C during the search ends it with the best plan so far.
    """
    if method not in METHODS:
        raise ValueError(f"{method} is no method; there are {', '.join(METHODS)}")
    budget = Budget(max_steps, seconds, on_progress)
    search, _, where = method.partition("-")
    state = _state(clauses, statistics, is_left_deep=where == PREFIX)
    trees = {name: BASELINES[name](state) for name in dict.fromkeys(("none", "re", "sh", *_named(method)))}
    made = {name: _built(clauses, state, trees[name], name in UNSHARED) for name in trees}
    if method in BASELINES:
        chosen = made[method]
    else:
        incumbent = Incumbent(state)
        with suppress(KeyboardInterrupt):
            _begin(state, [trees["re"], trees["sh"], locally_best(state)], incumbent)
            if len(clauses) > 1:
                METAHEURISTICS[search](state, _neighbourhood(where), Random(seed), budget, incumbent)
        chosen = _improved(clauses, state, incumbent)
    costs = {name: made[name].cost for name in ("none", "re", "sh")}
    return Optimized(chosen, method, chosen.cost, costs, budget.steps, budget.elapsed)


def improve(
    trees: Sequence[Tree], clauses: Sequence[Clause], statistics: Statistics, method: str, *, seed: int = 0,
    max_steps: int | None = None, seconds: float | None = None,
    on_progress: Callable[[int, float], None] | None = None,
) -> Optimized:
    """A plan in use, one tree for each clause, made better under other statistics by a local search from there.

    One clause after the other is planned anew first, whatever the limits: that takes far less than a search from
    nothing, whose methods to compare with are left out here.
    """
    budget = Budget(max_steps, seconds, on_progress)
    search, _, where = method.partition("-")
    multitree = Multitree(statistics)
    for number, (clause, tree) in enumerate(zip(clauses, trees, strict=True)):
        multitree.add(number, clause, tree)
    before = multitree.cost
    state = SearchState(multitree, is_left_deep=where == PREFIX)
    incumbent = Incumbent(state)
    with suppress(KeyboardInterrupt):
        state.descend()
        incumbent.offer(state)
        if len(clauses) > 1:
            METAHEURISTICS[search](state, _neighbourhood(where), Random(seed), budget, incumbent)
    chosen = _improved(clauses, state, incumbent)
    return Optimized(chosen, method, chosen.cost, {GIVEN: before}, budget.steps, budget.elapsed)


def add_clause(multitree: Multitree, number: int, clause: Clause) -> None:
    """Put a clause into a plan in use: with the tree that adds least to what is there. Nothing else changes."""
    multitree.add(number, clause, LocalPlans.of(clause, multitree).cheapest_addition(multitree))


def remove_clause(multitree: Multitree, number: int) -> None:
    """Take a clause out of a plan in use. Nothing else changes."""
    multitree.remove(number)


def _neighbourhood(where: str) -> Neighbourhood:
    return NEIGHBOURHOODS.get(where, NEIGHBOURHOODS["edge"])


def _named(method: str) -> tuple[str, ...]:
    return (method,) if method in BASELINES else ()


def _state(clauses: Sequence[Clause], statistics: Statistics, *, is_left_deep: bool) -> SearchState:
    multitree = Multitree(statistics)
    for number, clause in enumerate(clauses):
        multitree.add(number, clause, LocalPlans.of(clause, multitree).greedy(is_left_deep=True))
    return SearchState(multitree, is_left_deep=is_left_deep)


def _built(clauses: Sequence[Clause], state: SearchState, trees: Trees, is_private: bool) -> Multitree:
    multitree = Multitree(state.multitree.statistics, state.multitree.subplans, state.multitree.costs)
    for number, clause in enumerate(clauses):
        multitree.add(number, clause, trees[number], is_private=is_private)
    return multitree


def _begin(state: SearchState, solutions: list[Trees], incumbent: Incumbent) -> None:
    """Go to the cheapest of some solutions, each improved as far as one clause at a time goes."""
    plan = state.multitree.subplans.plan
    for trees in solutions:
        state.adopt({number: plan(state.local_plans[number].shape, tree) for number, tree in trees.items()})
        incumbent.offer(state)
        state.descend()
        incumbent.offer(state)
    state.adopt(incumbent.plans)


def _improved(clauses: Sequence[Clause], state: SearchState, incumbent: Incumbent) -> Multitree:
    """The best solution, built afresh: a search that was interrupted leaves its multitree between two solutions."""
    trees = {number: plan.tree for number, plan in incumbent.plans.items()}
    multitree = _built(clauses, state, trees, False)
    state.over(multitree).descend()
    multitree.cost = multitree.recomputed_cost()
    return multitree
