"""What a run of random examples exercised, and whether that was enough to mean something."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

from tests.modes.rows.property.examples import DIALECTS, ROW_MODES, SKIP_MODES
from tests.modes.rows.property.expressions import CONDITION_KINDS, MEASURE_KINDS

if TYPE_CHECKING:
    from tests.modes.rows.property.compare import Outcome
    from tests.modes.rows.property.examples import Example

LEAST_PERCENT = {"matched": 60, "matched twice": 20, "empty match": 10, "each row mode": 5, "each skip mode": 5}
MOST_PERCENT = {"oracle has no opinion": 1, "run-time error": 15}
OPERATORS = (
    "concatenation", "alternation", "quantifier", "reluctant", "group", "permute", "exclusion", "anchor", "empty"
)


@dataclass(slots=True)
class Tally:
    """Counts of examples by what happened in them."""

    examples: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    row_modes: Counter[str] = field(default_factory=Counter)
    skip_modes: Counter[str] = field(default_factory=Counter)
    operators: Counter[str] = field(default_factory=Counter)
    conditions: Counter[str] = field(default_factory=Counter)
    measures: Counter[str] = field(default_factory=Counter)
    dialects: Counter[str] = field(default_factory=Counter)
    matchers: Counter[str] = field(default_factory=Counter)
    variants: Counter[str] = field(default_factory=Counter)

    def add(self, example: Example, outcome: Outcome) -> None:
        """Counts one example."""
        self.examples += 1
        self.outcomes["matched"] += outcome.n_matches >= 1
        self.outcomes["matched twice"] += outcome.n_matches >= 2
        self.outcomes["empty match"] += outcome.has_empty_match
        self.outcomes["run-time error"] += outcome.error is not None
        self.outcomes["oracle has no opinion"] += outcome.is_unknown
        self.row_modes[example.row_mode] += 1
        self.skip_modes[example.skip_mode] += 1
        self.operators.update(example.operators)
        self.conditions.update(example.conditions)
        self.measures.update(example.measures)
        self.dialects[example.dialect] += 1
        self.matchers[outcome.matcher] += 1
        self.variants.update(outcome.variants)

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
        found = [
            f"{name}: {self.percent(self.outcomes[name]):.1f}%, wanted at least {LEAST_PERCENT[name]}%"
            for name in ("matched", "matched twice", "empty match")
            if self.percent(self.outcomes[name]) < LEAST_PERCENT[name]
        ]
        found += [
            f"{name}: {self.percent(self.outcomes[name]):.1f}%, wanted at most {most}%"
            for name, most in MOST_PERCENT.items()
            if self.percent(self.outcomes[name]) > most
        ]
        for target, counts, modes in (
            ("each row mode", self.row_modes, ROW_MODES),
            ("each skip mode", self.skip_modes, SKIP_MODES),
        ):
            found += [
                f"{mode}: {self.percent(counts[mode]):.1f}%, wanted at least {LEAST_PERCENT[target]}%"
                for _, mode in modes
                if self.percent(counts[mode]) < LEAST_PERCENT[target]
            ]
        return found

    def table(self) -> str:
        """The counts as text."""
        groups: list[tuple[str, Counter[str], list[str]]] = [
            ("outcome", self.outcomes,
             ["matched", "matched twice", "empty match", "run-time error", "oracle has no opinion"]),
            ("rows per match", self.row_modes, [mode for _, mode in ROW_MODES]),
            ("after match skip", self.skip_modes, [mode for _, mode in SKIP_MODES]),
            ("pattern", self.operators, list(OPERATORS)),
            ("condition", self.conditions, list(CONDITION_KINDS)),
            ("measure", self.measures, list(MEASURE_KINDS)),
            ("dialect", self.dialects, [dialect for _, dialect in DIALECTS]),
            ("matcher", self.matchers, sorted(self.matchers)),
            ("asked again in", self.variants, sorted(self.variants)),
        ]
        lines = [f"{self.examples} examples"]
        for title, counts, names in groups:
            for name in names:
                lines.append(f"{title:17} {name:40} {counts[name]:7} {self.percent(counts[name]):6.1f}%")
                title = ""
        return "\n".join(lines)
