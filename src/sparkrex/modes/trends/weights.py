"""What events add to places, as arrays by row: weights of sums, keys of extremes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.gather import put_in_order
from sparkrex.columns.values import floats_of, ints_of, nulls_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError
from sparkrex.evaluate.joint_keys import order_keys
from sparkrex.evaluate.projected_rows import project_rows
from sparkrex.modes.trends.kernels.places import Weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.trends.layout import Cell, Layout
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.scalar.expression import Expression

_SIGN_OUT = np.int64(0x7FFFFFFFFFFFFFFF)


def make_weights(
    query: TrendQuery, layout: Layout, variables: Sequence[str], table: pa.Table, order: NDArray[np.int64] | None,
    evaluator: Evaluator,
) -> Weights:
    """The weights of a table's rows, put in order."""
    reader = _Reader(query, layout, table, order, evaluator)
    n_rows = table.num_rows if order is None else len(order)
    return Weights(
        number_of=_behind_trends(_which(layout.numbers, variables)),
        is_number_counted=_counted(layout.numbers),
        number_weights=_lines([reader.integers(cell) for cell in layout.numbers], n_rows, np.int64),
        number_valid=_lines([reader.valid(cell) for cell in layout.numbers], n_rows, np.uint8),
        real_of=_behind_trends(_which(layout.reals, variables)),
        is_real_counted=_counted(layout.reals),
        real_weights=_lines([reader.doubles(cell) for cell in layout.reals], n_rows, np.float64),
        real_valid=_lines([reader.valid(cell) for cell in layout.reals], n_rows, np.uint8),
        extreme_of=_which(layout.extremes, variables),
        extreme_keys=_lines([reader.keys(cell) for cell in layout.extremes], n_rows, np.int64),
        extreme_valid=_lines([reader.valid(cell) for cell in layout.extremes], n_rows, np.uint8),
    )


def _behind_trends(which: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """With a line in front for the trends themselves, to which events add nothing."""
    return np.vstack([np.zeros((1, which.shape[1]), np.uint8), which])


def _counted(cells: Sequence[Cell]) -> NDArray[np.uint8]:
    return np.array([False, *(cell.is_counted for cell in cells)], np.uint8)


def _which(cells: Sequence[Cell], variables: Sequence[str]) -> NDArray[np.uint8]:
    found = np.zeros((len(cells), len(variables)), np.uint8)
    for place, cell in enumerate(cells):
        found[place] = [name in cell.variables for name in variables]
    return found


def _lines(lines: list[NDArray[Any]], n_rows: int, dtype: Any) -> NDArray[Any]:
    """One array of lines; those that nobody reads are as short as can be."""
    width = max((len(line) for line in lines), default=0)
    found: NDArray[Any] = np.zeros((len(lines), width), dtype)
    for place, line in enumerate(lines):
        found[place, : len(line)] = line
    return found if width else np.zeros((len(lines), min(1, n_rows)), dtype)


class _Reader:
    def __init__(
        self, query: TrendQuery, layout: Layout, table: pa.Table, order: NDArray[np.int64] | None, evaluator: Evaluator
    ) -> None:
        self._query = query
        self._order = order
        self._n_rows = table.num_rows if order is None else len(order)
        values = project_rows(list(layout.types), table, evaluator)
        self._values = {argument: plain(column) for argument, column in zip(layout.types, values, strict=True)}

    def valid(self, cell: Cell) -> NDArray[np.uint8]:
        if cell.argument is None:
            return np.ones(self._n_rows, np.uint8)
        return put_in_order(1 - nulls_of(self._values[cell.argument]), self._order)

    def integers(self, cell: Cell) -> NDArray[np.int64]:
        """Of sums; of what is only counted, nothing."""
        if cell.is_counted or cell.argument is None:
            return np.empty(0, np.int64)
        return put_in_order(self._integers(cell.argument), self._order)

    def doubles(self, cell: Cell) -> NDArray[np.float64]:
        if cell.is_counted:
            return np.empty(0, np.float64)
        assert cell.argument is not None  # a sum is of something
        return put_in_order(floats_of(self._values[cell.argument]), self._order)

    def keys(self, cell: Cell) -> NDArray[np.int64]:
        """Integers in the order of the values, turned round for a maximum."""
        assert cell.argument is not None  # an extreme is of something
        values = self._values[cell.argument]
        keys = order_keys(values) if not pa.types.is_null(values.type) else np.zeros(len(values), np.int64)
        return put_in_order(~keys if cell.is_turned else keys, self._order)

    def _integers(self, argument: Expression) -> NDArray[np.int64]:
        values = self._values[argument]
        if pa.types.is_null(values.type):
            return np.zeros(len(values), np.int64)
        try:
            if pa.types.is_decimal(values.type) and values.type.precision > 18:
                values = values.cast(pa.decimal128(18, values.type.scale))
            return ints_of(values)
        except pa.ArrowInvalid as error:
            span = argument.span or self._query.span
            written = self._query.source.text[span.start : span.end]
            raise ExecutionError(
                "REX405", f"a value of {written} has more than 18 digits: its sum over trends is not supported",
                self._query.source, span, hint="cast it to DOUBLE",
            ) from error


def values_of_keys(keys: NDArray[np.int64], is_null: NDArray[np.bool_], kind: pa.DataType) -> pa.Array:
    """The values that keys stand for."""
    if pa.types.is_null(kind):
        return pa.nulls(len(keys))
    if pa.types.is_floating(kind):
        bits = np.where(keys < 0, keys ^ _SIGN_OUT, keys)
        return wrap(bits.view(np.float64), is_null).cast(kind)
    keys = np.where(is_null, 0, keys)
    if pa.types.is_decimal(kind):
        halves = np.stack([keys, keys >> 63], axis=1)
        array = pa.Array.from_buffers(pa.decimal128(38, kind.scale), len(keys), [None, pa.py_buffer(halves)]).cast(kind)
        return pc.if_else(wrap(is_null), pa.scalar(None, kind), array)
    if pa.types.is_boolean(kind):
        return wrap(keys.astype(np.bool_), is_null)
    if pa.types.is_integer(kind):
        return wrap(keys, is_null).cast(kind)
    narrow = keys.astype(np.int32) if kind.bit_width == 32 else keys
    return wrap(narrow, is_null).view(kind)
