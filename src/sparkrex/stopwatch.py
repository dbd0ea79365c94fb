"""How long the stages of a query take: laps, recorded only under EXPLAIN ANALYZE."""

from __future__ import annotations

from time import perf_counter


class Stopwatch:
    """Names every stage when it is over, with a note of its result."""

    def __init__(self) -> None:
        self.laps: list[tuple[str, float, str]] = []
        self._since = perf_counter()

    def lap(self, stage: str, note: str = "") -> None:
        """The stage that has just ended, and what came of it."""
        now = perf_counter()
        self.laps.append((stage, now - self._since, note))
        self._since = now
