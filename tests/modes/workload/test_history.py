"""What a run keeps of the events that it was fed with, however they are cut into chunks."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.modes.workload.history import FEW_ROWS, RECENT_ROWS, History
from sparkrex.settings import Settings


@pytest.mark.parametrize("length", [1, 7, 500, 5000])
def test_rows_of_the_window_are_kept(length: int) -> None:
    run = rex.workload({"ab": "PATTERN SEQ(A a, B b) WITHIN 50"}, time="ts", type="kind").open(adaptive=False)
    run.feed(pa.table({"ts": [0], "kind": ["A"]}))
    (group,) = run._groups.values()
    history, times = History(), np.arange(30 * length if length < 500 else 10_000)
    for first in range(0, len(times), length):
        chunk = pa.table({"ts": times[first : first + length]})
        history.add(chunk, group.plan.queries, run.workload.settings)
    assert history.table is not None
    assert history.table.column("ts").to_pylist() == times[-51:].tolist()


def test_without_a_window_everything_is_kept() -> None:
    history, queries, settings = History(), [SimpleNamespace(window=None)], Settings()
    for first in range(0, 3000, 100):
        history.add(pa.table({"ts": np.arange(first, first + 100)}), queries, settings)  # type: ignore[arg-type]
    assert history.table is not None
    assert history.table.num_rows == 3000


@pytest.mark.parametrize("length", [1, 400, 999, 1001, 20_000])
def test_the_last_rows_are_there_in_few_pieces(length: int) -> None:
    history, settings = History(), Settings()
    queries: list[Any] = []
    for first in range(0, 25_000, length):
        history.add(pa.table({"ts": np.arange(first, first + length)}), queries, settings)
    rows = np.concatenate([part.column("ts").to_numpy() for part in history.recent])
    assert len(rows) >= RECENT_ROWS
    assert len(rows) - history.recent[0].num_rows < RECENT_ROWS
    assert (np.diff(rows) == 1).all()
    assert len(history.recent) <= 2 * RECENT_ROWS // FEW_ROWS + 2
