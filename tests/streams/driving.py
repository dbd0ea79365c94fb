"""A query over a stream, without Spark: random batches and watermarks through the operators of some buckets.

Every call begins with what the stores hold, and an operator of its own now and then, as after a restart.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import duckdb
import numpy as np
import pyarrow as pa
import sqlglot

from sparkrex.columns.arrange import Arrangement
from sparkrex.errors import ExecutionError
from sparkrex.matching.feed import Feed
from sparkrex.matching.side_rows import ROW, side_fields
from sparkrex.modes.fingerprint import fingerprint
from sparkrex.modes.protocol import Settling
from sparkrex.modes.tables import mode_of
from sparkrex.modes.trends.merge import merge_partials
from sparkrex.pipeline import open_relation, parse_bound, run_relation
from sparkrex.settings import make_settings
from sparkrex.spark.side_rows import carry_row, outputs_with_side_rows
from sparkrex.spark.worker import WorkerEvaluator
from sparkrex.streams.members import Members
from sparkrex.streams.operator import BucketOperator
from sparkrex.streams.packing import BUCKET_IDS, pack
from sparkrex.streams.store import HEAD
from sparkrex.streams.task import Advanced, StreamTask

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.spark.lowering import Lowered

N_BUCKETS = 3
TIME = "ts"
PLACE = "rex_place"
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
        return make_settings(self.settings)

    @cached_property
    def _parsed(self) -> Any:
        return parse_bound(self.text, "spark", self.keyword, self.options, None)

    def cut(self, table: pa.Table) -> Cut:
        """The query as Spark and its workers would see it, over rows of a table."""
        with open_relation(self._parsed, {"rex_input": table.slice(0, 0)}, self._settings) as (plan, _, _):
            mode = mode_of(plan.mode)

        def types(lowered: Lowered, names: Sequence[str]) -> pa.Schema:
            return projected(lowered, table.slice(0, 0)).select(list(names)).schema

        lowered = mode.lower(plan, "rin", self._settings, None, types)
        if self._settings.side_rows:
            carry_row(lowered, "rin", table.column_names)
        if isinstance(mode, Settling):
            lowered.worker = mode.settled(lowered.worker)
        members = Members.of(plan, N_BUCKETS)
        if plan.mode == "events":
            lowered.worker = replace(lowered.worker, equal_by=())
        return Cut(self, mode, lowered, projected(lowered, table.slice(0, 0)).schema, members)


@dataclass
class Cut:
    """What Spark does, which DuckDB does here, and what the workers do."""

    query: Query
    mode: Any
    lowered: Lowered
    schema: pa.Schema
    members: Members | None = None

    def task(self) -> StreamTask:
        """The task of the workers."""
        plan, settings = self.lowered.worker, self.query._settings
        evaluator = WorkerEvaluator(plan, settings)
        runner = self.mode.runner(plan, self.schema.empty_table(), self.lowered.keys, evaluator, settings)
        nothing = Arrangement(None, np.zeros(1, np.int64), 0)
        output = runner.feed(runner.open(), Feed.whole(self.schema.empty_table(), nothing)).schema
        evaluator.close()
        if settings.side_rows:
            output = pa.schema([*output, *side_fields(self.schema.field(ROW).type)])
        return StreamTask(
            mode=self.mode, plan=plan, settings=settings, schema=self.schema, hashed=tuple(self.lowered.keys),
            time=self.lowered.order[0], output=output, key_names=self.lowered.key_names(),
            fingerprint=fingerprint(plan), text=self.query.text, version="test", members=self.members,
        )

    def rows(self, table: pa.Table) -> pa.Table:
        """The rows that travel."""
        return self.numbered(table).drop_columns([PLACE])

    def numbered(self, table: pa.Table) -> pa.Table:
        """The rows that travel, with their places in the table."""
        placed = table.append_column(PLACE, pa.array(range(table.num_rows), pa.int64()))
        sent = projected(self.lowered, placed, PLACE)
        return sent.cast(self.schema.append(pa.field(PLACE, pa.int64())))

    def merged(self, given: pa.Table) -> pa.Table:
        """What the workers of the second step make of what those of the first give in one batch."""
        if self.lowered.following is None:
            return given
        following: Any = self.lowered.following.worker  # only trends have one
        return merge_partials(following.query, following.layout, given, 1)

    def result(self, given: pa.Table) -> pa.Table:
        """The result from what workers give in one batch."""
        return self.selected(self.merged(given))

    def selected(self, given: pa.Table) -> pa.Table:
        """The result from what the last workers give."""
        if not self.lowered.outputs:
            return given
        has_sides = self.query._settings.side_rows
        outputs = outputs_with_side_rows(self.lowered) if has_sides else self.lowered.outputs
        texts = [f'{_duckdb(text)} AS "{name}"' for name, text in outputs.items()]
        return _ask(f"SELECT {', '.join(texts)} FROM given", given=given)


def projected(lowered: Lowered, table: pa.Table, *others: str) -> pa.Table:
    """The columns that Spark would project, and some others."""
    texts = [f'{_duckdb(text)} AS "{name}"' for name, text in lowered.projections.items()]
    texts += others
    where = f" WHERE {_duckdb(lowered.where)}" if lowered.where else ""
    return _ask(f"SELECT {', '.join(texts)} FROM rin{where}", rin=table)


def _duckdb(text: str) -> str:
    return sqlglot.transpile(text, read="spark", write="duckdb")[0]


def _ask(sql: str, **tables: pa.Table) -> pa.Table:
    with duckdb.connect() as connection:
        for name, table in tables.items():
            connection.register(name, table)
        return connection.sql(sql).to_arrow_table()


@dataclass
class Driven:
    """The result of a stream with its drain, which rows were late, and how many were said to be.

    `n_given` and `n_drained` result rows came from the stream and from the drain. `error` is the code of the error that
    stopped the stream or the drain, after `n_read` rows of the table.
    """

    result: pa.Table
    n_given: int
    n_drained: int
    is_late: pa.Array
    n_late: int
    stores: list[DictStore]
    n_read: int
    error: str | None = None


class Stream:
    """Buckets of one query, called batch by batch."""

    def __init__(self, query: Query, table: pa.Table, draw: random.Random | None = None) -> None:
        self.cut = query.cut(table)
        self.task = self.cut.task()
        self.draw = draw or random.Random(0)
        self.stores = [DictStore() for _ in range(N_BUCKETS)]
        self.operator = FewHashes(self.task)
        self.watermark = 0

    def batch(self, rows: pa.Table, watermark: int) -> list[Advanced]:
        """One batch: rows in any order, cut into map tasks, then all buckets."""
        return self.send(self.cut.rows(rows), watermark)

    def send(self, sent: pa.Table, watermark: int) -> list[Advanced]:
        """One batch of rows as they travel. Now and then a bucket does it twice, as if it had failed at the end."""
        if self.draw.random() < 0.3:
            self._restart()
        found = []
        blobs = self._blobs(sent)
        for number, identity in enumerate(BUCKET_IDS[:N_BUCKETS]):
            store = self.stores[number]
            before = DictStore(store)
            found.append(self.operator.advance(number, store, blobs[identity], watermark))
            if self.draw.random() < 0.25:
                if self.draw.random() < 0.5:
                    self._restart()
                again = self.operator.advance(number, before, self._blobs(sent)[identity], watermark)
                assert repr(again.rows.to_pylist()) == repr(found[-1].rows.to_pylist()), "replay gives other rows"
                assert again.metrics == found[-1].metrics, "replay gives other metrics"
                assert before.keys() == store.keys(), "replay gives a state of other parts"
                assert before.get(HEAD) == store.get(HEAD), "replay gives another head"
                self.stores[number] = self.draw.choice([before, store])
        previous, self.watermark = self.watermark, watermark
        times = [None if time is None else time.value for time in sent.column(self.task.time)]
        must_be_late = sent.filter(pa.array([time is None or 0 < previous >= time for time in times], pa.bool_()))
        late = pa.concat_tables([advanced.late for advanced in found])
        assert sorted(map(repr, late.to_pylist())) == sorted(map(repr, must_be_late.to_pylist())), "other late rows"
        return found

    def _restart(self) -> None:
        self.operator.close()
        self.operator = FewHashes(self.task)

    def _blobs(self, sent: pa.Table) -> dict[int, list[bytes]]:
        """The blobs of each bucket, rows and blobs in any order."""
        blobs: dict[int, list[bytes]] = {identity: [] for identity in BUCKET_IDS[:N_BUCKETS]}
        order = list(range(sent.num_rows))
        self.draw.shuffle(order)
        sent = sent.take(pa.array(order, pa.int64()))
        at = self.draw.randint(0, sent.num_rows)
        for part in (sent.slice(0, at), sent.slice(at)):
            for identity, blob in pack(part.to_batches(), N_BUCKETS, self.operator.hashes):
                blobs[identity].append(blob)
        for of_bucket in blobs.values():
            self.draw.shuffle(of_bucket)
        return blobs

    def drain(self) -> pa.Table:
        """What only the end decides."""
        before = [dict(store) for store in self.stores]
        found = [self.operator.drain(number, store).rows for number, store in enumerate(self.stores)]
        assert before == [dict(store) for store in self.stores]
        return pa.concat_tables(found)


class FewHashes(BucketOperator):
    """Different keys have the same hash."""

    def hashes(self, rows: pa.Table) -> NDArray[np.int64]:
        return few_hashes(rows, self.task.hashed)


def few_hashes(rows: pa.Table, keys: Sequence[str]) -> NDArray[np.int64]:
    """A hash of each row's keys, one of few."""
    lines = list(zip(*(rows.column(key).to_pylist() for key in keys), strict=True)) if keys else [()] * rows.num_rows
    return np.array([_hash(line) for line in lines], np.int64)


