"""The paper's q1 to q4, over the data that there is, and the variations that its figures measure.

- q1: jobs on a cluster, generated: no public data has them.
- q2: flights of an aircraft instead of trips of a driver: one on time, delayed ones, one on time; cancelled ones are
  skipped as the paper's cancelled trips are. The carrier is the district, miles per minute in the air are the speed.
- q3: bars of a minute; the data has no sector, the first letter of the company's symbol stands for it.
- q4: postures for activities; sitting and lying are passive.
"""

from __future__ import annotations

from dataclasses import replace

from benchmarks.trends.workload import (
    ANY,
    CONTIGUOUS,
    NEXT,
    Aggregate,
    Comparison,
    Step,
    Window,
    Workload,
)

Q1 = Workload(
    steps=(Step("Start", "S"), Step("Load", "L", is_repeated=True), Step("End", "E")), semantics=CONTIGUOUS,
    partition_by=("job", "mapper"), group_by=("job", "mapper"),
    comparison=Comparison("L", "{0}cpu", "<", "{0}cpu"), aggregate=Aggregate("SUM", "L", "{0}cpu"),
    window=Window(60, 30), type="kind",
)
Q2 = Workload(
    steps=(Step("ONTIME", "P"), Step("DELAYED", "T", is_repeated=True), Step("ONTIME", "D")), semantics=NEXT,
    partition_by=("tailnum", "carrier"), group_by=("carrier",),
    aggregate=Aggregate("AVG", "T", "{0}distance / {0}air_time"), window=Window(86_400, 3_600), type="event_type",
)
Q3 = Workload(
    steps=(Step("Stock", "S", is_repeated=True),), semantics=ANY,
    partition_by=("ticker", "sector"), group_by=("sector",),
    comparison=Comparison("S", "{0}close", ">", "{0}close"), window=Window(600, 10),
)
Q4 = Workload(
    steps=(
        Step("Activity", "S", condition="{0}heart_rate < 60"),
        Step("Activity", "A", is_repeated=True, condition="{0}posture IN ('sitting', 'lying')"),
        Step("Activity", "F", condition="{0}heart_rate > 100"),
    ),
    semantics=CONTIGUOUS, partition_by=("subject",), group_by=("subject",), window=Window(600, 30),
)
QUERIES = {"q1": (Q1, "cluster"), "q2": (Q2, "flights"), "q3": (Q3, "nasdaq"), "q4": (Q4, "activity")}
"""Each with the name of its data."""

ACTIVITY = replace(Q4, window=None)
"""q4 over one window."""
TRIPS = replace(Q2, window=None, aggregate=None)
STOCK = replace(Q3, window=None, comparison=None)
"""q3 without its comparison, which A-Seq does not know: the paper's default."""


def grouped_trips(semantics: str) -> Workload:
    """q2 by the column `part`, into which aircraft are put."""
    return replace(TRIPS, semantics=semantics, partition_by=("part",), group_by=("part",))


def selective_stock(semantics: str, factor: float) -> Workload:
    """q3 with a comparison that holds for more or fewer pairs."""
    return replace(STOCK, semantics=semantics, comparison=Comparison("S", "{0}close", ">", f"{{0}}close * {factor!r}"))
