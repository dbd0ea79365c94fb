"""Feeding a segment runner at random: many slots open, rows cut anywhere, horizons, and states that are taken apart."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import Arrangement
from sparkrex.matching.feed import Feed
from sparkrex.matching.slot_table import offsets_of
from sparkrex.matching.state import State

if TYPE_CHECKING:
    from random import Random

    from sparkrex.modes.segments.runner import SegmentRunner


@dataclass(eq=False)
class Feeding:
    """Partitions, as rows in order, on their way into a runner. `order` is the first column of ORDER BY, ascending.

    `results` has, for each partition, the tables of all feeds; `n_early` counts rows given out before the partition
    was closed.
    """

    runner: SegmentRunner
    schema: pa.Schema
    partitions: list[list[dict[str, Any]]]
    order: str
    draw: Random
    results: list[pa.Table] = field(default_factory=list)
    n_early: int = 0

    def run(self) -> None:
        """Feed everything."""
        self.state = self.runner.open()
        n_partitions = len(self.partitions)
        self.given = [0] * n_partitions
        self.slot: dict[int, int] = {}
        self.closed: set[int] = set()
        while len(self.closed) < n_partitions:
            self._change_the_state()
            waiting = [place for place in range(n_partitions) if place not in self.closed]
            chosen = self.draw.sample(waiting, self.draw.randint(1, len(waiting)))
            self._feed(chosen)

    def _feed(self, chosen: list[int]) -> None:
        draw = self.draw
        opens, closes, rows, lengths = [], [], [], []
        for place in chosen:
            opens.append(place not in self.slot)
            if place not in self.slot:
                taken = set(self.slot.values())
                self.slot[place] = next(slot for slot in range(1000) if slot not in taken)
            n = draw.choice([0, 1, 1, 2, 3, 8])
            new = self.partitions[place][self.given[place] : self.given[place] + n]
            self.given[place] += len(new)
            rows += new
            lengths.append(len(new))
            closes.append(self.given[place] == len(self.partitions[place]) and draw.random() < 0.5)
        table = pa.Table.from_pylist(rows, schema=self.schema)
        order = None
        if draw.random() < 0.5:  # the rows of a feed may come in any order, with their arrangement
            order = np.array(draw.sample(range(len(rows)), len(rows)), np.int64)
            shuffled = np.empty(len(rows), np.int64)
            shuffled[order] = np.arange(len(rows))
            table = table.take(pa.array(shuffled))
        slots = np.array([self.slot[place] for place in chosen], np.int64)
        feed = Feed(
            table, Arrangement(order, offsets_of(np.array(lengths, np.int64)), len(rows)), slots,
            np.array(opens, np.bool_), np.array(closes, np.bool_), self._horizon(),
        )
        result = self.runner.feed(self.state, feed)
        self.results.append(result)
        ended = [place for place, is_over in zip(chosen, closes, strict=True) if is_over]
        keys = {self.partitions[place][0]["k"] for place in chosen if place not in ended}
        self.n_early += sum(key in keys for key in result.column("k").to_pylist())
        for place in ended:
            del self.slot[place]
        self.closed.update(ended)

    def _horizon(self) -> pa.Scalar | None:
        """A value that no row to come is at or before; NULLs come last."""
        if self.draw.random() < 0.4:
            return None
        coming = [
            row[self.order] for place, rows in enumerate(self.partitions) for row in rows[self.given[place] :]
            if row[self.order] is not None
        ]
        highest = min(coming) - 1 if coming else 100
        return pa.scalar(highest - self.draw.choice([0, 0, 1, 5]), self.schema.field(self.order).type)

    def _change_the_state(self) -> None:
        """Save and restore it, or number its slots anew by way of two states."""
        draw = self.draw
        what = draw.choice(["nothing", "nothing", "nothing", "restore", "select"])
        if what == "restore":
            self.state = self.runner.open().restore(self.state.snapshot("plan"), "plan")
        if what == "select" and self.slot:
            order = draw.sample(sorted(self.slot), len(self.slot))
            cut = draw.randint(0, len(order))
            parts = [
                self.state.select(np.array([self.slot[place] for place in part], np.int64))
                for part in (order[:cut], order[cut:])
            ]
            self.state = State.merge(parts)
            self.slot = {place: slot for slot, place in enumerate(order)}

    def rows_of(self, key: str) -> list[tuple[Any, ...]]:
        """All result rows of a partition, in the order in which they came, doubles as they are in memory."""
        return [row for table in self.results for row in written(table, key)]


def written(table: pa.Table, key: str) -> list[tuple[Any, ...]]:
    """The result rows of a partition, doubles as they are in memory."""
    rows = [row.values() for row in table.to_pylist() if row["k"] == key]
    return [tuple(value.hex() if isinstance(value, float) else value for value in row) for row in rows]
