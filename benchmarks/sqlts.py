"""SQL-TS and Optimized Pattern Search: section 7 of the paper, and what proofs save in plain MATCH_RECOGNIZE.

    python benchmarks/sqlts.py [--parts index sequences families proofs] [--quick] [--data FOLDER] [--rows N]
                               [--json FILE] [--markdown FILE] [--plot FILE]

A test is one row tested against one element. The naive search is a loop in Numba over truth by element and row: stars
are possessive, and after every failure it starts again at the next row. OPS is the engine's, whose count is the one of
EXPLAIN ANALYZE; `sign unknown` is fed in chunks, so that no data prove the price positive. All matches are compared,
element by element. The exit code is 1 if some differ. Ctrl-C prints what there is so far.

- index: the relaxed double bottom (Example 10) in 25 years of the Dow Jones index, as printed and with a star on X, and
  how many tests other readings of "naive" make. The paper says 93x, and up to 800x for other queries.
- sequences: the same in generated sequences.
- families: patterns and sequences where the gain grows with the length of runs.
- proofs: plain MATCH_RECOGNIZE with proofs and without.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # when run as a file

from benchmarks import reporting
from benchmarks.segments.data import DEFAULT_FOLDER
from benchmarks.sqlts_search import data, proven, tables
from benchmarks.sqlts_search.comparing import Compared, compare, count_readings
from benchmarks.sqlts_search.engine import FORWARD, Searched
from benchmarks.sqlts_search.families import FAMILIES, GAIN, LENGTHS
from benchmarks.sqlts_search.patterns import DOUBLE_BOTTOM
from benchmarks.sqlts_search.plot import draw

if TYPE_CHECKING:
    import pyarrow as pa

PARTS = ("index", "sequences", "families", "proofs")
ROWS, QUICK_ROWS = 200_000, 5_000
QUICK_LENGTHS = (10, 20, 50)
VOLATILITIES, RUNS = (0.005, 0.01, 0.02, 0.04), (10, 100, 1000)
PATTERNS = (DOUBLE_BOTTOM, DOUBLE_BOTTOM.with_first_star())

CONCLUSION = """
As Example 10 is printed, X is one row, and only the few rows that a fall follows begin an attempt that goes on. A
search that tests each row once cannot gain 93x over one that tests so little. Naive must mean more: trying every
length anew is not enough, nor is testing all conditions, and every window is far too much. With a star on X the naive
search starts again inside each run of rows without a fall, and the gain is of the order that the paper names. It
grows with the length of runs, so that 800x can be reached as well: see the families."""
"""Of the real index."""


@dataclass(eq=False)
class Report(reporting.Report):
    """All that was measured, and the tables made of it."""

    index: pa.Table | None = None
    compared: list[Compared] = field(default_factory=list)
    readings: dict[str, dict[str, int]] = field(default_factory=dict)
    by_length: dict[int, list[Compared]] = field(default_factory=dict)
    least: list[int] = field(default_factory=list)
    proofs: list[proven.Proven] = field(default_factory=list)

    def compare(self, found: Compared) -> Compared:
        """Keep what was compared."""
        self.compared.append(found)
        self.problems += found.wrong
        return found

    def draw(self, path: Path) -> bool:
        """One double bottom, and the gain by the length of runs."""
        if self.index is None and not self.by_length:
            return False
        draw(path, self.index, self.compared[0] if self.index else None, self.by_length, GAIN)
        return True

    def as_json(self) -> dict[str, Any]:
        """The report as plain data."""
        return {
            "compared": [one.as_json() for one in self.compared], "readings": self.readings,
            "families": [one.as_json() for found in self.by_length.values() for one in found],
            "least_lengths": self.least, "proofs": [asdict(one) for one in self.proofs],
        }


def main(arguments: list[str] | None = None) -> int:
    """Measure, print, and say whether all answers are right."""
    options = parse(arguments)
    report = Report()

    def measure() -> None:
        for part in options.parts:
            MEASURES[part](options, report)

    note = "" if data.is_real(options.data) else "; the index is generated"
    return reporting.run(report, options, note, measure)


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The options."""
    parser = argparse.ArgumentParser(prog="python benchmarks/sqlts.py")
    parser.add_argument("--data", type=Path, default=DEFAULT_FOLDER, help="folder with djia.parquet")
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=list(PARTS), metavar="PART",
                        help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument("--rows", type=int, help=f"of a generated sequence (default {ROWS:,})")
    parser.add_argument("--repeat", type=int, help="passes of which the median counts (default 5)")
    parser.add_argument("--quick", action="store_true", help="few rows, short runs, one pass")
    reporting.add_file_options(parser, "sqlts.png")
    options = parser.parse_args(arguments)
    options.rows = options.rows or (QUICK_ROWS if options.quick else ROWS)
    options.repeat = options.repeat or (1 if options.quick else 5)
    return options


