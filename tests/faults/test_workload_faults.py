"""Workloads and runs catch every seeded fault of the runtime of workloads; without one they find nothing.

Half of the faults are shown by one of the first random examples. The others name an example by hand, which comes first.

A fault counts as caught when matches differ from the oracle's, or a run's from those of event queries, or when a legal
workload ends in an error for the user; a crash is the fault's own and fails the test.
"""

from __future__ import annotations

import random
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING

import pytest
from tests.faults.workload_faults import WORKLOAD_FAULTS, WorkloadFault, interpreted
from tests.modes.events.engine_runs import evaluator_of
from tests.modes.workload.comparing import difference, drawn_example
from tests.modes.workload.directed import DIRECTED
from tests.modes.workload.draws import drawn_workload
from tests.workloads.changing_runs import expected, random_changes
from tests.workloads.directed_runs import DIRECTED_RUNS
from tests.workloads.long import changes_difference

from sparkrex.errors import InternalError, RexError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.modes.workload.comparing import Example
    from tests.workloads.changing_runs import Changes, Given

    from sparkrex.hosts.host import Evaluator

SEED = 20210417
MOST_EXAMPLES = 120
MOST_RUNS = 60
MOST_DIRECTED = 64
"""How often an example by hand is tried, each time with other plans and other feeds."""

pytestmark = [
    pytest.mark.slow, pytest.mark.filterwarnings("ignore:no event has type"),
    pytest.mark.filterwarnings("ignore:the pattern .* has stopped"),
]


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
    pytest.param(fault, id=fault.name.replace(" ", "-")) for fault in WORKLOAD_FAULTS
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
    for name, example in chain(directed_examples(fault), random_examples()):
        for way in example.plans:
            with fault.inject():
                problem = told(lambda example=example, way=way: difference(example, way, evaluator))  # type: ignore[misc]
            if problem is not None:
                return f"{name}, {problem}"
    return None


def directed_examples(fault: WorkloadFault) -> Iterator[tuple[str, Example]]:
    """The example by hand of a fault, if it has one; patterns are compiled with the fault."""
    if fault.example:
        directed = DIRECTED[fault.example]
        for seed in range(MOST_DIRECTED // len(directed.ways)):
            with fault.inject():
                example = directed.example(seed)
            yield f"{fault.example} ({seed})", example


def random_examples() -> Iterator[tuple[str, Example]]:
    """Made outside of faults: they are kept for the others."""
    for number in range(MOST_EXAMPLES):
        yield f"example {number + 1}", example_of(number)


def first_run(fault: WorkloadFault) -> str | None:
    """The first run that shows a fault, and how."""
    if fault.example:
        changes = DIRECTED_RUNS[fault.example]
        wanted = expected_of_run(fault.example)
        with fault.inject():
            problem = told(lambda: changes_difference(changes, wanted, 0))
        if problem is not None:
            return f"{fault.example}, {problem}"
    for number in range(MOST_RUNS):
        run_of(number)
        with fault.inject():
            problem = run_problem(number)
        if problem is not None:
            return f"run {number + 1}, {problem}"
    return None


@cache
def expected_of_run(name: str) -> list[Given]:
    """What a run by hand must give."""
    return expected(DIRECTED_RUNS[name])


def run_problem(number: int) -> str | None:
    return told(lambda: changes_difference(*run_of(number), number))


def told(compared: Callable[[], str | None]) -> str | None:
    """What a comparison finds, or the error that a legal workload ends in."""
    try:
        return compared()
    except InternalError:
        raise
    except RexError as error:
        return f"{error.code}: {error.message}"
