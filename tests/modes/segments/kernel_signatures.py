"""Run segment queries of all kinds, in a process of its own, and print which kernels were compiled how often.

    python -m tests.modes.segments.kernel_signatures

Prints JSON: the signatures of every kernel that Python calls. Columns are whole numbers, doubles, decimals and times,
with and without NULLs, from Arrow's own memory and from NumPy's.
"""

from __future__ import annotations

import json
import random
import sys
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa

import sparkrex as rex
from sparkrex.modes.segments.kernels import ends

_HEAD = "PARTITION BY k ORDER BY t MEASURES START_INDEX() AS i, END_INDEX() AS j"
_PATTERNS = (
    "{head} PATTERN (S) DEFINE SEGMENT S AS {window} AND {test}",
    "{head} AFTER MATCH SKIP PAST LAST ROW PATTERN (S T) DEFINE SEGMENT S AS {window} AND {test},"
    " SEGMENT T AS {window}",
    "{head} PATTERN ((S)+ & W) DEFINE SEGMENT S AS {test}, SEGMENT W AS {window}",
    "{head} PATTERN ((W S W) & T) DEFINE SEGMENT W AS true, SEGMENT S AS {test}, SEGMENT T AS {window}",
    "{head} PATTERN (~(S T) & V) DEFINE SEGMENT S AS {test}, SEGMENT T AS last({c}) > first({c}),"
    " SEGMENT V AS {window}",
    "{head}, corr(S.{c}, T.{c}) AS r PATTERN ((S T) & W) DEFINE SEGMENT S AS {test}, SEGMENT T AS {c} > S.{c},"
    " SEGMENT W AS {window}",
    "{head} PATTERN (((D & B)+ (U & B)+)+ & W) DEFINE SEGMENT D AS last({c}) < first({c}), SEGMENT B AS window(2, 2),"
    " SEGMENT U AS last({c}) >= first({c}), SEGMENT W AS {window}",
    "{head} PATTERN ((P S | S P) & W) DEFINE P AS {c} > PREV({c}), SEGMENT S AS {test}, SEGMENT W AS {window}",
)
_WINDOWS = ("window(2, 6)", "window(t, 1, 6, MINUTE)", "window(1, 30)")
_TESTS = (
    "last({c}) - first({c}) > 1", "sum({c}) > 3", "avg({c}) > 0.3", "max({c}) > 2", "range({c}) > 1", "median({c}) > 1",
    "stddev({c}) > 1", "linear_reg_r2(t, {c}) > 0.5", "linear_reg_slope(n, {c}) > 0.1", "mann_kendall_test({c}) > 0.5",
    "equal_up_down_ticks({c})", "count({c}) > 2",
)


def table(seed: int, *, nulls: bool) -> pa.Table:
    """Two partitions. Without NULLs NumPy and Arrow hold columns in the same way."""
    draw = random.Random(seed)
    rows = []
    for key in "ab":
        time = datetime(2024, 1, 1)
        for _ in range(40):
            number = None if nulls and draw.random() < 0.1 else draw.randrange(-5, 6)
            rows.append({
                "k": key, "t": time, "n": draw.randrange(100), "x": number,
                "y": None if number is None else number + draw.random(),
                "d": None if number is None else Decimal(number) / 10,
            })
            time += timedelta(minutes=draw.choice([1, 1, 2]))
    schema = pa.schema({
        "k": pa.string(), "t": pa.timestamp("us"), "n": pa.int64(), "x": pa.int64(), "y": pa.float64(),
        "d": pa.decimal128(10, 1),
    })
    return pa.Table.from_pylist(rows, schema=schema)


def run() -> None:
    """Every test on every column, by patterns, windows and planners that are drawn."""
    draw = random.Random(11)
    tables = [table(seed, nulls=seed % 2 == 0) for seed in range(4)]
    for number, test in enumerate(test for test in _TESTS for _ in range(4)):
        column = "xyd"[number % 3]
        clause = draw.choice(_PATTERNS).format(
            head=_HEAD, window=draw.choice(_WINDOWS), test=test.format(c=column), c=column
        )
        settings: dict[str, Any] = {"chunk_rows": 7} if draw.random() < 0.3 else {}
        planner = draw.choice(["optimizer", "optimizer", "sm_left", "pr_left"])
        rex.sql(
            f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", t=tables[number % 4], settings=settings, planner=planner
        )


def signatures() -> dict[str, list[str]]:
    """By kernel, of those that modules other than kernels import."""
    package, inside = "sparkrex.modes.segments.", "sparkrex.modes.segments.kernels."
    outside = [vars(held) for name, held in sys.modules.items() if name.startswith(package) and inside not in name]
    called = {id(value) for held in outside for value in held.values()}
    called |= {id(kernel) for kernel in (ends.block_extremes, ends.end_segments, ends.end_tests)}
    found: dict[str, list[str]] = {}
    for module, held in sorted(sys.modules.items()):
        for name, value in vars(held).items() if module.startswith(inside) else ():
            kernel = getattr(value, "_dispatcher", value)
            if id(value) in called and getattr(kernel, "signatures", None) and kernel.py_func.__module__ == module:
                found[f"{module.removeprefix(inside)}.{name}"] = [str(one) for one in kernel.signatures]
    return found


if __name__ == "__main__":
    run()
    print(json.dumps(signatures()))
