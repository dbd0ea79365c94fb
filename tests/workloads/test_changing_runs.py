"""Workloads, whole and as runs whose patterns and plans change, give what `rex.events` gives: each match once."""

from __future__ import annotations

import pytest
from tests.workloads.changing_runs import expected
from tests.workloads.directed_runs import DIRECTED_RUNS
from tests.workloads.long import changes_difference, run_difference, whole_difference

pytestmark = [
    pytest.mark.filterwarnings("ignore:no event has type"),
    pytest.mark.filterwarnings("ignore:the pattern .* has stopped"),
]


@pytest.mark.parametrize("seed", range(25))
def test_a_workload_gives_what_event_queries_give(seed: int) -> None:
    assert whole_difference(seed) is None


@pytest.mark.parametrize("seed", range(40))
def test_a_run_gives_each_match_once_when_it_is_decided(seed: int) -> None:
    assert run_difference(seed) is None


@pytest.mark.parametrize("name", DIRECTED_RUNS)
def test_a_run_by_hand_gives_each_match_once_when_it_is_decided(name: str) -> None:
    changes = DIRECTED_RUNS[name]
    assert changes_difference(changes, expected(changes), 0) is None
