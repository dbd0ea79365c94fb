"""Trend aggregates as a runner: rows of open partitions in, results of finished windows out.

Between two feeds it keeps, of every open window, its places: a few numbers, however many events it has had. Where
comparisons or negated parts read single events, it also keeps an entry for each event that may still be followed, and
its row. Under strict ties the events of the last time wait for others of that time.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import put_in_order, take_or_null
from sparkrex.columns.keys import partition_integers
from sparkrex.columns.wrap import wrap
from sparkrex.errors import AnalysisError, ExecutionError
from sparkrex.matching.event_order import check_order, check_times, order_columns
from sparkrex.matching.feed import Frame
from sparkrex.matching.slot_table import offsets_of
from sparkrex.matching.state import State
from sparkrex.modes.trends.automaton import make_automaton
from sparkrex.modes.trends.choose import ALGORITHMS, choose, refusals
from sparkrex.modes.trends.comparisons import Comparisons
from sparkrex.modes.trends.conjunction import count_pairs
from sparkrex.modes.trends.kernels.by_event import Entries
from sparkrex.modes.trends.kernels.machine import Rows
from sparkrex.modes.trends.kernels.places import Store
from sparkrex.modes.trends.layout import make_layout
from sparkrex.modes.trends.merge import partial_table
from sparkrex.modes.trends.packing import pack_places, unpack_places
from sparkrex.modes.trends.plan import Semantics
from sparkrex.modes.trends.results import Finished, has_trends, result_table
from sparkrex.modes.trends.search import Kept, Problem, fresh, search, take_places
from sparkrex.modes.trends.symbols import Labels, make_machine
from sparkrex.modes.trends.units import OpenWindows, units_in_windows, whole_partitions
from sparkrex.modes.trends.weights import make_weights
from sparkrex.modes.trends.windows import bound_type, make_windows, ticks_of
from sparkrex.scalar.expression import ColumnAt
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feed import Feed
    from sparkrex.modes.trends.layout import Layout
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.modes.trends.units import UnitRows
    from sparkrex.modes.trends.windows import Windows
    from sparkrex.settings import Settings

_NO_WINDOW = np.iinfo(np.int64).min
FRESH = np.array((0, 0, _NO_WINDOW), np.dtype([("n_seen", "i8"), ("n_done", "i8"), ("last_window", "i8")]))[()]
"""Of a slot: events counted so far, how many of the rows held back have been searched, the last window that began."""
WINDOWS, ENTRIES = "windows", "entries"


@dataclass(frozen=True, eq=False)
class TrendRunner:
    """See `matching.runner`. `sample` has the columns of the rows that are fed, and no rows."""

    query: TrendQuery
    sample: pa.Table
    evaluator: Evaluator
    settings: Settings
    threads: int = 1
    layout: Layout = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "layout", make_layout(self.query, self.sample, self.evaluator))

    @cached_property
    def labels(self) -> Labels:
        """Which variables events may be bound to."""
        return Labels(self.query, self.evaluator, self.threads)

    @cached_property
    def automaton(self) -> Any:
        """The patterns, and their negated parts."""
        return make_automaton(self.query)

    @cached_property
    def comparisons(self) -> Comparisons:
        """Of adjacent events."""
        return Comparisons.of(self.query)

    @cached_property
    def algorithm(self) -> str:
        """How trends are counted."""
        asked = self.settings.matcher
        if asked is None or asked not in ALGORITHMS:
            return choose(self.query, self.automaton, self.comparisons)
        reason = refusals(self.query, self.automaton, self.comparisons).get(asked)
        if reason is not None:
            raise AnalysisError(
                "REX217", f"the matcher {asked} cannot count these trends: {reason}", None, None,
                hint=f"leave it out; {choose(self.query, self.automaton, self.comparisons)} would be chosen",
            )
        return asked

    @cached_property
    def windows(self) -> Windows | None:
        """The query's windows, None without WITHIN."""
        return make_windows(self.query, self.sample.column(order_columns(self.query)[0]).type)

    @property
    def refusal(self) -> str | None:
        """None: everything can be fed."""
        return None

    def open(self) -> State:
        """The state before the first feed."""
        return State(FRESH, (WINDOWS, ENTRIES))

    def feed(self, state: State, feed: Feed) -> pa.Table:
        """The results that this feed decides, of windows that are finished."""
        if feed.is_whole:
            state.reset(feed.slots[feed.slots < state.n_slots])
            frame = Frame(feed.table, feed.arrangement, np.zeros(len(feed.slots), np.int64))
        else:
            frame = state.open(feed)
        with _placed(frame, feed.slots):
            return self._search(state, feed, frame)

    def _search(self, state: State, feed: Feed, frame: Frame) -> pa.Table:
        n_slots = len(feed.slots)
        numbers = np.full(n_slots, FRESH, FRESH.dtype) if feed.is_whole else state.numbers[feed.slots]
        rows = _ArrangedRows(self, frame, numbers)
        until = rows.decided(feed)
        kept_before = self._read(state, feed)
        opened = kept_before.opened
        begin = rows.offsets[:-1] + numbers["n_done"]
        if self.windows is None:
            units = whole_partitions(begin, until, feed.closes, opened)
        else:
            units = units_in_windows(
                self.query, self.windows, rows.ticks, begin, until, opened, numbers["last_window"],
                rows.is_past(feed),
            )
        problem = Problem(
            self.layout, rows.machine, rows.pairs, rows.weights, rows.rows, self.automaton.n_negated, self.algorithm
        )
        kept = search(problem, units, self._continued(kept_before, units, problem, rows), self.threads)
        groups = _Groups(self.query, rows, kept_before.windows, units)
        result = self._results(problem, units, kept, groups)
        if not feed.is_whole:
            self._write(state, feed, rows, units, kept, until, problem, groups)
        return result

    def _results(self, problem: Problem, units: UnitRows, kept: Kept, groups: _Groups) -> pa.Table:
        """The windows that are finished and have trends."""
        n_kinds = problem.machine.n_kinds
        finals = (np.arange(len(units.first)) + 1) * problem.n_places - n_kinds
        store = take_places(kept.store, finals, self.layout)
        if len(self.query.patterns) > 1:
            every = (finals[:, None] + np.arange(n_kinds)).reshape(-1)
            classes = take_places(kept.store, every, self.layout).numbers.reshape(len(finals), n_kinds, 3)
            store = Store(count_pairs(classes, self.layout.counts), store.reals, store.extremes, store.seen)
        is_found = (units.closes & has_trends(store, self.layout))[units.window_unit]
        store = take_places(store, units.window_unit[is_found], self.layout)
        start, end = self._bounds(units.window_number[is_found])
        finished = Finished(groups.take(np.flatnonzero(is_found)), start, end, store)
        if self.query.is_partial:
            return partial_table(self.query, self.layout, finished)
        return result_table(self.query, self.layout, finished)

    def _bounds(self, numbers: NDArray[np.int64]) -> tuple[pa.Array, pa.Array]:
        if self.windows is None:
            kind = bound_type(self.query, self.sample.column(order_columns(self.query)[0]).type)
            return pa.nulls(len(numbers), kind), pa.nulls(len(numbers), kind)
        return self.windows.bounds(self.windows.starts(numbers)), self.windows.bounds(self.windows.ends(numbers))

    def _read(self, state: State, feed: Feed) -> _KeptBefore:
        """The open windows of the feed's slots, with what is kept of them."""
        n_slots = len(feed.slots)
        if feed.is_whole:
            return _KeptBefore(OpenWindows.none(), None, None, np.zeros(n_slots + 1, np.int64))
        table, offsets = state.tables[WINDOWS].read(feed.slots)
        entries, entry_offsets = state.tables[ENTRIES].read(feed.slots)
        place = np.repeat(np.arange(n_slots), np.diff(offsets))
        number = np.empty(0, np.int64) if table is None else table.column("number").to_numpy()
        return _KeptBefore(OpenWindows(place, number), table, entries, entry_offsets)

    def _continued(
        self, before: _KeptBefore, units: UnitRows, problem: Problem, rows: _ArrangedRows
    ) -> Kept:
        """What is kept of every unit: from before, or nothing."""
        kept = fresh(problem, len(units.first))
        if before.windows is None:
            return kept
        is_old = units.before >= 0
        old = units.before[is_old]
        places = _spans(np.flatnonzero(is_old) * problem.n_places, problem.n_places)
        stored = unpack_places(self.layout, before.windows.column("places").combine_chunks().flatten())
        _write_places(kept.store, places, stored, _spans(old * problem.n_places, problem.n_places), self.layout)
        kept.clock[is_old] = before.windows.column("clock").to_numpy()[old]
        n_registers = kept.registers.shape[1]
        if n_registers:
            registers = before.windows.column("registers").combine_chunks().flatten().to_numpy()
            kept.registers[is_old] = registers.reshape(-1, n_registers)[old]
        if before.entries is None:
            return kept
        # Entries are in the order of windows, by slot, and units of old windows come in that order too.
        n_entries = before.windows.column("n_entries").to_numpy()
        lengths = np.zeros(len(units.first), np.int64)
        lengths[is_old] = n_entries[old]
        table = before.entries
        slots_of = np.repeat(np.arange(len(before.entry_offsets) - 1), np.diff(before.entry_offsets))
        row = table.column("row").to_numpy()
        entries = Entries(
            table.column("time").to_numpy().copy(),
            np.where(row < 0, -1, row + rows.offsets[slots_of]),
            table.column("state").to_numpy().copy(), table.column("latest").to_numpy().copy(),
            table.column("is_over").to_numpy().astype(np.bool_), unpack_places(self.layout, table.column("places")),
        )
        return Kept(kept.store, kept.clock, kept.registers, entries, offsets_of(lengths))

    def _write(
        self, state: State, feed: Feed, rows: _ArrangedRows, units: UnitRows, kept: Kept, until: NDArray[np.int64],
        problem: Problem, groups: _Groups,
    ) -> None:
        """Keep what is open: windows, entries, the rows that entries read, and those that wait for their time."""
        n_slots = len(feed.slots)
        is_open = ~units.closes[units.window_unit]
        place, number, unit = units.window_place[is_open], units.window_number[is_open], units.window_unit[is_open]
        packed = pack_places(
            self.layout, take_places(kept.store, _spans(unit * problem.n_places, problem.n_places), self.layout)
        )
        n_entries = np.diff(kept.offsets)[unit]
        entry_of = np.repeat(kept.offsets[unit] - offsets_of(n_entries)[:-1], n_entries) + np.arange(n_entries.sum())
        entry_slot = np.repeat(place, n_entries)
        windows = pa.table({
            **{f"group {name}": values for name, values in groups.take(np.flatnonzero(is_open)).items()},
            "number": wrap(number), "clock": wrap(kept.clock[unit]), "n_entries": wrap(n_entries),
            "places": pa.FixedSizeListArray.from_arrays(packed, max(1, problem.n_places)),
            "registers": _lists_of(kept.registers[unit]),
        })
        row_of = kept.entries.row[entry_of]
        waiting = rows.offsets[1:] - until
        used, read_by = np.unique(row_of[row_of >= 0], return_inverse=True)
        slot_of_used = np.searchsorted(rows.offsets, used, side="right") - 1
        n_used = np.bincount(slot_of_used, minlength=n_slots)
        local = np.full(len(row_of), -1, np.int64)
        local[row_of >= 0] = read_by - offsets_of(n_used)[:-1][slot_of_used[read_by]] if len(used) else 0
        entries = pa.table({
            "time": wrap(kept.entries.time[entry_of]), "row": wrap(local), "state": wrap(kept.entries.state[entry_of]),
            "latest": wrap(kept.entries.latest[entry_of]),
            "is_over": wrap(kept.entries.is_over[entry_of].astype(np.int8)),
            "places": pack_places(self.layout, take_places(kept.entries.store, entry_of, self.layout)),
        })
        state.tables[WINDOWS].write(feed.slots, windows, offsets_of(np.bincount(place, minlength=n_slots)))
        state.tables[ENTRIES].write(feed.slots, entries, offsets_of(np.bincount(entry_slot, minlength=n_slots)))
        state.numbers["n_done"][feed.slots] = n_used
        state.numbers["n_seen"][feed.slots] = rows.n_seen
        if self.windows is not None and len(units.window_place):
            highest = state.numbers["last_window"][feed.slots]
            np.maximum.at(highest, units.window_place, units.window_number)
            state.numbers["last_window"][feed.slots] = highest
        # Slot by slot: the rows that entries read, then those that wait.
        wait_rows = _spans_of(until, waiting)
        slot = np.concatenate([slot_of_used, np.repeat(np.arange(n_slots), waiting)])
        held = np.concatenate([used, wait_rows])[np.argsort(slot, kind="stable")]
        state.hold(feed, rows.take(held), np.where(feed.closes, 0, n_used + waiting), self.settings)


