"""Slots of a state against a dictionary of lists: read, write, clear, select, merge, snapshot and restore."""

from __future__ import annotations

import random
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from sparkrex.columns.arrange import Arrangement
from sparkrex.errors import ExecutionError, InternalError
from sparkrex.matching.feed import Feed
from sparkrex.matching.feeding import feeds_of
from sparkrex.matching.slot_table import SlotTable, offsets_of
from sparkrex.matching.state import ROWS, State
from sparkrex.settings import Settings

FRESH = np.array((0, True), [("n", np.int64), ("begins", np.bool_)])
SETTINGS = Settings()


def table_of(values: list[int]) -> pa.Table:
    return pa.table({"x": pa.array(values, pa.int64()), "s": pa.array([str(value) for value in values])})


def feed_of(rows: dict[int, list[int]], opens: set[int], closes: set[int]) -> Feed:
    lengths = np.array([len(values) for values in rows.values()], np.int64)
    table = table_of([value for values in rows.values() for value in values])
    slots = list(rows)
    return Feed(
        table, Arrangement(None, offsets_of(lengths), table.num_rows), np.array(slots, np.int64),
        np.array([slot in opens for slot in slots], np.bool_), np.array([slot in closes for slot in slots], np.bool_),
    )


def contents(table: SlotTable, slots: list[int]) -> list[list[int]]:
    rows, offsets = table.read(np.array(slots, np.int64))
    values = [] if rows is None else rows.column("x").to_pylist()
    assert rows is None or rows.column("s").to_pylist() == [str(value) for value in values]
    return [values[first:last] for first, last in pairwise(offsets.tolist())]


@pytest.mark.parametrize("seed", range(6))
def test_slots_are_what_was_written(seed: int) -> None:
    """Small and large writes, so that pieces are merged and copied without their dead rows."""
    draw = random.Random(seed)
    table, model = SlotTable(), dict[int, list[int]]()
    for _ in range(400):
        slots = draw.sample(range(60), draw.choice([1, 1, 2, 30]))
        new = {slot: [draw.randrange(1000) for _ in range(draw.choice([0, 1, 3, 40]))] for slot in slots}
        if draw.random() < 0.1:
            table.clear(np.array(slots, np.int64))
            new = {slot: [] for slot in slots}
        else:
            lengths = np.array([len(values) for values in new.values()], np.int64)
            rows = table_of([value for values in new.values() for value in values])
            table.write(np.array(slots, np.int64), rows, offsets_of(lengths))
        model |= new
        asked = draw.sample(range(70), 5)
        assert contents(table, asked) == [model.get(slot, []) for slot in asked]
    assert contents(table, list(range(70))) == [model.get(slot, []) for slot in range(70)]
    n_live = sum(map(len, model.values()))
    whole, _ = table.read(np.arange(70))
    assert whole is not None and whole.num_rows == n_live
    assert table.n_pieces < 100


def test_a_write_costs_its_own_rows() -> None:
    """Many slots, one row at a time: pieces stay few, and dead rows are given back."""
    table = SlotTable()
    for slot in range(3000):
        table.write(np.array([slot]), table_of([slot]), np.array([0, 1]))
    assert table.n_pieces <= 60
    for _ in range(200):
        table.write(np.array([7]), table_of([1, 2, 3]), np.array([0, 3]))
    assert table.n_pieces <= 60
    table.clear(np.arange(3000))
    assert (table.n_pieces, table.nbytes) == (0, 0)


def test_a_frame_is_the_rows_held_and_then_the_new_ones() -> None:
    state = State(FRESH)
    feed = feed_of({4: [1, 2, 3], 2: [5, 6], 9: [7]}, {4, 2, 9}, {9})
    frame = state.open(feed)
    assert frame.table.column("x").to_pylist() == [1, 2, 3, 5, 6, 7]
    state.numbers["n"][[4, 2, 9]] = [40, 20, 90]
    state.close(feed, frame, np.array([1, 5, 5]), SETTINGS)  # slot 4 keeps 2 and 3, slot 2 nothing, slot 9 closes
    feed = feed_of({2: [8], 4: [], 1: [9, 10]}, {1}, set())
    frame = state.open(feed)
    assert frame.table.column("x").to_pylist() == [8, 2, 3, 9, 10]
    assert (frame.offsets.tolist(), frame.n_held.tolist()) == ([0, 1, 3, 5], [0, 2, 0])
    assert state.numbers["n"][[4, 2, 9]].tolist() == [40, 20, 0]
    assert [frame.place_of(row) for row in range(5)] == [0, 1, 1, 2, 2]
    reopened = state.open(feed_of({4: [11]}, {4}, set()))
    assert reopened.table.column("x").to_pylist() == [11]
    assert state.numbers["n"][4] == 0


