"""What an event query takes at most: `event_memory` counts all of it, also while it makes room."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")

SCRIPT = """
import pyarrow as pa
import sparkrex as rex

def run(n_events):
    table = pa.table({"ts": range(n_events + 2), "kind": ["A"] + ["B"] * n_events + ["C"]})
    query = "PATTERN PATTERN_TEXT WHERE skip_till_any_match(VARIABLES) RETURN count(b[]) AS n"
    settings = {"event_memory": MEMORY, "threads": 1, "event_algorithm": "ALGORITHM"}
    return rex.events(query, table, time="ts", type="kind", settings=settings)

def kilobytes(name):
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name + ":"))

assert run(3).num_rows == 7
before = kilobytes("VmRSS")
try:
    run(40)
except rex.ExecutionError as error:
    print(error.code, (kilobytes("VmHWM") - before) * 1024 / MEMORY)
"""


@pytest.mark.parametrize(
    ("pattern", "algorithm"),
    [("SEQ(A a, B+ b[])", "merging"), ("SEQ(A a, B+ b[])", "basic"), ("SEQ(A a, B+ b[], C c)", "basic")],
    ids=["matches", "matches-and-runs", "runs"],
)
def test_a_query_takes_what_event_memory_says(pattern: str, algorithm: str) -> None:
    """Growing by copying, matches took 1.7 times as much, and runs 2.2 times."""
    script = SCRIPT.replace("MEMORY", str(256 << 20)).replace("PATTERN_TEXT", pattern).replace("ALGORITHM", algorithm)
    script = script.replace("VARIABLES", "a, b[], c" if "C c" in pattern else "a, b[]")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    code, share = done.stdout.split()
    assert code == "REX410"
    assert float(share) <= 1.25, done.stdout
