"""The long run: many random trend queries without pytest, in parallel processes.

`python -m tests.modes.trends.long --examples 20000 --seed 1 --jobs 2` prints how many agreed, what they covered, and
the first difference, made small. Example number i depends on the seed and i alone: `--only i` runs just that one, and
`--first i` goes on where an earlier run stopped.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import sys
import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.modes.rows.property.draws import RandomDraw
from tests.modes.trends.draws import Example, generate
from tests.modes.trends.engine_runs import Way, difference, draw_way
from tests.modes.trends.oracle import evaluate
from tests.modes.trends.reports import told
from tests.modes.trends.shrinking import reduced
from tests.modes.trends.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable

_BATCH = 50


@dataclass(frozen=True, slots=True)
class Batch:
    """Which examples to run."""

    seed: int
    numbers: range


def example_of(seed: int, number: int) -> tuple[Example, Way]:
    """Example `number` of a seed, and a way to ask it."""
    draw = RandomDraw(random.Random(f"{seed}:{number}"))
    return generate(draw), draw_way(draw)


def check(example: Example, ways: Iterable[Way]) -> tuple[Way, str] | None:
    """The first way whose answer is wrong, and what is; None if all are right."""
    expected = evaluate(example.query, example.rows)
    for way in ways:
        problem = difference(example, expected, way)
        if problem is not None:
            return way, problem
    return None


def run(batch: Batch) -> tuple[Tally, list[str]]:
    """Runs some examples; gives what they covered and a report for each that went wrong."""
    tally = Tally()
    reports = []
    for number in batch.numbers:
        example, way = example_of(batch.seed, number)
        try:
            wrong = check(example, dict.fromkeys([Way(), way]))
        except Exception:
            reports.append(f"--- seed {batch.seed}, example {number}: the test fails\n{traceback.format_exc()}")
            tally.examples += 1
            continue
        if wrong is not None:
            reports.append(f"--- seed {batch.seed}, example {number}, made small\n{made_small(example, *wrong)}")
        tally.add(example, evaluate(example.query, example.rows), way.names())
    return tally, reports


def made_small(example: Example, way: Way, problem: str) -> str:
    """A small example that is wrong in the same way, told. An error must be of the same class to be the same."""
    kind = _kind(problem)

    def differs(other: Example) -> bool:
        try:
            found = check(other, [way])
        except Exception:
            return False
        return found is not None and _kind(found[1]) == kind

    small = reduced(example, differs)
    found = check(small, [way])
    return told(small, evaluate(small.query, small.rows), problem if found is None else found[1])


def _kind(problem: str) -> str:
    """`Error: code` of a problem that is an error, as far as the number; else that the answer differs."""
    line = problem.splitlines()[0]
    name, _, rest = line.partition("Error: ")
    return f"{name}{rest[:14]}" if rest else "different"


def main(arguments: Iterable[str]) -> int:
    """Command line: see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m tests.modes.trends.long", description="Many random trend queries.")
    parser.add_argument("--examples", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--first", type=int, default=0, help="leave out the examples before this number")
    parser.add_argument("--only", type=int, help="run one example, by its number")
    parser.add_argument("--most", type=int, default=1, help="go on until so many examples differed")
    options = parser.parse_args(list(arguments))

    if options.only is not None:
        _, reports = run(Batch(options.seed, range(options.only, options.only + 1)))
        example, _ = example_of(options.seed, options.only)
        print("\n".join(reports) or told(example, evaluate(example.query, example.rows), "no difference"))
        return 1 if reports else 0

    batches = [
        Batch(options.seed, range(start, min(start + _BATCH, options.examples)))
        for start in range(options.first, options.examples, _BATCH)
    ]
    tally = Tally()
    n_different = 0
    started = time.monotonic()
    shown = 0.0
    # Spawned, not forked: the engine's libraries have threads.
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for part, reports in pool.imap(run, batches):
            tally.merge(part)
            for report in reports[: max(0, options.most - n_different)]:
                print(report, flush=True)
            n_different += len(reports)
            elapsed = time.monotonic() - started
            if elapsed - shown > 10:
                shown = elapsed
                rate = tally.examples / elapsed
                print(f"{tally.examples} examples, {rate:.0f}/s, {n_different} different", flush=True)
            if n_different >= options.most:
                break
    elapsed = time.monotonic() - started
    print(f"seed {options.seed}: {tally.table()}")
    print(f"{elapsed:.0f} s, {tally.examples / elapsed:.0f} examples/s on {options.jobs} processes")
    n_agreed = tally.examples - n_different
    print(f"{n_agreed} agreed, {n_different} different; {tally.percent('trends'):.0f}% had trends")
    shortfalls = tally.shortfalls() if tally.examples >= 2000 else []
    print("\n".join(shortfalls))
    return 1 if n_different or shortfalls else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
