"""The checks of the workload planner catch every seeded fault; without one they find nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING
from unittest import mock

import pytest
from tests.faults.workload_planner_faults import PLANNER_FAULTS, PlannerFault
from tests.modes.workload.planner import checks, search_checks

if TYPE_CHECKING:
    from collections.abc import Callable

CHECKS = (
    checks.subpatterns, checks.common, checks.graph, checks.multitrees, checks.local_plans, checks.in_use,
    search_checks.neighbours, search_checks.baselines, search_checks.tabu, search_checks.annealing,
    search_checks.searches, search_checks.repeatable,
)
MOST_SEEDS = 40


@pytest.mark.slow
@pytest.mark.parametrize("fault", PLANNER_FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
def test_planner_fault_is_caught(fault: PlannerFault, record_property: Callable[[str, object], None]) -> None:
    caught = first_problem(fault)
    assert caught is not None, f"not caught: {fault.name}"
    record_property("caught", f"{fault.name}: {caught[:200]}")


@pytest.mark.slow
def test_without_a_planner_fault_nothing_is_caught() -> None:
    assert first_problem(PlannerFault("nothing", mock.MagicMock)) is None


def first_problem(fault: PlannerFault) -> str | None:
    """The first check and seed that shows a fault, and how; a crash is the fault's own and fails the test."""
    with fault.inject():
        for check in CHECKS:
            for seed in range(MOST_SEEDS):
                problem = check(seed)
                if problem is not None:
                    return f"{check.__name__}, seed {seed}: {problem}"
    return None
