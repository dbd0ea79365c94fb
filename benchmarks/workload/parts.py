"""The parts of the benchmark: what each measures, and the tables that it prints."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass, field
from time import perf_counter
from typing import TYPE_CHECKING, Any

from benchmarks import reporting
from benchmarks.workload import real, tables
from benchmarks.workload.adaptive import Adapted, measure_adapted
from benchmarks.workload.drawing import SELECTIVE, UNSELECTIVE, draw
from benchmarks.workload.engine import Search
from benchmarks.workload.figures import BEST, DataSet, Figure, Scale, measure_figure
from benchmarks.workload.gains import Gains, measure_gains
from benchmarks.workload.generate import Generator, make_generator
from benchmarks.workload.plot import draw_figures
from benchmarks.workload.promises import Promises, measure_promises
from benchmarks.workload.scale import Scaled, measure_scale
from benchmarks.workload.searching import Searched, Switched, measure_search, measure_switch

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable
    from pathlib import Path

GENERATED = "generated"
ADAPTIVE = "13"
N_BETWEEN = (10, 100, 1_000, 10_000)
"""The paper's range of events between two changes, and one above it."""
N_SEEDS, SHORTER = 10, 18
"""Searches of 10 seconds are compared with searches of 180."""
N_SCALED = 1_000


@dataclass(eq=False)
class Report(reporting.Report):
    """All that was measured, and the tables made of it."""

    promises: list[Promises] = field(default_factory=list)
    goals: list[Gains] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    adapted: dict[str, dict[int, list[Adapted]]] = field(default_factory=dict)
    unselective: list[Gains] = field(default_factory=list)
    searched: list[Searched] = field(default_factory=list)
    switched: Switched | None = None
    scaled: Scaled | None = None

    def draw(self, path: Path) -> bool:
        """All figures."""
        if not self.figures and not self.adapted:
            return False
        draw_figures(path, self.figures, self.adapted)
        return True

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "promises": [asdict(one) for one in self.promises], "goals": [asdict(one) for one in self.goals],
            "figures": [asdict(one) for one in self.figures],
            "adapted": {
                name: {x: [asdict(one) for one in found] for x, found in by_rate.items()}
                for name, by_rate in self.adapted.items()
            },
            "unselective": [asdict(one) for one in self.unselective],
            "searched": [asdict(one) for one in self.searched],
            "switched": None if self.switched is None else asdict(self.switched),
            "scaled": None if self.scaled is None else asdict(self.scaled),
        }


