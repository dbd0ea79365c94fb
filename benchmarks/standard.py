"""`make bench`: the standard workloads, cold and warm, their answers checked, and the pathological patterns.

    python -m benchmarks.standard [--rows 1000000] [--repeat 5] [--skip-cold] [--json FILE]

Cold is a fresh process from `import sparkrex` to the result, once with an empty compiler cache and once with a filled
one. Warm is the same query again in one process: the median, with the fastest and the slowest beside it.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import sparkrex as rex
from benchmarks.workloads import PATHOLOGICAL, SEED, WORKLOADS, Workload, ticks

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa

PATHOLOGICAL_SIZES = (10_000, 50_000, 100_000)

WORKLOAD_HEADER = [
    "workload", "rows", "cold, compiling", "cold, cached", "warm (fastest to slowest)", "rows/s", "floor", "matches",
    "answer",
]


def main() -> int:
    arguments = parse_arguments()
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    print(f"{machine}; seed {SEED}\n")
    table = ticks(arguments.rows)
    reports = [measure(workload, table, arguments) for workload in WORKLOADS.values()]
    print_table(WORKLOAD_HEADER, [workload_line(report) for report in reports])
    print()
    growth = [measure_pathological(name, query, arguments.repeat) for name, query in PATHOLOGICAL.items()]
    print_table(
        ["pattern, no match", *[f"{size:,} rows" for size in PATHOLOGICAL_SIZES], "growth", "answer"],
        [pathological_line(report) for report in growth],
    )
    print(f"\npeak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MB")
    if arguments.json:
        report = {"seed": SEED, "machine": machine, "workloads": reports, "pathological": growth}
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")
    return 0 if all(report["is_right"] for report in reports + growth) else 1


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.standard")
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of W1 and W5 (default 1,000,000)")
    parser.add_argument("--repeat", type=int, default=5, help="warm runs, of which the median counts (default 5)")
    parser.add_argument("--skip-cold", action="store_true", help="leave the cold runs out")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    return parser.parse_args()


def measure(workload: Workload, table: pa.Table, arguments: argparse.Namespace) -> dict[str, Any]:
    """One workload: cold in processes of their own, warm here, and its answer against the expected one."""
    report: dict[str, Any] = {"name": workload.name, "what": workload.what, "rows": table.num_rows}
    if not arguments.skip_cold:
        with tempfile.TemporaryDirectory() as cache:
            report["cold_compiling"] = cold(workload, table.num_rows, cache)
            report["cold_cached"] = cold(workload, table.num_rows, cache)
    answer = rex.sql(workload.query, ticks=table)
    seconds = timed(partial(rex.sql, workload.query, ticks=table), arguments.repeat)
    median = statistics.median(seconds)
    is_right = equal(answer, workload.expected(table))
    return report | {
        "warm": seconds, "median": median, "rows_per_second": table.num_rows / median, "floor": workload.floor,
        "matches": answer.num_rows, "is_right": is_right,
    }


def measure_pathological(name: str, query: str, repeat: int) -> dict[str, Any]:
    """The time of one pattern at growing sizes, and the power of n at which it grows."""
    medians = []
    is_right = True
    for size in PATHOLOGICAL_SIZES:
        table = ticks(size)
        is_right &= rex.sql(query, ticks=table).num_rows == 0
        medians.append(statistics.median(timed(partial(rex.sql, query, ticks=table), repeat)))
    power = math.log(medians[-1] / medians[0]) / math.log(PATHOLOGICAL_SIZES[-1] / PATHOLOGICAL_SIZES[0])
    return {"name": name, "sizes": PATHOLOGICAL_SIZES, "medians": medians, "power": power, "is_right": is_right}


def timed(run: Callable[[], object], repeat: int) -> list[float]:
    """Seconds of each of several runs."""
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        run()
        seconds.append(time.perf_counter() - start)
    return seconds


def cold(workload: Workload, n_rows: int, cache: str) -> float:
    """Seconds of the first query of a fresh process, the import included, making the data not."""
    command = [sys.executable, "-m", "benchmarks.first_query", workload.name, str(n_rows)]
    environment = os.environ | {"NUMBA_CACHE_DIR": cache}
    shown = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return float(shown.stdout)


def equal(answer: pa.Table, expected: list[tuple[Any, ...]]) -> bool:
    """Whether the result holds exactly the expected rows in the expected order."""
    if answer.num_rows != len(expected):
        return False
    columns = zip(*expected, strict=True) if expected else []
    return all(
        np.array_equal(got.to_numpy(), np.array(wanted, dtype=got.to_numpy().dtype))
        for got, wanted in zip(answer.columns, columns, strict=True)
    )


def workload_line(report: dict[str, Any]) -> list[str]:
    warm = report["warm"]
    return [
        f"{report['name']} {report['what']}",
        f"{report['rows']:,}",
        *(f"{report[key]:.2f} s" if key in report else "-" for key in ("cold_compiling", "cold_cached")),
        f"{report['median']:.3f} s ({min(warm):.3f} to {max(warm):.3f})",
        f"{report['rows_per_second']:,.0f}",
        f"{report['floor']:,.0f} {'ok' if report['rows_per_second'] >= report['floor'] else 'BELOW'}",
        f"{report['matches']:,}",
        "right" if report["is_right"] else "WRONG",
    ]


def pathological_line(report: dict[str, Any]) -> list[str]:
    return [
        report["name"],
        *(f"{seconds:.3f} s" for seconds in report["medians"]),
        f"n^{report['power']:.1f}",
        "right" if report["is_right"] else "WRONG",
    ]


def print_table(header: list[str], lines: list[list[str]]) -> None:
    """Columns as wide as they need to be, the first to the left, the others to the right."""
    widths = [max(len(line[place]) for line in [header, *lines]) for place in range(len(header))]
    for line in [header, *lines]:
        cells = [cell.rjust(width) for cell, width in zip(line, widths, strict=True)]
        print("  ".join([line[0].ljust(widths[0]), *cells[1:]]))


if __name__ == "__main__":
    sys.exit(main())
