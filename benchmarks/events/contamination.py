"""Query 2 of the paper: all chains of shipments that may have spread a contamination, in memory and on Spark."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, field
from math import factorial
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow.compute as pc

import sparkrex as rex
from benchmarks.events.chains import MOST_HOPS, chains_by_hand
from benchmarks.events.data import N_REGIONS, ONWARD, SITES_OF_REGION, WINDOW_HOURS, shipments

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

    from benchmarks.events.chains import Answer

QUERY = f"""
PATTERN SEQ(Alert a, Shipment+ b[])
WHERE   skip_till_any_match(a, b[]) {{
          [region] AND a.type = 'contaminated' AND b[1].from = a.site AND b[i].from = b[i-1].to }}
WITHIN  {WINDOW_HOURS} hours
RETURN  a.id AS alert, count(b[]) AS hops, sum(b[].id) AS shipped, b[b.LEN].to AS reached
"""
OPTIONS: dict[str, Any] = {"time": "ts", "type": "kind", "tie_break": "id"}
COLUMNS = ("alert", "hops", "shipped", "reached")
MATCHES_GOAL = 1_000_000
SPARK_SETTINGS = {
    "spark.driver.memory": "4g", "spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC", "spark.log.level": "ERROR",
}


@dataclass
class Contamination:
    """How many chains there are, and the seconds of each run."""

    n_shipments: int
    n_alerts: int
    lengths: dict[int, int] = field(default_factory=dict)
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    spark_wall: list[float] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def n_matches(self) -> int:
        """All chains."""
        return sum(self.lengths.values())


def expected_share(hops: int) -> float:
    """Chains of so many shipments for an alert, on average: the times of as many from as many sites, in order."""
    return float(ONWARD**hops / factorial(hops))


def measure_contamination(n_shipments: int, n_alerts: int, repeat: int, threads: int | None = 1) -> Contamination:
    """In memory, from table to table; the answer is compared with that of a plain loop."""
    stream = shipments(n_shipments, n_alerts)
    found = Contamination(n_shipments, n_alerts)
    settings = {} if threads is None else {"threads": threads}
    answer: Answer | None = None
    for number in range(repeat + 1):  # the first one loads kernels
        begin, begin_cpu = perf_counter(), process_time()
        result = rex.events(QUERY, stream, settings=settings, **OPTIONS)
        if number:
            found.cpu.append(process_time() - begin_cpu)
            found.wall.append(perf_counter() - begin)
        answer = answer or answer_of(result)
    assert answer is not None  # it has run at least once
    found.lengths = answer[0]
    if answer != chains_by_hand(stream):
        found.problems.append("Query 2: the answer is not that of a plain loop")
    return found


def answer_of(result: pa.Table) -> Answer:
    """Count and sums of a result."""
    hops, counts = np.unique(result.column("hops").to_numpy(), return_counts=True)
    lengths = dict(zip(hops.tolist(), counts.tolist(), strict=True))
    return lengths, tuple(int(pc.sum(result.column(name)).as_py() or 0) for name in COLUMNS)


def measure_on_spark(found: Contamination, folder: Path, repeat: int, cores: int = 2) -> None:
    """The same stream from Parquet files on a local Spark; adds times, and a problem if the answer is another."""
    import pyarrow.parquet as pq
    from pyspark.sql import SparkSession
    from pyspark.sql import functions as f

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    stream = shipments(found.n_shipments, found.n_alerts)
    path = folder / "shipments.parquet"
    pq.write_table(stream, path, row_group_size=1 << 18)
    builder = SparkSession.builder.master(f"local[{cores}]").appName("SparkRex benchmark")
    for name, value in SPARK_SETTINGS.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        frame = spark.read.parquet(str(path))
        expected = chains_by_hand(stream)
        counted = [f.count("*").alias("n"), *(f.sum(name).alias(f"sum_{name}") for name in COLUMNS)]
        for number in range(repeat + 1):
            begin = perf_counter()
            groups = rex.events(QUERY, frame, **OPTIONS).groupBy("hops").agg(*counted).collect()
            if number:
                found.spark_wall.append(perf_counter() - begin)
            lengths = {row["hops"]: row["n"] for row in sorted(groups, key=lambda row: row["hops"])}
            if (lengths, tuple(sum(row[f"sum_{name}"] for row in groups) for name in COLUMNS)) != expected:
                found.problems.append("Query 2: Spark's answer is another")
                return
    finally:
        spark.stop()


def contamination_lines(found: Contamination) -> list[list[str]]:
    """Lengths of the chains, beside what the generator is made for."""
    lines = [["shipments in the chain", "matches", "expected"]]
    for hops, n in found.lengths.items():
        lines.append([str(hops), f"{n:,}", f"{found.n_alerts * expected_share(hops):,.0f}"])
    expected = sum(found.n_alerts * expected_share(hops) for hops in range(1, MOST_HOPS))
    return [*lines, ["all", f"{found.n_matches:,}", f"{expected:,.0f}"]]


def contamination_summary(found: Contamination) -> str:
    """Times and goal in a sentence."""
    enough = "ok" if found.n_matches >= MATCHES_GOAL else "MISSED"
    seconds = f"{median(found.wall):.2f} s ({median(found.cpu):.2f} s of the processor)"
    spark = f", on Spark {median(found.spark_wall):.2f} s, the same answer" if found.spark_wall else ""
    return (
        f"{found.n_shipments:,} shipments and {found.n_alerts:,} contaminated alerts, {N_REGIONS} regions of "
        f"{SITES_OF_REGION} sites: {found.n_matches:,} matches (goal {MATCHES_GOAL:,} {enough}), "
        f"in memory {seconds}{spark}"
    )
