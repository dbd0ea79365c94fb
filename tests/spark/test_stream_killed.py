"""A streaming job that is killed, driver or worker, and started again writes what one left alone writes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tests.spark.stream_files import SETTINGS, Files, lines, ticks
from tests.spark.stream_job import QUERY

import sparkrex as rex

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_KILLS = 6
_FILES = 12
_ROOT = Path(__file__).parents[2]


def _descendants(parent: int) -> dict[int, str]:
    """The processes below one, with their commands."""
    listed = subprocess.run(["ps", "-eo", "pid=,ppid=,args="], capture_output=True, text=True, check=True).stdout
    below: dict[int, str] = {}
    lines = [line.split(None, 2) for line in listed.splitlines()]
    found = {parent}
    while more := [line for line in lines if int(line[1]) in found and int(line[0]) not in found]:
        found |= {int(line[0]) for line in more}
        below |= {int(line[0]): line[2] for line in more}
    return below


def _run_and_kill(folder: Path, draw: random.Random) -> bool:
    """One run of the job; after a while its driver or one of its Python workers is killed. Whether it had finished."""
    environment = {**os.environ, "PYTHONPATH": str(_ROOT), "PYSPARK_PYTHON": sys.executable}
    job = subprocess.Popen(
        [sys.executable, "-m", "tests.spark.stream_job", str(folder)], cwd=_ROOT, env=environment,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    began = time.monotonic()
    ends = began + draw.uniform(15, 45)
    while time.monotonic() < ends and job.poll() is None:
        time.sleep(0.2)
    if job.poll() is None:
        below = _descendants(job.pid)
        workers = [pid for pid, command in below.items() if "pyspark.daemon" in command or "pyspark.worker" in command]
        of_worker = bool(workers) and draw.random() < 0.5
        _kill([draw.choice(workers)] if of_worker else [job.pid, *below])
        try:
            job.wait(60 if of_worker else 10)  # a query whose worker is gone fails, or runs the task again
        except subprocess.TimeoutExpired:
            _kill([job.pid, *_descendants(job.pid)])
            job.wait()
    return (folder / "done").exists()


def _kill(processes: list[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def test_a_killed_job_writes_what_one_left_alone_writes(spark: SparkSession, tmp_path: Path) -> None:
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    files = Files(spark, tmp_path)
    files.add(*(ticks(seed + number, 200, 200 * number) for number in range(_FILES)))
    n_runs = 0
    while n_runs < _KILLS and not _run_and_kill(tmp_path, draw):
        n_runs += 1
    found = rex.sql(QUERY, ticks=files.stream(), settings=SETTINGS)
    files.run(found)  # what is left
    rest = lines(rex.drain(files.checkpoint(), QUERY, ticks=files.stream(), settings=SETTINGS))
    expected = lines(rex.sql(QUERY, ticks=files.whole(), settings=SETTINGS))
    assert sorted(files.written(found) + rest) == expected, f"seed {seed}, {n_runs} kills"
    print(f"{n_runs} kills, {len(expected)} matches")
