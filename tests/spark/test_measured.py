"""What EXPLAIN ANALYZE on Spark makes of what tasks tell, without Spark: the clock is ours here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest

from sparkrex import stopwatch
from sparkrex.columns.cuts import lap_order
from sparkrex.spark import measuring
from sparkrex.spark.measured import describe
from sparkrex.spark.measuring import Measuring
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator


class Clock:
    """A clock that goes when it is told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """The clock of stopwatches and tasks."""
    made = Clock()
    monkeypatch.setattr(stopwatch, "perf_counter", made)
    monkeypatch.setattr(measuring, "perf_counter", made)
    return made


@dataclass
class HalfOfRows:
    """Gives every second row: one second to start, two for each batch."""

    clock: Clock

    def watched(self, batches: Iterator[pa.RecordBatch], watch: Stopwatch) -> Iterator[pa.RecordBatch]:
        self.clock.now += 1
        watch.lap("start")
        for batch in batches:
            self.clock.now += 2
            watch.lap("halve", {"rows": batch.num_rows // 2})
            yield batch.slice(0, batch.num_rows // 2)


def test_waiting_is_a_stage_of_its_own(clock: Clock) -> None:
    def batches() -> Iterator[pa.RecordBatch]:
        for n_rows in (10, 6):
            clock.now += 5
            yield pa.record_batch({"x": list(range(n_rows))})
        clock.now += 3  # until it is clear that there are no more

    (row,) = pa.Table.from_batches(list(Measuring(HalfOfRows(clock))(batches()))).to_pylist()
    assert row == {
        "seconds": 18.0, "given": 8, "largest": 0,
        "laps": [
            {"stage": "receive", "seconds": 13.0}, {"stage": "start", "seconds": 1.0},
            {"stage": "halve", "seconds": 4.0},
        ],
        "counts": [{"stage": "halve", "word": "rows", "number": 8}],
    }


def test_partitions_cut_by_chunks_are_counted_once() -> None:
    rng = np.random.default_rng(18)
    for _ in range(200):
        sizes = rng.integers(1, 9, rng.integers(1, 7))
        ends = np.cumsum(sizes)
        cuts = np.unique(np.append(rng.integers(1, ends[-1] + 1, rng.integers(0, 5)), ends[-1]))
        watch, low = Stopwatch(), 0
        for high in cuts.tolist():
            inner = ends[(ends > low) & (ends < high)]
            offsets = np.concatenate(([low], inner, [high])) - low
            given = offsets.copy()
            lap_order(watch, offsets, goes_on=low > 0 and low not in ends)
            assert (offsets == given).all()
            low = high
        assert watch.largest == sizes.max()
        assert watch.counts == {("order", "rows"): sizes.sum(), ("order", "partitions"): len(sizes)}


def _task(seconds: float, n_rows: int, largest: int = 0) -> dict[str, Any]:
    return {
        "seconds": seconds, "given": n_rows // 10, "largest": largest,
        "laps": [{"stage": "receive", "seconds": seconds / 2}, {"stage": "match", "seconds": seconds / 2}],
        "counts": [
            {"stage": "receive", "word": "rows", "number": n_rows},
            {"stage": "match", "word": "matches", "number": n_rows // 10},
        ],
    }


def test_tasks_are_added_up() -> None:
    tasks = [_task(1, 100, 90), _task(2, 120, 20), _task(30, 4000, 3900), _task(0.5, 0)]
    assert describe("Workers match", tasks, 31).lines() == [
        "Workers match, run in 31.00 s by 4 tasks: 422 rows given; times below are sums over tasks",
        "├─ slowest task 30.00 s with 4,000 rows, median 2.00 s: 15 times; 1 without rows",
        "├─ largest partition 3,900 rows of 4,220",
        "├─ receive: 16.75 s waiting for Spark, 4,220 rows",
        "└─ match: 16.75 s, 422 matches",
    ]


def test_no_rows_and_no_tasks() -> None:
    assert describe("Workers match", [], 0.5).lines()[1:] == ["└─ no rows"]
    assert describe("Workers match", [_task(0.5, 0)], 0.5).lines()[1] == "├─ no rows"
