"""Ctrl-C ends segment searches that could run for long, and so does a limit that counts steps.

Each search runs in a process of its own on an input that takes far longer than it takes to see that it is busy. After
the interrupt its thread must end as well: a kernel that nobody can stop would go on.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest
from tests.interrupts import interrupted

import sparkrex as rex

SEARCHES = {
    "sort-merge concatenation": ('"(A B)", A=UP, B=UP', 5_000, "sm_left"),
    "sort-merge concatenation with bindings": (
        '"((A B) & W)", A=UP, B=UP, W="window(4990, 5000)", measures="A.x"', 5_000, "sm_left"),
    "concatenation over a gap": ('"(A W B)", A=UP, B=UP, W="true"', 3_000, "sm_left"),
    "probed concatenation": ('"(A B)", A=UP, B=UP', 5_000, "pr_left"),
    "probed concatenation, the right part first": ('"(A B)", A=UP, B=UP', 5_000, "pr_right"),
    "probed concatenation with bindings": (
        '"((A B) & W)", A=UP, B=UP, W="window(19900, 20000)", measures="A.x"', 20_000, "pr_left"),
    "closure": ('"(A B)+", A=UP, B=UP', 5_000, "sm_left"),
    "closure from given starts": ('"(P A{2,}) & W", A=UP, P=None, W="window(11900, 12000)"', 12_000, "pr_left"),
    "steps of two rows": (
        '"(P ((A & T)+ (B & T))+)", A=UP, B="last(x) < first(x)", T="window(2)", P=None', 1_000_000, "pr_left"),
    "conditions on both ends": ('"A", A="first(x) < 0"', 400_000, "optimizer"),
    "candidates of an indexed condition": ('"A", A="avg(x) < 0"', 1_000_000, "optimizer"),
    "candidates of a scanned condition": ('"A", A="median(x) < 0"', 100_000, "optimizer"),
    "rows that look back far": ('"(P T)", P="zscore_outlier(x, 200000) > 100", T="window(2)"', 500_000, "optimizer"),
    "not": ('"~(A B)", A=UP, B=UP', 5_000, "sm_left"),
    "contains": ('"(W A W) & V", A="median(x) < 0", W="true", V="window(1, 100000)"', 200_000, "optimizer"),
    "every mapping": ('"ALL MATCHES", None', 40, "optimizer"),
    "an aggregate of the user": ('"A", A="slow(x) < 0"', 100_000, "optimizer"),
}

PROGRAM = """
import threading, time
import numpy as np, pyarrow as pa, sparkrex as rex

UP = "last(x) >= first(x)"

@rex.aggregate
class slow:
    def scan(self, x):
        return float(sum(x.tolist()))

def search(pattern, measures=None, **conditions):
    if pattern == "ALL MATCHES":
        clause = '''MEASURES sum(B.x) AS s ALL MATCHES PATTERN ((A | B)+ C)
            DEFINE B AS x > avg(A.x) OR count(A.*) = 0 OR x >= 0, C AS mann_kendall_test(B.x) > 1'''
    else:
        definitions = [
            (f"SEGMENT {{name}} AS " if name != "P" else "P AS ") + (text or "true")
            for name, text in conditions.items()
        ]
        measured = f"first({{measures}}) AS m, " if measures else ""
        clause = f"MEASURES {{measured}}count(*) AS n PATTERN ({{pattern}}) DEFINE " + ", ".join(definitions)
    return "ORDER BY t " + clause

clause = search({search})
rows = np.arange({rows})
table = pa.table({{"t": rows, "x": rows + 1.0}})
settings = {{"planner": {planner!r}, "max_segments": 10**9, "max_steps": 10**15}}
rex.match(clause, settings=settings)(table.slice(0, 12))  # compiles
try:
    with interrupt_when_busy({inside!r}):
        rex.match(clause, settings=settings)(table)
except KeyboardInterrupt:
    print("interrupted", flush=True)
else:
    print("finished", flush=True)
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join(60)
        assert not thread.is_alive()
print("ended", flush=True)
"""


# Each takes some seconds, most of them to start; these two would run for hours on any machine.
QUICK = ("conditions on both ends", "every mapping")


@pytest.mark.parametrize(
    ("search", "rows", "planner"),
    [pytest.param(*one, id=name, marks=[] if name in QUICK else pytest.mark.slow) for name, one in SEARCHES.items()],
)
def test_ctrl_c(search: str, rows: int, planner: str) -> None:
    # Conditions of one row are evaluated for all rows before the search.
    inside = "_plan_search" if "zscore_outlier" in search else "find_results"
    inside = "run_mapped" if "ALL MATCHES" in search else inside
    answer = interrupted(PROGRAM.format(search=search, rows=rows, planner=planner, inside=inside))
    assert answer == "interrupted\nended\n"


LIMITED = {
    "sort-merge concatenation": ("(A B)", "sm_left"),
    "sort-merge concatenation with bindings": ("((M B) & W)", "sm_left"),
    "concatenation over a gap": ("(A T B)", "sm_left"),
    "probed concatenation": ("(A B)", "pr_left"),
    "probed concatenation, the right part first": ("(A B)", "pr_right"),
    "probed concatenation with bindings": ("((M B) & W)", "pr_left"),
    "closure": ("(A B)+", "sm_left"),
    "closure from given starts": ("(P A{2,}) & W", "pr_left"),
    "steps of two rows": ("(P ((A & TWO)+ (D & TWO))+)", "pr_left"),
    "conditions on both ends": ("D", "optimizer"),
    "candidates of a condition": ("LOW", "optimizer"),
    "not": ("~A", "sm_left"),
}

DEFINITIONS = {
    "P": "P AS x > 0",
    **{name: f"SEGMENT {name} AS last(x) >= first(x)" for name in "ABM"},
    "D": "SEGMENT D AS last(x) < first(x) - 10",
    "LOW": "SEGMENT LOW AS median(x) < 0",
    "T": "SEGMENT T AS true",
    "TWO": "SEGMENT TWO AS window(2)",
    "W": "SEGMENT W AS window(290, 300)",
}


@pytest.mark.parametrize(("pattern", "planner"), LIMITED.values(), ids=list(LIMITED))
def test_the_limit_counts_steps(pattern: str, planner: str) -> None:
    rows = np.arange(300)
    table = pa.table({"t": rows, "x": rows % 7 + 1.0})
    measure = "first(M.x)" if "M" in pattern else "count(*)"
    used = ", ".join(text for name, text in DEFINITIONS.items() if re.search(rf"\b{name}\b", pattern))
    clause = f"ORDER BY t MEASURES {measure} AS m PATTERN ({pattern}) DEFINE {used}"
    enough, few = {"planner": planner}, {"planner": planner, "max_steps": 1}
    assert len(rex.match(clause, settings=enough)(table)) >= 0
    with pytest.raises(rex.ExecutionError, match=r"REX403.*more than 1 steps a row"):
        rex.match(clause, settings=few)(table)
