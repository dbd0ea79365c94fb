"""The property suite catches every seeded fault; without one it finds nothing in the same examples.

A fault counts as caught when the engine's answer differs from the oracle's, or in chunks from whole, or when a legal
query ends in an error. A crash of the fault itself is not a catch: it fails the test.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from tests.differential.relations import one_database
from tests.faults.faults import FAULTS, Fault
from tests.modes.rows.property.compare import check
from tests.modes.rows.property.long import example_of

from sparkrex.errors import RexError

if TYPE_CHECKING:
    from collections.abc import Callable

SEED = 20161215
MOST_EXAMPLES = 2000


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
def test_fault_is_caught(fault: Fault, record_property: Callable[[str, object], None]) -> None:
    with one_database(), fault.inject():
        caught = first_difference(MOST_EXAMPLES, fault.needs)
    assert caught is not None, f"not caught: {fault.name}"
    number, text = caught
    record_property("caught", f"{fault.name}: example {number + 1}, {text}")


@pytest.mark.slow
def test_without_a_fault_nothing_is_caught() -> None:
    with one_database():
        assert first_difference(100, "") is None


def test_there_are_twelve_faults() -> None:
    assert len({fault.name for fault in FAULTS}) >= 12


def first_difference(n_examples: int, needs: str) -> tuple[int, str] | None:
    """The first example that shows a fault, and how; queries without `needs` are passed over."""
    for number in range(n_examples):
        example = example_of(SEED, number)
        if not re.search(needs, example.query, re.DOTALL):
            continue
        try:
            differences = check(example).differences
        except RexError as error:
            differences = (f"{error.code}: {error.message}",)
        if differences:
            return number, differences[0]
    return None
