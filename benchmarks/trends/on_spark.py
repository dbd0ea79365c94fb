"""q2 to q4 over all of their data, on Spark and in memory: the answers, and seconds by the clock."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING

import pyarrow as pa

import sparkrex as rex
from benchmarks.local_spark import local_session
from benchmarks.trends.answers import answer_of_engine, difference, n_trends
from benchmarks.trends.data import load
from benchmarks.trends.queries import QUERIES

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ASKED = ("q2", "q3", "q4")


@dataclass(frozen=True, slots=True)
class OnSpark:
    """A query over real data, or what looks like it: rows of the answer, trends, seconds, what differs."""

    query: str
    n_events: int
    n_rows: int
    n_trends: str
    memory: float
    spark: float
    wrong: str | None


def measure_on_spark(folder: Path, shares: Mapping[str, int]) -> list[OnSpark]:
    """Every query once in each place; the first run on Spark starts its workers, and is not counted."""
    spark = local_session(8)
    found = []
    try:
        for name in ASKED:
            workload, data = QUERIES[name]
            table = load(data, folder, shares.get(data, 1))
            query = rex.trends(workload.text(), time=workload.time, type=workload.type)
            begin = perf_counter()
            in_memory = query(table)
            memory = perf_counter() - begin
            frame = spark.createDataFrame(_plain(table))
            query(frame.limit(1_000)).toArrow()
            begin = perf_counter()
            on_spark = query(frame).toArrow()
            seconds = perf_counter() - begin
            ours, theirs = (answer_of_engine(workload, answer, "exact") for answer in (in_memory, on_spark))
            wrong = difference(ours, theirs)
            found.append(OnSpark(
                name, table.num_rows, in_memory.num_rows, n_trends(ours), memory, seconds,
                None if wrong is None else f"{name}: in memory and on Spark, {wrong}",
            ))
    finally:
        spark.stop()
    return found


def _plain(table: pa.Table) -> pa.Table:
    """Spark knows no dictionaries."""
    for place, column in enumerate(table.schema):
        if pa.types.is_dictionary(column.type):
            table = table.set_column(place, column.name, table.column(place).cast(column.type.value_type))
    return table
