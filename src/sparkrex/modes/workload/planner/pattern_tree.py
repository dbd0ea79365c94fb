"""The multi-pattern tree (MPT): the orders of all clauses, in which equal prefixes are one state.

These are the states of the paper's multi-pattern NFA. A state stands for items that have been matched in this order;
two orders meet in it if they got there by equal labels under equal conditions. The search works on multitrees, where
an order is a left-deep tree; that is not quite the same, because a join does not know which of its sides came first.

State 1 is the root, in which nothing is matched yet. The paper counts its one empty instance among all instances; here
it is left out, so that a workload of one clause costs Cost_ord.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import fsum
from typing import TYPE_CHECKING

from sparkrex.modes.workload.clause import SYMMETRIC
from sparkrex.modes.workload.planner.cost import n_partial_matches, window_size

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterator, Sequence

    from sparkrex.modes.workload.clause import Clause
    from sparkrex.modes.workload.planner.statistics import Statistics

ROOT = 1


@dataclass(eq=False, slots=True)
class State:
    """A state: the one before it, what leads from there to here, how many items are matched, and whose orders pass."""

    number: int
    parent: int
    label: Hashable
    transition: Hashable
    depth: int
    served: dict[int, None] = field(default_factory=dict)


class PatternTree:
    """A multi-pattern tree under given statistics. Clauses are known by numbers that the caller gives."""

    def __init__(self, statistics: Statistics) -> None:
        self._statistics = statistics
        self._clauses: dict[int, Clause] = {}
        self._paths: dict[int, tuple[State, ...]] = {}
        self._orders: dict[int, tuple[int, ...]] = {}
        self._states: dict[tuple[int, Hashable], State] = {}
        self._last = ROOT

    def add(self, number: int, clause: Clause, order: Sequence[int]) -> None:
        """Put a clause in, with its order, in time linear in the clause."""
        parent, path = ROOT, []
        for depth, (item, transition) in enumerate(zip(order, _transitions(clause, order), strict=True), 1):
            state = self._states.get((parent, transition))
            if state is None:
                self._last += 1
                state = State(self._last, parent, clause.items[item].label, transition, depth)
                self._states[parent, transition] = state
            state.served[number] = None
            parent = state.number
            path.append(state)
        self._clauses[number], self._orders[number], self._paths[number] = clause, tuple(order), tuple(path)

    def remove(self, number: int) -> None:
        """Take a clause out, with the states that serve it alone."""
        for state in self._paths.pop(number):
            del state.served[number]
            if not state.served:
                del self._states[state.parent, state.transition]
        del self._clauses[number], self._orders[number]

    def states(self) -> Iterator[State]:
        """All states but the root."""
        yield from self._states.values()

    def final(self, number: int) -> int:
        """The state in which a clause is matched."""
        return self._paths[number][-1].number

    def window(self, state: State) -> float:
        """The largest window of the clauses that pass."""
        return max(window_size(self._clauses[number].window) for number in state.served)

    def dispatch(self) -> dict[Hashable, tuple[int, ...]]:
        """The paper's lists l_T: for each label the states that its events may lead out of."""
        lists: dict[Hashable, dict[int, None]] = {}
        for state in self._states.values():
            lists.setdefault(state.label, {})[state.parent] = None
        return {label: tuple(sorted(states)) for label, states in lists.items()}

    def cost(self) -> float:
        """Cost_ord^multi: the partial matches of every state, within its window."""
        return fsum(self._instances(state) for state in self._states.values())

    def _instances(self, state: State) -> float:
        number = next(iter(state.served))
        items = self._orders[number][: state.depth]
        return n_partial_matches(self._clauses[number], items, self._statistics, self.window(state))


def _transitions(clause: Clause, order: Sequence[int]) -> Iterator[Hashable]:
    """What leads from each state of an order to the next: the item, and what is tested against those before it."""
    place = {item: at for at, item in enumerate(order)}
    tests: list[set[Hashable]] = [set() for _ in order]
    for link in clause.links:
        first, second = place[link.first], place[link.second]
        is_forward = link.key in SYMMETRIC or first < second
        tests[max(first, second)].add((min(first, second), link.key, is_forward))
    for joint in clause.joints:
        places = tuple(place[item] for item in joint.items)
        tests[max(places)].add((places, joint.key))
    for item, tested in zip(order, tests, strict=True):
        yield clause.items[item].label, clause.items[item].is_kleene, frozenset(tested)
