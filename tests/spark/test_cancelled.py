"""A job that is cancelled leaves no worker searching: Spark ends the worker's process."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import SparkSession

# Every row is tried in every way, none ends: far longer than the test. D reads how rows were mapped, so that no failure
# can be remembered.
NEVER_ENDING = """PARTITION BY p ORDER BY id MEASURES COUNT(*) AS n
    PATTERN (A* B* C* D) DEFINE D AS SUM(A.id) + SUM(B.id) + SUM(C.id) < -1"""

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads processes from /proc")


def _descendants() -> dict[int, float]:
    """Seconds of processor time by process, of all processes under this one."""
    parents, seconds = {}, {}
    for folder in Path("/proc").iterdir():
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split() if folder.name.isdigit() else []
        except OSError:  # ended meanwhile
            continue
        if fields and fields[0] != "Z":
            parents[int(folder.name)] = int(fields[1])
            seconds[int(folder.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    found: set[int] = {os.getpid()}
    while grown := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= grown
    return {pid: seconds[pid] for pid in found if pid in seconds}


def _is_worker(pid: int) -> bool:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:  # ended meanwhile
        return False
    return b"pyspark.daemon" in command


def _busy_workers(least: float) -> set[int]:
    """Workers that have taken so many seconds of processor time in the last two."""
    before = _descendants()
    time.sleep(2)
    after = _descendants()
    return {pid for pid in after if after[pid] - before.get(pid, 0.0) >= least and _is_worker(pid)}


def _wait_until(holds: Callable[[], bool]) -> bool:
    return any(holds() for _ in range(60))


def test_no_worker_goes_on_after_a_job_is_cancelled(spark: SparkSession) -> None:
    rows = spark.sql("SELECT id, CAST(0 AS INT) AS p FROM range(3000)")
    found = rex.match(NEVER_ENDING, settings={"max_steps": 10**15})(rows)
    raised: list[BaseException] = []

    def run() -> None:
        try:
            found.collect()
        except Exception as error:  # Spark's, or the one of the way to it
            raised.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    assert _wait_until(lambda: bool(_busy_workers(0.2))), "no worker began to search"
    searching = _busy_workers(0.2)
    spark.sparkContext.cancelAllJobs()
    thread.join(timeout=120)
    assert not thread.is_alive()
    assert raised
    assert _wait_until(lambda: not _busy_workers(0.2) & searching), "a worker goes on searching"
