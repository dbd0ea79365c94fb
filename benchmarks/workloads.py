"""Pattern workloads: the figures of Kolchinsky and Schuster's paper, and the goals.

    python benchmarks/workloads.py [--parts generator goals figures ...] [--figures 10 11a 13 ...]
                                   [--on generated stocks traffic] [--quick] [--data FOLDER]
                                   [--json FILE] [--markdown FILE] [--plot FILE]

The base of every gain is each pattern alone, its components put together in the order in which they are written
(method `none`), on the same runtime; the gain over reordering alone (`re`) is printed too. Gains are ratios of runs
side by side over the same events, on one thread, in seconds of the processor; of several workloads medians are shown.
Every method's matches are compared with the base's: how many each pattern has, and a checksum. The exit code is 1 if
some differ, or if a searched plan costs more than those of `sh` or `re`; a missed goal is printed only. Ctrl-C prints
what there is so far. The full sweep takes many hours, most of them for searches of 180 seconds; `--quick` has 10
seconds and 3 workloads.

- generator: what is promised of the data and of a workload of 100 patterns, as measured.
- goals: gains of 100 patterns on the selective generator.
- figures: 10 and 12 a, e (workload size), 11 a and 12 b, f (pattern size), 11 b (time of search), 11 c and 12 c, g
  (window), 11 d and 12 d, h (window of events), 13 (rates that change), 14 and appendix D (density of the graph,
  difference of rates).
- unselective: patterns of 20 to 2,000 matches in a window, with the share of time that goes into making results.
- search: how near a search of 10 seconds is to one of 180, and how long a change of plan takes.
- scale: 1,000 patterns over 10,000,000 events, with the memory it takes. spark: the same on Spark too.

The generator has 30 types with 2 to 47 events in 15 minutes and a pool of 60 conditions `a.x < b.x` with selectivities
from 0.003 to 0.92 (`workload.generate`). Patterns are drawn as the paper says, with what it leaves open decided in
`workload.drawing`. Real data are 40 tickers of minute bars and 40 traffic sensors (`workload.real`).
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # when run as a file

from benchmarks import reporting
from benchmarks.segments.data import DEFAULT_FOLDER
from benchmarks.workload import figures, real
from benchmarks.workload.engine import warm_up
from benchmarks.workload.parts import ADAPTIVE, GENERATED, MEASURES, Bench, Report

PARTS = tuple(MEASURES)
N_WINDOWS, DAYS, EVENTS = 400, 7, 10_000_000
"""Windows of generated events, days of traffic, and events of the part scale."""


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and say whether all answers are right."""
    options = parse(arguments)
    report, bench = Report(), Bench(options)

    def measure() -> None:
        warm_up(bench.generator)
        for part in options.parts:
            MEASURES[part](bench, report)

    missing = [name for name in real.FILES if not real.is_there(name, options.data)]
    options.on = [name for name in options.on if name not in missing]
    note = f"; not there: {', '.join(missing)}" if missing else ""
    return reporting.run(report, options, note, measure)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options."""
    names = (*figures.NAMES, ADAPTIVE)
    parser = argparse.ArgumentParser(prog="python benchmarks/workloads.py")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS[:-1]), metavar="PART",
                        help=f"{', '.join(PARTS)} (default: all but the last, which needs Java)")
    parser.add_argument("--figures", nargs="+", choices=names, default=list(names), metavar="NAME",
                        help=f"{', '.join(names)} (default: all)")
    sets = (GENERATED, *real.FILES)
    parser.add_argument("--on", nargs="+", choices=sets, default=list(sets), metavar="DATA",
                        help=f"{', '.join(sets)} (default: all that are there)")
    parser.add_argument("--data", type=Path, default=DEFAULT_FOLDER, help="folder of Parquet files")
    parser.add_argument("--quick", action="store_true", help="10 s of search, 3 workloads, few places on each axis")
    parser.add_argument("--seconds", type=float, help="of a search (default 180)")
    parser.add_argument("--workloads", type=int, help="of which the median counts (default 10)")
    parser.add_argument("--patterns", type=int, help="of a workload, where its size is no axis (default 100)")
    parser.add_argument("--repeat", type=int, help="passes of which the median counts (default 3)")
    parser.add_argument("--windows", type=int, help=f"of generated events (default {N_WINDOWS})")
    parser.add_argument("--days", type=int, help=f"of traffic (default {DAYS})")
    parser.add_argument("--events", type=int, help=f"of the part scale (default {EVENTS:,})")
    parser.add_argument("--spark-events", type=int, help="of the part spark (default: all)")
    reporting.add_file_options(parser, "workloads.png")
    options = parser.parse_args(arguments)
    quick = options.quick
    scale = figures.QUICK if quick else figures.FULL
    options.scale = replace(
        scale, seconds=options.seconds or scale.seconds, n_workloads=options.workloads or scale.n_workloads,
        repeat=options.repeat or scale.repeat, n_patterns=options.patterns or scale.n_patterns,
    )
    options.windows = options.windows or N_WINDOWS
    options.days = options.days or (1 if quick else DAYS)
    options.events = options.events or (EVENTS // 100 if quick else EVENTS)
    return options


if __name__ == "__main__":
    sys.exit(main())
