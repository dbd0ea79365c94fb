"""What a stream keeps: nothing of silent keys that nothing needs, little of others, in parts that are not all read."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pytest
from tests.differential.relations import one_database
from tests.streams.driving import EPOCH, TICK, TIME, DictStore, Query, Stream
from tests.streams.test_stream_equals_batch import EVENTS, TRENDS, TYPES
from tests.streams.workloads import query_of

from sparkrex.columns.narrow import write_rows
from sparkrex.columns.wrap import wrap
from sparkrex.streams.columns import COLUMNS
from sparkrex.streams.head import Head
from sparkrex.streams.operator import BucketOperator
from sparkrex.streams.silent import ENOUGH_SLOTS, SLOTS_OF_A_SHARD
from sparkrex.streams.store import HEAD, MEMBERS

if TYPE_CHECKING:
    from numpy.typing import NDArray

FAR = (EPOCH + 1_000_000) * TICK
WITHIN = (
    "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, LAST(id) AS b{0} "
    "PATTERN (A B*) WITHIN INTERVAL '5' SECOND DEFINE A AS x > 0, B AS x > PREV(x)"
)
FORGETTING = {
    "a row pattern": Query(WITHIN.format(""), settings={"tie_break": "id"}),
    "sessions": Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, COUNT(*) AS n PATTERN (S E*) "
        "DEFINE E AS ts - PREV(ts) <= INTERVAL '3' SECOND", settings={"tie_break": "id"},
    ),
    "events": Query(
        "PATTERN SEQ(A a, B+ b[], ~(C c)) WHERE skip_till_any_match(a, b[]) { [k] } WITHIN 6 seconds RETURN a.id AS a",
        "MATCH_EVENTS", EVENTS,
    ),
    "trends": Query(
        "RETURN k, COUNT(*) AS n PATTERN A+ SEMANTICS skip-till-any-match WHERE [k] GROUP-BY k "
        "WITHIN 10 seconds SLIDE 3 seconds", "MATCH_TRENDS", TRENDS,
    ),
    "workloads": query_of({
        "pairs": "PATTERN SEQ(A a, B b, NOT(C c)) WHERE [k] AND a.x < b.x WITHIN 6 seconds",
        "alone": "PATTERN SEQ(A a, NOT(B b)) WHERE [k] WITHIN 9 seconds",
        "next": "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] } WITHIN 7 seconds",
    }, types=TYPES, tie_break="id"),
    "segments": Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(A.id) AS a, LAST(A.id) AS b ALL MATCHES PATTERN (A) "
        "DEFINE SEGMENT A AS sum(x) > 2 AND window(ts, 0, 6, SECOND)", settings={"tie_break": "id"},
    ),
}


def rows_of_keys(keys: NDArray[np.int64], *, ticks: int = 0, n: int = 2) -> pa.Table:
    """Some rows of each key, one a tick; the second is higher than the first."""
    places = np.arange(len(keys) * n)
    return pa.table({
        "id": wrap(places), "k": pa.array([f"k{key}" for key in np.repeat(keys, n)]),
        "x": wrap(2 * (places % n) + 1),
        TIME: wrap((EPOCH + ticks + places % n) * TICK).cast(pa.timestamp("us")),
    })


class CountingStore(DictStore):
    """Counts how often each part is read and written."""

    def __init__(self) -> None:
        super().__init__()
        self.n_used: Counter[str] = Counter()

    def get(self, name: str, default: bytes | None = None) -> bytes | None:  # type: ignore[override]
        self.n_used[name] += 1
        return super().get(name, default)

    def put(self, name: str, data: bytes) -> None:
        self.n_used[name] += 1
        super().put(name, data)

    def delete(self, name: str) -> None:
        self.n_used[name] += 1
        super().delete(name)


class OneBucket:
    """One bucket, of keys with as many hashes."""

    def __init__(self, query: Query, sample: pa.Table) -> None:
        stream = Stream(query, sample)
        self.cut, self.task = stream.cut, stream.task
        self.operator = BucketOperator(self.task)
        self.store = CountingStore()

    def batch(self, rows: pa.Table, watermark: int) -> int:
        """How many result rows a batch gives."""
        sent = self.cut.rows(rows)
        blobs = [write_rows(sent)] if sent.num_rows else [b""]
        rows_out: int = self.operator.advance(0, self.store, blobs, watermark).metrics.rows_out
        return rows_out

    @property
    def head(self) -> Head:
        return Head.read(self.store[HEAD], self.task.fingerprint, self.task.text)


@pytest.mark.parametrize("name", FORGETTING)
def test_once_all_windows_have_passed_nothing_is_kept(name: str) -> None:
    rows, of_buckets = rows_of_keys(np.arange(20)), {HEAD, MEMBERS, COLUMNS}
    with one_database():
        stream = Stream(FORGETTING[name], rows)
        stream.batch(rows, 0)
        found = stream.batch(rows.slice(0, 0), (EPOCH + 1) * TICK)
        assert any(set(store) - of_buckets for store in stream.stores)
        due = [one.next_due for one in found if one.next_due is not None]
        assert due
        n_calls = 0
        while due and n_calls < 10:
            found = stream.batch(rows.slice(0, 0), min(due))
            due = [one.next_due for one in found if one.next_due is not None]
            n_calls += 1
        assert not due
        assert all(set(store) <= of_buckets for store in stream.stores)
        assert sum(one.metrics.open_keys + one.metrics.rows_held + one.metrics.state_bytes for one in found) == 0
        assert stream.drain().num_rows == 0


def test_every_slot_is_due_at_its_own_time() -> None:
    with one_database():
        rows = pa.concat_tables([rows_of_keys(np.array([key]), ticks=3 * key, n=1) for key in range(3)])
        bucket = OneBucket(FORGETTING["a row pattern"], rows)
        bucket.batch(rows, (EPOCH + 1) * TICK)
        for key in range(3):
            end = (EPOCH + 3 * key + 5) * TICK - 1
            assert bucket.batch(rows.slice(0, 0), end - 1) == 0
            assert bucket.batch(rows.slice(0, 0), end) == 1


def test_match_numbers_cost_a_small_record_for_each_key() -> None:
    with one_database():
        rows = rows_of_keys(np.arange(3000))
        bucket = OneBucket(Query(WITHIN.format(", MATCH_NUMBER() AS m"), settings={"tie_break": "id"}), rows)
        bucket.batch(rows, 0)
        assert bucket.batch(rows.slice(0, 0), FAR) == 3000
        head = bucket.head
        assert (head.n_open, head.n_held, head.n_pending, head.n_silent) == (0, 0, 0, 3000)
        assert head.n_bytes < 100 * 3000
        assert head.next_due is None
        # The number goes on, and the key is silent again.
        again = rows_of_keys(np.arange(1), ticks=2_000_000)
        bucket.batch(again, FAR)
        assert bucket.batch(again.slice(0, 0), 2 * FAR) == 1
        assert (bucket.head.n_silent, bucket.head.n_open) == (3000, 0)


def silent_keys(n_keys: int, n_batches: int) -> tuple[OneBucket, pa.Table, int]:
    """A bucket with so many keys of a row each that waits for the next, and a watermark behind them."""
    query = Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a PATTERN (A B) DEFINE A AS x > 0, B AS x > 3",
        settings={"tie_break": "id"},
    )
    rows = rows_of_keys(np.arange(n_keys), n=1)
    bucket = OneBucket(query, rows)
    watermark = EPOCH * TICK
    for keys in np.array_split(np.arange(n_keys), n_batches):
        bucket.batch(rows_of_keys(keys, ticks=(watermark // TICK) - EPOCH + 1, n=1), watermark)
        watermark += 2 * TICK
        bucket.batch(rows.slice(0, 0), watermark)
    return bucket, rows, watermark


def test_a_batch_reads_and_writes_the_shards_of_its_keys() -> None:
    n_keys = 20_000
    with one_database():
        bucket, rows, at = silent_keys(n_keys, 40)
        head = bucket.head
        assert head.n_silent == n_keys == sum(one.n_slots for one in head.generations)
        assert 1 < len(head.generations) <= n_keys // ENOUGH_SLOTS + 3 * 3
        shards = {name for name in bucket.store if name.startswith("silent/")}
        assert len(shards) >= n_keys // SLOTS_OF_A_SHARD
        indexes = {name for name in bucket.store if name.startswith("index/")}
        assert 0 < sum(len(bucket.store[name]) for name in indexes) < 5 * n_keys
        # Keys that are new find that in indexes, and go to a part of their own.
        bucket.store.n_used.clear()
        bucket.batch(rows_of_keys(np.arange(n_keys, n_keys + 100), ticks=1000, n=1), at := at + 2000 * TICK)
        used = {name for name in bucket.store.n_used if name.startswith("silent/")}
        assert len(used) <= 3 * 3 + 1
        n_generations = len(bucket.head.generations)
        # Keys that come back are taken out of their shards, and then go to another part.
        bucket.store.n_used.clear()
        bucket.batch(rows_of_keys(np.arange(17, n_keys, 2000), ticks=3000, n=1), at := at + 2000 * TICK)
        used = {name for name in bucket.store.n_used if name.startswith("silent/")}
        assert 0 < len(used) <= 10 + 3 * 3 + 1
        assert max(bucket.store.n_used[name] for name in used) <= 2
        assert bucket.head.n_held == bucket.head.n_silent == n_keys + 100
        assert len(bucket.head.generations) <= n_generations + 1
        # A call that decides nothing reads the head alone.
        bucket.store.n_used.clear()
        bucket.batch(rows.slice(0, 0), at + TICK)
        assert set(bucket.store.n_used) == {HEAD}


def test_what_a_batch_of_new_keys_costs_does_not_follow_the_keys_before() -> None:
    with one_database():
        few, many = (silent_keys(n_keys, n_keys // 500) for n_keys in (10_000, 40_000))
        n_bytes: list[int] = []
        for bucket, _, at in (few, many):
            before = dict(bucket.store)
            bucket.store.n_used.clear()
            bucket.batch(rows_of_keys(np.arange(100_000, 100_500), ticks=2000, n=1), at + 3000 * TICK)
            sizes = {name: len(data) for name, data in {**bucket.store, **before}.items()}
            n_bytes.append(sum(n_used * sizes.get(name, 0) for name, n_used in bucket.store.n_used.items()))
            assert bucket.head.n_silent == bucket.head.n_held
        assert n_bytes[1] < n_bytes[0] + 5 * 30_000  # indexes


def test_parts_of_silent_keys_are_there_once_and_no_longer_than_they_are_needed() -> None:
    n_keys = 3000
    with one_database():
        bucket, _, at = silent_keys(n_keys, 6)
        draw = np.random.default_rng(1)
        for turn in range(20):
            keys = np.unique(draw.integers(0, n_keys, draw.choice([1, 50, 2000])))
            if turn % 7 == 5:
                keys = np.arange(n_keys)
            at += 10 * TICK
            bucket.batch(rows_of_keys(keys, ticks=at // TICK - EPOCH - 1, n=1), at)
            head = bucket.head
            assert head.n_silent == n_keys, f"turn {turn}"
            named = {
                name for one in head.generations for name in bucket.store
                if name.startswith((f"silent/{one.number}/", f"index/{one.number}"))
            }
            assert named == {name for name in bucket.store if "/" in name}
            kept = list(bucket.operator._silent(0, bucket.store, head).every())
            hashes = np.concatenate([group.hashes for group in kept])
            assert len(hashes) == len(np.unique(hashes)) == n_keys
