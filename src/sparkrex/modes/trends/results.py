"""Places of finished windows as values of results.

What is too large is an error here, and only here: a count that nobody asks for may be as large as it likes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.values import python_value
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError
from sparkrex.modes.trends.plan import WINDOW_END, WINDOW_START, Counts, Function, RowTime, TrendAggregate
from sparkrex.modes.trends.weights import values_of_keys

if TYPE_CHECKING:

    from numpy.typing import NDArray

    from sparkrex.modes.trends.kernels.places import Store
    from sparkrex.modes.trends.layout import Layout
    from sparkrex.modes.trends.plan import TrendQuery

_DIGITS = 10**38
_LOG_OF_UNIT = 512 * math.log10(2.0)


@dataclass(frozen=True, eq=False, slots=True)
class Finished:
    """Windows that have trends: columns of GROUP-BY, where windows begin and end, and what is known of their trends."""

    groups: dict[str, pa.ChunkedArray | pa.Array]
    start: pa.Array
    end: pa.Array
    store: Store


def result_table(query: TrendQuery, layout: Layout, finished: Finished) -> pa.Table:
    """The result rows."""
    reader = _Reader(query, layout, finished)
    items = (
        reader.read(item.value) if isinstance(item.value, TrendAggregate)
        else last_times(finished.end) if isinstance(item.value, RowTime)
        else finished.groups[item.value]
        for item in query.items
    )
    return pa.table([finished.start, finished.end, *items], names=list(query.output_columns()))


def last_times(end: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The last time in each window: before where it ends, by the least unit of its type."""
    kind = end.type
    if pa.types.is_floating(kind):
        return wrap(np.nextafter(end.to_numpy(zero_copy_only=False), -np.inf))
    if pa.types.is_decimal(kind):
        unit = pa.scalar(Decimal(1).scaleb(-kind.scale), pa.decimal128(kind.scale + 1, kind.scale))
        return pc.subtract(end.cast(pa.decimal128(37, kind.scale)), unit).cast(kind)
    return pc.subtract(end.cast(pa.int64()), 1).cast(kind)


def result_type(aggregate: TrendAggregate, layout: Layout) -> pa.DataType:
    """The type of an aggregate in results."""
    counts = layout.counts
    if aggregate.function in (Function.TRENDS, Function.COUNT):
        return {Counts.EXACT: pa.decimal128(38, 0), Counts.LOG: pa.float64(), Counts.TEXT: pa.string()}[counts]
    assert aggregate.argument is not None  # COUNT alone may have none
    kind = layout.types[aggregate.argument]
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    if aggregate.function in (Function.MIN, Function.MAX):
        return kind
    if aggregate.function is Function.AVG or pa.types.is_floating(kind) or counts is Counts.LOG:
        return pa.float64()
    return pa.string() if counts is Counts.TEXT else pa.decimal128(38, _scale(kind))


def _scale(kind: pa.DataType) -> int:
    return int(kind.scale) if pa.types.is_decimal(kind) else 0