def test_select_merge_snapshot_and_restore() -> None:
    draw = random.Random(3)
    state = State(FRESH, ["runs"])
    rows = {slot: [draw.randrange(100) for _ in range(draw.randrange(4))] for slot in range(20)}
    feed = feed_of(rows, set(rows), set())
    frame = state.open(feed)
    state.numbers["n"][:20] = np.arange(20) * 10
    state.tables["runs"].write(np.array([3, 5]), table_of([1, 2, 3]), np.array([0, 1, 3]))
    state.close(feed, frame, frame.begin, SETTINGS)
    some = state.select(np.array([5, 3, 11, 25]))
    assert contents(some.tables[ROWS], [0, 1, 2, 3]) == [rows[5], rows[3], rows[11], []]
    assert contents(some.tables["runs"], [0, 1, 2]) == [[2, 3], [1], []]
    assert some.numbers["n"].tolist() == [50, 30, 110, 0]
    merged = State.merge([some, state])
    assert contents(merged.tables[ROWS], [0, 4 + 7]) == [rows[5], rows[7]]
    restored = State(FRESH, ["runs"]).restore(merged.snapshot("f"), "f")
    assert restored.n_slots == merged.n_slots
    assert (restored.numbers == merged.numbers).all()
    every = list(range(merged.n_slots))
    for name in (ROWS, "runs"):
        assert contents(restored.tables[name], every) == contents(merged.tables[name], every)
    with pytest.raises(InternalError, match="plan f, this is g"):
        State(FRESH, ["runs"]).restore(merged.snapshot("f"), "g")
    assert State(FRESH).restore(State(FRESH).snapshot("f"), "f").n_slots == 0


def test_limits_name_the_slot() -> None:
    feed = feed_of({8: [1], 5: [1, 2, 3]}, {8, 5}, set())
    state = State(FRESH)
    frame = state.open(feed)
    with pytest.raises(ExecutionError, match="REX406") as caught:
        state.close(feed, frame, frame.begin, Settings(max_open_rows=2))
    assert caught.value.slot == 5
    with pytest.raises(ExecutionError, match="REX415"):
        state.close(feed, frame, frame.begin, Settings(max_state_memory=10))


def test_what_is_left_of_a_large_frame_does_not_keep_it_in_memory() -> None:
    feed = feed_of({0: list(range(10_000))}, {0}, set())
    state = State(FRESH)
    state.close(feed, state.open(feed), np.array([9_990]), SETTINGS)
    held, _ = state.tables[ROWS].read(np.array([0]))
    assert held is not None and held.get_total_buffer_size() < 1000


@pytest.mark.parametrize("chunk_rows", [None, 1, 2, 3, 5, 100])
def test_chunks_cover_every_row_once(chunk_rows: int | None) -> None:
    table = table_of([3, 1, 2, 9, 8])
    arrangement = Arrangement(np.array([1, 2, 0, 4, 3]), np.array([0, 3, 5]), 5)
    seen: dict[int, list[int]] = {}
    ended: set[int] = set()
    for feed in feeds_of(table, arrangement, chunk_rows):
        offsets = feed.arrangement.offsets
        for place, slot in enumerate(feed.slots.tolist()):
            assert (slot in seen) != feed.opens[place]
            assert slot not in ended
            rows = feed.arrangement.input_rows(np.arange(offsets[place], offsets[place + 1]))
            seen.setdefault(slot, []).extend(feed.table.column("x").take(rows).to_pylist())
            ended |= {slot} if feed.closes[place] else set()
    assert seen == {0: [1, 2, 3], 1: [8, 9]}
    assert ended == {0, 1}
