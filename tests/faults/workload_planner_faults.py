"""Deliberate faults of the planner of workloads: each puts one typical mistake in while its context is open."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import count
from random import Random
from typing import TYPE_CHECKING, Any
from unittest import mock

from sparkrex.modes.workload.planner import (
    common,
    cost,
    local_plans,
    multitree,
    optimizer,
    pattern_graph,
    subpattern,
    subplans,
    tabu,
)
from sparkrex.modes.workload.planner.common import maximal_common
from sparkrex.modes.workload.planner.cost import product_of
from sparkrex.modes.workload.planner.incumbent import Incumbent
from sparkrex.modes.workload.planner.local_plans import LocalPlans
from sparkrex.modes.workload.planner.multitree import Multitree
from sparkrex.modes.workload.planner.pattern_graph import PatternGraph
from sparkrex.modes.workload.planner.search_state import SearchState

if TYPE_CHECKING:
    from collections.abc import Callable

Context = AbstractContextManager[Any]


@dataclass(frozen=True, slots=True)
class PlannerFault:
    """What is done wrong, in words, and how to do it."""

    name: str
    inject: Callable[[], Context]


# Faults of sub-patterns, and of what is common.


class _Everything:
    def __contains__(self, key: object) -> bool:
        return True


def _without_direction() -> Context:
    return mock.patch.object(subpattern, "SYMMETRIC", _Everything())


def _largest_only(one: Any, other: Any) -> list[tuple[int, int]]:
    found = maximal_common(one, other)
    largest = max((mask.bit_count() for mask, _ in found), default=0)
    return [masks for masks in found if masks[0].bit_count() == largest]


def _cliques_and_parts(agreeing: list[int]) -> Any:
    """What is common, and without its first item once more."""
    for clique in _CLIQUES(agreeing):
        yield clique
        yield clique & (clique - 1)


_CLIQUES = common._maximal_cliques


def _whatever_the_joints(overlay: Any, one: Any, other: Any) -> Any:
    yield overlay


def _holders_of_the_first(graph: PatternGraph, number: int, mask: int) -> dict[int, int]:
    """Only those that have the first maximal common sub-pattern around some items."""
    kept = graph.subpatterns_of[number]
    around = next(found for found in kept if mask & found[1] == mask)
    with mock.patch.dict(graph.subpatterns_of, {number: {around: None}}):
        return _HOLDERS(graph, number, mask)


_HOLDERS = PatternGraph.holders


# Faults of multitrees.


def _window_of_the_first() -> Context:
    attach = Multitree._attach

    def attached(self: Multitree, nodes: Any, window: float) -> None:
        before = {node: self.window_of[node] for node in nodes if node in self.window_of}
        attach(self, nodes, window)
        _set_windows(self, before)

    return mock.patch.object(Multitree, "_attach", attached)


def _window_never_shrinks() -> Context:
    detach = Multitree._detach

    def detached(self: Multitree, nodes: Any, window: float) -> None:
        before = {node: self.window_of[node] for node in nodes}
        detach(self, nodes, window)
        _set_windows(self, {node: size for node, size in before.items() if node in self.window_of})

    return mock.patch.object(Multitree, "_detach", detached)


def _set_windows(found: Multitree, windows: dict[int, float]) -> None:
    for node, window in windows.items():
        found.cost += found._cost_of(node, window) - found._cost_of(node, found.window_of[node])
        found.window_of[node] = window


def _owner_takes_all() -> Context:
    """Whoever leaves takes its nodes along, shared or not."""
    detach = Multitree._detach

    def detached(self: Multitree, nodes: Any, window: float) -> None:
        detach(self, nodes, window)
        for node in nodes:
            if node in self.window_of:
                self.cost -= self._cost_of(node, self.window_of[node])

    return mock.patch.object(Multitree, "_detach", detached)


def _kleene_as_event(counts: Any, selectivities: Any) -> float:
    return product_of([(count, False) for count, _ in counts], selectivities)


# Faults of local plans.


def _given_is_lost() -> Context:
    parts = LocalPlans._parts
    return mock.patch.object(LocalPlans, "_parts", lambda self, mask, kept: parts(self, mask, ()))


def _leaves_at_a_price(found: Multitree, node: int, window: float) -> float:
    """What it costs to widen a node, and its leaves too, which any plan has to."""
    price = 0.0
    for at in _below(found, node):
        if found.window_of[at] < window:
            pattern = found.subplans.pattern_of[at]
            price += found.costs.of(pattern, window) - found.costs.of(pattern, found.window_of[at])
    return price


def _below(found: Multitree, node: int) -> set[int]:
    subplan = found.subplans.known[node]
    if subplan.leaf >= 0:
        return {node}
    return {node} | _below(found, subplan.left) | _below(found, subplan.right)


def _most_first() -> Context:
    """Greedy takes what has the most partial matches next."""
    cost_of, greedy = LocalPlans.cost_of, LocalPlans._greedy_order

    def order(self: LocalPlans, parts: Any, kept: Any) -> Any:
        with mock.patch.object(LocalPlans, "cost_of", lambda self, mask: -cost_of(self, mask)):
            return greedy(self, parts, kept)

    return mock.patch.object(LocalPlans, "_greedy_order", order)


# Faults of searches.


def _last_is_best(self: Incumbent, state: SearchState) -> bool:
    self.plans, self.cost = dict(state.multitree.plans), state.multitree.cost
    return True


def _step_half_undone() -> Context:
    undo = SearchState.undo
    return mock.patch.object(SearchState, "undo", lambda self, steps, cost: undo(self, steps[:1], cost))


def _without_shared_plans(clauses: Any, state: Any, trees: Any, is_private: bool) -> Multitree:
    """The cost of a shared plan as if nothing were shared."""
    return _BUILT(clauses, state, trees, True)


_BUILT = optimizer._built


def _another_seed() -> Context:
    seeds = count()
    return mock.patch.object(optimizer, "Random", lambda seed: Random(next(seeds)))


def _no_memory(self: tabu.TabuList, solution: int) -> bool:
    return False


PLANNER_FAULTS = (
    PlannerFault("a condition has no direction", _without_direction),
    PlannerFault(
        "only the largest common sub-patterns count",
        lambda: mock.patch.object(pattern_graph, "maximal_common", _largest_only),
    ),
    PlannerFault(
        "parts of what is common are kept", lambda: mock.patch.object(common, "_maximal_cliques", _cliques_and_parts)
    ),
    PlannerFault(
        "joint conditions may differ", lambda: mock.patch.object(common, "_with_joints", _whatever_the_joints)
    ),
    PlannerFault("a clause that goes leaves its edges", lambda: mock.patch.object(PatternGraph, "_discount")),
    PlannerFault(
        "a part is held by those of one edge", lambda: mock.patch.object(PatternGraph, "holders", _holders_of_the_first)
    ),
    PlannerFault("sides that can be swapped are two nodes", lambda: mock.patch.object(subplans, "MAX_SYMMETRIES", 0)),
    PlannerFault(
        "joins under other conditions are one node",
        lambda: mock.patch.object(subplans, "_testable", lambda *arguments: ((), ())),
    ),
    PlannerFault("a shared node keeps its first window", _window_of_the_first),
    PlannerFault("a window never shrinks", _window_never_shrinks),
    PlannerFault("whoever leaves takes shared nodes along", _owner_takes_all),
    PlannerFault("a Kleene counts its events", lambda: mock.patch.object(cost, "product_of", _kleene_as_event)),
    PlannerFault(
        "a sum keeps the rounding of what has gone", lambda: mock.patch.object(multitree, "CANCELLATION", 0.0)
    ),
    PlannerFault("given sub-plans are lost", _given_is_lost),
    PlannerFault(
        "what exists is free whatever its window", lambda: mock.patch.object(local_plans, "widening", lambda *of: 0.0)
    ),
    PlannerFault(
        "leaves are widened at a price", lambda: mock.patch.object(local_plans, "widening", _leaves_at_a_price)
    ),
    PlannerFault("greedy takes the most", _most_first),
    PlannerFault("plans alone share", lambda: mock.patch.object(optimizer, "UNSHARED", frozenset())),
    PlannerFault(
        "plans that share are paid alone", lambda: mock.patch.object(optimizer, "_built", _without_shared_plans)
    ),
    PlannerFault("the last solution is the best", lambda: mock.patch.object(Incumbent, "offer", _last_is_best)),
    PlannerFault("one clause of a step is put back", _step_half_undone),
    PlannerFault(
        "a visited solution is not known", lambda: mock.patch.object(tabu.TabuList, "__contains__", _no_memory)
    ),
    PlannerFault("the seed is not used", _another_seed),
)
