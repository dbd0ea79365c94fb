"""The long run: many random streams without pytest.

`python -m tests.streams.long --mode rows --examples 2000 --seed 1` prints how many agreed, what happened in them, and
every difference, with as few rows as it needs. Example number i depends on the seed and i alone: `--only i` runs just
that one, and `--first i` goes on where an earlier run stopped.
"""

from __future__ import annotations

import argparse
import sys
import time
import traceback
import warnings
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa
from tests.differential.relations import one_database
from tests.streams.comparing import Found, compare
from tests.streams.examples import MODES, Example, example_of

if TYPE_CHECKING:
    from collections.abc import Iterable


def tried(example: Example) -> Found:
    """What comparing finds; a crash is a problem too."""
    try:
        return compare(example)
    except Exception:
        return Found(frozenset(), traceback.format_exc())


def reduced(example: Example) -> Example:
    """The example with every row left out that the problem does not need; the way of feeding is drawn anew."""
    is_crash = _is_crash(tried(example))
    place = example.table.num_rows - 1
    while place >= 0:
        kept = pa.array([other for other in range(example.table.num_rows) if other != place], pa.int64())
        for trial in range(8):
            smaller = replace(example, table=example.table.take(kept), seed=f"{example.seed} {trial}")
            found = tried(smaller)
            if found.problem is not None and _is_crash(found) == is_crash:
                example = smaller
                break
        place -= 1
    return example


def _is_crash(found: Found) -> bool:
    return (found.problem or "").startswith("Traceback")


def main(arguments: Iterable[str]) -> int:
    """Command line: see the module's text."""
    parser = argparse.ArgumentParser(prog="python -m tests.streams.long", description="Many random streams.")
    parser.add_argument("--mode", choices=list(MODES), required=True)
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="leave out the examples before this number")
    parser.add_argument("--only", type=int, help="run one example, by its number")
    parser.add_argument("--most", type=int, default=1, help="go on until so many examples differed")
    options = parser.parse_args(list(arguments))
    warnings.simplefilter("ignore")
    numbers = range(options.first, options.examples)
    if options.only is not None:
        numbers = range(options.only, options.only + 1)
    happened: Counter[str] = Counter()
    started = shown = time.monotonic()
    n_different = 0
    with one_database():
        for number in numbers:
            example = example_of(options.mode, options.seed, number)
            found = tried(example)
            happened.update([*found.happened, "examples"])
            if found.problem is not None:
                n_different += 1
                small = reduced(example)
                print(f"--- {options.mode}, seed {options.seed}, example {number}, rows reduced")
                print(f"{small}\nfed by {small.seed!r}\n{tried(small).problem}", flush=True)
                if n_different >= options.most:
                    break
            if time.monotonic() - shown > 20:
                shown = time.monotonic()
                print(f"{happened['examples']} examples, {n_different} different", flush=True)
    print(f"{time.monotonic() - started:.0f} s; {options.mode}, seed {options.seed}: {dict(happened)}")
    print(f"{n_different} different" if n_different else "no difference")
    return 1 if n_different else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
