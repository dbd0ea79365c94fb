"""The queries of `make bench` in this tree and in another checkout, in turn.

    git worktree add ../before COMMIT
    python -m benchmarks.compare ../before [--rows 500000] [--only W1 W2 ...] [--repeat 9]

A shared machine changes its speed by a third within minutes, so that two runs of the benchmark one after the other say
little. Here two processes take turns, query by query: what disturbs one run disturbs the other's next. The ratio is the
median of those of neighbouring runs, this tree's time over the other's. The exit code is 1 if an answer differs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa

from benchmarks.queries import ALL
from benchmarks.tables import show

HERE = Path(__file__).resolve().parent.parent
N_WARM = 2


class Side:
    """A process that answers queries with the package of one tree."""

    def __init__(self, tree: Path) -> None:
        self.tree = tree
        script = HERE / "benchmarks" / "taking_turns.py"
        path = os.pathsep.join([str(tree / "src"), str(tree)])
        self.process = subprocess.Popen(
            [sys.executable, str(script)], cwd=tree, env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True,
        )

    def run(self, name: str, rows: int, file: Path | None = None) -> Run:
        """Answer a query once; the answer goes to the file."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps([name, rows, file and str(file)]) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{name} failed in {self.tree}")
        return Run(*json.loads(line))

    def close(self) -> None:
        """No more queries."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


@dataclass(frozen=True, slots=True)
class Run:
    """Seconds by the clock and of the processor."""

    clock: float
    processor: float


@dataclass(frozen=True, slots=True)
class Compared:
    """One query: the runs of both trees, in pairs, and whether the answers are equal."""

    name: str
    is_same: bool
    there: list[Run]
    here: list[Run]

    @property
    def ratio(self) -> float:
        """By the clock."""
        return statistics.median(here.clock / there.clock for here, there in zip(self.here, self.there, strict=True))

    @property
    def processor_ratio(self) -> float:
        """Of the processor."""
        return statistics.median(
            here.processor / there.processor for here, there in zip(self.here, self.there, strict=True)
        )


def compare(name: str, rows: int, repeat: int, there: Side, here: Side) -> Compared:
    """Run a query in both trees, in turn; who begins changes."""
    with TemporaryDirectory() as folder:
        files = [Path(folder) / "there", Path(folder) / "here"]
        for side, file in zip((there, here), files, strict=True):
            for _ in range(N_WARM):
                side.run(name, rows, file)
        answers = [pa.ipc.open_file(file).read_all() for file in map(str, files)]
        found = Compared(name, bool(answers[0].equals(answers[1])), [], [])
    for number in range(repeat):
        turns = [(there, found.there), (here, found.here)]
        for side, runs in turns if number % 2 else turns[::-1]:
            runs.append(side.run(name, rows))
    return found


def main(arguments: list[str] | None = None) -> int:
    """Command line: see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.compare")
    parser.add_argument("tree", type=Path, help="the other checkout")
    parser.add_argument("--rows", type=int, default=500_000, help="rows of every query (default 500,000)")
    parser.add_argument("--only", nargs="+", choices=ALL, metavar="NAME", help=f"some of {', '.join(ALL)}")
    parser.add_argument("--repeat", type=int, default=9, help="pairs of runs, of which the median counts (default 9)")
    options = parser.parse_args(arguments)
    there, here = Side(options.tree.resolve()), Side(HERE)
    found = []
    try:
        for name in options.only or ALL:
            found.append(compare(name, options.rows, options.repeat, there, here))
            print(f"{name}: {found[-1].ratio:.2f}", file=sys.stderr, flush=True)
    finally:
        there.close()
        here.close()
    lines = [["query", "there ms", "here ms", "ratio", "of the processor", "answers"]]
    for part in found:
        times = [statistics.median(run.clock for run in runs) * 1000 for runs in (part.there, part.here)]
        lines.append([
            part.name, *(f"{time:.1f}" for time in times), f"{part.ratio:.2f}", f"{part.processor_ratio:.2f}",
            "same" if part.is_same else "DIFFERENT",
        ])
    show(lines)
    print(f"median ratio {statistics.median(part.ratio for part in found):.2f}")
    return 0 if all(part.is_same for part in found) else 1


if __name__ == "__main__":
    sys.exit(main())
