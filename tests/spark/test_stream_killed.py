"""A streaming job that is killed, driver or worker, and started again writes what one left alone writes."""

from __future__ import annotations

import random
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest
from tests.spark.killed_job import N_KILLS, Job
from tests.spark.stream_files import Files, lines, ticks
from tests.spark.stream_job import QUERIES

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

_ROWS_OF_A_FILE = 200


@pytest.fixture
def job(tmp_path: Path) -> Iterator[Job]:
    """A job that has not started."""
    job = Job("tests.spark.stream_job", tmp_path)
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
        job.wait(partial(job.has_begun, name, n_begun + 1), f"seed {seed}, no batch of {name}")
        time.sleep(draw.uniform(0, 2))
        job.kill(draw)
    add()
    (tmp_path / "stop").touch()
    job.wait(job.has_ended, f"seed {seed}, the job does not end")
    alone = Files(spark, tmp_path / "alone")
    for name, query in QUERIES.items():
        found = query(files.stream())
        written = files.written(found, name)
        # Rows come as the watermark decides, however it came there: all files may be one batch.
        whole = query(files.stream(n_files=len(files.tables)))
        alone.run(whole, name)
        told = f"{name}, seed {seed}, {job.told()}"
        assert written == alone.written(found, name), told
        rest = lines(rex.drain(files.checkpoint(name), query, files.stream()))
        assert sorted(written + rest) == lines(query(files.whole())), told
        assert len(written) > 2 * N_KILLS, told
        print(f"{told}: {len(written)} rows, {len(rest)} more at the end")
