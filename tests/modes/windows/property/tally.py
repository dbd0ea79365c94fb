"""What a run of random windows exercised, and whether that was enough to mean something."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from tests.modes.rows.property.expressions import CONDITION_KINDS, MEASURE_KINDS
from tests.modes.rows.property.tally import OPERATORS

if TYPE_CHECKING:
    from tests.modes.windows.property.compare import Outcome
    from tests.modes.windows.property.examples import Example

FEATURES = (
    *(operator for operator in OPERATORS if operator != "anchor"), "INITIAL", "SEEK",
    *(f"{kind} condition" for kind in CONDITION_KINDS),
    *(f"{kind} measure" for kind in MEASURE_KINDS if kind != "number"),
)
LEAST_PERCENT = {"has values": 40, "no value on some row": 30}
MOST_PERCENT = {"error of a row": 20, "oracle has no opinion": 3}


@dataclass(slots=True)
class Tally:
    """Counts of examples by what happened in them."""

    examples: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    skips: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    features: Counter[str] = field(default_factory=Counter)
    dialects: Counter[str] = field(default_factory=Counter)

    def add(self, example: Example, outcome: Outcome) -> None:
        """Counts one example."""
        self.examples += 1
        self.outcomes["has values"] += outcome.n_filled > 0
        self.outcomes["no value on some row"] += 0 < outcome.n_filled < outcome.n_rows
        self.outcomes["error of a row"] += outcome.error is not None
        self.outcomes["oracle has no opinion"] += bool(outcome.is_unknown)
        self.skips.update(example.skips)
        self.ends.update(example.ends)
        self.features.update(example.features)
        self.dialects[example.dialect] += 1

    def merge(self, other: Tally) -> None:
        """Adds another run's counts."""
        self.examples += other.examples
        for counts in fields(self):
            if counts.name != "examples":
                getattr(self, counts.name).update(getattr(other, counts.name))

    def percent(self, count: int) -> float:
        return 100 * count / max(1, self.examples)

    def shortfalls(self) -> list[str]:
        """The targets that this run missed."""
        least = [
            f"{name}: {self.percent(self.outcomes[name]):.1f}%, wanted at least {wanted}%"
            for name, wanted in LEAST_PERCENT.items() if self.percent(self.outcomes[name]) < wanted
        ]
        most = [
            f"{name}: {self.percent(self.outcomes[name]):.1f}%, wanted at most {wanted}%"
            for name, wanted in MOST_PERCENT.items() if self.percent(self.outcomes[name]) > wanted
        ]
        return least + most

    def table(self) -> str:
        """The counts as text."""
        lines = [f"{self.examples} examples"]
        for counts in fields(self):
            if counts.name != "examples":
                for name, count in sorted(getattr(self, counts.name).items()):
                    lines.append(f"{counts.name:10} {name:36} {count:7} {self.percent(count):6.1f}%")
        return "\n".join(lines)