class _Groups:
    """The values of GROUP-BY, by window: kept with windows from before, since a slot may have no row any more."""

    def __init__(self, query: TrendQuery, rows: _ArrangedRows, windows: pa.Table | None, units: UnitRows) -> None:
        before = units.before[units.window_unit]
        n_before = 0 if windows is None else windows.num_rows
        self._places = np.where(before >= 0, before, n_before + rows.first_row(units.window_place))
        self._columns: dict[str, pa.ChunkedArray] = {}
        for key in query.partition_by:
            if key.name in query.group_by:
                column = rows.table.column(_column(key.expression))
                parts = column.chunks
                if windows is not None:
                    parts = [*(chunk.cast(column.type) for chunk in windows.column(f"group {key.name}").chunks), *parts]
                self._columns[key.name] = pa.chunked_array(parts, column.type)

    def take(self, windows: NDArray[np.int64]) -> dict[str, pa.ChunkedArray]:
        """The values of some windows."""
        return {name: take_or_null(column, self._places[windows]) for name, column in self._columns.items()}


@dataclass(frozen=True, eq=False, slots=True)
class _KeptBefore:
    opened: OpenWindows
    windows: pa.Table | None
    entries: pa.Table | None
    entry_offsets: NDArray[np.int64]


class _ArrangedRows:
    """The rows of a frame that can take part, in order, and what kernels read of them."""

    def __init__(self, runner: TrendRunner, frame: Frame, numbers: NDArray[Any]) -> None:
        self._runner = runner
        self.table = frame.table
        query, order = runner.query, frame.arrangement.order
        n_rows = frame.table.num_rows
        masks = runner.labels.masks(frame.table)
        keeps = masks != 0
        if query.semantics is Semantics.CONTIGUOUS and not keeps.all():
            keeps = keeps | ~runner.labels.is_named(frame.table)
        self._count_events(frame, numbers)
        self._frame_offsets = frame.offsets
        if keeps.all():
            self.order, self.offsets = order, frame.offsets
            kept = None
        else:
            kept = np.flatnonzero(put_in_order(keeps, order))
            self.order = kept if order is None else order[kept]
            self.offsets = np.searchsorted(kept, frame.offsets)
        self._kept = kept
        self._frame_order = order
        self.n_rows = n_rows if self.order is None else len(self.order)
        self._symbols, known = runner.labels.symbols(put_in_order(masks, self.order))
        self.machine = make_machine(
            runner.automaton, runner.labels.variables, query.semantics, runner.comparisons.numbers, known
        )
        self._check_order()

    def _count_events(self, frame: Frame, numbers: NDArray[Any]) -> None:
        """Numbers of events in their partition, for windows that count them: of all events, before any is left out."""
        window = self._runner.query.window
        self.n_seen = numbers["n_seen"]
        self._event_numbers: NDArray[np.int64] | None = None
        if window is not None and window.unit is WindowUnit.EVENTS:
            lengths = np.diff(frame.offsets)
            # Rows that were searched before, and are only held for what reads them, have been counted.
            begin = np.repeat(frame.offsets[:-1] + numbers["n_done"], lengths)
            self._event_numbers = np.arange(frame.table.num_rows) - begin + np.repeat(self.n_seen, lengths)
            self.n_seen = self.n_seen + lengths - numbers["n_done"]

    def _check_order(self) -> None:
        query = self._runner.query
        if not self.table.num_rows:
            self.rows = Rows(self._symbols, np.zeros(1, np.uint8), False)
            return
        if not query.has_strict_ties:
            check_order(query, self.table, self._frame_order, self._frame_offsets)
            self.rows = Rows(self._symbols, np.zeros(1, np.uint8), False)
            return
        check_times(query, self.table, self._frame_order)
        times = self.table.column(order_columns(query)[0])
        integers = put_in_order(partition_integers(times, [(0, len(times))]), self.order)
        tied = np.zeros(max(1, self.n_rows), np.uint8)
        if self.n_rows:
            np.equal(integers[1:], integers[:-1], out=tied[1:], casting="unsafe")
            inside = self.offsets[:-1]
            tied[inside[inside < self.n_rows]] = 0
        self.rows = Rows(self._symbols, tied, bool(tied.any()))

    @cached_property
    def ticks(self) -> NDArray[Any]:
        """The times as windows count them."""
        runner = self._runner
        assert runner.windows is not None  # asked for windows only
        if self._event_numbers is not None:
            return self._event_numbers if self._kept is None else self._event_numbers[self._kept]
        times = self.table.column(order_columns(runner.query)[0])
        return put_in_order(ticks_of(runner.query, runner.windows, times), self.order)

    @cached_property
    def weights(self) -> Any:
        """What events add to places."""
        runner = self._runner
        return make_weights(
            runner.query, runner.layout, runner.labels.variables, self.table, self.order, runner.evaluator
        )

    @cached_property
    def pairs(self) -> Any:
        """What is compared of adjacent events."""
        runner = self._runner
        return runner.comparisons.keys(runner.query, self.table, self.order, runner.evaluator)

    def decided(self, feed: Feed) -> NDArray[np.int64]:
        """Up to where the rows of each slot can be searched: under strict ties not those of the last time."""
        until = self.offsets[1:].copy()
        if not self._runner.query.has_strict_ties or feed.closes.all() or not self.n_rows:
            return until
        starts = np.flatnonzero(self.rows.tied[: self.n_rows] == 0)
        place = np.searchsorted(starts, until - 1, side="right") - 1
        last = np.where(until > self.offsets[:-1], starts[np.maximum(place, 0)], until)
        is_decided = feed.closes | (until == self.offsets[:-1])
        if feed.horizon is not None and not is_decided.all():
            times = self.table.column(order_columns(self._runner.query)[0])
            open_slots = np.flatnonzero(~is_decided)
            at = times.take(wrap(self._input_rows(until[open_slots] - 1)))
            import pyarrow.compute as pc

            is_before = pc.less_equal(at, feed.horizon.cast(times.type)).to_numpy(zero_copy_only=False)
            is_decided[open_slots] = is_before
        return np.where(is_decided, until, last)

    def is_past(self, feed: Feed) -> Any:
        """Which windows get no more rows: `(places, ends) -> flags`."""
        runner = self._runner
        windows = runner.windows
        assert windows is not None  # asked for windows only
        has_rows = self.offsets[1:] > self.offsets[:-1]
        last_tick = np.zeros(len(feed.slots), self.ticks.dtype)
        last_tick[has_rows] = self.ticks[self.offsets[1:][has_rows] - 1] if self.n_rows else 0
        horizon = None
        is_counted = self._event_numbers is not None
        if is_counted:
            # The number of the next event is known even if none of its kind takes part.
            last_tick, has_rows = self.n_seen, np.ones(len(feed.slots), np.bool_)
        elif feed.horizon is not None:
            values = pa.chunked_array([pa.array([feed.horizon.as_py()], feed.horizon.type)])
            horizon = ticks_of(runner.query, windows, values)[0] + (0 if windows.is_real else 1)

        def flags(places: NDArray[np.int64], ends: NDArray[Any]) -> NDArray[np.bool_]:
            found = feed.closes[places] | (has_rows[places] & (last_tick[places] >= ends))
            return found if horizon is None else found | (horizon >= ends)

        return flags

    def first_row(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """A row of the table in each partition; -1 where there is none any more."""
        begin = self._frame_offsets[:-1][places]
        is_there = begin < self._frame_offsets[1:][places]
        found = np.where(is_there, begin, 0)
        rows = found if self._frame_order is None or not len(self._frame_order) else self._frame_order[found]
        return np.where(is_there, rows, -1)

    def _input_rows(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        return positions if self.order is None else self.order[positions]

    def take(self, positions: NDArray[np.int64]) -> pa.Table:
        """The rows at some positions, in memory of their own."""
        return self.table.take(wrap(self._input_rows(positions)))


def _lists_of(lines: NDArray[np.int64]) -> pa.Array:
    """One list per line; lines of no numbers have one that nobody reads."""
    n_lines, width = lines.shape
    values = lines.reshape(-1) if width else np.zeros(n_lines, np.int64)
    return pa.FixedSizeListArray.from_arrays(wrap(values), max(1, width))


def _column(expression: Any) -> str:
    assert isinstance(expression, ColumnAt)  # partitions are by columns
    return expression.column


def _spans(first: NDArray[np.int64], length: int) -> NDArray[np.int64]:
    return (first[:, None] + np.arange(length)).reshape(-1)


def _spans_of(first: NDArray[np.int64], length: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.repeat(first - offsets_of(length)[:-1], length) + np.arange(int(length.sum()))


def _write_places(
    store: Store, places: NDArray[np.int64], other: Store, of: NDArray[np.int64], layout: Layout
) -> None:
    taken = take_places(other, of, layout)
    shape = layout.shape
    for target, source, width in zip(store, taken, (shape.n_numbers, shape.n_reals, shape.n_extremes, 1), strict=True):
        if width:
            lines = target.reshape(-1, width, *target.shape[1:])
            lines[places] = source.reshape(len(places), width, *target.shape[1:])


@contextmanager
def _placed(frame: Frame, slots: NDArray[np.int64]) -> Iterator[None]:
    """Inside, an error says in which slot it is."""
    try:
        yield
    except ExecutionError as error:
        if error.row is not None:
            error.slot = int(slots[frame.place_of(error.row)])
        raise
