"""One bucket of keys on a stream: a function of its state, the rows of a batch and the watermark.

Rows wait until the watermark has passed them, then they are released: put in order and fed to the runner of the query's
mode, all keys of the bucket in one call. A row is late if the watermark of the batch before had passed it, whatever its
key. What a batch costs follows its rows and the slots that time decides, not the keys that were ever seen.

Nothing here depends on the order in which rows arrive, so a batch that runs again gives the same rows and numbers.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.gather import refitted
from sparkrex.columns.hashing import hashes_of
from sparkrex.columns.narrow import read_rows, write_rows
from sparkrex.columns.values import ints_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError, InternalError, RexError
from sparkrex.matching.feed import Feed
from sparkrex.matching.gaps import gap_of
from sparkrex.matching.output import name_partition
from sparkrex.matching.runner import Gathering
from sparkrex.matching.side_rows import SIDE_COLUMNS, row_type_of, with_side_rows
from sparkrex.matching.waking import NEVER
from sparkrex.spark.worker import WorkerEvaluator
from sparkrex.streams.columns import COLUMNS, WrittenColumns
from sparkrex.streams.groups import DUE, HASH, LAST, Group
from sparkrex.streams.head import Head, not_this_query, reading
from sparkrex.streams.members import Members
from sparkrex.streams.order import ordered_partitions
from sparkrex.streams.packing import compressed, decompressed, unpack
from sparkrex.streams.parts import Parts, ends_of
from sparkrex.streams.silent import Silent
from sparkrex.streams.store import HEAD, MEMBERS, OPEN, PARTIAL, PENDING, CountedStore
from sparkrex.streams.task import Advanced, Metrics

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from sparkrex.matching.side_rows import Failure
    from sparkrex.streams.store import Store
    from sparkrex.streams.task import StreamTask

_NUMBERS_OF_A_BUCKET = 1 << 40
"""Matches of a bucket are numbered from here on times its number, so that no two have one number."""


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
            head = self._head(bucket, store)
            now = watermark if watermark > 0 else None
            previous = head.released
            if previous is not None and (now is None or now < previous):
                now = previous  # a watermark never goes back
            rows, late = self._late(unpack(blobs, task.schema), previous)
            is_due = head.next_due is not None and now is not None and head.next_due <= now
            n_in, released, result = rows.num_rows + late.num_rows, 0, self._no_match
            failures: list[Failure] = []
            if rows.num_rows or is_due:
                parts = CountedStore(store)
                released, result, failures = self._release(bucket, parts, head, rows, now)
                result = self._raised(result, previous)
                head.n_bytes += parts.n_more
            if now != previous or rows.num_rows or is_due:
                head.released = now
                store.put(HEAD, head.write(task.fingerprint, task.text, task.version))
            metrics = replace(
                _kept(head), rows_in=n_in, late=late.num_rows, errors=len(failures), released=released,
                rows_out=result.num_rows,
            )
            return Advanced(self._with_side_rows(result, failures, late), late, metrics, head.next_due)

    def drain(self, bucket: int, store: Store, blobs: Sequence[bytes] = ()) -> Advanced:
        """The rows that the end of all partitions decides. The state stays as it is.

        `blobs` have rows that are there only now: what the end decides of a query whose results this one reads.
        """
        task = self.task
        with self._told():
            head = Head.read(store.get(HEAD), task.fingerprint, task.text, lambda: self._changes(store))
            pending = pa.concat_tables([self._pending(store), self._last_rows(blobs, head.released)])
            group = Group.joined([self._open_group(store), *self._silent(bucket, store, head).every()])
            group.state.n_numbered = bucket * _NUMBERS_OF_A_BUCKET + head.n_numbered
            group.state.born = head.born
            result, *_ = self._feed(group, pending, self.hashes(pending), None, closes=True)
            if self.gathering is not None:
                result = self.gathering.gather(pa.concat_tables([self._partials(store, head), result]), None).final
                result = self._cast(result)
            failures = group.state.take_failures()
            metrics = replace(_kept(head), errors=len(failures), rows_out=result.num_rows)
            nothing = task.schema.empty_table()
            return Advanced(self._with_side_rows(result, failures, nothing), nothing, metrics)

    def _head(self, bucket: int, store: Store) -> Head:
        """The head of the state, which is brought up to date if it is of other members."""
        task, data = self.task, store.get(HEAD)
        if data is None:
            store.put(COLUMNS, task.columns().write())
        if task.members is not None:
            if data is None:
                store.put(MEMBERS, task.members.write(task.schema))
            elif Head.owner(data)["fingerprint"] != task.fingerprint:
                return self._with_these_members(bucket, store, data, task.members)
        return Head.read(data, task.fingerprint, task.text, lambda: self._changes(store))

    def _changes(self, store: Store) -> list[str]:
        """How the columns of the query that wrote the state differ."""
        written = store.get(COLUMNS)
        return [] if written is None else WrittenColumns.read(written).changes(self.task.columns())

    def _with_these_members(self, bucket: int, store: Store, data: bytes, members: Members) -> Head:
        """The head of a state that other members wrote. All slots become due, so that this call sees to each of them.

        What has come so far was not sent to members that are new: they begin behind it.
        """
        task, owner, written = self.task, Head.owner(data), store.get(MEMBERS)
        before, schema = (None, None) if written is None else Members.read(written)
        if before is None or before.base != members.base:
            raise not_this_query(owner, task.fingerprint, task.text, self._changes(store))
        head, parts = Head.read(data, owner["fingerprint"], task.text), CountedStore(store)
        come = head.released or 0
        pending = parts.get(PENDING)
        if pending is not None:
            rows = read_rows(decompressed(pending), schema)
            come = max(come, int(ints_of(plain(rows.column(task.time))).max()))
            parts.put(PENDING, compressed(write_rows(refitted(rows, task.schema))))
        stays = members.staying(before)
        since = {name: time for name, time in head.born.items() if name in stays}
        head.born = {name: since.get(name, come) for name in members.prints if name in since or name not in stays}
        found = Silent(bucket, parts, head, self.runner, owner["fingerprint"]).take_all()
        with reading(OPEN):
            slots = parts.get(OPEN)
            found += [] if slots is None else [Group.read(slots, self.runner, owner["fingerprint"])]
        if found:
            group = Group.joined(found)
            state = self.runner.takes_over(group.state, stays, task.schema)
            group = Group(group.keys, state).with_column(DUE, np.zeros(len(group), np.int64))
            parts.put(OPEN, group.write(task.fingerprint))
            head.n_open, head.next_due = len(group), 0
            head.n_held, head.oldest = group.n_held, group.oldest(task.time)
        head.n_bytes += parts.n_more
        store.put(MEMBERS, members.write(task.schema))
        store.put(COLUMNS, task.columns().write())
        store.put(HEAD, head.write(task.fingerprint, task.text, task.version))
        return head

    # Rows.

    def hashes(self, rows: pa.Table) -> NDArray[np.int64]:
        """The hashes of the rows' keys."""
        return hashes_of(rows, self.task.hashed)

    def _late(self, rows: pa.Table, previous: int | None) -> tuple[pa.Table, pa.Table]:
        """Rows that are in time, and those that are late: a row without a time always is."""
        column = plain(rows.column(self.task.time))
        is_late = np.asarray(column.is_null())
        if previous is not None:
            is_late = is_late | (ints_of(column) <= previous)
        if not is_late.any():
            return rows, self.task.schema.empty_table()
        return rows.filter(wrap(~is_late)), rows.filter(wrap(is_late))

    def _last_rows(self, blobs: Sequence[bytes], previous: int | None) -> pa.Table:
        """Rows that come when all others have; the operator before would have raised their times (`_raised`)."""
        rows, _ = self._late(unpack(blobs, self.task.schema), None)
        if previous is None or not rows.num_rows:
            return rows
        place = rows.column_names.index(self.task.time)
        return rows.set_column(place, rows.schema.field(place), raised(rows.column(place), previous))

    def _pending(self, store: Store) -> pa.Table:
        return self._rows(PENDING, store.get(PENDING), self.task.schema)

    def _rows(self, name: str, data: bytes | None, schema: pa.Schema) -> pa.Table:
        """The rows of a part."""
        if data is None:
            return schema.empty_table()
        with reading(name):
            return read_rows(decompressed(data), schema)

    def _release(
        self, bucket: int, store: Store, head: Head, rows: pa.Table, now: int | None
    ) -> tuple[int, pa.Table, list[Failure]]:
        """Feed what the watermark has passed, and keep the rest; how many rows, what they decide, and what failed."""
        pending = rows if not head.n_pending else pa.concat_tables([self._pending(store), rows])
        times = ints_of(plain(pending.column(self.task.time)))
        is_released = np.zeros(len(times), np.bool_) if now is None else times <= now
        released = pending.filter(wrap(is_released))
        waiting = pending.filter(wrap(~is_released)) if is_released.any() else pending
        self._write_pending(store, head, waiting)
        result, due = self._no_match, NEVER
        failures: list[Failure] = []
        if now is not None and (released.num_rows or head.n_open):
            result, failures, due = self._advance_slots(bucket, store, head, released, now)
        elif head.n_open and head.next_due is not None:
            due = head.next_due
        if self.gathering is not None and now is not None:
            result, due_partial = self._gather(store, head, result, now)
            due = min(due, due_partial)
        due = min(due, int(times[~is_released].min(initial=NEVER)))
        head.next_due = None if due == NEVER else due
        return released.num_rows, result, failures

    def _gather(self, store: Store, head: Head, result: pa.Table, now: int) -> tuple[pa.Table, int]:
        """Of partial results, those of this call and those kept, the ones that get no others; when the next does.

        All buckets give the ones of a window in the same batch, so that who merges them keeps nothing.
        """
        assert self.gathering is not None
        gathered = self.gathering.gather(pa.concat_tables([self._partials(store, head), result]), now)
        waiting = self._cast(gathered.waiting)
        if waiting.num_rows:
            store.put(PARTIAL, compressed(write_rows(waiting)))
        elif head.n_partial:
            store.delete(PARTIAL)
        head.n_partial = waiting.num_rows
        return self._cast(gathered.final), gathered.due

    def _write_pending(self, store: Store, head: Head, waiting: pa.Table) -> None:
        if waiting.num_rows:
            store.put(PENDING, compressed(write_rows(waiting)))
        elif head.n_pending:
            store.delete(PENDING)
        head.n_pending = waiting.num_rows

    # Slots.

    def _advance_slots(
        self, bucket: int, store: Store, head: Head, released: pa.Table, now: int
    ) -> tuple[pa.Table, list[Failure], int]:
        """Feed released rows and slots that are due; what they decide, what failed, and when the first slot is due."""
        silent = self._silent(bucket, store, head)
        hashes = self.hashes(released)
        group = self._open_group(store) if head.n_open else self._no_slots
        if head.n_silent and released.num_rows:
            group = Group.joined([group, *silent.take(hashes)])
        first_number = bucket * _NUMBERS_OF_A_BUCKET
        group.state.n_numbered, group.state.born = first_number + head.n_numbered, head.born
        n_held = group.n_held
        result, group, fed, closed = self._feed(group, released, hashes, now, closes=False)
        failures = group.state.take_failures()
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
        due_next = int(open_slots.due.min(initial=NEVER))
        if len(open_slots):
            store.put(OPEN, open_slots.write(self.task.fingerprint))
        elif head.n_open:
            store.delete(OPEN)
        head.n_open = len(open_slots)
        if not is_open.all():
            silent.add(group.where(~is_open))
        head.n_held += group.n_held - n_held
        head.oldest = open_slots.oldest(self.task.time)
        return result, failures, due_next

    def _feed(
        self, group: Group, released: pa.Table, hashes: NDArray[np.int64], now: int | None, *, closes: bool
    ) -> tuple[pa.Table, Group, NDArray[np.int64], NDArray[np.bool_]]:
        """What rows and due slots decide; the group with new slots, the slots that were fed, and which closed."""
        rows, parts = released, Parts.none(group)
        if released.num_rows:
            found = ordered_partitions(released, self.task.plan, self.keys, hashes)
            rows = found.rows
            firsts = wrap(found.firsts)
            own = pa.table([*(released.column(name).take(firsts) for name in self.keys), wrap(hashes[found.firsts])],
                           [*self.keys, HASH])
            if self.gap is None:
                parts = Parts.by_key(group, own, found.offsets)
            else:
                parts = Parts.by_gap(group, own, found.offsets, rows.column(self.task.time), self.gap)
        group_all = parts.group
        others = np.ones(len(group_all), np.bool_) if closes else group_all.due <= (now or 0)
        others[parts.slots] = False
        idle = np.flatnonzero(others)
        fed = np.concatenate((parts.slots, idle))
        closed = np.full(len(fed), closes)
        if not len(fed):
            return self._no_match, group_all, fed, closed
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
        return list(dict.fromkeys(column for column, _ in self.task.key_names))

    @cached_property
    def gap(self) -> int | None:
        """How far apart rows of one partition may be, in the integers of their times; None if it does not matter."""
        return gap_of(self.task.plan, self.task.schema.field(self.task.time).type)

    @cached_property
    def runner(self) -> Any:
        """The runner of the plan."""
        sample = self.task.schema.empty_table()
        return self.task.mode.runner(self.task.plan, sample, tuple(self.keys), self.evaluator, self.settings)

    @cached_property
    def gathering(self) -> Gathering | None:
        """The runner if what it gives are partial results."""
        runner = self.runner
        return runner if isinstance(runner, Gathering) and runner.gathers else None

    @property
    def _no_slots(self) -> Group:
        schema = pa.schema([*map(self.task.schema.field, self.keys), pa.field(HASH, pa.int64())])
        times = (DUE,) if self.gap is None else (DUE, LAST)
        for name in times:
            schema = schema.append(pa.field(name, pa.int64()))
        return Group.empty(schema, self.runner)

    @cached_property
    def _match_schema(self) -> pa.Schema:
        """The schema of the rows of matches."""
        output, n_side = self.task.output, len(SIDE_COLUMNS) if self._row_type is not None else 0
        return pa.schema(list(output)[: len(output) - n_side])

    @property
    def _no_match(self) -> pa.Table:
        return self._match_schema.empty_table()

    @cached_property
    def _row_type(self) -> pa.DataType | None:
        """The type of the input row, if it travels."""
        return row_type_of(self.task.schema, self.settings)

    def _partials(self, store: Store, head: Head) -> pa.Table:
        return self._rows(PARTIAL, store.get(PARTIAL) if head.n_partial else None, self._match_schema)

    def _open_group(self, store: Store) -> Group:
        return self._slots(OPEN, store.get(OPEN))

    def _slots(self, name: str, data: bytes | None) -> Group:
        """The slots of a part."""
        if data is None:
            return self._no_slots
        with reading(name):
            return Group.read(data, self.runner, self.task.fingerprint)

    def _silent(self, bucket: int, store: Store, head: Head) -> Silent:
        return Silent(bucket, store, head, self.runner, self.task.fingerprint)

    # Results and errors.

    def _raised(self, result: pa.Table, previous: int | None) -> pa.Table:
        """The result with times of matches that are not late to who reads it as a stream.

        A match may be decided long after its last row. Then its time is the first one that is in time in this batch.
        """
        if previous is None:
            return result
        for name in self.task.plan.row_times():
            place = result.column_names.index(name)
            result = result.set_column(place, self.task.output.field(name), raised(result.column(place), previous))
        return result

    def _cast(self, result: pa.Table) -> pa.Table:
        columns = []
        for own in self._match_schema:
            column = result.column(own.name)
            columns.append(column if column.type == own.type else column.cast(own.type))
        return pa.table(columns, schema=self._match_schema)

    def _with_side_rows(self, matches: pa.Table, failures: list[Failure], late: pa.Table) -> pa.Table:
        """The result with what failed and what was late, if the input row travels."""
        if self._row_type is None:
            return matches
        if late.num_rows:  # they come in any order, and a batch that runs again gives the same
            late = ordered_partitions(late, self.task.plan, self.keys, self.hashes(late)).rows
        return with_side_rows(matches, failures, self._row_type, late).cast(self.task.output)

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


def raised(times: pa.ChunkedArray, previous: int) -> pa.Array:
    """Times, those that a watermark has passed as the first one that it has not."""
    values = plain(times).view(pa.timestamp("us"))
    least = pa.scalar(previous, pa.int64()).cast(pa.timestamp("us"))
    first = pa.scalar(previous + 1, pa.int64()).cast(pa.timestamp("us"))
    return pc.if_else(pc.fill_null(pc.less_equal(values, least), False), first, values).view(times.type)


def _kept(head: Head) -> Metrics:
    return Metrics(
        open_keys=head.n_open + head.n_silent, rows_held=head.n_held + head.n_pending, state_bytes=head.n_bytes,
        oldest=head.oldest,
    )
