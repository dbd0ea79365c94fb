"""Ctrl-C ends every search that could run for long: each in a process of its own, on an input that takes far longer."""

from __future__ import annotations

import pytest
from tests.interrupts import interrupted

SEARCHES = {
    "backtrack, one partition": """
        query(NEVER_ENDING, rows=200_000, max_steps=10**15)""",
    "backtrack, two partitions": """
        query(NEVER_ENDING, rows=200_000, partitions=2, max_steps=10**15)""",
    "automaton, overlapping matches": """
        query("AFTER MATCH SKIP TO NEXT ROW PATTERN (A+) DEFINE A AS x >= 0", rows=3_000_000)""",
    "ops": """
        query("PATTERN (A+ B) DEFINE A AS x >= 0 AND x >= FIRST(x), B AS x < 0 AND x < FIRST(x)", rows=400_000)""",
    "timeouts": """
        query("ONE ROW PER MATCH SHOW TIMEOUT MATCHES PATTERN (A X*? B) WITHIN 300000 "
              "DEFINE A AS x % 2 = 1, X AS x % 200000 > 0, B AS x < 0", rows=400_000)""",
    "interpreter": """
        query(NEVER_ENDING, rows=3_000, max_steps=10**15, matcher="interpreter")""",
}

PROGRAM = """
import numpy as np, pyarrow as pa, sparkrex as rex

NEVER_ENDING = (
    "PATTERN (A* B* C* D) DEFINE A AS x >= FIRST(x), B AS x >= FIRST(x), C AS x >= FIRST(x), D AS x < FIRST(x)"
)

def query(text, rows, partitions=1, **settings):
    numbers = np.arange(rows)
    table = pa.table({{"p": numbers * partitions // rows, "x": numbers}})
    clause = "PARTITION BY p ORDER BY x MEASURES COUNT(*) AS n " + text
    small = table.slice(0, 20)
    rex.match(clause, settings=settings)(small)  # compiles
    with interrupt_when_busy():
        rex.match(clause, settings=settings)(table)

try:
    {search}
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    print("finished", flush=True)
"""


@pytest.mark.parametrize(
    "search",
    [
        pytest.param(search, id=name, marks=pytest.mark.slow if name in ("timeouts", "ops", "backtrack, one partition")
                     else ())
        for name, search in SEARCHES.items()
    ],
)
def test_ctrl_c(search: str) -> None:
    assert interrupted(PROGRAM.format(search=search.strip())) == "interrupted\n"
