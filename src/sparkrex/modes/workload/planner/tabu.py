"""Tabu search, as in the paper's appendix B: of L neighbours the cheapest that was not visited lately is the next
solution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

    from sparkrex.modes.workload.planner.budget import Budget
    from sparkrex.modes.workload.planner.incumbent import Incumbent
    from sparkrex.modes.workload.planner.neighbourhoods import Neighbourhood
    from sparkrex.modes.workload.planner.search_state import SearchState
    from sparkrex.modes.workload.planner.subplans import Plan

N_NEIGHBOURS = 100
CAPACITY = 10_000


def search_tabu(
    state: SearchState, neighbourhood: Neighbourhood, random: Random, budget: Budget, incumbent: Incumbent
) -> None:
    """Search from the present solution until the budget is spent."""
    visited = TabuList(state)
    while _move(state, neighbourhood, random, budget, incumbent, visited):
        pass


class TabuList:
    """The solutions visited last. One is known by a number: of the plans of all clauses, mixed and combined.

    Plans are numbered as they are met, so nothing depends on how Python hashes what users call their events.
    """

    def __init__(self, state: SearchState) -> None:
        self._numbers: dict[tuple[int, int], int] = {}
        self._visited: dict[int, None] = {}
        self.present = 0
        for number, plan in state.multitree.plans.items():
            self.present ^= self.mark(number, plan.root)
        self.visit(self.present)

    def mark(self, number: int, root: int) -> int:
        """The plan that a clause has, by its root, as a number of 64 bits (the finalizer of SplitMix64)."""
        value = self._numbers.setdefault((number, root), len(self._numbers) + 1) * 0x9E3779B97F4A7C15
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & 0xFFFFFFFFFFFFFFFF
        return value ^ (value >> 31)

    def visit(self, solution: int) -> None:
        """Remember a solution as the present one; the oldest is forgotten."""
        self.present = solution
        self._visited[solution] = None
        if len(self._visited) > CAPACITY:
            del self._visited[next(iter(self._visited))]

    def __contains__(self, solution: int) -> bool:
        return solution in self._visited


def _move(
    state: SearchState, neighbourhood: Neighbourhood, random: Random, budget: Budget, incumbent: Incumbent,
    visited: TabuList,
) -> bool:
    """Go to the cheapest of some neighbours. False if the budget ended it."""
    multitree = state.multitree
    best: tuple[float, int, list[tuple[int, Plan]]] | None = None
    before, is_going_on = multitree.cost, True
    for _ in range(N_NEIGHBOURS):
        if not budget.spend(incumbent.cost):
            is_going_on = False
            break
        undo = neighbourhood.step(state, random)
        if not undo:
            continue
        incumbent.offer(state)
        if best is None or multitree.cost < best[0]:
            solution = visited.present
            for number, old in undo:
                solution ^= visited.mark(number, old.root) ^ visited.mark(number, multitree.plans[number].root)
            if solution not in visited:
                best = multitree.cost, solution, [(number, multitree.plans[number]) for number, _ in undo]
        state.undo(undo, before)
    if best is not None:
        for number, plan in best[2]:
            multitree.replace(number, plan)
        visited.visit(best[1])
    return is_going_on
