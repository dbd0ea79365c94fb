"""How long a search may go on, and whom it tells."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

PROGRESS_STEPS = 200


class Budget:
    """A number of steps and of seconds. A step is a neighbour chosen and its cost computed, whatever the algorithm.

    The clock only decides where a sequence of steps ends, never how it goes on: a run with more time begins as one with
    less.
    """

    def __init__(
        self, max_steps: int | None, seconds: float | None, on_progress: Callable[[int, float], None] | None = None
    ) -> None:
        self.steps = 0
        self._max_steps = max_steps
        self._begin = perf_counter()
        self._seconds = seconds
        self._on_progress = on_progress

    @property
    def elapsed(self) -> float:
        """Seconds since the beginning."""
        return perf_counter() - self._begin

    def spend(self, best_cost: float) -> bool:
        """Count one step; False if there is none left, and then nothing is counted."""
        if self._max_steps is not None and self.steps >= self._max_steps:
            return False
        if self._seconds is not None and self.elapsed >= self._seconds:
            return False
        self.steps += 1
        if self._on_progress is not None and self.steps % PROGRESS_STEPS == 0:
            self._on_progress(self.steps, best_cost)
        return True
