"""Segment search: the 11 templates of the T-ReX paper, planners, baselines, and when each operator wins.

    python benchmarks/trex.py [--templates v_shape cld_wave] [--series 20] [--quick] [--json FILE] [--markdown FILE]

Prints Tables 4 and 7, Figures 8 to 10 and 22 of the paper, the optimizer's regret, the cold waves of all series, and
the growth of time and memory with the length of a series. Every answer is compared with every other. The exit code is 1
if two differ or a template has no match; a missed goal is printed only. Ctrl-C prints what there is so far.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # when run as a file

from benchmarks.machine import describe_machine
from benchmarks.segments import tables
from benchmarks.segments.data import DEFAULT_FOLDER, load
from benchmarks.segments.instance import Instance, Measuring, as_data
from benchmarks.segments.operators import Curve, measure_operators
from benchmarks.segments.scaling import SIZES, Growth, measure_growth, time_cold_waves
from benchmarks.segments.templates import TEMPLATES, Template
from benchmarks.tables import markdown, show

SAMPLES = (5, 50, 500)
WAVE_GOAL = 0.02
COMPILING = 300.0
"""Seconds that compiling may take."""
PARTS = ("plans", "executors", "operators", "waves", "growth")


@dataclass(eq=False)
class Report:
    """All that was measured."""

    instances: list[Instance] = field(default_factory=list)
    curves: list[Curve] = field(default_factory=list)
    waves: tuple[list[float], int] | None = None
    growth: list[Growth] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and say whether all answers are right."""
    options = parse(arguments)
    report = Report()
    kind = f"data of {options.data}" if (options.data / "weather.parquet").exists() else "generated data"
    print(f"{describe_machine()}; {kind}, {options.series or 'all'} series\n", flush=True)
    try:
        measure(options, report)
    except KeyboardInterrupt:
        report.problems.append("interrupted")
    parts = report_parts(report)
    for title, lines in parts:
        print(f"\n{title}")
        show(lines)
    if options.markdown:
        text = "\n\n".join(f"**{title}**\n\n{markdown(lines)}" for title, lines in parts)
        options.markdown.write_text(text + "\n", encoding="utf-8")
    if options.json:
        options.json.write_text(json.dumps(as_json(report), indent=1) + "\n", encoding="utf-8")
    for problem in report.problems:
        print(f"PROBLEM: {problem}")
    return 1 if report.problems else 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python benchmarks/trex.py")
    parser.add_argument("--data", type=Path, default=DEFAULT_FOLDER, help="folder of Parquet files")
    parser.add_argument("--templates", nargs="+", choices=TEMPLATES, default=list(TEMPLATES), metavar="NAME")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--series", type=int, help="only so many series of each data set")
    parser.add_argument("--instances", type=int, help="only so many instances of each template, spread over all")
    parser.add_argument("--random", type=int, default=50, help="random plans an instance (default 50)")
    parser.add_argument("--timeout", type=float, default=30.0, help="seconds for one plan (default 30)")
    parser.add_argument("--quick", action="store_true", help="few series, instances, plans and sizes")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--markdown", type=Path, help="also write the tables for a page to this file")
    options = parser.parse_args(arguments)
    if options.quick:
        options.series = options.series or 8
        options.instances = options.instances or 2
        options.random = min(options.random, 3)
        options.timeout = min(options.timeout, 5.0)
    return options


def measure(options: argparse.Namespace, report: Report) -> None:
    """Everything, into the report, as it comes."""
    if {"plans", "executors"} & set(options.parts):
        for number, name in enumerate(options.templates, 1):
            print(f"[{number}/{len(options.templates)}] {name} ", end="", flush=True)
            measure_template(TEMPLATES[name], options, report)
    if "operators" in options.parts:
        for curve in measure_operators(load("sp500_year", options.data, options.series), is_quick=options.quick):
            print(f"Figure {curve.figure} done", flush=True)
            report.curves.append(curve)
            if curve.wrong:
                report.problems.append(f"Figure {curve.figure}: the operators' answers differ")
    weather = load("weather", options.data, options.series)
    if "waves" in options.parts:
        report.waves = time_cold_waves(weather)
    if "growth" in options.parts:
        sizes = (2_000, 20_000) if options.quick else SIZES
        for growth in measure_growth(weather, load("sp500", options.data, options.series), sizes):
            print(f"growth of {growth.query} done", flush=True)
            report.growth.append(growth)


