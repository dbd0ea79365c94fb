"""A long random search: workloads, whole and as runs whose patterns change, against event queries.

    python -m tests.workloads.long --examples 1000 --seed 16
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from random import Random
from typing import TYPE_CHECKING, Any

from tests.modes.workload.running import MisnumberedError
from tests.workloads.changing_runs import METHODS, expected, matches_of, random_changes, random_pattern, run_changes

import sparkrex as rex

if TYPE_CHECKING:
    from tests.workloads.changing_runs import Changes, Given


def whole_difference(seed: int) -> str | None:
    """A workload over a whole stream, by some method: the first pattern that event queries answer otherwise."""
    random = Random(seed)
    stream = random_changes(random).stream
    texts = {f"p{number}": random_pattern(random) for number in range(5)}
    options: dict[str, Any] = {"time": "ts", "type": "kind", "tie_break": "id"}
    workload = rex.workload(texts, method=random.choice(METHODS), max_steps=100, seed=seed, **options)
    found = workload.detect(stream)
    for name, text in texts.items():
        given = Counter(matches_of(found[name], text))
        wanted = Counter(matches_of(rex.events(text, stream, **options), text))
        if given != wanted:
            return f"{text}: {given} instead of {wanted}"
    return None


def run_difference(seed: int) -> str | None:
    """A run whose patterns and plans change: the first chunk that gives something else than event queries."""
    changes = random_changes(Random(seed))
    return changes_difference(changes, expected(changes), seed)


def changes_difference(changes: Changes, wanted: list[Given], seed: int) -> str | None:
    """The first chunk of a run that gives something else than what is wanted."""
    try:
        given = run_changes(changes, is_adaptive=seed % 3 == 0, seed=seed)
    except MisnumberedError as error:
        return f"{changes}, {error}"
    for number, (one, other) in enumerate(zip(given, wanted, strict=True)):
        if one != other:
            return f"{changes}, chunk {number}: {one} instead of {other}"
    return None


def main() -> None:
    """Try as many examples as asked for; print what differs, and how many did."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=16)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    n_different = 0
    for seed in range(arguments.seed * 1_000_000, arguments.seed * 1_000_000 + arguments.examples):
        for difference in (whole_difference(seed), run_difference(seed)):
            if difference is not None:
                n_different += 1
                print(f"seed {seed}: {difference}", flush=True)
    print(f"{arguments.examples} workloads and runs, seed {arguments.seed}: {n_different or 'none'} different")


if __name__ == "__main__":
    main()
