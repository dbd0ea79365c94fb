"""A streaming job that is killed, driver or worker, and started again writes what one left alone writes."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.spark.processes import descendants, python_workers
from tests.spark.stream_files import Files, lines, ticks
from tests.spark.stream_job import QUERIES

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

N_KILLS = int(os.environ.get("SPARKREX_KILLS", "20"))
_ROWS_OF_A_FILE = 200
_PATIENCE = 600
"""Seconds that a job may take for its next step."""
_ROOT = Path(__file__).parents[2]


@dataclass
class Job:
    """A process that runs `tests.spark.stream_job`, and another one when it has been killed."""

    folder: Path
    n_drivers: int = 0
    n_workers: int = 0
    _process: subprocess.Popen[bytes] | None = field(default=None)

    def start(self) -> subprocess.Popen[bytes]:
        """Unless it runs, or has ended by itself."""
        if self._process is None or self._process.poll():
            environment = {**os.environ, "PYTHONPATH": str(_ROOT), "PYSPARK_PYTHON": sys.executable}
            with (self.folder / "log").open("ab") as log:
                self._process = subprocess.Popen(
                    [sys.executable, "-m", "tests.spark.stream_job", str(self.folder)], cwd=_ROOT, env=environment,
                    stdout=log, stderr=log,
                )
        return self._process

    def has_ended(self) -> bool:
        """Whether it has done all there is. One that was killed starts again."""
        return self.start().poll() == 0

    def n_begun(self, name: str) -> int:
        """How many batches of a query have begun."""
        return len(list((self.folder / f"{name}_checkpoint" / "offsets").glob("[0-9]*")))

    def has_begun(self, name: str, n_batches: int) -> bool:
        """Whether so many batches of a query have begun."""
        return self.n_begun(name) >= n_batches

    def kill(self, draw: random.Random) -> None:
        """The driver with all that it has started, or a Python worker."""
        process = self.start()
        workers = python_workers(process.pid)
        if workers and draw.random() < 0.6:
            self.n_workers += 1
            _kill([draw.choice(workers)])
        else:
            self.n_drivers += 1
            self.end()

    def end(self) -> None:
        """Nothing of it is left."""
        if self._process is not None:
            _kill([self._process.pid, *descendants(self._process.pid)])
            self._process.wait()


def _kill(processes: list[int]) -> None:
    for process in processes:
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)


def _wait(job: Job, is_so: Callable[[], bool], what: str) -> None:
    ends = time.monotonic() + _PATIENCE
    while not is_so():
        assert time.monotonic() < ends, f"{what}: {(job.folder / 'log').read_text()[-2000:]}"
        time.sleep(0.05)


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    """A job that has not started."""
    job = Job(tmp_path)
    yield job
    job.end()


def test_a_killed_job_writes_what_one_left_alone_writes(spark: SparkSession, tmp_path: Path, job: Job) -> None:
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    files = Files(spark, tmp_path)

    def add() -> None:
        number = len(files.tables)
        files.add(ticks(seed + number, _ROWS_OF_A_FILE, _ROWS_OF_A_FILE * number))

    add()
    for _ in range(N_KILLS):
        name = draw.choice(list(QUERIES))
        n_begun = job.n_begun(name)
        job.start()
        add()
        _wait(job, partial(job.has_begun, name, n_begun + 1), f"seed {seed}, no batch of {name}")
        time.sleep(draw.uniform(0, 2))
        job.kill(draw)
    add()
    (tmp_path / "stop").touch()
    _wait(job, job.has_ended, f"seed {seed}, the job does not end")
    alone = Files(spark, tmp_path / "alone")
    for name, query in QUERIES.items():
        found = query(files.stream())
        written = files.written(found, name)
        # Rows come as the watermark decides, however it came there: all files may be one batch.
        whole = query(files.stream(n_files=len(files.tables)))
        alone.run(whole, name)
        told = f"{name}, seed {seed}, killed: {job.n_drivers} drivers, {job.n_workers} workers"
        assert written == alone.written(found, name), told
        rest = lines(rex.drain(files.checkpoint(name), query, files.stream()))
        assert sorted(written + rest) == lines(query(files.whole())), told
        assert len(written) > 2 * N_KILLS, told
        print(f"{told}: {len(written)} rows, {len(rest)} more at the end")
