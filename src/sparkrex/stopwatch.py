"""How long the stages of a query take, and what came of them: laps, shown only by EXPLAIN ANALYZE."""

from __future__ import annotations

from collections import Counter
from time import perf_counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


class Stopwatch:
    """Names every stage when it is over, with what came of it: numbers of something, or a note.

    `counts` adds up these numbers by stage and by what they count. `largest` is the largest partition, in rows, and
    `open_rows` what is known of the last one, which may go on.
    """

    def __init__(self) -> None:
        self.laps: list[tuple[str, float, str]] = []
        self.counts: Counter[tuple[str, str]] = Counter()
        self.largest = 0
        self.open_rows = 0
        self._since = perf_counter()

    def lap(self, stage: str, result: Mapping[str, int] | str = "") -> None:
        """The stage that has just ended, and what came of it."""
        now = perf_counter()
        if isinstance(result, str):
            note = result
        else:
            note = ", ".join(f"{number:,} {word}" for word, number in result.items())
            for word, number in result.items():
                self.count(stage, word, number)
        self.laps.append((stage, now - self._since, note))
        self._since = now

    def count(self, stage: str, word: str, number: int) -> None:
        """So many more of something in a stage."""
        self.counts[stage, word] += number

    def leave_out(self, seconds: float) -> None:
        """The last seconds belong to no lap: they are those of somebody who was waited for."""
        self._since += seconds