class _Reader:
    def __init__(self, query: TrendQuery, layout: Layout, finished: Finished) -> None:
        self._query = query
        self._layout = layout
        self._finished = finished
        self._n_rows = len(finished.store.seen)

    def read(self, aggregate: TrendAggregate) -> pa.Array:
        match aggregate.function:
            case Function.TRENDS | Function.COUNT:
                return self._count(self._number(self._layout.number_of(aggregate)), aggregate)
            case Function.MIN | Function.MAX:
                return self._extreme(aggregate)
            case Function.SUM:
                return self._sum(aggregate)
            case Function.AVG:
                return self._average(aggregate)

    def _number(self, place: int) -> NDArray[Any]:
        lines: NDArray[Any] = self._finished.store.numbers.reshape(-1, self._layout.shape.n_numbers, 3)
        return lines[:, place]

    def _real(self, place: int) -> NDArray[Any]:
        lines: NDArray[Any] = self._finished.store.reals.reshape(-1, self._layout.shape.n_reals, 3)
        return lines[:, place]

    def _count(self, numbers: NDArray[Any], aggregate: TrendAggregate) -> pa.Array:
        match self._layout.counts:
            case Counts.TEXT:
                return pa.array([str(number) for number in numbers[:, 0]], pa.string())
            case Counts.LOG:
                return wrap(_logarithms(numbers), numbers[:, 0] == 0.0)
            case Counts.EXACT:
                return self._decimals(numbers, 0, aggregate, None)

    def _decimals(
        self, numbers: NDArray[np.int64], scale: int, aggregate: TrendAggregate, is_null: NDArray[np.bool_] | None
    ) -> pa.Array:
        high = np.abs(np.where(numbers[:, 1] < 0, ~numbers[:, 1], numbers[:, 1]))
        is_large = numbers[:, 2] != 0
        # 10^38 has a high half of 5421010862427522170.
        for row in np.flatnonzero(~is_large & (high >= 5421010862427522170)).tolist():
            is_large[row] = abs(int(numbers[row, 1]) * 2**64 + int(np.uint64(numbers[row, 0]))) >= _DIGITS
        if is_large.any():
            raise self._too_large(aggregate, int(is_large.argmax()))
        halves = np.ascontiguousarray(numbers[:, :2])
        array = pa.Array.from_buffers(pa.decimal128(38, scale), len(numbers), [None, pa.py_buffer(halves)])
        if is_null is None or not is_null.any():
            return array
        return pc.if_else(wrap(is_null), pa.scalar(None, array.type), array)

    def _too_large(self, aggregate: TrendAggregate, row: int) -> ExecutionError:
        what = self._written(aggregate)
        if aggregate.function is Function.AVG:
            what = f"the sum behind {what}"
        return ExecutionError(
            "REX416", f"{what} has more than 38 digits{self._where(row)}", self._query.source,
            self._item_span(aggregate),
            hint='counts="log" gives logarithms to base 10, counts="text" all digits; inside MATCH_TRENDS: COUNTS LOG',
            command_hint="COUNTS LOG gives logarithms to base 10, COUNTS TEXT all digits",
        )

    def _written(self, aggregate: TrendAggregate) -> str:
        span = next((item.span for item in self._query.items if item.value == aggregate), None)
        return aggregate.function.value if span is None else self._query.source.text[span.start : span.end]

    def _where(self, row: int) -> str:
        """The group and the window of a result."""
        groups = ", ".join(f"{name} = {python_value(column[row])!r}" for name, column in self._finished.groups.items())
        start = python_value(self._finished.start[row])
        window = "" if start is None else f" in the window from {start} to {python_value(self._finished.end[row])}"
        return (f" for {groups}" if groups else "") + window

    def _item_span(self, aggregate: TrendAggregate) -> Any:
        return next((item.span for item in self._query.items if item.value == aggregate), None) or self._query.span

    def _parts_of(self, aggregate: TrendAggregate) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.bool_]]:
        """The sum, how many values it has, and where it has none."""
        is_real, total, counted = self._layout.sum_of(aggregate)
        read = self._real if is_real else self._number
        below = read(counted)
        if self._layout.counts is Counts.TEXT:
            return read(total), below, np.array([number == 0 for number in below[:, 0]], np.bool_)
        return read(total), below, np.asarray(~(below != 0).any(axis=1))

    def _sum(self, aggregate: TrendAggregate) -> pa.Array:
        total, _, is_null = self._parts_of(aggregate)
        kind = result_type(aggregate, self._layout)
        scale = _scale(self._type(aggregate))
        if pa.types.is_floating(kind):
            return wrap(self._doubles(total, aggregate, is_null) / 10.0**scale, is_null)
        if self._layout.counts is Counts.TEXT:
            return pa.array([
                None if null else _digits(number, scale)
                for number, null in zip(total[:, 0], is_null.tolist(), strict=True)
            ], pa.string())
        return self._decimals(total, kind.scale, aggregate, is_null)

    def _type(self, aggregate: TrendAggregate) -> pa.DataType:
        assert aggregate.argument is not None  # COUNT alone may have none
        return self._layout.types[aggregate.argument]

    def _doubles(self, values: NDArray[Any], aggregate: TrendAggregate, is_null: NDArray[np.bool_]) -> NDArray[Any]:
        if values.dtype == object:
            found = np.array([_nearest(value) for value in values[:, 0]], np.float64)
            is_finite = np.array([not isinstance(value, float) for value in values[:, 0]], np.bool_)
        else:
            with np.errstate(all="ignore"):
                exponents = (512 * values[:, 2]).clip(-4096, 4096).astype(np.int32)
                found = np.ldexp(values[:, 0] + values[:, 1], exponents)
                is_finite = np.isfinite(values[:, 0])
        is_lost = np.isinf(found) & is_finite & ~is_null
        if is_lost.any():
            where = self._where(int(is_lost.argmax()))
            raise ExecutionError(
                "REX416", f"{self._written(aggregate)} is beyond the range of DOUBLE{where}", self._query.source,
                self._item_span(aggregate), hint="use smaller windows, or AVG, which has no such limit",
            )
        return found

    def _average(self, aggregate: TrendAggregate) -> pa.Array:
        above, below, is_null = self._parts_of(aggregate)
        scale = _scale(self._type(aggregate))
        if self._layout.counts is Counts.TEXT:
            averages = [
                0.0 if null else one if isinstance(one, float) else _nearest(Fraction(one) / other / 10**scale)
                for one, other, null in zip(above[:, 0], below[:, 0], is_null.tolist(), strict=True)
            ]
            return wrap(np.array(averages, np.float64), is_null)
        if above.dtype == np.int64:
            is_large = ((above[:, 2] != 0) | (below[:, 2] != 0)) & ~is_null
            if is_large.any():
                raise self._too_large(aggregate, int(is_large.argmax()))
        one, other = _scaled(above), _scaled(below)
        with np.errstate(all="ignore"):
            ratio = (one[0] / other[0]) * (1.0 + one[1]) / (1.0 + other[1])
            exponents = (512 * (one[2] - other[2])).clip(-4096, 4096).astype(np.int32)
            found = np.where(np.isfinite(one[0]), np.ldexp(ratio, exponents) / 10.0**scale, one[0])
        return wrap(found, is_null)

    def _extreme(self, aggregate: TrendAggregate) -> pa.Array:
        place = self._layout.extreme_of(aggregate)
        shape = self._layout.shape
        keys = self._finished.store.extremes.reshape(-1, shape.n_extremes)[:, place]
        is_null = (self._finished.store.seen >> place & 1) == 0
        kind = result_type(aggregate, self._layout)
        return values_of_keys(~keys if aggregate.function is Function.MAX else keys, is_null, kind)