def measure_index(options: argparse.Namespace, report: Report) -> None:
    """Example 10 in the index, and what else naive may mean."""
    table = data.load_index(options.data)
    years = f"{data.FIRST_YEAR} to {data.FIRST_YEAR + data.N_YEARS - 1}"
    found = [report.compare(compare(years, pattern, table, options.repeat)) for pattern in PATTERNS]
    report.index = table
    if not options.quick:
        everything = data.load_all_years(options.data)
        found += [report.compare(compare("all years", pattern, everything, options.repeat)) for pattern in PATTERNS]
    report.add("Relaxed double bottom in the index: tests", tables.test_lines(found))
    report.add("Relaxed double bottom in the index: milliseconds", tables.time_lines(found))
    ops_tests = {}
    for pattern, one in zip(PATTERNS, found, strict=False):
        counts, n_far, is_same = count_readings(pattern, table, one.begins)
        report.readings[pattern.title] = counts
        searched = one.engine[FORWARD]
        assert isinstance(searched, Searched)  # forward search there always is
        ops_tests[pattern.title] = searched.n_tests
        if not is_same:
            report.problems.append(f"{years}, {pattern.title}: a reading of naive finds other matches")
        most = one.naive_tests / one.n_rows
        print(f"\n{pattern.title}: {n_far:,} of the naive search's attempts test the third element; "
              f"a search with one test a row would gain {tables.gain(most)}x")
    report.add(f"What naive may mean, {years}", tables.reading_lines(report.readings, ops_tests))
    if data.is_real(options.data):
        print(CONCLUSION)


def measure_sequences(options: argparse.Namespace, report: Report) -> None:
    """Random walks, and flat runs between falls and rises."""
    sequences = [(f"walk, steps of {100 * v:g} %", data.random_walk(options.rows, v)) for v in VOLATILITIES]
    sequences += [(f"flat runs of {length}", data.runs(options.rows, length)) for length in RUNS]
    found = [
        report.compare(compare(name, pattern, table, options.repeat))
        for name, table in sequences
        for pattern in PATTERNS
    ]
    report.add("Relaxed double bottom in generated sequences: tests", tables.test_lines(found))
    report.add("Relaxed double bottom in generated sequences: milliseconds", tables.time_lines(found))


def measure_families(options: argparse.Namespace, report: Report) -> None:
    """The gain by the length of runs."""
    for length in QUICK_LENGTHS if options.quick else LENGTHS:
        found = [family.measure(length) for family in FAMILIES]
        report.by_length[length] = found
        report.problems += [text for one in found for text in one.wrong]
    if not options.quick:
        report.least = [family.least_length(GAIN) for family in FAMILIES]
    report.add("Gain by length of runs: tests", tables.family_lines(report.by_length, report.least, GAIN))


def measure_proofs(options: argparse.Namespace, report: Report) -> None:
    """With proofs and without."""
    table = proven.runs_of_prices(options.rows)
    for name in proven.QUERIES:
        found = proven.measure(name, table, options.repeat)
        report.proofs.append(found)
        report.problems += [found.wrong] if found.wrong else []
        print(f"\n{name}\n{found.query}")
        for title, one, other in (("without proofs", found.before, found.after), ("with", found.after, found.before)):
            print(f"EXPLAIN {title}:")
            print("\n".join(f"  {line}" for line in proven.differing_lines(one, other)))
    report.add("Plain MATCH_RECOGNIZE without proofs and with", tables.proof_lines(report.proofs))


MEASURES = {
    "index": measure_index, "sequences": measure_sequences, "families": measure_families, "proofs": measure_proofs
}


if __name__ == "__main__":
    sys.exit(main())