def _hash(line: tuple[Any, ...]) -> int:
    known = tuple("NaN" if one != one else 0.0 if one == 0 else one for one in line)
    return (random.Random(repr(known)).getrandbits(5) * 0x9E3779B97F4A7C15 + 12345) % 2**64 - 2**63


def drive(query: Query, table: pa.Table, draw: random.Random) -> Driven:
    """Rows in the order in which they arrive, in random batches, each with the watermark that Spark would have.

    Rows that the watermark of the batch before has passed are late.
    """
    stream = Stream(query, table, draw)
    rows = stream.cut.numbered(table)
    places = rows.column(PLACE).to_numpy()
    rows = rows.drop_columns([PLACE])
    results = [stream.cut.merged(stream.task.output.empty_table())]
    is_late: list[bool] = []
    n_late = at = high = 0
    delay = draw.choice([0, 0, 1, 3, 10]) * TICK
    times = table.column(TIME).cast(pa.int64()).to_pylist()
    drained, error = results[0], None
    try:
        while at < table.num_rows or draw.random() < 0.7:
            # Spark's watermarks are whole milliseconds.
            previous, watermark = stream.watermark, max(stream.watermark, (high - delay) // 1000 * 1000)
            begin, at = at, min(at + draw.choice([0, 0, 1, 1, 2, 5, 20]), table.num_rows)
            fed = times[begin:at]
            is_late += [time is None or 0 < previous >= time for time in fed]
            low, top = np.searchsorted(places, (begin, at)).tolist()
            of_batch = stream.send(rows.slice(low, top - low), watermark)
            results.append(stream.cut.merged(pa.concat_tables([advanced.rows for advanced in of_batch])))
            n_late += sum(advanced.metrics.late for advanced in of_batch)
            high = max([high, *(time for time in fed if time is not None)])
            if high and draw.random() < (0.1 if at < table.num_rows else 0.4):  # rows that no bucket of ours sees
                high += draw.choice([1, 4, 50]) * TICK
        drained = stream.cut.merged(stream.drain())
    except ExecutionError as stopped:
        error = stopped.code
    given = pa.concat_tables(results)
    result = stream.cut.selected(pa.concat_tables([given, drained]))
    return Driven(
        result, given.num_rows, drained.num_rows, pa.array(is_late, pa.bool_()), n_late, stream.stores, at, error
    )
