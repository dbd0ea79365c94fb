"""The best solution that a search has met."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.workload.planner.search_state import TOLERANCE

if TYPE_CHECKING:
    from sparkrex.modes.workload.planner.search_state import SearchState
    from sparkrex.modes.workload.planner.subplans import Plan


class Incumbent:
    """The cheapest solution so far: one plan for each clause."""

    def __init__(self, state: SearchState) -> None:
        self.cost = state.multitree.cost
        self.plans: dict[int, Plan] = dict(state.multitree.plans)

    def offer(self, state: SearchState) -> bool:
        """Take the present solution if it is cheaper."""
        if state.multitree.cost < self.cost * (1.0 - TOLERANCE):
            # Both in one statement each: an interrupt between them leaves a plan that is cheaper than its cost says.
            self.plans = dict(state.multitree.plans)
            self.cost = state.multitree.cost
            return True
        return False
