"""When a segment runner gives its results out, what it holds back, what it refuses, and what its errors say."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.modes.segments.analysis import analyzed
from tests.modes.segments.test_plans import evaluator

from sparkrex.columns.arrange import Arrangement
from sparkrex.errors import ExecutionError, InternalError
from sparkrex.matching.feed import Feed
from sparkrex.matching.feeding import partition_named
from sparkrex.matching.slot_table import offsets_of
from sparkrex.matching.state import ROWS
from sparkrex.modes.segments.aggregates import registry
from sparkrex.modes.segments.runner import SegmentRunner
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from sparkrex.matching.state import State

TYPES = {"k": "VARCHAR", "t": "BIGINT", "x": "DOUBLE"}
SCHEMA = pa.schema({"k": pa.string(), "t": pa.int64(), "x": pa.float64()})
PARTITIONED = "PARTITION BY k ORDER BY t MEASURES START_INDEX() AS i, END_INDEX() AS j, MATCH_NUMBER() AS n"


def runner_of(clause: str, schema: pa.Schema = SCHEMA, types: Any = TYPES, **settings: Any) -> SegmentRunner:
    search = analyzed(f"{PARTITIONED} {clause}", dialect="duckdb", columns=types)
    return SegmentRunner(search, schema.empty_table(), ("k",), evaluator(), Settings(**settings))


def fed(
    runner: SegmentRunner, state: State, rows: dict[int, list[Any]], *, opens: set[int] | None = None,
    closes: set[int] | None = None, horizon: Any = None,
) -> list[tuple[Any, ...]]:
    """Feed times, or times and values, by slot; the result rows."""
    pairs = [
        (slot, row if isinstance(row, tuple) else (row, 0.0)) for slot, values in rows.items() for row in values
    ]
    table = pa.Table.from_pylist(
        [{"k": f"k{slot}", "t": t, "x": x} for slot, (t, x) in pairs], schema=runner.sample.schema
    )
    offsets = offsets_of(np.array([len(values) for values in rows.values()], np.int64))
    slots = list(rows)
    feed = Feed(
        table, Arrangement(None, offsets, table.num_rows), np.array(slots, np.int64),
        np.array([slot in (opens or ()) for slot in slots], np.bool_),
        np.array([slot in (closes or ()) for slot in slots], np.bool_),
        None if horizon is None else pa.scalar(horizon, table.schema.field("t").type),
    )
    with partition_named(feed, ["k"], ["k"]):
        return [tuple(row.values()) for row in runner.feed(state, feed).to_pylist()]


def test_a_window_of_rows_is_over_with_its_last_row() -> None:
    runner = runner_of("PATTERN (S) DEFINE SEGMENT S AS window(2, 3)")
    state = runner.open()
    assert fed(runner, state, {0: [1, 2]}, opens={0}) == []
    assert fed(runner, state, {0: [3]}) == [("k0", 0, 1, 1), ("k0", 0, 2, 2)]
    assert state.tables[ROWS].lengths(np.array([0])).tolist() == [2]
    assert fed(runner, state, {0: []}, horizon=100) == []  # a horizon says nothing of how many rows come
    assert fed(runner, state, {0: []}, closes={0}) == [("k0", 1, 2, 3)]


def test_a_window_of_time_is_over_with_a_row_beyond_it_or_with_the_horizon() -> None:
    runner = runner_of("PATTERN (S) DEFINE SEGMENT S AS window(t, 1, 5)")
    state = runner.open()
    assert fed(runner, state, {0: [0, 5]}, opens={0}) == []
    assert fed(runner, state, {0: []}, horizon=4) == []
    # Both bounds are inclusive: at 5 another row might come, were it not for the horizon.
    assert fed(runner, state, {0: []}, horizon=5) == [("k0", 0, 1, 1)]
    assert fed(runner, state, {0: [10]}) == []
    assert fed(runner, state, {0: [11]}) == [("k0", 1, 2, 2)]
    assert state.tables[ROWS].lengths(np.array([0])).tolist() == [2]


def test_a_horizon_of_times() -> None:
    schema = pa.schema({"k": pa.string(), "t": pa.timestamp("us"), "x": pa.float64()})
    runner = runner_of(
        "PATTERN (S) DEFINE SEGMENT S AS window(t, 1, 5, MINUTE)", schema, {**TYPES, "t": "TIMESTAMP"}
    )
    begin = datetime(2024, 1, 1)
    state = runner.open()
    times = [begin, begin + timedelta(minutes=5)]
    assert fed(runner, state, {0: times}, opens={0}, horizon=begin + timedelta(minutes=4, seconds=59)) == []
    assert fed(runner, state, {0: []}, horizon=begin + timedelta(minutes=5)) == [("k0", 0, 1, 1)]


def test_a_time_without_a_value_ends_all_windows() -> None:
    runner = runner_of("PATTERN (S) DEFINE SEGMENT S AS window(t, 1, 5)")
    state = runner.open()
    assert fed(runner, state, {0: [0, 2]}, opens={0}) == []
    assert fed(runner, state, {0: [None]}) == [("k0", 0, 1, 1)]
    assert state.tables[ROWS].lengths(np.array([0])).tolist() == [0]


def test_a_time_without_a_value_in_a_window_that_bounds_nothing() -> None:
    """The bound is in rows; the window inside prunes all the same, unless there are NULLs."""
    runner = runner_of("PATTERN (S & W) DEFINE SEGMENT S AS window(t, 2, NULL), SEGMENT W AS window(1, 3)")
    assert runner.reach is not None
    assert (runner.reach.rows, runner.reach.growth, runner.reach.column) == (3, None, "t")
    state = runner.open()
    assert fed(runner, state, {0: [0, 1, 2]}, opens={0}) == [("k0", 0, 2, 1)]
    assert fed(runner, state, {0: [3, None, None]}) == [("k0", 1, 3, 2)]
    assert fed(runner, state, {0: []}, closes={0}) == []


def test_skipping_goes_on_where_the_last_match_led() -> None:
    runner = runner_of("AFTER MATCH SKIP PAST LAST ROW PATTERN (S) DEFINE SEGMENT S AS window(3, 3)")
    state = runner.open()
    assert fed(runner, state, {0: [0, 1], 1: [0]}, opens={0, 1}) == []
    assert fed(runner, state, {1: [1, 2, 3], 0: [2]}) == [("k1", 0, 2, 1), ("k0", 0, 2, 1)]
    assert state.tables[ROWS].lengths(np.array([0, 1])).tolist() == [0, 1]
    assert fed(runner, state, {0: [3, 4, 5, 6], 1: [4]}, closes={1}) == [("k0", 3, 5, 2)]


def test_rows_that_are_read_before_and_behind_a_match_are_there() -> None:
    define = "SEGMENT S AS window(2, 2), P AS x > PREV(x, 2) AND x < NEXT(x)"
    runner = runner_of(f"PATTERN (P S) DEFINE {define}")
    assert runner.reach is not None
    assert (runner.reach.before, runner.reach.after) == (2, 1)
    state = runner.open()
    found = []
    for t in range(12):
        found += fed(runner, state, {0: [(t, float(t))]}, opens={0} if t == 0 else None)
        assert state.tables[ROWS].lengths(np.array([0]))[0] <= 4
    assert [row[1] for row in found] == list(range(2, 10))
    assert fed(runner, state, {0: []}, closes={0}) == [("k0", 10, 11, 9)]


def test_a_plan_is_made_once_and_not_saved() -> None:
    runner = runner_of("PATTERN (S) DEFINE SEGMENT S AS window(2, 2)")
    state = runner.open()
    fed(runner, state, {0: [1]}, opens={0})
    assert state.plan is None  # nothing to search yet
    fed(runner, state, {0: [2]})
    plan = state.plan
    fed(runner, state, {0: [3]})
    assert plan is not None and state.plan is plan
    assert state.select(np.array([0])).plan is plan
    restored = runner.open().restore(state.snapshot("s"), "s")
    assert restored.plan is None
    assert fed(runner, restored, {0: [4]}) == fed(runner, state, {0: [4]}) == [("k0", 2, 3, 3)]


@pytest.mark.parametrize(("clause", "reason"), [
    ("PATTERN (S) DEFINE SEGMENT S AS avg(x) > 0", "no upper bound"),
    ("PATTERN (S) DEFINE SEGMENT S AS window(x, 0, 3)", "no upper bound"),
    ("ALL MATCHES PATTERN (A B+) DEFINE B AS x > avg(A.x) AND sum(B.x) < 3", "every mapping"),
    ("PATTERN (S) DEFINE SEGMENT S AS window(1, 3) AND whole_mean(x) > 0", "whole_mean has an index"),
])
def test_what_cannot_be_fed_says_why_before_the_start(clause: str, reason: str) -> None:
    @registry.aggregate(name="whole_mean")
    class WholeMean:
        def scan(self, x: Any) -> Any:
            return x.mean()

        def index(self, x: Any) -> Any:
            return np.concatenate([[0.0], x.cumsum()])

        def lookup(self, index: Any, start: Any, end: Any) -> Any:
            return (index[end + 1] - index[start]) / (end - start + 1)

    try:
        search = analyzed(
            f"{PARTITIONED} {clause}", dialect="duckdb", columns=TYPES, user_aggregates=registry.user_defined()
        )
        runner = SegmentRunner(search, SCHEMA.empty_table(), ("k",), evaluator(), Settings())
        assert runner.refusal is not None and reason in runner.refusal
        with pytest.raises(InternalError, match="fed in parts"):
            fed(runner, runner.open(), {0: [1]}, opens={0})
        assert isinstance(fed(runner, runner.open(), {0: [1, 2]}, opens={0}, closes={0}), list)
    finally:
        registry.forget("whole_mean")


def test_errors_have_their_slot() -> None:
    runner = runner_of(
        "AFTER MATCH SKIP TO FIRST S PATTERN (S) DEFINE SEGMENT S AS window(2, 2)"
    )
    state = runner.open()
    fed(runner, state, {7: [1], 3: [1]}, opens={7, 3})
    with pytest.raises(ExecutionError, match="REX401") as caught:
        fed(runner, state, {3: [2]})
    assert (caught.value.slot, caught.value.partition) == (3, (("k", "k3"),))
    with pytest.raises(ExecutionError, match="REX406") as caught:
        runner = runner_of("PATTERN (S) DEFINE SEGMENT S AS window(1, 50)", max_open_rows=4)
        fed(runner, runner.open(), {2: [1], 5: [1, 2, 3, 4, 5]}, opens={2, 5})
    assert (caught.value.slot, caught.value.partition) == (5, (("k", "k5"),))
