"""One workload, planned by several methods: what each gains over the base, in plan cost and in measured throughput.

The base is each pattern alone, its components put together as they are written, on the same runtime. All methods are
run in turn over the same events, and everything that they find is compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING

from benchmarks.workload.answers import answers_of, difference, share_matched, total
from benchmarks.workload.engine import BASE, REORDERED, Planned, Search, plan, run
from benchmarks.workload.pattern import density

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.workload.answers import Answers
    from benchmarks.workload.drawing import Workload
    from benchmarks.workload.pattern import Window
    from benchmarks.workload.stream import Stream

LEAST_WINDOWS = 3
ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Measured:
    """One method: the cost of its plan, processor seconds of a pass, those of emitting, and seconds of the search."""

    cost: float
    seconds: float
    emitting: float
    search: float


@dataclass(eq=False)
class Gains:
    """What a workload was measured to be. `wrong` are answers that differ, and plans above those of `sh` and `re`."""

    n_patterns: int
    n_events: int
    density: float
    methods: dict[str, Measured] = field(default_factory=dict)
    n_matches: int = 0
    share_matched: float = 0.0
    wrong: list[str] = field(default_factory=list)

    def cost_gain(self, method: str, over: str = BASE) -> float:
        """How many times cheaper its plan is."""
        return self.methods[over].cost / self.methods[method].cost

    def throughput_gain(self, method: str, over: str = BASE) -> float:
        """How many times as many events per second."""
        return self.methods[over].seconds / self.methods[method].seconds

    def throughput(self, method: str) -> float:
        """Events per second."""
        return self.n_events / self.methods[method].seconds


def measure_gains(
    patterns: Workload, stream: Stream, methods: Sequence[str], search: Search, repeat: int, budget: float
) -> Gains:
    """Run a workload by all methods; the stream is as long as the budget of the base lets it be."""
    drawn = list(patterns.values())
    names = dict.fromkeys((BASE, REORDERED, *methods))
    plans = {method: plan(patterns, stream, method, search) for method in names}
    used = _affordable(stream, plans[BASE], drawn[0].window, budget)
    found = Gains(len(patterns), used.n_events, density(drawn))
    _run_all(found, patterns, plans, used, repeat)
    costs = plans[BASE].costs
    for method, planned in plans.items():
        if "-edge" in method or "-vertex" in method:
            found.wrong += [
                f"{method} has a plan above that of {other}" for other in ("sh", "re")
                if planned.cost > planned.costs[other] * (1 + ROUNDING)
            ]
    assert costs[BASE] == plans[BASE].cost  # all methods have seen the same statistics
    return found


def _run_all(found: Gains, patterns: Workload, plans: dict[str, Planned], stream: Stream, repeat: int) -> None:
    passes: dict[str, list[tuple[float, float]]] = {method: [] for method in plans}
    expected: Answers | None = None
    for _ in range(repeat):
        for method, planned in plans.items():
            one = run(planned, stream)
            passes[method].append((one.seconds, one.emitting))
            answers = answers_of(one.found, patterns)
            if expected is None:
                expected = answers
                found.n_matches, found.share_matched = total(answers), share_matched(answers)
            wrong = difference(expected, answers)
            if wrong is not None:
                found.wrong.append(f"{BASE} and {method}: {wrong}")
    for method, planned in plans.items():
        seconds, emitting = (median(column) for column in zip(*passes[method], strict=True))
        found.methods[method] = Measured(planned.cost, seconds, emitting, planned.optimized.seconds)


def _affordable(stream: Stream, base: Planned, window: Window, budget: float) -> Stream:
    """As many windows of the stream as the base can pay, by its plan cost."""
    n_windows = max(LEAST_WINDOWS, budget / base.cost)
    per_window = float(window.size)
    if window.unit == "minutes":
        per_window *= stream.n_events / stream.minutes
    return stream.first(min(stream.n_events, round(n_windows * per_window)))
