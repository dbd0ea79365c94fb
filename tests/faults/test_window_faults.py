"""The random windows catch every seeded fault of row patterns in windows; without one they find nothing.

A fault counts as caught when the engine's answer differs from the oracle's, or when a legal query ends in an error for
the user; a crash is the fault's own.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import pytest
from tests.faults.window_faults import WINDOW_FAULTS, WindowFault
from tests.modes.windows.property.compare import check
from tests.modes.windows.property.test_engine_equals_oracle import example_of

from sparkrex.errors import InternalError, RexError

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.modes.windows.property.examples import Example

SEED = 20161217
MOST_EXAMPLES = 4000


@pytest.mark.slow
@pytest.mark.parametrize("fault", WINDOW_FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
def test_window_fault_is_caught(fault: WindowFault, record_property: Callable[[str, object], None]) -> None:
    with fault.inject():
        caught = first_difference(fault.needs)
    assert caught is not None, f"not caught: {fault.name}"
    record_property("caught", f"{fault.name}: example {caught[0] + 1}, {' '.join(caught[1].split())[:200]}")


@pytest.mark.slow
def test_without_a_window_fault_nothing_is_caught() -> None:
    assert first_difference("", 100) is None


def test_there_are_twenty_window_faults() -> None:
    assert len({fault.name for fault in WINDOW_FAULTS}) >= 20


@cache
def _example(number: int) -> Example:
    return example_of(SEED, number)


def first_difference(needs: str, n_examples: int = MOST_EXAMPLES) -> tuple[int, str] | None:
    """The first example that shows a fault, and how; queries without `needs` are passed over."""
    for number in range(n_examples):
        example = _example(number)
        if not re.search(needs, example.query, re.DOTALL):
            continue
        try:
            differences = check(example).differences
        except InternalError:
            raise
        except RexError as error:
            differences = (f"{error.code}: {error.message}",)
        if differences:
            return number, differences[0]
    return None
