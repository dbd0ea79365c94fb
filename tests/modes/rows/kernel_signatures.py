"""Run row patterns of all kinds, in a process of its own, and print which kernels were compiled how often.

    python -m tests.modes.rows.kernel_signatures

Prints JSON: the signatures of every kernel that Python calls. Columns are whole numbers, doubles, strings and times,
with and without NULLs; queries run whole, in chunks and in threads, by all compiled matchers, with and without rows.
"""

from __future__ import annotations

import json
import random
from datetime import datetime, timedelta
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

import pyarrow as pa

import sparkrex as rex
from sparkrex import threads
from sparkrex.kernels import lazy
from sparkrex.kernels.lazy import Kernel
from sparkrex.modes.rows import kernels, timeouts
from sparkrex.modes.rows.backtrack import matcher as backtrack
from sparkrex.modes.rows.ops import matcher as ops

QUERIES = [
    "PATTERN (A B* C) DEFINE A AS e = 'a', B AS v > PREV(v), C AS e = 'c'",
    "AFTER MATCH SKIP TO NEXT ROW PATTERN (A X*? C) DEFINE A AS e = 'a', C AS NEXT(e) = 'c'",
    "AFTER MATCH SKIP TO LAST B PATTERN (A+ B B) DEFINE A AS n < 5, B AS n >= 5",
    "AFTER MATCH SKIP TO NEXT ROW PATTERN ((A | B)*) DEFINE A AS x > 2, B AS x IS NULL",
    "PATTERN (^ A X* $ | {- B -} A) DEFINE A AS e = 'a', B AS e = 'b'",
    "PATTERN (PERMUTE(A, B, C?)) DEFINE A AS e = 'a', B AS e = 'b', C AS e = 'c'",
    "PATTERN (A X{2,4} B) WITHIN INTERVAL '5' MINUTE DEFINE A AS e = 'a', B AS e = 'b'",
    "PATTERN (A N*? B) DEFINE A AS e = 'a', B AS e = 'b' AND ts - A.ts <= INTERVAL '3' MINUTE",
    "PATTERN (A+ B) DEFINE A AS v >= avg(A.v), B AS e <> LAST(A.e) AND x > sum(A.x) - 9",
    "AFTER MATCH SKIP TO NEXT ROW PATTERN (A X* B) DEFINE B AS n - FIRST(n) <= 4 AND CLASSIFIER(X) IS NULL",
    "PATTERN (A (X* B)+ C?) DEFINE A AS n < 5, B AS e = 'b' AND n > A.n, C AS v > LAST(B.v, 1) OR MATCH_NUMBER() > 3",
    "PATTERN (() | A) DEFINE A AS n > 0",
    "PATTERN (A B C) DEFINE A AS e = 'a', B AS v > PREV(v), C AS e = 'c'",
    "PATTERN (A B+ C) DEFINE A AS e = 'a', B AS n < 5, C AS n >= 5 AND v > PREV(v)",
    "ONE ROW PER MATCH SHOW TIMEOUT MATCHES PATTERN (A X{2,4} B) WITHIN INTERVAL '5' MINUTE DEFINE A AS e = 'a', "
    "B AS e = 'b' AND x > sum(A.x) - 9",
    "PATTERN (A+ B C{2}) DEFINE A AS n < 5 AND v >= avg(A.v), B AS n >= 5 AND x > sum(A.x) - 9, C AS v > FIRST(v)",
]
OUTPUTS = [
    "MEASURES MATCH_NUMBER() AS m ONE ROW PER MATCH", "MEASURES CLASSIFIER() AS c ALL ROWS PER MATCH",
    "MEASURES LAST(n) AS last ALL ROWS PER MATCH SHOW EMPTY MATCHES",
]
SETTINGS: list[dict[str, Any]] = [{"threads": 1}, {"chunk_rows": 7}, {"threads": 3}, {"threads": 2, "chunk_rows": 40}]


def table(seed: int, n_rows: int = 90) -> pa.Table:
    """Three partitions; every other table has NULLs."""
    draw = random.Random(seed)

    def value(number: Any) -> Any:
        return None if seed % 2 and draw.random() < 0.1 else number

    begin = datetime(2024, 1, 1)
    schema = pa.schema({
        "k": pa.int64(), "ts": pa.timestamp("us"), "e": pa.string(), "n": pa.int64(), "x": pa.int32(),
        "v": pa.float64(),
    })
    return pa.Table.from_pylist([
        {"k": draw.randrange(3), "ts": begin + timedelta(minutes=row), "e": value(draw.choice("abc")),
         "n": draw.randrange(10), "x": value(draw.randrange(5)), "v": value(draw.random())}
        for row in range(n_rows)
    ], schema=schema)


def run() -> None:
    """Every query, by every matcher that takes it, in all settings."""
    lazy.FEW_ROWS = -1  # few rows are walked without compiling
    backtrack.LEAST_ROWS = ops.LEAST_ROWS = timeouts.LEAST_ROWS = threads.LEAST = 1  # nor are few shared by threads
    tables = [table(seed) for seed in range(2)]
    tables += [tables[0].slice(0, 0), tables[1].slice(0, 1)]
    for number, query in enumerate(QUERIES):
        for place, settings in enumerate(SETTINGS):
            head, _, pattern = query.rpartition("PATTERN")
            output = "" if "TIMEOUT" in head else OUTPUTS[(number + place) % 3]
            clause = f"PARTITION BY k ORDER BY ts {output} {head} PATTERN{pattern}"
            for matcher in (None, "backtrack", "ops_forward", "ops_reverse"):
                for given in (tables[place % 2], tables[2 + number % 2]):
                    rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", t=given,
                            settings={**settings, "matcher": matcher})
    # One partition that threads share, two pieces each.
    one = pa.table({"ts": range(300_000), "v": [(row * 7 % 11) / 2 for row in range(300_000)]})
    shape = "ORDER BY ts MEASURES LAST(v) AS x PATTERN (S D+ U+) DEFINE D AS v < PREV(v), U AS v > PREV(v)"
    rex.match(shape, one, settings={"threads": 2})


def signatures() -> dict[str, list[str]]:
    """By kernel, of those that Python calls."""
    found = {}
    for module in iter_modules(kernels.__path__, f"{kernels.__name__}."):
        for name, kernel in vars(import_module(module.name)).items():
            is_own = isinstance(kernel, Kernel) and kernel.__module__ == module.name
            if is_own and not name.startswith("_") and kernel._dispatcher is not None:
                found[f"{module.name.rpartition('.')[2]}.{name}"] = [str(one) for one in kernel.dispatcher.signatures]
    return found


if __name__ == "__main__":
    run()
    print(json.dumps(signatures()))
