"""A segment search that is fed gives the rows of the whole run, in order and to the bit, however it is fed.

`REX_SEGMENT_EXAMPLES` sets how many examples are run and `REX_SEED` the seed.
"""

from __future__ import annotations

import os
import re
from collections import Counter
from decimal import Decimal
from random import Random
from typing import TYPE_CHECKING, Any

import hypothesis
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from tests.modes.segments.analysis import analyzed
from tests.modes.segments.feeding import Feeding, written
from tests.modes.segments.test_plans import evaluator
from tests.modes.segments.texts import SCHEMA, TYPES, clauses, containing_clauses

from sparkrex.matching.feeding import feeds_of
from sparkrex.matching.row_values import arrange_rows
from sparkrex.modes.segments.runner import SegmentRunner
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

N_EXAMPLES = int(os.environ.get("REX_SEGMENT_EXAMPLES", "200")) // 4
SEED = int(os.environ.get("REX_SEED", "20230619"))
N_SHARES = 2
BOUNDS = (
    "window(1, 4)", "window(2, 3)", "window(1, 1)", "window(t, 0, 3)", "window(t, 1, 6)", "window(1, 20)",
    "window(t, 0, 30)", "window(1, 5) AND window(t, 0, 4)",
)
LEAST_PERCENT = {"matched": 30, "early": 20, "several partitions": 50, "NULL as a time": 10, "skip": 20}
"""The share of examples, of all that can be fed, in which each must have happened."""


def bounded(clause: str, bound: str) -> str:
    """The clause whose whole pattern has an upper bound."""
    clause = re.sub(r"PATTERN \((.*)\)", lambda found: f"PATTERN (({found[1]}) & BOUND)", clause, count=1)
    separator = ", " if "DEFINE" in clause else "\nDEFINE "
    return f"{clause}{separator}SEGMENT BOUND AS {bound}"


def partitions(draw: Random) -> list[list[dict[str, Any]]]:
    """Some partitions, in order; x has NULLs, y numbers that lose digits, and t sometimes NULLs, which come last."""
    found = []
    base = draw.choice([0.0, 1e6])
    for key in range(draw.choice([1, 2, 3, 5])):
        t, rows = draw.randrange(5), []
        for _ in range(draw.choice([1, 2, 5, 12, 25])):
            tenths = None if draw.random() < 0.2 else Decimal(draw.randrange(-4, 5)) / 10
            rows.append({
                "k": f"k{key}", "t": t, "x": None if draw.random() < 0.15 else draw.randrange(-3, 4),
                "y": None if draw.random() < 0.1 else base + draw.gauss(0, 1), "d": tenths, "w": tenths,
            })
            t += draw.choice([0, 1, 1, 1, 2, 3, 9])
        if draw.random() < 0.2:
            for row in rows[draw.randrange(len(rows)) :]:
                row["t"] = None
        found.append(rows)
    return found


@pytest.mark.parametrize("share", range(N_SHARES))
def test_fed_equals_whole(share: int, record_property: Callable[[str, object], None]) -> None:
    seed = SEED + 100 + share
    happened: Counter[str] = Counter()
    host = evaluator()

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=max(1, N_EXAMPLES // N_SHARES), deadline=None, database=None,
        suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink),
    )
    @given(
        st.one_of(clauses(), clauses(decimals=True), containing_clauses()), st.sampled_from(BOUNDS),
        st.integers(0, 1 << 30),
    )
    def run(clause: str, bound: str, number: int) -> None:
        draw = Random(number)
        clause = bounded(clause, bound)
        if draw.random() < 0.5:  # a row that may not be there yet
            clause = clause.replace("PREV(x)", "NEXT(x)").replace("MEASURES", "MEASURES NEXT(last(x)) AS later,", 1)
        search = analyzed(clause, dialect="duckdb", columns=TYPES)
        data = partitions(draw)
        whole_table = pa.Table.from_pylist([row for rows in data for row in rows], schema=SCHEMA)
        runner = SegmentRunner(search, whole_table.slice(0, 0), ("k",), host, Settings())
        assert runner.refusal is None
        arrangement, _ = arrange_rows(search, whole_table, host, 1)
        (feed,) = feeds_of(whole_table, arrangement, None)
        whole = runner.feed(runner.open(), feed)
        feeding = Feeding(runner, SCHEMA, data, "t", draw)
        feeding.run()
        for rows in data:
            key = rows[0]["k"]
            assert feeding.rows_of(key) == written(whole, key), f"{clause}\n{rows}"
        assert all(result.schema == whole.schema for result in feeding.results)
        has = {
            "matched": whole.num_rows > 0, "early": feeding.n_early > 0, "several partitions": len(data) > 1,
            "NULL as a time": any(row["t"] is None for rows in data for row in rows), "skip": "SKIP" in clause,
        }
        happened.update([name for name, is_so in has.items() if is_so])
        happened["examples"] += 1

    run()
    n = max(1, happened["examples"])
    lines = [f"{name:34} {happened[name]:7} {100 * happened[name] / n:6.1f}%" for name in LEAST_PERCENT]
    record_property("coverage", "\n".join([f"segment queries that are fed, seed {seed}: {n} examples", *lines]))
    if n >= 100:
        assert [name for name, least in LEAST_PERCENT.items() if 100 * happened[name] / n < least] == []
