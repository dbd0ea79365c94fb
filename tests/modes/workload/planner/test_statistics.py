"""What is known of the input."""

from __future__ import annotations

from sparkrex.modes.workload.clause import BEFORE, DIFFERENT
from sparkrex.modes.workload.planner.statistics import Statistics


def test_what_nobody_measured() -> None:
    statistics = Statistics({"A": 2.0}, {"less": 0.1, BEFORE: 0.5, DIFFERENT: 0.5})
    assert statistics.rate("A") == 2.0
    assert statistics.rate("B") == 0.0
    assert statistics.selectivity("less") == 0.1
    assert statistics.selectivity("more") == 1.0


def test_structure_has_no_selectivity() -> None:
    statistics = Statistics({}, {BEFORE: 0.5, DIFFERENT: 0.5})
    assert statistics.selectivity(BEFORE) == statistics.selectivity(DIFFERENT) == 1.0
