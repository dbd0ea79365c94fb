"""The rows of a feed that can take part, in order, and what kernels read of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.gather import put_in_order
from sparkrex.columns.keys import partition_integers
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError
from sparkrex.matching.event_order import check_order, check_times, order_columns
from sparkrex.modes.trends.kernels.machine import Rows
from sparkrex.modes.trends.plan import Semantics
from sparkrex.modes.trends.weights import make_weights
from sparkrex.modes.trends.windows import ticks_of
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.matching.feed import Feed, Frame
    from sparkrex.modes.trends.prepared import Prepared


_FEW_KEPT = 0.2
"""Of a smaller share of rows that fit something the others are left out."""


class ArrangedRows:
    """The rows of a frame that can take part, in order, and what kernels read of them."""

    def __init__(self, prepared: Prepared, frame: Frame, numbers: NDArray[Any]) -> None:
        self._prepared = prepared
        self.table = frame.table
        query, order = prepared.query, frame.arrangement.order
        n_rows = frame.table.num_rows
        masks = prepared.labels.masks(frame.table)
        keeps = masks != 0
        if query.semantics is Semantics.CONTIGUOUS and not keeps.all():
            keeps = keeps | ~prepared.labels.is_named(frame.table)
        self._count_events(frame, numbers)
        self._frame_offsets = frame.offsets
        if self._may_stay(keeps):
            self.order, self.offsets = order, frame.offsets
            kept = None
        else:
            kept = np.flatnonzero(put_in_order(keeps, order))
            self.order = kept if order is None else order[kept]
            self.offsets = np.searchsorted(kept, frame.offsets)
        self._kept = kept
        self._frame_order = order
        self.n_rows = n_rows if self.order is None else len(self.order)
        self._symbols, known = prepared.labels.symbols(put_in_order(masks, self.order))
        self.machine = prepared.machine(tuple(known))
        self._check_order()

    def _may_stay(self, keeps: NDArray[np.bool_]) -> bool:
        """Whether rows that fit nothing may stay: to leave them out costs more than to pass over them.

        Under the skip semantics they change nothing, wherever they are; but their order need not be definite.
        """
        n_kept = int(np.count_nonzero(keeps))
        if n_kept == len(keeps):
            return True
        query = self._prepared.query
        is_contiguous = query.semantics is Semantics.CONTIGUOUS
        if is_contiguous or not query.has_strict_ties or n_kept < _FEW_KEPT * len(keeps):
            return False
        return bool(self.table.column(order_columns(query)[0]).null_count == 0)

    def _count_events(self, frame: Frame, numbers: NDArray[Any]) -> None:
        """Numbers of events in their partition, for windows that count them: of all events, before any is left out."""
        window = self._prepared.query.window
        self.n_seen = numbers["n_seen"]
        self._event_numbers: NDArray[np.int64] | None = None
        if window is not None and window.unit is WindowUnit.EVENTS:
            lengths = np.diff(frame.offsets)
            # Rows that were searched before, and are only held for what reads them, have been counted.
            begin = np.repeat(frame.offsets[:-1] + numbers["n_done"], lengths)
            self._event_numbers = np.arange(frame.table.num_rows) - begin + np.repeat(self.n_seen, lengths)
            self.n_seen = self.n_seen + lengths - numbers["n_done"]

    def _check_order(self) -> None:
        query = self._prepared.query
        if not self.n_rows:
            self.rows = Rows(self._symbols, np.zeros(1, np.uint8), False)
            return
        self._check_definite()
        if not query.has_strict_ties:
            self.rows = Rows(self._symbols, np.zeros(1, np.uint8), False)
            return
        times = self.table.column(order_columns(query)[0])
        integers = put_in_order(partition_integers(times, [(0, len(times))]), self.order)
        tied = np.zeros(max(1, self.n_rows), np.uint8)
        if self.n_rows:
            np.equal(integers[1:], integers[:-1], out=tied[1:], casting="unsafe")
            inside = self.offsets[:-1]
            tied[inside[inside < self.n_rows]] = 0
        self.rows = Rows(self._symbols, tied, bool(tied.any()))

    def _check_definite(self) -> None:
        """Fail if the order of events that take part, or are counted, is not definite."""
        query = self._prepared.query
        table, order, offsets, kept = self.table, self._frame_order, self._frame_offsets, self._kept
        if kept is not None and self._event_numbers is None:
            rows = wrap(self._input_rows(np.arange(self.n_rows)))
            table = table.select(list(dict.fromkeys(order_columns(query)))).take(rows)
            order, offsets = None, self.offsets
        try:
            if query.has_strict_ties:
                check_times(query, table, order)
            else:
                check_order(query, table, order, offsets)
        except ExecutionError as error:
            if error.row is not None and kept is not None and self._event_numbers is None:
                error.row = int(kept[error.row])
            raise

    @cached_property
    def ticks(self) -> NDArray[Any]:
        """The times as windows count them."""
        prepared = self._prepared
        assert prepared.windows is not None  # asked for windows only
        if self._event_numbers is not None:
            return self._event_numbers if self._kept is None else self._event_numbers[self._kept]
        times = self.table.column(order_columns(prepared.query)[0])
        return put_in_order(ticks_of(prepared.query, prepared.windows, times), self.order)

    @cached_property
    def weights(self) -> Any:
        """What events add to places."""
        prepared = self._prepared
        return make_weights(
            prepared.query, prepared.layout, prepared.labels.variables, self.table, self.order, prepared.evaluator
        )

    @cached_property
    def pairs(self) -> Any:
        """What is compared of adjacent events."""
        prepared = self._prepared
        return prepared.comparisons.keys(prepared.query, self.table, self.order, prepared.evaluator)

    def decided(self, feed: Feed) -> NDArray[np.int64]:
        """Up to where the rows of each slot can be searched: under strict ties not those of the last time."""
        until = self.offsets[1:].copy()
        if not self._prepared.query.has_strict_ties or feed.closes.all() or not self.n_rows:
            return until
        starts = np.flatnonzero(self.rows.tied[: self.n_rows] == 0)
        place = np.searchsorted(starts, until - 1, side="right") - 1
        last = np.where(until > self.offsets[:-1], starts[np.maximum(place, 0)], until)
        is_decided = feed.closes | (until == self.offsets[:-1])
        if feed.horizon is not None and not is_decided.all():
            times = self.table.column(order_columns(self._prepared.query)[0])
            open_slots = np.flatnonzero(~is_decided)
            at = times.take(wrap(self._input_rows(until[open_slots] - 1)))
            is_before = pc.less_equal(at, feed.horizon.cast(times.type)).to_numpy(zero_copy_only=False)
            is_decided[open_slots] = is_before
        return np.where(is_decided, until, last)

    def is_past(self, feed: Feed) -> Any:
        """Which windows get no more rows: `(places, ends) -> flags`."""
        prepared = self._prepared
        windows = prepared.windows
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
            values = pa.chunked_array([pa.repeat(feed.horizon, 1)])
            horizon = ticks_of(prepared.query, windows, values)[0] + (0 if windows.is_real else 1)

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
