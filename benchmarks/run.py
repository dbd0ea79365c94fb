"""`make bench`: every query of `benchmarks.queries` in memory, from a pyarrow table to a pyarrow table.

    python -m benchmarks.run [--rows 5000000] [--only W1 W2 ...] [--repeat 5] [--threads N] [--json FILE]

Each query runs in a process of its own (`benchmarks.measure`). Then come the first queries of fresh processes, and the
patterns whose time must grow no faster than the rows. The exit code is 1 if a query failed or gave a wrong answer; a
missed goal is printed only, because goals are for a certain machine.
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.data import SEED
from benchmarks.machine import describe_machine
from benchmarks.queries import ALL
from benchmarks.tables import growth_lines, query_lines, show, start_lines

COLD = ("W1", "W1_string_shuffled", "W2", "W3", "W4", "W5")
STARTED = ("W1", "W5")
START_ROWS, N_STARTS = 1_000, 5
GROWING = ("W6", "nested_quantifiers")
GROWTH_SIZES = [125_000, 250_000, 500_000, 1_000_000, 2_000_000]
TIME_LIMIT = 1_800


def main() -> int:
    arguments = parse_arguments()
    names = arguments.only or list(ALL)
    report: dict[str, Any] = {
        "date": datetime.date.today().isoformat(), "machine": describe_machine(), "seed": SEED, "rows": arguments.rows,
        "threads": arguments.threads, "repeat": arguments.repeat, "queries": [], "starts": [],
        "growth": [], "failed": {},
    }
    print(f"{report['machine']}; {arguments.rows:,} rows, seed {SEED}\n", flush=True)
    for number, name in enumerate(names, 1):
        print(f"[{number}/{len(names)}] {name}: {ALL[name].title} ... ", end="", flush=True)
        measured = attempt(report, name, lambda name=name: measure(name, arguments))
        if measured is not None:
            report["queries"].append(measured)
            print(progress(measured), flush=True)
    for name in () if arguments.skip_cold else STARTED:
        print(f"first query of a process, {name} ... ", end="", flush=True)
        started = attempt(report, f"start of {name}", lambda name=name: measure_starts(name))
        if started is not None:
            report["starts"].append(started)
            print(f"{started['first'] * 1000:.0f} ms, second {started['second'] * 1000:.0f} ms", flush=True)
    sizes = [size for size in GROWTH_SIZES if size <= arguments.growth_rows]
    for name in GROWING if len(sizes) > 1 else ():
        print(f"growth of {name} ... ", end="", flush=True)
        growth = attempt(report, f"growth of {name}", lambda name=name: measure_growth(name, sizes, arguments))
        if growth is not None:
            report["growth"].append(growth)
            print(f"n^{growth['power']:.2f}", flush=True)
    print_report(report)
    if arguments.json:
        arguments.json.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    return 1 if report["failed"] or any(part["wrong"] for part in report["queries"] + report["growth"]) else 0


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run")
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows of every query (default 5,000,000)")
    parser.add_argument("--only", nargs="+", choices=ALL, metavar="NAME", help=f"some of {', '.join(ALL)}")
    parser.add_argument("--repeat", type=int, default=5, help="warm runs, of which the median counts (default 5)")
    parser.add_argument("--threads", type=int, help="threads of SparkRex and of DuckDB (default all cores)")
    parser.add_argument("--skip-cold", action="store_true", help="leave out the first queries of fresh processes")
    parser.add_argument(
        "--growth-rows", type=int, default=2_000_000, help="most rows of the growing patterns, 0 leaves them out"
    )
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    return parser.parse_args()


def attempt(report: dict[str, Any], what: str, run: Any) -> dict[str, Any] | None:
    """The result of a measurement; one that fails is noted, and the others go on."""
    try:
        result: dict[str, Any] = run()
    except subprocess.SubprocessError as error:
        stderr = error.stderr if isinstance(error, subprocess.CalledProcessError) else str(error)
        reason = (stderr or str(error)).strip()
        report["failed"][what] = reason.splitlines()[-1]
        print(f"FAILED\n{reason}", flush=True)
        return None
    return result


def measure(name: str, arguments: argparse.Namespace) -> dict[str, Any]:
    """One query, warm in a process of its own; some also as the first query of a process."""
    options = ["--rows", str(arguments.rows), "--repeat", str(arguments.repeat)]
    options += ["--threads", str(arguments.threads)] if arguments.threads else []
    measured = in_process("benchmarks.measure", name, *options)
    if name in COLD and not arguments.skip_cold:
        measured["cold"] = in_process("benchmarks.first_query", name, str(arguments.rows))["first"]
    return measured


def measure_starts(name: str) -> dict[str, Any]:
    """Medians of import, first and second query over several processes; the compiled kernels are on disk."""
    in_process("benchmarks.first_query", name, str(START_ROWS))
    starts = [in_process("benchmarks.first_query", name, str(START_ROWS)) for _ in range(N_STARTS)]
    return {"name": name, "rows": START_ROWS} | {
        part: statistics.median(start[part] for start in starts) for part in ("import", "first", "second")
    }


def measure_growth(name: str, sizes: list[int], arguments: argparse.Namespace) -> dict[str, Any]:
    """One query at growing sizes."""
    options = ["--repeat", str(arguments.repeat), "--growth", *map(str, sizes)]
    options += ["--threads", str(arguments.threads)] if arguments.threads else []
    return in_process("benchmarks.measure", name, *options)


def in_process(module: str, *options: str) -> dict[str, Any]:
    """What a module prints as JSON when run in a fresh process."""
    command = [sys.executable, "-m", module, *options]
    # An installed package has its bytecode. Here the first process writes it, whatever the shell says.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    shown = subprocess.run(
        command, capture_output=True, text=True, check=True, timeout=TIME_LIMIT, env=environment
    )
    result: dict[str, Any] = json.loads(shown.stdout.splitlines()[-1])
    return result


def progress(measured: dict[str, Any]) -> str:
    """One query in a few words."""
    ratio = f", {measured['ratio']:.1f}x DuckDB" if "ratio" in measured else ""
    answer = "answer right" if not measured["wrong"] else f"WRONG: {measured['wrong']}"
    return f"{measured['matcher']}, {measured['rate'] / 1e6:.1f}M rows/s{ratio}, {answer}"


def print_report(report: dict[str, Any]) -> None:
    """All figures as tables."""
    for title, lines in (
        ("Queries", query_lines(report)),
        (f"First and second query of a process, {START_ROWS:,} rows", start_lines(report)),
        ("Time against rows, no match", growth_lines(report)),
    ):
        if len(lines) > 1:
            print(f"\n{title}")
            show(lines)
    for what, reason in report["failed"].items():
        print(f"\nFAILED {what}: {reason}")


if __name__ == "__main__":
    sys.exit(main())
