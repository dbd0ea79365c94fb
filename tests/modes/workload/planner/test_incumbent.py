"""The best solution so far."""

from __future__ import annotations

from tests.modes.workload.planner.workloads import seq

from sparkrex.modes.workload.planner.incumbent import Incumbent
from sparkrex.modes.workload.planner.multitree import Multitree
from sparkrex.modes.workload.planner.search_state import SearchState
from sparkrex.modes.workload.planner.statistics import Statistics


def test_it_takes_what_is_cheaper_and_nothing_else() -> None:
    """B and C are rare, so B with C first is the cheapest of the three trees, A with B the dearest."""
    multitree = Multitree(Statistics({"A": 5.0, "B": 2.0, "C": 1.0}))
    multitree.add(0, seq("ABC"), ((0, 2), 1))
    state = SearchState(multitree)
    incumbent = Incumbent(state)
    shape = state.local_plans[0].shape

    def offer(tree: object) -> bool:
        multitree.replace(0, multitree.subplans.plan(shape, tree))  # type: ignore[arg-type]
        return incumbent.offer(state)

    assert not offer(((0, 2), 1))
    assert not offer(((0, 1), 2))
    assert str(incumbent.plans[0].tree) == "((0, 2), 1)"
    assert offer((0, (1, 2)))
    assert not offer(((0, 1), 2))
    assert str(incumbent.plans[0].tree) == "(0, (1, 2))"
    assert incumbent.cost == 50 + 20 + 10 + 20 * 10 + 50 * 20 * 10


def test_rounding_is_no_improvement() -> None:
    multitree = Multitree(Statistics({"A": 1.0, "B": 1.0}))
    multitree.add(0, seq("AB"), (0, 1))
    state = SearchState(multitree)
    incumbent = Incumbent(state)
    multitree.cost *= 1.0 - 1e-14
    assert not incumbent.offer(state)
