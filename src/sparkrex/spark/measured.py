"""EXPLAIN ANALYZE on Spark: each pass of a relation's rows through the workers is run, and what tasks tell added up."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any

from sparkrex.spark.measuring import MEASURED, Measuring
from sparkrex.spark.shipping import shipped_task
from sparkrex.spark.versions import BYTES_PER_BATCH, NO_LIMIT, to_arrow, weighs_batches
from sparkrex.tree_text import Branch, time_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import DataFrame

    from sparkrex.spark.measuring import Watched

_SKEWED = 4
"""So many times as long as the median takes a task that is worth a word."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Rows that go through a task of the workers once; `given` are the things that come out."""

    name: str
    rows: DataFrame
    task: Watched
    given: str = "rows"

    def measured(self) -> Branch:
        """Run it, alone: its results are counted in the workers and go nowhere."""
        frame = self.rows.mapInArrow(shipped_task(Measuring(self.task)), MEASURED)
        since = perf_counter()
        tasks = to_arrow(frame).to_pylist()
        return describe(self.name, tasks, perf_counter() - since, self.given)


def measured_lines(passes: Sequence[Pass], earlier: Sequence[str]) -> list[str]:
    """What EXPLAIN says after a run. `earlier` are the patterns before whose results the relation reads."""
    lines = [line for one in passes for line in one.measured().lines()]
    if earlier:
        lines.append(f"Waiting includes {_number(len(earlier), 'pattern')} before, run again for this one")
    lines.append("Not measured: sending the rows back to Spark, and what Spark computes of them")
    return lines


def describe(name: str, tasks: Sequence[dict[str, Any]], seconds: float, given: str = "rows") -> Branch:
    """What tasks tell, one dictionary each, and how long it took until all had told it."""
    laps: Counter[str] = Counter()
    counts: dict[str, Counter[str]] = {}
    for task in tasks:
        for lap in task["laps"]:
            laps[lap["stage"]] += lap["seconds"]
        for count in task["counts"]:
            counts.setdefault(count["stage"], Counter())[count["word"]] += count["number"]
    below = [*_skew(tasks), *(Branch(_stage_text(stage, took, counts.get(stage, {}))) for stage, took in laps.items())]
    n_given = sum(task["given"] for task in tasks)
    return Branch(
        f"{name}, run in {time_text(seconds)} by {_number(len(tasks), 'task')}: {n_given:,} {given} given; "
        "times below are sums over tasks", tuple(below),
    )


def _skew(tasks: Sequence[dict[str, Any]]) -> list[Branch]:
    """The slowest task, and the largest partition."""
    busy = [task for task in tasks if _rows(task)]
    if not busy:
        return [Branch("no rows")]
    lines = []
    slowest = max(busy, key=lambda task: float(task["seconds"]))
    middle = median(float(task["seconds"]) for task in busy)
    idle = f"; {len(tasks) - len(busy)} without rows" if len(busy) < len(tasks) else ""
    skew = f": {slowest['seconds'] / middle:,.0f} times" if slowest["seconds"] > _SKEWED * middle else ""
    lines.append(
        f"slowest task {time_text(slowest['seconds'])} with {_rows(slowest):,} rows, median {time_text(middle)}"
        f"{skew}{idle}"
    )
    n_rows = sum(map(_rows, busy))
    if largest := max(task["largest"] for task in busy):
        lines.append(f"largest partition {largest:,} rows of {n_rows:,}")
    return [Branch(line) for line in lines]


def _rows(task: dict[str, Any]) -> int:
    """The rows that a task has received, or read from files."""
    return sum(
        count["number"] for count in task["counts"] if count["stage"] in {"receive", "read"} and count["word"] == "rows"
    )


def _stage_text(stage: str, seconds: float, counts: Counter[str] | dict[str, int]) -> str:
    listed = "".join(f", {number:,} {word}" for word, number in counts.items())
    waiting = " waiting for Spark" if stage == "receive" else ""
    return f"{stage}: {time_text(seconds)}{waiting}{listed}"


def _number(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"


def conversion_advice(rows: DataFrame) -> str | None:
    """What makes Spark hand over rows to Python faster, None if nothing is known to."""
    if not weighs_batches(rows.sparkSession):
        return None
    return (
        f"Advice: set {BYTES_PER_BATCH} to {NO_LIMIT}: Spark adds up the bytes of a batch for Python after every row, "
        "which takes longer than to write the row"
    )
