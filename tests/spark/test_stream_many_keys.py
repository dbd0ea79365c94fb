"""A batch of a million keys of one row each: their states fit, and memory follows a bucket, not the batch."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from tests.spark.processes import python_workers
from tests.spark.stream_files import SECOND, Files

import sparkrex as rex

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

N_KEYS = 1_000_000
_MOST_MEGABYTES = 1500
"""Of a worker: Python with NumPy, Arrow, DuckDB and compiled kernels takes a third of that before the first row."""
QUERY = """SELECT * FROM ticks MATCH_RECOGNIZE (PARTITION BY k ORDER BY ts
      MEASURES A.ts AS a, COUNT(B.x) AS n, MATCH_NUMBER() AS m
      PATTERN (A B?) WITHIN INTERVAL '10' SECOND DEFINE B AS x > A.x)"""


def rows(keys: range, second: int) -> pa.Table:
    """A row of each key, all in one second."""
    n_rows = len(keys)
    times = second * SECOND + np.arange(n_rows) * SECOND // n_rows
    return pa.table({"k": np.array(keys), "ts": pa.array(times, pa.timestamp("us", "UTC")), "x": np.ones(n_rows)})


def test_a_batch_of_a_million_keys(spark: SparkSession, tmp_path: Path) -> None:
    files = Files(spark, tmp_path)
    # All keys begin; a row that moves time on; then all of them come back.
    files.add(rows(range(N_KEYS), 0), rows(range(1), 100), rows(range(N_KEYS), 200), rows(range(1), 300))
    frame = rex.sql(QUERY, ticks=files.stream())
    began, most = time.monotonic(), 0
    query = files.start(frame)
    while query.isActive:
        most = max([most, *(_megabytes(pid) for pid in python_workers(os.getpid()))])
        time.sleep(0.2)
    query.awaitTermination()  # raises what went wrong
    last = rex.progress(query).batches[-1]
    print(f"{time.monotonic() - began:.0f} s, {most} MB, {last['state_bytes'] / N_KEYS:.0f} bytes for each key")
    found = spark.read.schema(frame.schema).parquet(str(tmp_path / "out"))
    numbers = {row.m: row["count"] for row in found.groupBy("m").count().collect()}
    assert numbers == {1: N_KEYS, 2: N_KEYS, 3: 1}
    assert last["open_keys"] == N_KEYS
    assert most < _MOST_MEGABYTES


def _megabytes(process: int) -> int:
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="utf-8")
    except FileNotFoundError:  # it has ended
        return 0
    line = next((line for line in status.splitlines() if line.startswith("VmRSS:")), "VmRSS: 0 kB")
    return int(line.split()[1]) // 1024