def _nearest(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _digits(number: int, scale: int) -> str:
    return str(number) if not scale else format(Decimal(number).scaleb(-scale), "f")


def _logarithms(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        small = np.log1p(numbers[:, 1] / numbers[:, 0]) / math.log(10.0)
        return np.asarray(np.log10(numbers[:, 0]) + small + numbers[:, 2] * _LOG_OF_UNIT)


def _scaled(numbers: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """A leading double, a small correction relative to it, and the exponent."""
    if numbers.dtype == np.float64:
        with np.errstate(all="ignore"):
            return numbers[:, 0], np.where(numbers[:, 0] == 0, 0.0, numbers[:, 1] / numbers[:, 0]), numbers[:, 2]
    # By magnitude: the halves of a small negative number are both large.
    is_negative = numbers[:, 1] < 0
    low = np.where(is_negative, -numbers[:, 0], numbers[:, 0])
    high = np.where(is_negative, ~numbers[:, 1] + (low == 0), numbers[:, 1])
    size = high.astype(np.float64) * 2.0**64 + low.view(np.uint64).astype(np.float64)
    return np.where(is_negative, -size, size), np.zeros(len(numbers)), np.zeros(len(numbers))


def has_trends(store: Store, layout: Layout) -> NDArray[np.bool_]:
    """Which places have a trend."""
    numbers = store.numbers.reshape(-1, layout.shape.n_numbers, 3)[:, 0]
    if layout.counts is Counts.TEXT:
        return np.array([number != 0 for number in numbers[:, 0]], np.bool_)
    return np.asarray((numbers != 0).any(axis=1))


PARTIAL_START, PARTIAL_END, PARTIAL_PLACES = WINDOW_START, WINDOW_END, "places"
"""Columns of partial results, behind those of GROUP-BY (`group0`, ...)."""
