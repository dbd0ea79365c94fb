"""Trend aggregates: q1 to q4 and Figures 5 to 13 of the COGRA paper, against approaches that do more, and the goals.

    python benchmarks/cogra.py [--parts queries figures goals spark] [--figures 5 8 12] [--quick] [--data FOLDER]
                               [--json FILE] [--markdown FILE] [--plot FILE]

The engine is compared with two approaches of two steps (one trend at a time, depth first, as SASE; all trends built and
kept, as Flink), with one aggregate per event (as GRETA, here under all semantics) and with sequences of fixed length
(as A-Seq: skip-till-any-match without comparisons). They are loops in Numba over events that are in order and tested
already. The engine's times are from a table to a table; "counting" is of it what comes after events are in order: it
tests them, counts, and makes the result. All run on one thread, and seconds are of the processor unless the clock is
named. Every answer is compared with the engine's. The exit code is 1 if one differs; a missed goal is printed only.
What takes longer than the limit, or more memory, dies. Ctrl-C prints what there is so far.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # when run as a file

from benchmarks import reporting
from benchmarks.segments.data import DEFAULT_FOLDER
from benchmarks.trends import goals, tables
from benchmarks.trends.approaches import Limits
from benchmarks.trends.data import is_real, load
from benchmarks.trends.figures import FULL_SIZES, Figure, Point, make_figures, measure_figure, measure_point, warm_up
from benchmarks.trends.on_spark import OnSpark, measure_on_spark
from benchmarks.trends.plot import draw
from benchmarks.trends.queries import QUERIES

PARTS = ("queries", "figures", "goals", "spark")
QUICK_SHARES = {"cluster": 20, "flights": 40, "nasdaq": 40, "activity": 10}
"""Of the series of each data set only one in so many, when it has to be quick."""
RATE_EVENTS, GAIN_EVENTS, LOOP_EVENTS = 100_000_000, 1_000_000, 200_000
"""In one window: for events per second, for the gain, and for the aggregators that it is over."""


@dataclass(eq=False)
class Report(reporting.Report):
    """All that was measured, and the tables made of it."""

    queries: dict[str, Point] = field(default_factory=dict)
    figures: list[Figure] = field(default_factory=list)
    rates: list[goals.Rate] = field(default_factory=list)
    states: list[goals.Kept] = field(default_factory=list)
    gain: goals.Gain | None = None
    on_spark: list[OnSpark] = field(default_factory=list)

    def draw(self, path: Path) -> bool:
        """The figures, and where two-step approaches die in them."""
        if not self.figures:
            return False
        self.add("Where two-step approaches die", tables.death_lines(self.figures))
        draw(self.figures, path)
        return True

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        figures = [
            {
                "name": figure.name, "title": figure.title, "axis": figure.axis,
                "points": [asdict(point) for point in figure.points],
            }
            for figure in self.figures
        ]
        return {
            "queries": {name: asdict(point) for name, point in self.queries.items()},
            "figures": figures, "rates": [asdict(rate) for rate in self.rates],
            "states": [asdict(kept) for kept in self.states],
            "gain": None if self.gain is None else asdict(self.gain),
            "on_spark": [asdict(found) for found in self.on_spark],
        }


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and say whether all answers are right."""
    options = parse(arguments)
    report = Report()
    made = [name for name in QUICK_SHARES if not is_real(name, options.data)]
    return reporting.run(report, options, f"; generated data: {', '.join(made)}", lambda: measure(options, report))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python benchmarks/cogra.py")
    parser.add_argument("--data", type=Path, default=DEFAULT_FOLDER, help="folder of Parquet files")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS[:-1]), metavar="PART",
                        help=f"{', '.join(PARTS)} (default: all but the last, which needs Java)")
    parser.add_argument("--figures", nargs="+", choices=FULL_SIZES, default=list(FULL_SIZES), metavar="NUMBER")
    parser.add_argument("--limit", type=float, help="seconds after which an approach dies (default 20)")
    parser.add_argument("--memory", type=int, help="MiB of memory above which it dies (default 2048)")
    parser.add_argument("--repeat", type=int, help="passes of which the median counts (default 3)")
    parser.add_argument("--events", type=int, help=f"of the goals' stream (default {RATE_EVENTS:,})")
    parser.add_argument("--quick", action="store_true", help="few events, one pass, low limits")
    reporting.add_file_options(parser, "cogra.png")
    options = parser.parse_args(arguments)
    quick = options.quick
    options.limit = options.limit or (0.5 if quick else 20.0)
    options.memory = options.memory or (128 if quick else 2048)
    options.repeat = options.repeat or (1 if quick else 3)
    options.events = options.events or (2_000_000 if quick else RATE_EVENTS)
    return options


def measure(options: argparse.Namespace, report: Report) -> None:
    """Everything, into the report, as it comes."""
    limits = Limits(options.limit, options.memory << 20)
    warm_up(options.data)
    if "queries" in options.parts:
        measure_queries(options, report, limits)
    if "figures" in options.parts:
        for figure in make_figures(options.data, is_quick=options.quick):
            if figure.name.split()[0] in options.figures:
                report.figures.append(figure)
                report.problems += measure_figure(figure, limits, options.repeat)
                title = f"Figure {figure.name}, {figure.title}, {figure.points[0].algorithm}"
                report.add(f"{title}: latency, ms", tables.latency_lines(figure))
                report.add(f"{title}: throughput, M events/s", tables.throughput_lines(figure))
                report.add(f"{title}: peak state, KiB", tables.state_lines(figure))
    if "goals" in options.parts:
        measure_goals(options, report)
    if "spark" in options.parts:
        report.on_spark = measure_on_spark(options.data, QUICK_SHARES if options.quick else {})
        report.problems += [found.wrong for found in report.on_spark if found.wrong]
        report.add("q2 to q4 on Spark and in memory, seconds by the clock", tables.spark_lines(report.on_spark))


def measure_queries(options: argparse.Namespace, report: Report, limits: Limits) -> None:
    """q1 to q4 with their windows, over all of their data."""
    for name, (workload, data) in QUERIES.items():
        table = load(data, options.data, QUICK_SHARES[data] if options.quick else 1)
        point = report.queries[name] = Point(0, table.num_rows)
        # Their windows are many and small: nothing dies of memory, and the limit of time is for all of them.
        generous = Limits(10 * limits.seconds, limits.n_bytes)
        measure_point(point, workload, table, "exact", generous, options.repeat, set())
        report.problems += [f"{name}: {text}" for text in point.wrong]
    report.add("q1 to q4, sliding windows", tables.query_lines(report.queries))


def measure_goals(options: argparse.Namespace, report: Report) -> None:
    """Events per second, bytes per window, and the gain over one aggregate per event."""
    note = ", over fewer events than it is for" if options.quick else ""
    report.rates = goals.measure_rates(options.events, options.repeat)
    report.problems += [rate.wrong for rate in report.rates if rate.wrong]
    report.add(f"Goal: events per second in one window{note}", tables.rate_lines(report.rates))
    report.states = goals.measure_states(*((100, 60) if options.quick else (2_000, 120)))
    report.add("Goal: state of a group in a window", tables.kept_lines(report.states))
    shrink = 10 if options.quick else 1
    report.gain = goals.measure_gain(GAIN_EVENTS // shrink, LOOP_EVENTS // shrink, options.repeat)
    report.problems += report.gain.wrong
    report.add(f"Goal: q3 of one company, one window{note}", tables.gain_lines(report.gain))


if __name__ == "__main__":
    sys.exit(main())
