"""One bucket of keys on a stream: a function of its state, the rows of a batch and the watermark.

Rows wait until the watermark has passed them, then they are released: put in order and fed to the runner of the query's
mode, all keys of the bucket in one call. A row is late if the watermark of the batch before had passed it, whatever its
key. What a batch costs follows its rows, the slots that time decides, and the shards of its keys.

Nothing here depends on the order in which rows arrive, so a batch that runs again gives the same rows and numbers.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.gather import refitted
from sparkrex.columns.values import ints_of, numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError, InternalError, RexError
from sparkrex.matching.feed import Feed
from sparkrex.matching.gaps import gap_of
from sparkrex.matching.output import name_partition
from sparkrex.matching.waking import NEVER
from sparkrex.spark.worker import WorkerEvaluator
from sparkrex.streams.groups import DUE, LAST, SLOTS_OF_A_SHARD, Group, shards_of, split_from
from sparkrex.streams.head import Head, other_query
from sparkrex.streams.members import Members
from sparkrex.streams.narrow import read_rows, write_rows
from sparkrex.streams.order import ordered_partitions
from sparkrex.streams.packing import HASH, compressed, decompressed, size_of, unpack
from sparkrex.streams.parts import Parts, ends_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.plan import Plan
    from sparkrex.modes.protocol import Answering
    from sparkrex.settings import Settings

HEAD, PENDING, OPEN, MEMBERS = "head", "pending", "open", "members"
"""The parts of a state, beside the shards."""
_NUMBERS_OF_A_BUCKET = 1 << 40
"""Matches of a bucket are numbered from here on times its number, so that no two have one number."""


class Store(Protocol):
    """Where a bucket's state is kept, in parts that are read and written as a whole."""

    def get(self, name: str) -> bytes | None:
        """A part; None if it is not there."""
        ...

    def put(self, name: str, data: bytes) -> None:
        """Write a part."""
        ...

    def delete(self, name: str) -> None:
        """Remove a part that is there."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamTask:
    """A relation's work on a stream, shipped to the workers.

    `schema` is that of the rows that travel, the hash of their keys among them; `time` is the first ORDER BY column,
    which the watermark is of; `output` is the schema of the result. `key_names` are the key columns with the names that
    the user knows them by. `fingerprint` and `text` say whose a state is, and `members`, if the query has some, with
    which others it may go on.
    """

    mode: Answering[Any]
    plan: Plan
    settings: Settings
    schema: pa.Schema
    time: str
    output: pa.Schema
    key_names: tuple[tuple[str, str], ...]
    fingerprint: str
    text: str
    version: str
    members: Members | None = None


@dataclass(frozen=True, slots=True)
class Metrics:
    """What a call did, and what is kept after it. `oldest` is the time of the oldest row that is held back."""

    rows_in: int = 0
    late: int = 0
    released: int = 0
    rows_out: int = 0
    open_keys: int = 0
    rows_held: int = 0
    state_bytes: int = 0
    oldest: int | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Advanced:
    """The result rows that a call decides, the rows that were late, and the watermark at which to call again."""

    rows: pa.Table
    late: pa.Table
    metrics: Metrics
    next_due: int | None = None


class _Counted:
    """A store that knows how many bytes it has more, if every part is read before it is written.

    Bytes are counted before they are compressed: after that, how many they are depends on the order of waiting rows,
    and a batch that runs again must leave the same head.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._sizes: dict[str, int] = {}
        self.n_more = 0

    def get(self, name: str) -> bytes | None:
        data = self._store.get(name)
        self._sizes[name] = 0 if data is None else size_of(data)
        return data

    def put(self, name: str, data: bytes) -> None:
        self.n_more += size_of(data) - self._sizes.get(name, 0)
        self._sizes[name] = size_of(data)
        self._store.put(name, data)

    def delete(self, name: str) -> None:
        self.n_more -= self._sizes.pop(name, 0)
        self._store.delete(name)


