"""The random event queries catch every seeded fault of the event matcher; without one they find nothing.

A fault counts as caught when the engine's matches differ from the oracle's, or when a legal query ends in an error.
"""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING

import pytest
from tests.faults.any_order_faults import ANY_ORDER_FAULTS
from tests.faults.event_faults import EVENT_FAULTS, EventFault
from tests.modes.events.any_order_draws import generate_any_order
from tests.modes.events.building import query, seq
from tests.modes.events.draws import generate
from tests.modes.events.engine_runs import evaluator_of
from tests.modes.events.oracle import find_matches
from tests.modes.events.test_engine_equals_oracle import Way, difference
from tests.modes.rows.property.draws import RandomDraw

from sparkrex.errors import RexError
from sparkrex.modes.events.plan import Strategy

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.events.draws import Example

    from sparkrex.hosts.duckdb.host import RelationEvaluator

SEED = 20080609
MOST_EXAMPLES = 1200
WAYS = (Way(), Way(chunk=2), Way(algorithm="backtrack"))


@cache
def evaluator() -> RelationEvaluator:
    """One host for all queries."""
    return evaluator_of(query(seq("A a"), Strategy.ANY))


@cache
def example_of(number: int, *, in_any_order: bool) -> Example:
    """The same examples for every fault."""
    draw = RandomDraw(random.Random(SEED + number))
    return generate_any_order(draw) if in_any_order else generate(draw)


@pytest.mark.slow
@pytest.mark.parametrize("fault", EVENT_FAULTS + ANY_ORDER_FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
def test_event_fault_is_caught(fault: EventFault, record_property: Callable[[str, object], None]) -> None:
    with fault.inject():
        caught = first_difference(MOST_EXAMPLES, fault, in_any_order=fault in ANY_ORDER_FAULTS)
    assert caught is not None, f"not caught: {fault.name}"
    number, text = caught
    record_property("caught", f"{fault.name}: example {number + 1}, {text.splitlines()[0][:200]}")


@pytest.mark.slow
@pytest.mark.parametrize("in_any_order", [False, True])
def test_without_an_event_fault_nothing_is_caught(in_any_order: bool) -> None:
    assert first_difference(60, None, in_any_order=in_any_order) is None


def first_difference(n_examples: int, fault: EventFault | None, *, in_any_order: bool) -> tuple[int, str] | None:
    """The first example that shows a fault, and how."""
    for number in range(n_examples):
        example = example_of(number, in_any_order=in_any_order)
        if fault is not None and not fault.needs(example.query):
            continue
        expected = find_matches(example.query, example.rows)
        for way in WAYS:
            try:
                problem = difference(example, expected, evaluator(), way)
            except RexError as error:
                problem = f"{error.code}: {error.message}"
            if problem is not None:
                return number, problem
    return None
