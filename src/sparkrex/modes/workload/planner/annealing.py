"""Simulated annealing, as in the paper's appendix B: worse neighbours are taken with probability exp(-difference /
c_k).

The largest difference among the first 1000 neighbours is the scale of thresholds, and each is 0.99 of the one before.
How many steps a threshold lasts is not in the paper, and a schedule for three minutes is too hot to be of use after one
second. So there are rounds, each from the best solution. A cycle of rounds begins them at a ten-thousandth of the scale
and goes up to the scale itself, and every cycle has twice as many steps per threshold as the one before: short rounds
that begin hot only lose what a large workload has. A round ends with every clause planned anew as long as that helps.
"""

from __future__ import annotations

from itertools import count
from math import exp
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from random import Random

    from sparkrex.modes.workload.planner.budget import Budget
    from sparkrex.modes.workload.planner.incumbent import Incumbent
    from sparkrex.modes.workload.planner.neighbourhoods import Neighbourhood
    from sparkrex.modes.workload.planner.search_state import SearchState

ALPHA = 0.99
FIRST_NEIGHBOURS = 1000
HEATS = (1e-4, 1e-3, 1e-2, 1e-1, 1.0)
"""Where rounds begin, as shares of the largest difference."""

COLDEST = 1e-6
"""Where they end: differences of this share no longer matter."""


def anneal(
    state: SearchState, neighbourhood: Neighbourhood, random: Random, budget: Budget, incumbent: Incumbent
) -> None:
    """Search from the present solution, which is the best so far, until the budget is spent."""
    largest = _largest_difference(state, neighbourhood, random, budget, incumbent)
    cycles = ((heat, 2**cycle) for cycle in count() for heat in HEATS)
    while _round(state, neighbourhood, random, budget, incumbent, largest, *next(cycles)):
        pass


def _largest_difference(
    state: SearchState, neighbourhood: Neighbourhood, random: Random, budget: Budget, incumbent: Incumbent
) -> float:
    """The largest difference of neighbours; a cheaper one is taken at once."""
    multitree, largest = state.multitree, 0.0
    for _ in range(FIRST_NEIGHBOURS):
        if not budget.spend(incumbent.cost):
            break
        before = multitree.cost
        undo = neighbourhood.step(state, random)
        largest = max(largest, abs(multitree.cost - before))
        if undo and not incumbent.offer(state):
            state.undo(undo, before)
    return largest


def _round(
    state: SearchState, neighbourhood: Neighbourhood, random: Random, budget: Budget, incumbent: Incumbent,
    largest: float, heat: float, n_steps: int,
) -> bool:
    """One schedule, from the best solution. False if the budget ended it."""
    multitree = state.multitree
    state.adopt(incumbent.plans)
    while heat > COLDEST:
        threshold = heat * largest
        for _ in range(n_steps):
            if not budget.spend(incumbent.cost):
                return False
            before = multitree.cost
            undo = neighbourhood.step(state, random)
            if not undo:
                continue
            difference = multitree.cost - before
            if difference <= 0.0:
                incumbent.offer(state)
            elif threshold <= 0.0 or random.random() >= exp(-difference / threshold):
                state.undo(undo, before)
        heat *= ALPHA
    state.descend()
    incumbent.offer(state)
    return True
