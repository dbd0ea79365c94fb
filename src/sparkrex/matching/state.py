"""What a runner keeps of every open slot: rows, other tables, and numbers. One value, whatever the mode.

Slots are apart from each other: some can be selected into a state of their own, states can be put together, saved as
bytes and restored, and a feed costs its rows and what its own slots keep.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import Arrangement
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError, InternalError
from sparkrex.matching.feed import Frame
from sparkrex.matching.slot_table import SlotTable, offsets_of, rows_of_spans, take_spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from sparkrex.matching.feed import Feed
    from sparkrex.matching.side_rows import Failure
    from sparkrex.settings import Settings

FORMAT_VERSION = 1
"""Of saved states: a state that another version wrote is refused."""

ROWS = "rows"
"""The table of the rows held back, which every mode has."""


class State:
    """Changes with every feed.

    There are `n_slots` slots, one more than the highest number that was fed. `numbers` has one entry for each, a record
    of the mode's own fields; that of a slot which opens is `fresh`. `tables` has, by name, rows for each slot: those
    held back, and whatever else a mode keeps of a slot that has no fixed size. `plan` is what a runner has made of the
    rows it has seen and uses again, such as a plan; answers do not depend on it, so it is not saved.

    `n_numbered`, if who feeds has set it, is how many matches have been numbered: then those of all slots are numbered
    in one row, where a mode would number those of every slot from 1. So nothing need be kept of a slot for that.

    `failures` are the rows that searches were given up at (the setting `on_error`), for who feeds to take; not saved.
    `born`, too, is of who feeds: members of the plan, by name, that came to a stream, and the time behind which their
    matches begin.
    """

    def __init__(self, fresh: NDArray[Any], tables: Iterable[str] = ()) -> None:
        self.fresh = fresh
        self.n_slots = 0
        self._numbers = np.empty(0, fresh.dtype)  # with room for more
        self.tables = {name: SlotTable() for name in (ROWS, *tables)}
        self.plan: Any = None
        self.n_numbered: int | None = None
        self.failures: list[Failure] = []
        self.born: dict[str, int] = {}
        self._marked: dict[str, Any] | None = None

    @property
    def numbers(self) -> NDArray[Any]:
        """The numbers of all slots, to be read and written."""
        return self._numbers[: self.n_slots]

    def column_type(self, name: str) -> pa.DataType | None:
        """The type of a column of the rows that are held back; None if there are none."""
        schema = self.tables[ROWS].schema
        return None if schema is None else schema.field(name).type

    @property
    def held(self) -> list[SlotTable]:
        """The tables of rows that are held back."""
        return [self.tables[ROWS]]

    @property
    def nbytes(self) -> int:
        """Bytes of everything that is kept."""
        return self.numbers.nbytes + sum(table.nbytes for table in self.tables.values())

    def open(self, feed: Feed) -> Frame:
        """The rows to look at. Slots that open keep nothing from before."""
        self.reset(feed.slots[feed.opens], up_to=int(feed.slots.max(initial=-1)) + 1)
        held, held_offsets = self.tables[ROWS].read(feed.slots)
        own = feed.arrangement
        n_held = np.diff(held_offsets)
        if held is None:
            return Frame(feed.table, own, n_held)
        fed = feed.table if own.order is None else feed.table.take(wrap(own.order))
        table = pa.concat_tables([held, fed])
        offsets = held_offsets + own.offsets
        if held_offsets[1] < held_offsets[-1]:  # not only the first partition has rows from before
            order = np.empty(offsets[-1], np.int64)
            order[rows_of_spans(offsets[:-1], n_held)] = np.arange(held.num_rows)
            order[rows_of_spans(offsets[:-1] + n_held, np.diff(own.offsets))] = np.arange(held.num_rows, len(order))
            table = table.take(wrap(order))
        return Frame(table, Arrangement(None, offsets, table.num_rows), n_held)

    def close(self, feed: Feed, frame: Frame, first: NDArray[np.int64], settings: Settings) -> None:
        """Hold back the rows of each partition from position `first` on; nothing of slots that close."""
        length = np.where(feed.closes, 0, frame.end - first)
        kept = length > 0
        table = None
        if kept.any():
            n_kept, order = int(length.sum()), frame.arrangement.order
            if order is not None or 2 * n_kept < frame.table.num_rows:
                # A copy: a slice would keep the memory of the whole frame.
                rows = rows_of_spans(first, length)
                table = frame.table.take(wrap(rows if order is None else order[rows]))
            else:
                table = take_spans(frame.table, first[kept], length[kept])
        self.hold(feed, table, length, settings)

    def hold(self, feed: Feed, table: pa.Table | None, length: NDArray[np.int64], settings: Settings) -> None:
        """Hold back the rows of a table, `length` of each partition; nothing of slots that close."""
        _check_open_rows(length, feed.slots, settings.max_open_rows)
        self.tables[ROWS].write(feed.slots, table, offsets_of(length))
        self.reset(feed.slots[feed.closes])
        limit = settings.max_state_memory
        if self.nbytes > limit:
            raise ExecutionError(
                "REX415", f"open partitions take more than max_state_memory = {limit:,} bytes", None, None,
                hint="raise max_state_memory, or bound the pattern, so that fewer rows are held back",
            )

    def reset(self, slots: NDArray[np.int64], up_to: int = 0) -> None:
        """The slots are as before their first row. There are numbers for `up_to` slots."""
        if up_to > len(self._numbers):
            more = np.full(max(up_to, 2 * len(self._numbers)), self.fresh, self.fresh.dtype)
            more[: self.n_slots] = self.numbers
            self._numbers = more
        self.n_slots = max(self.n_slots, up_to)
        if len(slots):
            self.numbers[slots] = self.fresh
            for table in self.tables.values():
                table.clear(slots)

    def mark(self) -> None:
        """Remember how it is: numbers are copied, of tables nothing but what is written later."""
        self._marked = {
            "_numbers": self.numbers.copy(), "n_slots": self.n_slots, "plan": self.plan, "n_numbered": self.n_numbered,
            "failures": list(self.failures),
        }
        for table in self.tables.values():
            table.mark()

    def forget_mark(self) -> None:
        """It need not be as it was any more."""
        self._marked = None
        for table in self.tables.values():
            table.forget_mark()

    def undo(self) -> None:
        """It is as it was when it was marked."""
        marked, self._marked = self._marked, None
        assert marked is not None  # who undoes has marked it
        self.__dict__.update(marked)
        for table in self.tables.values():
            table.undo()

    def take_failures(self) -> list[Failure]:
        """The rows that searches were given up at since the last call."""
        taken, self.failures = self.failures, []
        return taken

    def select(self, slots: NDArray[np.int64]) -> State:
        """Some slots as a state of their own, where they are numbered from 0."""
        self.reset(np.empty(0, np.int64), up_to=int(slots.max(initial=-1)) + 1)
        found = State(self.fresh)
        found.plan = self.plan
        found._numbers, found.n_slots = self.numbers[slots], len(slots)
        found.tables = {name: table.select(slots) for name, table in self.tables.items()}
        return found

    @staticmethod
    def merge(states: Sequence[State]) -> State:
        """The slots of several states, numbered one after the other."""
        found = State(states[0].fresh)
        found.plan = next((state.plan for state in states if state.plan is not None), None)
        n_slots = [state.n_slots for state in states]
        found._numbers, found.n_slots = np.concatenate([state.numbers for state in states]), sum(n_slots)
        found.tables = {
            name: SlotTable.concatenate([state.tables[name] for state in states], n_slots) for name in states[0].tables
        }
        return found

    def snapshot(self, fingerprint: str) -> bytes:
        """Everything as bytes, no pickles. `fingerprint` says of which plan."""
        return self.written(fingerprint)

    def written(self, fingerprint: str, **beside: Any) -> bytes:
        """The numbers and tables as bytes, and in their header what a mode wants to know beside."""
        every = np.arange(self.n_slots)
        parts = [self.numbers.tobytes()]
        for table in self.tables.values():
            rows, offsets = table.read(every)
            parts += [offsets.tobytes(), b"" if rows is None else _write_table(rows)]
        header = {
            "version": FORMAT_VERSION, "fingerprint": fingerprint, "n_slots": self.n_slots,
            "fields": self.numbers.dtype.descr, "tables": list(self.tables), "lengths": [len(part) for part in parts],
            **beside,
        }
        text = json.dumps(header).encode()
        return b"".join([len(text).to_bytes(8, "little"), text, *parts])

    def restore(self, data: bytes, fingerprint: str) -> State:
        """The state that was saved; this one is a fresh one of the same plan."""
        view = memoryview(data)
        header, begin = header_of(view)
        if header["version"] != FORMAT_VERSION:
            raise InternalError(
                "REX901", f"a saved state of format {header['version']}, this is {FORMAT_VERSION}", None, None
            )
        is_alike = [tuple(field) for field in header["fields"]] == self.fresh.dtype.descr
        if header["fingerprint"] != fingerprint or header["tables"] != list(self.tables) or not is_alike:
            raise InternalError(
                "REX901", f"a saved state of plan {header['fingerprint']}, this is {fingerprint}", None, None
            )
        cuts = begin + offsets_of(np.array(header["lengths"], np.int64))
        parts = [view[first:last] for first, last in zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True)]
        found = State(self.fresh, [name for name in self.tables if name != ROWS])
        found._numbers, found.n_slots = np.frombuffer(parts[0], self.fresh.dtype).copy(), header["n_slots"]
        for number, name in enumerate(header["tables"]):
            offsets, rows = parts[1 + 2 * number : 3 + 2 * number]
            table = pa.ipc.open_stream(pa.py_buffer(rows)).read_all() if len(rows) else None
            found.tables[name].write(np.arange(header["n_slots"]), table, np.frombuffer(offsets, np.int64))
        return found


def header_of(data: memoryview) -> tuple[dict[str, Any], int]:
    """The header of a saved state, and where its parts begin."""
    begin = 8 + int.from_bytes(data[:8], "little")
    header: dict[str, Any] = json.loads(bytes(data[8:begin]))
    return header, begin


def cut_states(data: memoryview) -> list[memoryview]:
    """Saved states that stand one after the other."""
    found = []
    while data:
        header, begin = header_of(data)
        end = begin + sum(header["lengths"])
        found.append(data[:end])
        data = data[end:]
    return found


def saved_rows(data: memoryview) -> NDArray[np.int64]:
    """How many rows each slot of saved states holds back."""
    counts = []
    for state in cut_states(data):
        header, begin = header_of(state)
        # Numbers of slots, then offsets and rows of each table; held rows are the first one.
        first = begin + header["lengths"][0]
        counts.append(np.diff(np.frombuffer(state[first : first + header["lengths"][1]], np.int64)))
    found: NDArray[np.int64] = np.sum(counts, axis=0)
    return found


def _write_table(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    written: bytes = sink.getvalue().to_pybytes()
    return written


def _check_open_rows(length: NDArray[np.int64], slots: NDArray[np.int64], limit: int) -> None:
    if length.max(initial=0) <= limit:
        return
    place = int((length > limit).argmax())
    error = ExecutionError(
        "REX406", f"a match is undecided over {length[place]:,} rows, more than max_open_rows = {limit:,}", None, None,
        hint="raise max_open_rows, or bound the pattern with WITHIN or a quantifier",
    )
    error.slot = int(slots[place])
    raise error
