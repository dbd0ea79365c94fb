"""From Kafka to files and to Kafka: a job that is killed, driver or worker, writes what one left alone writes."""

from __future__ import annotations

import contextlib
import io
import random
import re
import time
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from tests.spark import kafka
from tests.spark.kafka_job import TO_FILES, TO_KAFKA, stream
from tests.spark.killed_job import N_KILLS, Job
from tests.spark.stream_files import SECOND, lines, ticks
from tests.spark.stream_job import QUERIES
from tests.spark.test_streaming_page import PAGE

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

_ROWS_OF_A_FILE = 200
_ON_PAGE = re.compile(r"^```python kafka\n(?P<code>.*?)^```\n.*?^```text\n(?P<shown>.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def broker(java: str, tmp_path: Path) -> Iterator[str]:
    """The address of a broker without topics."""
    with kafka.broker(java, tmp_path) as address:
        yield address


@pytest.fixture
def session(spark: SparkSession, java: str) -> SparkSession:
    """A session that knows Kafka."""
    return kafka.with_connector(spark, java)


@pytest.fixture
def both(java: str, tmp_path: Path, broker: str) -> Iterator[tuple[Job, Job]]:
    """A job to be killed, and one to be left alone."""
    jars = tuple(map(str, kafka.connector_jars(java)))
    jobs = [Job("tests.spark.kafka_job", tmp_path / name, (broker, *jars)) for name in ("killed", "alone")]
    for job in jobs:
        job.folder.mkdir()
    yield jobs[0], jobs[1]
    for job in jobs:
        job.end()


def test_a_killed_job_writes_what_one_left_alone_writes(
    session: SparkSession, broker: str, both: tuple[Job, Job]
) -> None:
    seed = random.randrange(1 << 30)
    draw = random.Random(seed)
    on_time: list[pa.Table] = []

    def add() -> None:
        number = len(on_time)
        on_time.append(ticks(seed + number, _ROWS_OF_A_FILE, _ROWS_OF_A_FILE * number))
        kafka.produce(session, broker, "ticks", on_time[-1])

    add()
    job, alone = both
    for _ in range(N_KILLS):
        name = draw.choice([TO_FILES, TO_KAFKA])
        n_begun = job.n_begun(name)
        job.start()
        add()
        job.wait(partial(job.has_begun, name, n_begun + 1), f"seed {seed}, no batch of {name}")
        time.sleep(draw.uniform(0, 2))
        job.kill(draw)
    while len(on_time) < 8:  # else the watermark may not have passed what comes now
        add()
    late = _half_a_second_later(ticks(seed - 1, _ROWS_OF_A_FILE))
    kafka.produce(session, broker, "ticks", late)
    add()
    for each in (job, alone):
        (each.folder / "stop").touch()
        each.wait(each.has_ended, f"seed {seed}, {each.folder.name} does not end")
    for name in (TO_FILES, TO_KAFKA):
        job.forget_commit(name)
    job.wait(job.has_ended, f"seed {seed}, the job does not end once more")

    told = f"seed {seed}, {job.told()}"
    table = session.createDataFrame(pa.concat_tables(on_time))
    with_late = session.createDataFrame(pa.concat_tables([*on_time, late]))
    for name in (TO_FILES, TO_KAFKA):
        query = QUERIES[name]
        found = query(stream(session, broker))
        wanted = lines(query(table))
        assert wanted != lines(query(with_late)), told  # it matters that they are left out
        written, written_alone = (_written(found, name, broker, each) for each in both)
        rows = written
        if name == TO_KAFKA:
            rows = sorted(set(written))
            assert len(rows) < len(written), f"{name}, {told}"  # the last batch at least was written again
        assert rows == written_alone, f"{name}, {told}"
        rest = lines(rex.drain(job.folder / f"{name}_checkpoint", query, stream(session, broker)))
        assert sorted(rows + rest) == wanted, f"{name}, {told}"
        assert len(rows) > 2 * N_KILLS, f"{name}, {told}"
        print(f"{name}, {told}: {len(rows)} rows, {len(written) - len(rows)} twice, {len(rest)} more at the end")


def _half_a_second_later(table: pa.Table) -> pa.Table:
    times = pa.array(table["ts"].cast(pa.int64()).to_numpy() + SECOND // 2, pa.timestamp("us", "UTC"))
    return table.set_column(table.schema.get_field_index("ts"), "ts", times)


def _written(found: DataFrame, name: str, broker: str, job: Job) -> list[str]:
    """What a job has written of a query's rows."""
    reader = found.sparkSession.read
    if name == TO_FILES:
        return lines(reader.schema(found.schema).parquet(str(job.folder / name)))
    values = reader.format("kafka").options(**kafka.from_beginning(broker, job.folder.name)).load()
    return lines(kafka.rows_of(values, found.schema))


def test_the_page_shows_what_comes_out(session: SparkSession, broker: str, tmp_path: Path) -> None:
    steps = [("ann", 1, 0), ("bob", 1, 1), ("ann", 2, 2), ("ann", 3, 5), ("bob", 3, 6), ("eve", 1, 66)]
    ten = datetime(2026, 3, 1, 10, tzinfo=UTC)
    rows = [{"user": user, "step": step, "ts": ten + timedelta(minutes=minute)} for user, step, minute in steps]
    kafka.produce(session, broker, "orders", pa.Table.from_pylist(rows))
    found = _ON_PAGE.search(PAGE.read_text(encoding="utf-8"))
    assert found is not None
    names: dict[str, Any] = {"spark": session, "servers": broker, "folder": tmp_path, "rex": rex}
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(found["code"], PAGE.name, "exec"), names)  # the project's own page
    assert printed.getvalue() == found["shown"]
