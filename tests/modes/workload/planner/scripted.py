"""A state and a neighbourhood that do as they are told, to look at what a search does with them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator
    from random import Random


@dataclass
class ScriptedPlan:
    """A plan that is known by its root."""

    root: int


@dataclass
class ScriptedMultitree:
    """One clause, whose plan has a cost."""

    cost: float
    plans: dict[int, Any] = field(default_factory=lambda: {0: ScriptedPlan(0)})

    def replace(self, number: int, plan: Any) -> None:
        """Change the plan; its root says what it costs."""
        self.plans[number] = plan
        self.cost = float(plan.root)


class ScriptedState:
    """What searches ask of a state. A plan of cost n has the root n."""

    def __init__(self, cost: float) -> None:
        self.multitree = ScriptedMultitree(cost, {0: ScriptedPlan(round(cost))})
        self.n_undone = 0
        self.adopted: list[float] = []
        self.n_descents = 0

    def undo(self, undo: list[tuple[int, Any]], cost: float) -> None:
        """Go back."""
        self.n_undone += 1
        for number, plan in undo:
            self.multitree.replace(number, plan)
        self.multitree.cost = cost

    def adopt(self, plans: dict[int, Any]) -> None:
        """Go to given plans."""
        for number, plan in plans.items():
            self.multitree.replace(number, plan)
        self.adopted.append(self.multitree.cost)

    def descend(self) -> None:
        """There is nothing to gain."""
        self.n_descents += 1


class Script:
    """A neighbourhood that goes to given costs, one after the other."""

    def __init__(self, costs: Iterator[float]) -> None:
        self._costs = costs
        self.seen: list[float] = []

    def step(self, state: ScriptedState, random: Random) -> list[tuple[int, Any]]:
        """Go to the next cost; nothing if it is the same."""
        old, cost = state.multitree.plans[0], next(self._costs)
        self.seen.append(state.multitree.cost)
        if cost == state.multitree.cost:
            return []
        state.multitree.replace(0, ScriptedPlan(round(cost)))
        return [(0, old)]
