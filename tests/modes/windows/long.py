"""The long run: many random windows with row patterns without pytest, in parallel processes.

`python -m tests.modes.windows.long --examples 20000 --seed 1` prints progress, coverage and differences as cases that
anyone can run again. Example number i depends on the seed and i alone: `--only i` runs just that one, and `--first i`
goes on where an earlier run stopped.
"""

from __future__ import annotations

import argparse
import dataclasses
import multiprocessing
import os
import sys
import time
import traceback
from typing import TYPE_CHECKING

from tests.modes.windows.property.compare import check, told
from tests.modes.windows.property.tally import Tally
from tests.modes.windows.property.test_engine_equals_oracle import example_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.modes.windows.property.examples import Example

_BATCH = 50


def run(batch: tuple[int, range]) -> tuple[Tally, list[str]]:
    """Runs some examples of a seed; gives what they covered and a report for each that went wrong."""
    seed, numbers = batch
    tally, reports = Tally(), []
    for number in numbers:
        example = example_of(seed, number)
        try:
            outcome = check(example)
        except Exception:
            reports.append(f"--- seed {seed}, example {number}\n{example.as_case()}\n{traceback.format_exc()}")
            continue
        tally.add(example, outcome)
        if outcome.differences:
            small = reduced(example)
            reports.append(f"--- seed {seed}, example {number}, rows reduced\n{told(small, check(small))}")
    return tally, reports


def reduced(example: Example) -> Example:
    """The example with every row left out that the difference does not need."""
    for index in reversed(range(len(example.rows))):
        smaller = dataclasses.replace(example, rows=example.rows[:index] + example.rows[index + 1 :])
        try:
            if check(smaller).differences:
                example = smaller
        except Exception:
            # Another fault: not the one to be shown.
            pass
    return example


def main(arguments: Iterable[str]) -> int:
    """Command line: see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m tests.modes.windows.long", description="Many random windows.")
    parser.add_argument("--examples", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--first", type=int, default=0, help="leave out the examples before this number")
    parser.add_argument("--only", type=int, help="run one example, by its number")
    parser.add_argument("--most", type=int, default=1, help="go on until so many examples differed")
    options = parser.parse_args(list(arguments))

    if options.only is not None:
        _, reports = run((options.seed, range(options.only, options.only + 1)))
        print("\n".join(reports) or f"{example_of(options.seed, options.only).as_case()}\nno difference")
        return 1 if reports else 0

    batches = [
        (options.seed, range(start, min(start + _BATCH, options.examples)))
        for start in range(options.first, options.examples, _BATCH)
    ]
    tally, n_different = Tally(), 0
    started = shown = time.monotonic()
    # Spawned, not forked: the engine's libraries have threads.
    with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:
        for part, reports in pool.imap(run, batches):
            tally.merge(part)
            print("".join(f"{report}\n" for report in reports), end="", flush=True)
            n_different += len(reports)
            if time.monotonic() - shown > 10:
                shown = time.monotonic()
                rate = tally.examples / (shown - started)
                print(f"{tally.examples} examples, {rate:.0f}/s, {n_different} different", flush=True)
            if n_different >= options.most:
                break
    print(f"seed {options.seed}: {tally.table()}")
    print(f"{n_different} different" if n_different else "no difference")
    shortfalls = tally.shortfalls() if tally.examples >= 500 else []
    print("\n".join(shortfalls))
    return 1 if n_different or shortfalls else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
