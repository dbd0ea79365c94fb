"""How long a small file takes from its commit to that of the last row which it decides, in a sink of files.

A file comes every two seconds. Rows need not wait for a watermark that lags. Spark starts the next batch when the one
before is done; Flink looks for files ten times a second, runs on one core and commits its sink once a second.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.streams import flink
from benchmarks.streams.files import SECOND, random_keys, times_of
from benchmarks.streams.queries import QUERIES

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import SparkSession

QUERY = "fall and turn"
RESULT = [("k", "BIGINT"), ("a", "TIMESTAMP(3)"), ("b", "TIMESTAMP(3)"), ("low", "DOUBLE")]
_ROWS, _KEYS, _PER_SECOND = 1_000, 100, 1_000
_EVERY = 2.0
_WARM_UP = 5
_PATIENCE = 120
_Ends = dict[int, float]
"""By the number of a file, when it was committed, or when the last of its results was."""


def of_spark(spark: SparkSession, folder: Path, n_files: int) -> list[float]:
    """Seconds for each file with SparkRex."""
    source, sink = folder / "in", folder / "out"
    source.mkdir(parents=True)
    schema = spark.createDataFrame(_rows(0)).schema
    stream = spark.readStream.schema(schema).parquet(str(source)).withWatermark("ts", "0 seconds")
    writer = QUERIES[QUERY].search(stream, {}).writeStream.format("parquet").option("path", str(sink))
    query = writer.option("checkpointLocation", str(folder / "checkpoint")).start()
    try:
        began = _feed(source, n_files, lambda number, path: pq.write_table(_rows(number), path), ".parquet")
        return _latencies(began, lambda: _committed_by_spark(sink))
    finally:
        query.stop()


def of_flink(folder: Path, n_files: int) -> list[float]:
    """Seconds for each file with Flink."""
    source = folder / "flink"
    source.mkdir(parents=True)
    sql = QUERIES[QUERY].flink
    assert sql is not None
    job = flink.start(sql, RESULT, folder, bounded=False, delay=0, options={"parallelism.default": "1"})
    try:
        began = _feed(source, n_files, lambda number, path: flink.write_csv(_rows(number), path), ".csv")
        return _latencies(began, lambda: _committed_by_flink(folder))
    finally:
        (folder / "stop").touch()
        try:
            job.communicate(timeout=60)
        finally:
            job.kill()


def _rows(number: int) -> pa.Table:
    """The rows of a file, a second of time; in order, since Flink would call others late."""
    return random_keys(_KEYS, _PER_SECOND, seed=number)(number * _ROWS, _ROWS).sort_by("ts")


def _feed(folder: Path, n_files: int, write: Callable[[int, Path], None], suffix: str) -> _Ends:
    """Put files into the folder, one by one, each complete at once."""
    began: _Ends = {}
    for number in range(n_files):
        hidden = folder / f".{number:05}{suffix}"
        write(number, hidden)
        began[number] = time.time()
        hidden.rename(folder / f"{number:05}{suffix}")
        time.sleep(_EVERY)
    return began


def _latencies(began: _Ends, committed: Callable[[], _Ends]) -> list[float]:
    """Wait until the last file has its results; then the seconds of all but the first files."""
    last, until = max(began), time.monotonic() + _PATIENCE
    while last not in (ends := committed()):
        if time.monotonic() > until:
            raise TimeoutError(f"no result of the last file after {_PATIENCE} s; there are some of {len(ends)}")
        time.sleep(1)
    return [ends[number] - began[number] for number in began if number >= _WARM_UP and number in ends]


def _file_of(microseconds: int) -> int:
    """The file that the row of a time is in."""
    return (microseconds - int(times_of(0))) // (_ROWS * SECOND // _PER_SECOND)


def _committed_by_spark(sink: Path) -> _Ends:
    """A batch is committed when the sink's log has a file of its number; every tenth one repeats those before."""
    ends: _Ends = defaultdict(float)
    seen: set[str] = set()
    logs = [path for path in (sink / "_spark_metadata").glob("[0-9]*") if not path.name.endswith(".tmp")]
    for log in sorted(logs, key=lambda path: int(path.name.split(".")[0])):
        for line in log.read_text(encoding="utf-8").splitlines()[1:]:
            path = json.loads(line)["path"].removeprefix("file://")
            if path not in seen:
                seen.add(path)
                # Spark writes times as INT96, which Arrow reads in nanoseconds.
                times = pq.read_table(path, columns=["b"]).column(0).cast(pa.timestamp("us"))
                for when in times.cast(pa.int64()).unique().to_pylist():
                    number = _file_of(when)
                    ends[number] = max(ends[number], log.stat().st_mtime)
    return dict(ends)


def _committed_by_flink(folder: Path) -> _Ends:
    """A file of the sink is committed when it is given its name."""
    ends: _Ends = defaultdict(float)
    for path in flink.results(folder):
        for line in flink.lines_of(path):
            text = line.split(",")[2].strip('"')
            when = datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()
            number = _file_of(round(when * SECOND))
            ends[number] = max(ends[number], path.stat().st_ctime)
    return dict(ends)
