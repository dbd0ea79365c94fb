"""What is promised of the generator and its workloads, as it was measured."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.workload.answers import answers_of, share_matched, total
from benchmarks.workload.domain import selectivity
from benchmarks.workload.drawing import draw
from benchmarks.workload.engine import Search, plan, run
from benchmarks.workload.pattern import density

if TYPE_CHECKING:
    from benchmarks.workload.figures import DataSet
    from benchmarks.workload.pattern import Pattern


@dataclass(frozen=True, slots=True)
class Promises:
    """Of a data set and one workload on it. Pairs are of a smallest and a largest value."""

    data: str
    n_events: int
    n_types: int
    per_window: tuple[float, float]
    n_conditions: int
    selectivities: tuple[float, float]
    n_patterns: int
    forms: dict[str, int]
    n_components: float
    n_conditions_each: float
    expected: tuple[float, float]
    expected_total: float
    n_matches: int
    share_matched: float
    density: float


def measure_promises(data: DataSet, n_patterns: int, seconds: float, seed: int = 0) -> Promises:
    """Selectivities over all events, matches over the whole stream."""
    patterns = draw(data.domain, n_patterns, data.rules, seed)
    drawn = list(patterns.values())
    size, minutes = data.rules.window.size, data.rules.window.size
    counts = [number * size / data.stream.minutes for number in data.stream.counts().values()]
    shares = [
        selectivity(data.stream, one.left, one.right, one.attribute, minutes, data.stream.n_events)
        for one in data.domain.pool
    ]
    per_window = data.domain.per_window(size, data.rules.window.unit)
    expected = [pattern.expected_matches(per_window, data.rules.n_keys) for pattern in drawn]
    found = run(plan(patterns, data.stream, "sa-edge", Search(seconds, seed)), data.stream).found
    answers = answers_of(found, patterns)
    return Promises(
        data.name, data.stream.n_events, len(counts), (min(counts), max(counts)), len(shares),
        (min(shares), max(shares)), n_patterns, dict(Counter(map(_form, drawn))),
        sum(len(one.components) for one in drawn) / n_patterns, sum(len(one.conditions) for one in drawn) / n_patterns,
        (min(expected), max(expected)), sum(expected) * data.stream.minutes / size, total(answers),
        share_matched(answers), density(drawn),
    )


def _form(pattern: Pattern) -> str:
    return " ".join((pattern.form, *(one.kind for one in pattern.components if one.kind)))