class Bench:
    """What is measured with: the options, the data sets, each made when it is first asked for."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.scale: Scale = options.scale
        self.generator: Generator = make_generator()
        self._sets: dict[str, DataSet] = {}
        self._begin = perf_counter()

    def data(self, name: str) -> DataSet:
        """A data set by its name."""
        if name not in self._sets:
            if name == GENERATED:
                stream = self.generator.stream(self.options.windows)
                self._sets[name] = DataSet(name, self.generator.domain, stream, SELECTIVE)
            else:
                domain, stream = real.load(name, self.options.data, self.options.days)
                self._sets[name] = DataSet(name, domain, stream, real.RULES[name])
        return self._sets[name]

    def tell(self, text: str) -> None:
        """How far it is."""
        print(f"[{perf_counter() - self._begin:5.0f} s] {text}", file=sys.stderr, flush=True)


def measure_generator(bench: Bench, report: Report) -> None:
    """The promises of every data set."""
    for name in bench.options.on:
        report.promises.append(measure_promises(bench.data(name), bench.scale.n_patterns, min(bench.scale.seconds, 10)))
    report.add("Data and workloads", tables.promise_lines(report.promises))


def measure_goals(bench: Bench, report: Report) -> None:
    """Gains of the default workload."""
    data, scale = bench.data(GENERATED), bench.scale
    for seed in range(scale.n_workloads):
        patterns = draw(data.domain, scale.n_patterns, data.rules, seed)
        found = measure_gains(
            patterns, data.stream, ("sh", BEST), Search(scale.seconds, seed), scale.repeat, scale.budget
        )
        report.goals.append(found)
        report.problems += [f"Goals, workload {seed + 1}: {text}" for text in found.wrong]
        bench.tell(f"goals: workload {seed + 1}")
    report.add(f"Goals: {scale.n_patterns} patterns on the selective generator", tables.goal_lines(report.goals))


def measure_figures(bench: Bench, report: Report) -> None:
    """All figures of all data sets, as they come."""
    for data in bench.options.on:
        for name in bench.options.figures:
            if name == ADAPTIVE:
                measure_adaptive(bench, report, data)
                continue
            figure, problems = measure_figure(name, bench.data(data), bench.scale, bench.tell)
            report.figures.append(figure)
            report.problems += problems
            title = f"{figure.title}, {figure.data}"
            report.add(f"{title}: gain in plan cost", tables.gain_lines(figure, Gains.cost_gain))
            report.add(f"{title}: gain in throughput", tables.gain_lines(figure, Gains.throughput_gain))
            report.add(f"{title}: throughput", tables.rate_lines(figure))


def measure_adaptive(bench: Bench, report: Report, name: str) -> None:
    """Figure 13. The rates of traffic sensors are all the same, so that there is nothing to change."""
    if name == "traffic":
        return
    data, scale = bench.data(name), bench.scale
    found = report.adapted.setdefault(name, {})
    n_windows = bench.options.windows // (5 if bench.options.quick else 2)
    for n_between in N_BETWEEN[2:3] if bench.options.quick else N_BETWEEN:
        for seed in range(scale.n_workloads):
            if name == GENERATED:
                stream = bench.generator.stream(n_windows, n_between=n_between, seed=seed)
            else:
                stream = data.stream.reshuffled(n_between, seed)
            # A search during a run is as short as rates that change ask it to be.
            one = measure_adapted(
                data.domain, data.rules, scale.n_patterns, stream, n_between, min(scale.seconds, 5.0), seed
            )
            found.setdefault(n_between, []).append(one)
            report.problems += [f"Figure 13, {name}, {n_between}: {text}" for text in one.wrong]
            bench.tell(f"Figure 13, {name}: {n_between} events between changes, workload {seed + 1}")
    report.add(f"Figure 13: rates that change, {name}: gain in throughput", tables.adaptive_lines(found))


def measure_unselective(bench: Bench, report: Report) -> None:
    """Where matches are most of what plans make."""
    data, scale = bench.data(GENERATED), bench.scale
    for seed in range(min(scale.n_workloads, 3)):
        patterns = draw(data.domain, scale.n_patterns, UNSELECTIVE, seed)
        found = measure_gains(
            patterns, data.stream, ("sh", BEST), Search(scale.seconds, seed), scale.repeat, scale.budget
        )
        report.unselective.append(found)
        report.problems += [f"Unselective, workload {seed + 1}: {text}" for text in found.wrong]
        bench.tell(f"unselective: workload {seed + 1}")
    report.add("Unselective patterns, and the share of time spent on emitting matches",
               tables.unselective_lines(report.unselective))


def measure_searches(bench: Bench, report: Report) -> None:
    """A short and a long search, and a change of plan."""
    data, scale = bench.data(GENERATED), bench.scale
    short, long = scale.seconds / SHORTER, scale.seconds
    for seed in range(3 if bench.options.quick else N_SEEDS):
        report.searched.append(measure_search(data, scale.n_patterns, seed, short, long))
        bench.tell(f"search: seed {seed}")
    report.add("Goal: a short search is within 10 % of a long one",
               tables.search_lines(report.searched, short, long))
    report.switched = measure_switch(data, scale.n_patterns, min(scale.seconds, 10.0))
    report.add("Goal: a change of plan takes less than a second", tables.switch_lines(report.switched))


def measure_scaled(bench: Bench, report: Report, *, on_spark: bool = False) -> None:
    """Many patterns and events."""
    options = bench.options
    n_patterns = N_SCALED // (10 if options.quick else 1)
    n_spark = (options.spark_events or options.events) if on_spark else 0
    report.scaled = measure_scale(n_patterns, options.events, min(bench.scale.seconds, 60.0), n_spark)
    if report.scaled.wrong:
        report.problems.append(f"Scale: {report.scaled.wrong}")
    where = " in memory and on Spark" if on_spark else ""
    report.add(f"Many patterns over many events{where}", tables.scale_lines(report.scaled))


def measure_on_spark(bench: Bench, report: Report) -> None:
    """The same on Spark, compared with memory."""
    measure_scaled(bench, report, on_spark=True)


MEASURES: dict[str, Callable[[Bench, Report], None]] = {
    "generator": measure_generator, "goals": measure_goals, "figures": measure_figures,
    "unselective": measure_unselective, "search": measure_searches, "scale": measure_scaled, "spark": measure_on_spark,
}
