"""Trees as text, for EXPLAIN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Branch:
    """A line and the lines below it."""

    text: str
    below: tuple[Branch, ...] = ()

    def lines(self) -> list[str]:
        """The text."""
        found = [self.text]
        for branch in self.below:
            is_last = branch is self.below[-1]
            first, *rest = branch.lines()
            found.append(f"{'└─' if is_last else '├─'} {first}")
            found += [f"{'  ' if is_last else '│ '} {line}" for line in rest]
        return found


def stages(laps: Sequence[tuple[str, float, str]]) -> Branch:
    """The time of every stage of a run."""
    return Branch(
        f"run in {time_text(sum(seconds for _, seconds, _ in laps))}",
        tuple(Branch(f"{stage}: {time_text(seconds)}{f', {note}' if note else ''}") for stage, seconds, note in laps),
    )


def time_text(seconds: float) -> str:
    """Milliseconds, or seconds."""
    return f"{seconds * 1e3:,.3g} ms" if seconds < 1 else f"{seconds:,.2f} s"
