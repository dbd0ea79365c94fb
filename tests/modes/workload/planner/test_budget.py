"""How long a search may go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.workload.planner import budget
from sparkrex.modes.workload.planner.budget import PROGRESS_STEPS, Budget

if TYPE_CHECKING:
    import pytest


class Clock:
    """A clock that goes on by one second whenever it is asked."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_steps_are_counted_and_none_is_left() -> None:
    spent = Budget(3, None)
    assert [spent.spend(1.0) for _ in range(5)] == [True, True, True, False, False]
    assert spent.steps == 3


def test_without_limits_there_is_always_a_step() -> None:
    spent = Budget(None, None)
    assert all(spent.spend(1.0) for _ in range(1000))


def test_seconds_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget, "perf_counter", Clock())
    spent = Budget(None, 4.0)
    assert [spent.spend(1.0) for _ in range(5)] == [True, True, True, False, False]
    assert spent.steps == 3
    assert spent.elapsed == 6.0


def test_progress_is_told_with_the_best_cost() -> None:
    told: list[tuple[int, float]] = []
    spent = Budget(2 * PROGRESS_STEPS + 1, None, lambda steps, cost: told.append((steps, cost)))
    cost = 1000.0
    while spent.spend(cost):
        cost -= 1.0
    assert told == [(PROGRESS_STEPS, 1001.0 - PROGRESS_STEPS), (2 * PROGRESS_STEPS, 1001.0 - 2 * PROGRESS_STEPS)]
