"""The rows of a table in many feeds, many slots open at once: whatever the cut, each slot's answer must be the same."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import Arrangement
from sparkrex.matching.feed import Feed
from sparkrex.matching.slot_table import offsets_of, rows_of_spans
from sparkrex.matching.state import State

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator
    from types import ModuleType


def scattered(
    table: pa.Table, arrangement: Arrangement, draw: random.Random, order: str | None = None
) -> Iterator[Feed]:
    """Every partition is a slot. A feed has the next rows of some slots, in any order of slots; some have none.

    With `order`, the column by which rows are ordered, feeds follow it: no row comes that is ordered before one of an
    earlier feed, and most feeds know a horizon.
    """
    n_slots = len(arrangement.offsets) - 1
    rows = arrangement.input_rows(np.arange(arrangement.n_rows))
    fed, end = arrangement.offsets[:-1].copy(), arrangement.offsets[1:]
    times = None if order is None else _times(table.column(order))
    opened, closed = np.zeros(n_slots, np.bool_), np.zeros(n_slots, np.bool_)
    while not closed.all():
        slots = np.array(draw.sample(range(n_slots), draw.randint(1, n_slots)), np.int64)
        if times is None:
            horizon, length = None, np.minimum([draw.choice([0, 1, 1, 2, 5]) for _ in slots], (end - fed)[slots])
        else:
            slots = np.array(draw.sample(range(n_slots), n_slots), np.int64)
            left = np.sort(np.concatenate([times[rows[fed[slot] : end[slot]]] for slot in range(n_slots)]))
            now = left[min(draw.choice([0, 1, 3]), len(left) - 1)] if len(left) else None
            length = np.array([
                0 if now is None else (times[rows[fed[slot] : end[slot]]] <= now).sum() for slot in slots
            ], np.int64)
            horizon = None
            if now is not None and draw.random() < 0.8:
                horizon = table.column(order)[int(np.flatnonzero(times == now)[0])]
        slots, length = slots[~closed[slots]], length[~closed[slots]]
        closes = (fed[slots] + length == end[slots]) & np.array([draw.random() < 0.7 for _ in slots], np.bool_)
        part = table.take(pa.array(rows[rows_of_spans(fed[slots], length)]))
        yield Feed(
            part, Arrangement(None, offsets_of(length), part.num_rows), slots, ~opened[slots], closes, horizon
        )
        fed[slots] += length
        opened[slots] = True
        closed[slots] |= closes


def _times(column: pa.ChunkedArray) -> Any:
    return column.to_numpy()


def disturb(state: State, draw: random.Random) -> None:
    """Save and restore the state, or take it apart and put it together again: nothing changes."""
    kind = draw.randrange(4)
    if kind == 0:
        changed = State(state.fresh, list(state.tables)[1:]).restore(state.snapshot("plan"), "plan")
    elif kind == 1:
        cut = draw.randint(0, state.n_slots)
        parts = np.split(np.arange(state.n_slots), [cut])
        changed = State.merge([state.select(part) for part in parts])
    else:
        return
    vars(state).update(vars(changed))


@contextmanager
def many_open(engine: ModuleType, runner: type[Any], draw: random.Random, order: str | None = None) -> Iterator[None]:
    """Inside, what an engine feeds its runner with is scattered, and the state is disturbed in between."""
    correct = runner.feed

    def feeds(table: pa.Table, arrangement: Arrangement, chunk_rows: int | None) -> Iterator[Feed]:
        if not table.num_rows:
            return iter([Feed.whole(table, arrangement)])
        return scattered(table, arrangement, draw, order)

    def feed(self: Any, state: State, given: Feed) -> pa.Table:
        result = correct(self, state, given)
        disturb(state, draw)
        return result

    with mock.patch.object(engine, "feeds_of", feeds), mock.patch.object(runner, "feed", feed):
        yield