def measure_template(template: Template, options: argparse.Namespace, report: Report) -> None:
    """All instances of a template."""
    warm_up(template, options)
    table = load(template.data, options.data, options.series)
    before = len(report.instances)
    for parameters in chosen(template, options.instances):
        measuring = Measuring(template, parameters, table, options.timeout)
        instance = measuring.instance
        report.instances.append(instance)
        try:
            if "plans" in options.parts:
                measuring.measure_plans(options.random)
                measuring.measure_ranking(SAMPLES)
            if "executors" in options.parts:
                measuring.measure_executors()
        finally:
            measuring.close()
        report.problems += [f"{template.name} {parameters}: {text}" for text in instance.wrong]
        print("x" if instance.wrong else ".", end="", flush=True)
    measured = report.instances[before:]
    if not any(instance.n_matches for instance in measured):
        report.problems.append(f"{template.name} has no match")
    times = [seconds for i in measured if (seconds := i.executors.get("T-ReX") or i.planners.get("optimizer"))]
    print(f" {1000 * median(times):.1f} ms" if times else " timed out", flush=True)


def warm_up(template: Template, options: argparse.Namespace) -> None:
    """Run everything once over few series: kernels that are still to be compiled are, in no time limit that counts."""
    measuring = Measuring(template, template.instances[0], load(template.data, options.data, 2), COMPILING)
    try:
        for plan in measuring.plans().values():
            measuring.timed("plan", partial(measuring.prepared.run, plan), is_repeated=False)
        if "executors" in options.parts:
            measuring.measure_executors()
    finally:
        measuring.close()


def chosen(template: Template, n: int | None) -> list[dict[str, Any]]:
    """Some instances, the middle one first: the ends of the grid may have no match in few series."""
    instances = list(template.instances)
    if n is None or n >= len(instances):
        return instances
    middle = instances.pop(len(instances) // 2)
    step = max(1, len(instances) // max(1, n - 1))
    return [middle, *instances[::step][: n - 1]]


def report_parts(report: Report) -> list[tuple[str, tables.Lines]]:
    """The tables of what was measured, each with its title."""
    planned = [instance for instance in report.instances if instance.planners]
    executed = [instance for instance in report.instances if instance.executors]
    parts: list[tuple[str, tables.Lines]] = []
    if planned:
        parts.append(("Table 4: median slow-down over the fastest plan", tables.table_4(planned)))
        parts.append(("Regret of the optimizer against rule plans and random plans", tables.regret_lines(planned)))
        parts.append(("Table 7: order of plans by estimated cost", tables.table_7(planned)))
    if executed:
        title = "Figure 22a: speed-up of T-ReX over others, and how many times its condition evaluations they need"
        parts.append((title, tables.figure_22a(executed)))
        parts.append(("Figure 22b: speed-up by sharing aggregates", tables.figure_22b(executed)))
    parts += [(f"Figure {curve.figure}", tables.curve_lines(curve)) for curve in report.curves]
    if report.growth:
        parts.append(("Growth with the length of one series", tables.growth_lines(report.growth)))
    if report.waves is not None:
        seconds, n_matches = report.waves
        verdict = "ok" if median(seconds) <= WAVE_GOAL else "MISSED"
        title = "Cold waves of all series, warm, with sampling and planning"
        figures = [f"{1000 * median(seconds):.1f}", f"{1000 * min(seconds):.1f}", f"{n_matches:,}"]
        goal = f"{1000 * WAVE_GOAL:.0f} ms {verdict}"
        parts.append((title, [["median ms", "least ms", "matches", "goal"], [*figures, goal]]))
    return parts


def as_json(report: Report) -> dict[str, Any]:
    """The report as plain data."""
    return {
        "machine": describe_machine(), "instances": [as_data(instance) for instance in report.instances],
        "curves": [asdict(curve) for curve in report.curves], "waves": report.waves,
        "growth": [asdict(growth) for growth in report.growth], "problems": report.problems,
    }


if __name__ == "__main__":
    sys.exit(main())
