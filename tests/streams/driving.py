"""A query over a stream, without Spark: random batches and watermarks through the operators of some buckets.

Every call begins with what the stores hold, and an operator of its own now and then, as after a restart.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.wrap import wrap
from sparkrex.modes.events.engine import taking_part
from sparkrex.modes.events.plan import EventQuery
from sparkrex.modes.fingerprint import fingerprint
from sparkrex.modes.tables import mode_of
from sparkrex.modes.trends.engine import in_partitions
from sparkrex.modes.trends.plan import TrendQuery
from sparkrex.pipeline import open_relation, parse_bound, run_relation
from sparkrex.scalar.expression import ColumnAt
from sparkrex.settings import make_settings
from sparkrex.streams.operator import Advanced, BucketOperator, StreamTask
from sparkrex.streams.packing import BUCKET_IDS, HASH, pack

if TYPE_CHECKING:
    from collections.abc import Sequence

N_BUCKETS = 3
TIME = "ts"
EPOCH, TICK = 1_000, 1_000_000
"""Times of tests are so many ticks, and more, after 1970; a tick is a second."""


class DictStore(dict[str, bytes]):
    """Parts in memory, each of them written and read as bytes."""

    def put(self, name: str, data: bytes) -> None:
        assert isinstance(data, bytes)
        self[name] = data

    def delete(self, name: str) -> None:
        del self[name]


@dataclass
class Query:
    """A clause of a language over a table of rows; `options` are those of the call."""

    text: str
    keyword: str = "MATCH_RECOGNIZE"
    options: Any = None
    settings: dict[str, Any] = field(default_factory=dict)

    def batch(self, table: pa.Table) -> pa.Table:
        """The answer over all rows."""
        with open_relation(self._parsed, {"rex_input": table}, self._settings) as (plan, rows, evaluator):
            return run_relation(plan, rows, evaluator, self._settings)

    @cached_property
    def _settings(self) -> Any:
        return make_settings({"tie_break": (), **self.settings})

    @cached_property
    def _parsed(self) -> Any:
        return parse_bound(self.text, "spark", self.keyword, self.options, None)

    def task(self, table: pa.Table) -> StreamTask:
        """The task over rows of a table."""
        with open_relation(self._parsed, {"rex_input": table.slice(0, 0)}, self._settings) as (plan, rows, evaluator):
            output = run_relation(plan, rows, evaluator, self._settings).schema
            keys = tuple(
                (key.expression.column, key.name) for key in plan.partition_by if isinstance(key.expression, ColumnAt)
            )
            schema = rows.schema.append(pa.field(HASH, pa.int64()))
            return StreamTask(
                mode=mode_of(plan.mode), plan=plan, settings=self._settings, schema=schema, time=TIME, output=output,
                key_names=keys, fingerprint=fingerprint(plan), text=self.text, version="test",
            )

    def taking_part(self, table: pa.Table) -> pa.Table:
        """The rows that Spark would send: of event queries those that can take part."""
        with open_relation(self._parsed, {"rex_input": table}, self._settings) as (plan, rows, evaluator):
            if isinstance(plan, EventQuery):
                return taking_part(plan, rows, evaluator, self._settings)
            return in_partitions(plan, rows) if isinstance(plan, TrendQuery) else rows


@dataclass
class Driven:
    """What a stream has given, batch by batch, and which rows were late."""

    results: list[pa.Table]
    late: pa.Table
    drained: pa.Table
    stores: list[DictStore]


class Stream:
    """Buckets of one query, called batch by batch."""

    def __init__(self, query: Query, table: pa.Table, draw: random.Random | None = None) -> None:
        self.task = query.task(table)
        self.query, self.draw = query, draw or random.Random(0)
        self.stores = [DictStore() for _ in range(N_BUCKETS)]
        self.operator = BucketOperator(self.task)
        self.watermark = self.previous = 0

    def batch(self, rows: pa.Table, watermark: int) -> list[Advanced]:
        """One batch: rows in any order, cut into map tasks, then all buckets."""
        if self.draw.random() < 0.3:
            self.operator.close()
            self.operator = BucketOperator(self.task)
        blobs: dict[int, list[bytes]] = {identity: [] for identity in BUCKET_IDS[:N_BUCKETS]}
        hashed = with_hash(self.query.taking_part(rows), [column for column, _ in self.task.key_names])
        order = list(range(hashed.num_rows))
        self.draw.shuffle(order)
        hashed = hashed.select(self.task.schema.names).take(pa.array(order, pa.int64()))
        cut = self.draw.randint(0, hashed.num_rows)
        for part in (hashed.slice(0, cut), hashed.slice(cut)):
            for identity, blob in pack(part.cast(self.task.schema).to_batches(), N_BUCKETS):
                blobs[identity].append(blob)
        found = []
        for number, identity in enumerate(BUCKET_IDS[:N_BUCKETS]):
            self.draw.shuffle(blobs[identity])
            found.append(self.operator.advance(number, self.stores[number], blobs[identity], watermark))
        self.previous, self.watermark = self.watermark, watermark
        return found

    def drain(self) -> pa.Table:
        """What only the end decides."""
        before = [dict(store) for store in self.stores]
        found = [self.operator.drain(number, store).rows for number, store in enumerate(self.stores)]
        assert before == [dict(store) for store in self.stores]
        return pa.concat_tables(found)


def with_hash(table: pa.Table, keys: Sequence[str]) -> pa.Table:
    """The rows with a hash of their keys. Few hashes, so that different keys have the same one."""
    lines = list(zip(*(table.column(key).to_pylist() for key in keys), strict=True)) if keys else [()] * table.num_rows
    hashes = np.array([_hash(line) for line in lines], np.int64)
    return table.append_column(HASH, wrap(hashes))


def _hash(line: tuple[Any, ...]) -> int:
    known = tuple("NaN" if one != one else 0.0 if one == 0 else one for one in line)
    return (random.Random(repr(known)).getrandbits(5) * 0x9E3779B97F4A7C15 + 12345) % 2**64 - 2**63


def drive(query: Query, table: pa.Table, draw: random.Random) -> Driven:
    """Rows in the order in which they arrive, in random batches, each with the watermark that Spark would have."""
    stream = Stream(query, table, draw)
    results, late = [], []
    delay = draw.choice([0, 1, 3, 10]) * TICK
    at = high = 0
    times = table.column(TIME).cast(pa.int64()).to_pylist()
    while at < table.num_rows or draw.random() < 0.5:
        watermark = max(stream.watermark, high - delay)
        n_rows = min(draw.choice([0, 0, 1, 1, 2, 5, 20]), table.num_rows - at)
        for advanced in stream.batch(table.slice(at, n_rows), watermark):
            results.append(advanced.rows)
            late.append(advanced.late)
        high = max([high, *(time for time in times[at : at + n_rows] if time is not None)])
        at += n_rows
    return Driven(results, pa.concat_tables([stream.task.schema.empty_table(), *late]), stream.drain(), stream.stores)
