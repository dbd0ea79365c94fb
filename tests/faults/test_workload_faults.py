"""Random workloads and runs catch every seeded fault of the runtime of workloads; without one they find nothing.

A fault counts as caught when matches differ from the oracle's, or a run's from those of event queries, or when a legal
workload ends in an error for the user; a crash is the fault's own and fails the test.
"""

from __future__ import annotations

import random
import warnings
from functools import cache
from typing import TYPE_CHECKING

import pytest
from tests.faults.workload_faults import WORKLOAD_FAULTS, WorkloadFault, interpreted
from tests.modes.events.engine_runs import evaluator_of
from tests.modes.workload.comparing import difference, drawn_example
from tests.modes.workload.draws import drawn_workload
from tests.workloads.changing_runs import expected, random_changes
from tests.workloads.long import changes_difference

from sparkrex.errors import InternalError, RexError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.workload.comparing import Example
    from tests.workloads.changing_runs import Changes, Given

    from sparkrex.hosts.host import Evaluator

SEED = 20210417
MOST_EXAMPLES = 300
MOST_RUNS = 300

ESCAPES = {"only the last of the later events of an array is compared"}
"""Faults that no example shows yet: too few arrays of three events have a condition on each."""

pytestmark = pytest.mark.slow


@cache
def example_of(number: int) -> Example:
    """The same examples for every fault."""
    return drawn_example(SEED + number)


@cache
def run_of(number: int) -> tuple[Changes, list[Given]]:
    """The same runs for every fault, and what they must give."""
    changes = random_changes(random.Random(number))
    return changes, expected(changes)


@pytest.fixture(scope="module")
def evaluator() -> Evaluator:
    """One host for all workloads."""
    return evaluator_of(drawn_workload(random.Random(0)).queries["p0"])


@pytest.mark.parametrize("fault", [
    pytest.param(
        fault, id=fault.name.replace(" ", "-"),
        marks=[pytest.mark.xfail(strict=True, reason="not caught yet")] if fault.name in ESCAPES else [],
    )
    for fault in WORKLOAD_FAULTS
])
def test_workload_fault_is_caught(
    fault: WorkloadFault, evaluator: Evaluator, record_property: Callable[[str, object], None]
) -> None:
    caught = first_run(fault) if fault.is_of_runs else first_difference(fault, evaluator)
    assert caught is not None, f"not caught: {fault.name}"
    record_property("caught", f"{fault.name}: {' '.join(caught.split())[:200]}")


def test_without_a_workload_fault_nothing_is_caught(evaluator: Evaluator) -> None:
    with interpreted():
        for number in range(30):
            assert [difference(example_of(number), way, evaluator) for way in example_of(number).plans if way] == (
                [None] * len(example_of(number).plans)
            )
            assert run_problem(number) is None


def first_difference(fault: WorkloadFault, evaluator: Evaluator) -> str | None:
    """The first example and way of feeding that shows a fault, and how."""
    for number in range(MOST_EXAMPLES):
        example = example_of(number)  # outside of the fault: it is kept for the others
        for way in example.plans:
            with fault.inject():
                problem = told(lambda example=example, way=way: difference(example, way, evaluator))  # type: ignore[misc]
            if problem is not None:
                return f"example {number + 1}, {problem}"
    return None


def first_run(fault: WorkloadFault) -> str | None:
    """The first run that shows a fault, and how."""
    for number in range(MOST_RUNS):
        run_of(number)
        with fault.inject():
            problem = run_problem(number)
        if problem is not None:
            return f"run {number + 1}, {problem}"
    return None


def run_problem(number: int) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return told(lambda: changes_difference(*run_of(number), number))


def told(compared: Callable[[], str | None]) -> str | None:
    """What a comparison finds, or the error that a legal workload ends in."""
    try:
        return compared()
    except InternalError:
        raise
    except RexError as error:
        return f"{error.code}: {error.message}"
