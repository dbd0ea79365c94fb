"""The long run: many random examples without pytest, in parallel processes.

`python -m tests.modes.rows.property.long --examples 100000 --seed 1` prints progress, coverage and the first difference
as a case that anyone can run again. Example number i depends on the seed and i alone: `--only i` runs just that one,
and `--first i` goes on where an earlier run stopped.
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import os
import random
import sys
import time
import traceback
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.differential.relations import one_database
from tests.modes.rows.property.compare import check, told
from tests.modes.rows.property.draws import RandomDraw
from tests.modes.rows.property.examples import generate
from tests.modes.rows.property.tally import Tally

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.modes.rows.property.examples import Example

_BATCH = 100
# Feeding in chunks and with many partitions open costs more than everything else together; the pytest suite does it
# for every example.
_CHUNKED_EVERY = 10


@dataclass(frozen=True, slots=True)
class Batch:
    """Which examples to run."""

    seed: int
    numbers: range


def example_of(seed: int, number: int) -> Example:
    """Example `number` of a seed."""
    return generate(RandomDraw(random.Random(f"{seed}:{number}")))


def run(batch: Batch) -> tuple[Tally, list[str]]:
    """Runs some examples; gives what they covered and a report for each that went wrong."""
    with one_database():
        return _run(batch)


def _run(batch: Batch) -> tuple[Tally, list[str]]:
    tally = Tally()
    reports = []
    for number in batch.numbers:
        example = example_of(batch.seed, number)
        try:
            outcome = check(example, in_chunks=number % _CHUNKED_EVERY == 0)
        except Exception:
            reports.append(f"--- seed {batch.seed}, example {number}\n{example.as_case()}\n{traceback.format_exc()}")
            continue
        tally.add(example, outcome)
        if outcome.differences:
            small = reduced(example)
            found = told(small, check(small))
            reports.append(f"--- seed {batch.seed}, example {number}, rows reduced\n{found}")
    return tally, reports


def reduced(example: Example) -> Example:
    """The example with every row left out that the difference does not need."""
    index = len(example.rows) - 1
    while index >= 0:
        smaller = dataclasses.replace(example, rows=example.rows[:index] + example.rows[index + 1 :])
        try:
            if check(smaller).differences:
                example = smaller
        except Exception:
            # Another fault: not the one to be shown.
            pass
        index -= 1
    return example


def main(arguments: Iterable[str]) -> int:
    """Command line: see the module's text."""
    program = "python -m tests.modes.rows.property.long"
    parser = argparse.ArgumentParser(prog=program, description="Many random examples.")
    parser.add_argument("--examples", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--first", type=int, default=0, help="leave out the examples before this number")
    parser.add_argument("--only", type=int, help="run one example, by its number")
    parser.add_argument("--most", type=int, default=1, help="go on until so many examples differed")
    options = parser.parse_args(list(arguments))

    if options.only is not None:
        numbers = range(options.only, options.only + 1)
        _, reports = run(Batch(options.seed, numbers))
        print("\n".join(reports) or f"{example_of(options.seed, options.only).as_case()}\nno difference")
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
            for report in reports:
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
    print(f"{n_different} different" if n_different else "no difference")
    shortfalls = tally.shortfalls() if tally.examples >= 2000 else []
    print("\n".join(shortfalls))
    return 1 if n_different or shortfalls else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
