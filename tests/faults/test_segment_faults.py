"""The random tests of segment search catch every seeded fault; without one they find nothing in the same examples."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.faults.segment_faults import SEGMENT_FAULTS
from tests.modes.segments.analysis import analyzed
from tests.modes.segments.oracle import evaluate
from tests.modes.segments.test_engine import rows, same
from tests.modes.segments.texts import SCHEMA, TYPES, clauses, containing_clauses, plain_clauses, tables

from sparkrex.errors import RexError
from sparkrex.modes.segments.planner import cost
from sparkrex.modes.segments.planner.planners import PLANNERS

if TYPE_CHECKING:
    from tests.faults.faults import Fault

SEED = 20230618
MOST_EXAMPLES = 1500


# Some operators are the optimizer's choice only.
_PLANNERS = ["optimizer"] * len(PLANNERS) + list(PLANNERS)


class _CaughtError(Exception):
    """The engine's answer differs from the oracle's."""


@pytest.mark.slow
@pytest.mark.parametrize("fault", SEGMENT_FAULTS, ids=lambda fault: fault.name.replace(" ", "-"))
def test_fault_is_caught(fault: Fault) -> None:
    # On tables this small Contains would hardly ever pay.
    with fault.inject(), mock.patch.object(cost, "_ROUND", 0.0):
        is_seen = is_caught(
            MOST_EXAMPLES, fault.needs, decimals="decimals" in fault.name, contained="contained" in fault.name
        )
        assert is_seen, f"not caught: {fault.name}"


@pytest.mark.slow
def test_without_a_fault_nothing_is_caught() -> None:
    assert not is_caught(60, "")


def is_caught(n_examples: int, needs: str, *, decimals: bool = False, contained: bool = False) -> bool:
    """Whether an example shows a fault; clauses without `needs` are passed over.

    A crash of the fault itself is not a catch: it fails the test.
    """

    @seed(SEED)
    @settings(
        max_examples=n_examples, phases=[Phase.generate], database=None, deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(
        clauses(decimals=True) if decimals else containing_clauses() if contained
        else st.one_of(clauses(), clauses(), plain_clauses()),
        tables(n_rows=5, decimals=decimals), st.sampled_from(_PLANNERS),
    )
    def run(clause: str, data: list[dict[str, Any]], planner: str) -> None:
        if not re.search(needs, clause):
            return
        try:
            found = rows(clause, pa.Table.from_pylist(data, schema=SCHEMA), planner=planner)
        except RexError as error:
            raise _CaughtError from error
        expected = evaluate(analyzed(clause, columns=TYPES), data)
        pairs = zip(found, expected, strict=False)
        if len(found) != len(expected) or not all(same(*pair) for line in pairs for pair in zip(*line, strict=True)):
            raise _CaughtError

    try:
        run()
    except _CaughtError:
        return True
    return False