@dataclass(eq=False, slots=True)
class _Shards:
    """The shards that a call has read."""

    n_shards: int
    groups: dict[int, Group] = field(default_factory=dict)


class BucketOperator:
    """Calls of all buckets. What it keeps between them only saves time."""

    def __init__(self, task: StreamTask) -> None:
        self.task = task
        self.settings = replace(task.settings, threads=1)  # Spark has given this worker one core
        self.evaluator = WorkerEvaluator(task.plan, self.settings)
        self._plan: Any = None

    def close(self) -> None:
        """Let go of the host."""
        self.evaluator.close()

    def advance(self, bucket: int, store: Store, blobs: Sequence[bytes], watermark: int) -> Advanced:
        """Take the rows of a batch. `watermark` is in microseconds; 0 or less means that there is none yet."""
        task = self.task
        with self._told():
            head = self._head(store)
            now = watermark if watermark > 0 else None
            previous = head.released
            if previous is not None and (now is None or now < previous):
                now = previous  # a watermark never goes back
            rows, late = self._late(unpack(blobs, task.schema), previous)
            is_due = head.next_due is not None and now is not None and head.next_due <= now
            n_in, released, result = rows.num_rows + late.num_rows, 0, self._nothing
            if rows.num_rows or is_due:
                parts = _Counted(store)
                released, result = self._release(bucket, parts, head, rows, now)
                result = self._raised(result, previous)
                head.n_bytes += parts.n_more
            if now != previous or rows.num_rows or is_due:
                head.released = now
                store.put(HEAD, head.write(task.fingerprint, task.text, task.version))
            metrics = replace(
                _kept(head), rows_in=n_in, late=late.num_rows, released=released, rows_out=result.num_rows
            )
            return Advanced(result, late, metrics, head.next_due)

    def drain(self, bucket: int, store: Store) -> Advanced:
        """The rows that the end of all partitions decides. The state stays as it is."""
        task = self.task
        with self._told():
            head = Head.read(store.get(HEAD), task.fingerprint, task.text)
            pending = self._pending(store)
            shards = _Shards(head.n_shards)
            numbers = range(head.n_shards if head.n_silent else 0)
            group = Group.joined([self._open_group(store), *(self._shard(store, shards, one) for one in numbers)])
            group.state.n_numbered = bucket * _NUMBERS_OF_A_BUCKET + head.n_numbered
            group.state.born = head.born
            result, *_ = self._feed(group, pending, None, closes=True)
            return Advanced(result, task.schema.empty_table(), replace(_kept(head), rows_out=result.num_rows))

    def _head(self, store: Store) -> Head:
        """The head of the state, which is brought up to date if it is of other members."""
        task, data = self.task, store.get(HEAD)
        if task.members is not None:
            if data is None:
                store.put(MEMBERS, task.members.write(task.schema))
            elif Head.owner(data)["fingerprint"] != task.fingerprint:
                return self._with_these_members(store, data, task.members)
        return Head.read(data, task.fingerprint, task.text)

    def _with_these_members(self, store: Store, data: bytes, members: Members) -> Head:
        """The head of a state that other members wrote. All slots become due, so that this call sees to each of them.

        What has come so far was not sent to members that are new: they begin behind it.
        """
        task, owner, written = self.task, Head.owner(data), store.get(MEMBERS)
        before, schema = (None, None) if written is None else Members.read(written)
        if before is None or before.base != members.base:
            raise other_query(owner["text"], task.text)
        head, parts = Head.read(data, owner["fingerprint"], task.text), _Counted(store)
        come = head.released or 0
        pending = parts.get(PENDING)
        if pending is not None:
            rows = read_rows(decompressed(pending), schema)
            come = max(come, int(ints_of(plain(rows.column(task.time))).max()))
            parts.put(PENDING, compressed(write_rows(refitted(rows, task.schema))))
        stays = members.staying(before)
        since = {name: time for name, time in head.born.items() if name in stays}
        head.born = {name: since.get(name, come) for name in members.prints if name in since or name not in stays}
        names = [OPEN, *(f"silent/{number}" for number in range(head.n_shards))]
        found = {name: part for name in names if (part := parts.get(name)) is not None}
        if found:
            group = Group.joined([Group.read(part, self.runner, owner["fingerprint"]) for part in found.values()])
            for name in found.keys() - {OPEN}:
                parts.delete(name)
            state = self.runner.takes_over(group.state, stays, task.schema)
            group = Group(group.keys, state).with_column(DUE, np.zeros(len(group), np.int64))
            parts.put(OPEN, group.write(task.fingerprint))
            head.n_open, head.n_silent, head.n_shards, head.next_due = len(group), 0, 1, 0
            head.n_held, head.oldest = group.n_held, group.oldest(task.time)
        head.n_bytes += parts.n_more
        store.put(MEMBERS, members.write(task.schema))
        store.put(HEAD, head.write(task.fingerprint, task.text, task.version))
        return head

    # Rows.

    def _late(self, rows: pa.Table, previous: int | None) -> tuple[pa.Table, pa.Table]:
        """Rows that are in time, and those that are late: a row without a time always is."""
        column = plain(rows.column(self.task.time))
        is_late = np.asarray(column.is_null())
        if previous is not None:
            is_late = is_late | (ints_of(column) <= previous)
        if not is_late.any():
            return rows, self.task.schema.empty_table()
        return rows.filter(wrap(~is_late)), rows.filter(wrap(is_late))

    def _pending(self, store: Store) -> pa.Table:
        data = store.get(PENDING)
        return self.task.schema.empty_table() if data is None else read_rows(decompressed(data), self.task.schema)

    def _release(
        self, bucket: int, store: Store, head: Head, rows: pa.Table, now: int | None
    ) -> tuple[int, pa.Table]:
        """Feed what the watermark has passed, and keep the rest; how many rows, and what they decide."""
        pending = rows if not head.n_pending else pa.concat_tables([self._pending(store), rows])
        times = ints_of(plain(pending.column(self.task.time)))
        is_released = np.zeros(len(times), np.bool_) if now is None else times <= now
        released = pending.filter(wrap(is_released))
        waiting = pending.filter(wrap(~is_released)) if is_released.any() else pending
        self._write_pending(store, head, waiting)
        result, due = self._nothing, NEVER
        if now is not None and (released.num_rows or head.n_open):
            result, due = self._advance_slots(bucket, store, head, released, now)
        elif head.n_open and head.next_due is not None:
            due = head.next_due
        due = min(due, int(times[~is_released].min(initial=NEVER)))
        head.next_due = None if due == NEVER else due
        return released.num_rows, result

    def _write_pending(self, store: Store, head: Head, waiting: pa.Table) -> None:
        if waiting.num_rows:
            store.put(PENDING, compressed(write_rows(waiting)))
        elif head.n_pending:
            store.delete(PENDING)
        head.n_pending = waiting.num_rows

    # Slots.

    def _advance_slots(
        self, bucket: int, store: Store, head: Head, released: pa.Table, now: int
    ) -> tuple[pa.Table, int]:
        """Feed released rows and slots that are due; what they decide, and when the first slot is due again."""
        shards = _Shards(head.n_shards)
        groups = [self._open_group(store) if head.n_open else self._no_slots]
        if head.n_silent and released.num_rows:
            hashes = numpy_of(plain(released.column(HASH)))
            groups += [
                self._shard(store, shards, number)
                for number in np.unique(shards_of(hashes, head.n_shards)).tolist()
            ]
        before = sum(len(group) for group in groups[1:])
        group = Group.joined(groups)
        first_number = bucket * _NUMBERS_OF_A_BUCKET
        group.state.n_numbered, group.state.born = first_number + head.n_numbered, head.born
        n_held = group.n_held
        result, group, fed, closed = self._feed(group, released, now, closes=False)
        head.n_numbered = (group.state.n_numbered or 0) - first_number
        if len(fed):
            runner, going_on = self.runner, fed[~closed]
            due = group.due.copy()
            due[going_on] = runner.wakes(group.state, going_on, now)
            if self.gap is not None:
                due[going_on] = np.minimum(due[going_on], ends_of(group.last[going_on], self.gap))
            group = group.with_column(DUE, due)
            keep = np.ones(len(group), np.bool_)
            keep[fed[closed]] = False
            keep[going_on] = ~runner.forgets(group.state, going_on)
            if not keep.all():
                group = group.where(keep)
        is_open = group.due != NEVER
        open_slots = group if is_open.all() else group.where(is_open)
        silent = group.where(~is_open) if not is_open.all() else None
        due_next = int(open_slots.due.min(initial=NEVER))
        if len(open_slots):
            store.put(OPEN, open_slots.write(self.task.fingerprint))
        elif head.n_open:
            store.delete(OPEN)
        head.n_open = len(open_slots)
        head.n_silent += (0 if silent is None else len(silent)) - before
        self._write_shards(store, head, shards, silent)
        head.n_held += group.n_held - n_held
        head.oldest = open_slots.oldest(self.task.time)
        return result, due_next

    def _feed(
        self, group: Group, released: pa.Table, now: int | None, *, closes: bool
    ) -> tuple[pa.Table, Group, NDArray[np.int64], NDArray[np.bool_]]:
        """What rows and due slots decide; the group with new slots, the slots that were fed, and which closed."""
        rows, parts = released, Parts.none(group)
        if released.num_rows:
            rows, offsets = ordered_partitions(released, self.task.plan, self.keys)
            own = rows.select([*self.keys, HASH]).take(wrap(offsets[:-1]))
            if self.gap is None:
                parts = Parts.by_key(group, own, offsets)
            else:
                parts = Parts.by_gap(group, own, offsets, rows.column(self.task.time), self.gap)
        group_all = parts.group
        others = np.ones(len(group_all), np.bool_) if closes else group_all.due <= (now or 0)
        others[parts.slots] = False
        idle = np.flatnonzero(others)
        fed = np.concatenate((parts.slots, idle))
        closed = np.full(len(fed), closes)
        if not len(fed):
            return self._nothing, group_all, fed, closed
        if self.gap is not None:
            closed[: len(parts.slots)] |= parts.is_over
            closed |= ends_of(group_all.last[fed], self.gap) <= (now or 0)
        end = np.full(len(idle), parts.offsets[-1], np.int64)
        feed = Feed(
            rows, Arrangement(None, np.concatenate((parts.offsets, end)).astype(np.int64), rows.num_rows), fed,
            np.concatenate((parts.opens, np.zeros(len(idle), np.bool_))), closed,
            None if now is None else pa.scalar(now, pa.int64()).cast(self.task.schema.field(self.task.time).type),
        )
        state = group_all.state
        state.plan = self._plan
        with self._naming(group_all):
            result = self.runner.feed(state, feed)
        self._plan = state.plan
        return self._cast(result), group_all, fed, closed

    # Parts of the state.

    @cached_property
    def keys(self) -> list[str]:
        """The key columns."""
        return [column for column, _ in self.task.key_names]

    @cached_property
    def gap(self) -> int | None:
        """How far apart rows of one partition may be, in the integers of their times; None if it does not matter."""
        return gap_of(self.task.plan, self.task.schema.field(self.task.time).type)

    @cached_property
    def runner(self) -> Any:
        """The runner of the plan."""
        sample = self.task.schema.empty_table()
        return self.task.mode.runner(self.task.plan, sample, tuple(self.keys), self.evaluator, self.settings)

    @property
    def _no_slots(self) -> Group:
        schema = pa.schema([self.task.schema.field(name) for name in dict.fromkeys((*self.keys, HASH))])
        times = (DUE,) if self.gap is None else (DUE, LAST)
        for name in times:
            schema = schema.append(pa.field(name, pa.int64()))
        return Group.empty(schema, self.runner)

    @property
    def _nothing(self) -> pa.Table:
        return self.task.output.empty_table()

    def _open_group(self, store: Store) -> Group:
        data = store.get(OPEN)
        return self._no_slots if data is None else Group.read(data, self.runner, self.task.fingerprint)

    def _shard(self, store: Store, shards: _Shards, number: int) -> Group:
        data = store.get(f"silent/{number}")
        group = self._no_slots if data is None else Group.read(data, self.runner, self.task.fingerprint)
        shards.groups[number] = group
        return group

    def _write_shards(self, store: Store, head: Head, shards: _Shards, silent: Group | None) -> None:
        """The silent slots into the shards that were read, and new shards where there are too many slots."""
        parts: dict[int, Group] = {}
        if silent is not None:
            place = shards_of(silent.hashes, head.n_shards)
            for number in np.unique(place).tolist():
                own = silent.where(place == number)
                if number not in shards.groups and head.n_silent > len(silent):
                    # Slots that time has decided come to others, which no row of this batch asked for.
                    own = Group.joined([self._shard(store, shards, number), own])
                parts[number] = own
        for number, old in shards.groups.items():
            if number not in parts and len(old):
                parts[number] = self._no_slots
        while head.n_silent > SLOTS_OF_A_SHARD * head.n_shards:
            self._split(store, head, parts)
        for number, group in sorted(parts.items()):
            if len(group):
                store.put(f"silent/{number}", group.write(self.task.fingerprint))
            elif store.get(f"silent/{number}") is not None:
                store.delete(f"silent/{number}")

    def _split(self, store: Store, head: Head, parts: dict[int, Group]) -> None:
        """One shard more; the slots that are its come out of another."""
        giver, new = split_from(head.n_shards), head.n_shards
        if giver not in parts:
            parts[giver] = self._shard(store, _Shards(head.n_shards), giver)
        head.n_shards += 1
        place = shards_of(parts[giver].hashes, head.n_shards)
        parts[new] = parts[giver].where(place == new)
        parts[giver] = parts[giver].where(place == giver)

    # Results and errors.

    def _raised(self, result: pa.Table, previous: int | None) -> pa.Table:
        """The result with times of matches that are not late to who reads it as a stream.

        A match may be decided long after its last row. Then its time is the first one that is in time in this batch.
        """
        if previous is None:
            return result
        for name in self.task.plan.row_times():
            column = result.column(name)
            least = pa.scalar(previous, pa.int64()).cast(pa.timestamp("us"))
            times = plain(column).view(pa.timestamp("us"))
            is_late = pc.fill_null(pc.less_equal(times, least), False)
            first = pa.scalar(previous + 1, pa.int64()).cast(pa.timestamp("us"))
            raised = pc.if_else(is_late, first, times).view(column.type)
            result = result.set_column(result.column_names.index(name), self.task.output.field(name), raised)
        return result

    def _cast(self, result: pa.Table) -> pa.Table:
        columns = []
        for own in self.task.output:
            column = result.column(own.name)
            columns.append(column if column.type == own.type else column.cast(own.type))
        return pa.table(columns, schema=self.task.output)

    @contextmanager
    def _naming(self, group: Group) -> Iterator[None]:
        """Inside, an error of a slot says which partition it is."""
        try:
            yield
        except ExecutionError as error:
            if error.slot is not None and not error.partition:
                names = [name for _, name in self.task.key_names]
                name_partition(error, names, [group.keys.column(key) for key in self.keys], error.slot)
            raise

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Inside, errors are ours and say where they are."""
        plan = self.task.plan
        try:
            yield
        except RexError as error:
            if error.source is None and error.span is not None:
                error.source = plan.source
            raise
        except MemoryError:
            raise
        except Exception as error:
            raise InternalError(
                "REX901", f"{type(error).__name__}: {error}", plan.source, plan.span,
                hint="this is a fault of SparkRex; please report it with the query and the traceback",
            ) from error


def _kept(head: Head) -> Metrics:
    return Metrics(
        open_keys=head.n_open + head.n_silent, rows_held=head.n_held + head.n_pending, state_bytes=head.n_bytes,
        oldest=head.oldest,
    )
