"""The random trend queries catch every seeded fault of trend aggregates; without one they find nothing.

A fault counts as caught when the engine's answer differs from the oracle's, or when a legal query ends in an error for
the user; a crash is the fault's own. Faults of large numbers are shown by long streams, against numbers of all digits.
"""

from __future__ import annotations

import random
from functools import cache
from typing import TYPE_CHECKING
from unittest import mock

import pytest
from tests.faults.trend_faults import TREND_FAULTS, TrendFault
from tests.modes.rows.property.draws import RandomDraw
from tests.modes.trends.draws import generate
from tests.modes.trends.engine_runs import Way, difference
from tests.modes.trends.kernels.long_streams import Compared, ask, examples_of
from tests.modes.trends.oracle import evaluate
from tests.modes.trends.query import ANY

from sparkrex.modes.trends import search

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.trends.draws import Example
    from tests.modes.trends.oracle import Row
    from tests.modes.trends.query import Query

SEED = 20190630
MOST_EXAMPLES = 3000
MOST_LONG = 60
WAYS = (Way(), Way(chunk=2))


@cache
def example_of(number: int) -> Example:
    """The same examples for every fault."""
    return generate(RandomDraw(random.Random(SEED + number)))


@cache
def expected_of(number: int) -> list[Row]:
    """The oracle's answer."""
    example = example_of(number)
    return evaluate(example.query, example.rows)


@pytest.mark.slow
@pytest.mark.parametrize("fault", TREND_FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
def test_trend_fault_is_caught(fault: TrendFault, record_property: Callable[[str, object], None]) -> None:
    with fault.inject():
        caught = (first_long_difference if fault.is_of_large_numbers else first_difference)(fault)
    assert caught is not None, f"not caught: {fault.name}"
    number, text = caught
    assert "InternalError" not in text, text
    assert "REX9" not in text, text
    record_property("caught", f"{fault.name}: example {number + 1}, {' '.join(text.split())[:200]}")


@pytest.mark.slow
def test_without_a_trend_fault_nothing_is_caught() -> None:
    nothing = TrendFault("nothing", lambda: mock.MagicMock())
    assert first_difference(nothing, 80) is None
    assert first_long_difference(nothing, 10) is None


def first_difference(fault: TrendFault, n_examples: int = MOST_EXAMPLES) -> tuple[int, str] | None:
    """The first example that shows a fault, and how."""
    for number in range(n_examples):
        example = example_of(number)
        if not fault.needs(example.query):
            continue
        for way in WAYS:
            problem = difference(example, expected_of(number), way)
            if problem is not None:
                return number, problem
    return None


def _counts_much(query: Query) -> bool:
    """Whether counts double with every event."""
    keys = (*query.group_by, *query.equivalent)
    return query.semantics == ANY and query.window is None and not keys


def first_long_difference(fault: TrendFault, n_examples: int = MOST_LONG) -> tuple[int, str] | None:
    """The same by streams whose counts are large; kernels run interpreted, where faults are."""
    with mock.patch.object(search, "FEW_ROWS", 10**6):
        examples = examples_of("by_state", SEED, n_examples, is_long=True, is_wanted=_counts_much)
        for number, example in enumerate(examples):
            expected = ask(example, "text", "by_state")
            for counts in ("exact", "log"):
                problem = Compared(example).problem(expected, ask(example, counts, "by_state"), counts)
                if problem is not None:
                    return number, problem
    return None
