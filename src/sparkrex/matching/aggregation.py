"""Aggregates over found matches.

Numbers, booleans and times go through a kernel, in row order: one walk over the matches for all aggregates of a column.
Lists of final values are cut from the rows (`list_aggregation`). Everything else, and every aggregate that only the
host knows, is one query of the host over the mapped rows (`host_aggregation`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.columns.keys import read_only
from sparkrex.columns.values import kind_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.errors import ExecutionError
from sparkrex.kernels import accumulate as accumulated
from sparkrex.kernels.accumulate import LEAST, MOST, SQUARE, SUM, accumulate, find_extremes
from sparkrex.kernels.lazy import FEW_ROWS, kernel_for
from sparkrex.matching.host_aggregation import aggregate_by_host
from sparkrex.matching.labels import selecting
from sparkrex.matching.list_aggregation import aggregate_lists
from sparkrex.matching.row_projection import RowProjection
from sparkrex.scalar.expression import EACH_ROW, Aggregate, ColumnAt, Expression
from sparkrex.threads import spread_slices

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sparkrex.matching.reading import MatchReader
    from sparkrex.matching.row_projection import Projected

ACCUMULATED = {
    "count": None, "count_if": SUM, "sum": SUM, "avg": SUM, "min": LEAST, "bool_and": LEAST, "max": MOST,
    "bool_or": MOST, "var_samp": SQUARE, "var_pop": SQUARE, "stddev_samp": SQUARE, "stddev_pop": SQUARE,
}
"""What an aggregate that the kernel computes needs besides the number of values."""
_REALS = ("avg", "var_samp", "var_pop", "stddev_samp", "stddev_pop")

_NONE = np.zeros(0, np.int64)


def aggregate_together(
    reader: MatchReader, nodes: Iterable[Aggregate], *, is_final: bool
) -> dict[Aggregate, pa.ChunkedArray]:
    """Aggregates per match if final, else per mapped row."""
    columns: dict[str | None, list[Aggregate]] = {}
    computed: list[Aggregate] = []
    by_host: list[Aggregate] = []
    for node in nodes:
        if node.function not in ACCUMULATED or node.is_distinct or len(node.arguments) > 1:
            by_host.append(node)
        elif node.filter is None and all(map(_is_column, node.arguments)):
            columns.setdefault(_column_of(reader, node), []).append(node)
        else:
            computed.append(node)
    projection = RowProjection(reader)
    results: dict[Aggregate, pa.ChunkedArray] = {}
    for column, group in columns.items():
        results |= _over_column(reader, column, group, is_final, by_host)
    projection.prepare([*by_host, *computed])
    results |= _over_computed(projection, computed, is_final, by_host)
    if is_final:
        results |= aggregate_lists(projection, by_host)
    asked = [node for node in by_host if node not in results]
    return results | aggregate_by_host(projection, asked, is_final=is_final)


def _is_column(argument: Expression) -> bool:
    return isinstance(argument, ColumnAt) and argument.target == EACH_ROW


def _column_of(reader: MatchReader, node: Aggregate) -> str | None:
    """The column to read. Counting a column without NULLs is counting rows."""
    for argument in node.arguments:
        if isinstance(argument, ColumnAt) and (
            node.function != "count" or _has_nulls(reader.table.column(argument.column))
        ):
            return argument.column
    return None


def _has_nulls(values: pa.ChunkedArray) -> bool:
    # The values of a dictionary may be NULL where its codes are not.
    return bool(values.null_count) or pa.types.is_dictionary(values.type)


class _Values(NamedTuple):
    """Values in the form of the kernel, and where it finds those of a match: see `accumulate`."""

    first: NDArray[np.int64]
    order: NDArray[np.int64]
    values: NDArray[Any]
    valid_bits: NDArray[np.uint8]
    bit_offset: int
    takes_part: NDArray[np.bool_]


def _over_column(
    reader: MatchReader, column: str | None, nodes: list[Aggregate], is_final: bool, by_host: list[Aggregate]
) -> dict[Aggregate, pa.ChunkedArray]:
    """Aggregates of one column, or counts of rows if there is none; what the kernel cannot compute joins `by_host`."""
    matches = reader.matches
    nothing = _Values(matches.start, _NONE, _NONE, _NONE.view(np.uint8), 0, _NONE.view(np.bool_))
    if column is None:
        return _by_kernel(reader, nodes, None, nothing, is_final)
    values = reader.table.column(column)
    fitting = [node for node in nodes if fits_kernel(node, values.type, reader.dialect)]
    by_host += [node for node in nodes if node not in fitting]
    if not fitting:
        return {}
    if column in reader.arrangement.kept and _is_ready(values):
        # Rows of a match lie together there.
        first, order = matches.start, None
        array = wrap(reader.arrangement.kept[column]).view(values.type)
    elif _is_ready(values) or 2 * matches.n_mapped >= reader.table.num_rows:
        # Read where they are: no copy, or a copy in row order, costs less than a copy of the mapped rows.
        first, order = matches.start, reader.arrangement.order
        array = plain(values)
    else:
        first, order = matches.label_offsets[:-1], None
        array = plain(take_or_null(values, reader.input_rows(reader.row_position)))
    held = nothing._replace(first=first, order=_NONE if order is None else order)
    return _by_kernel(reader, fitting, array, held, is_final)


def _over_computed(
    projection: RowProjection, nodes: list[Aggregate], is_final: bool, by_host: list[Aggregate]
) -> dict[Aggregate, pa.ChunkedArray]:
    """Aggregates of expressions; what the kernel cannot compute joins `by_host`."""
    reader = projection.reader
    groups: dict[tuple[int, int], list[Aggregate]] = {}
    inputs: dict[tuple[int, int], tuple[NDArray[np.bool_], Projected | None]] = {}
    for node in nodes:
        rows = projection.row_set(node)
        mask = projection.mask(rows)
        projected = projection.projected(node.arguments[0], rows) if node.arguments else None
        key = (id(mask), id(projected))
        groups.setdefault(key, []).append(node)
        inputs[key] = mask, projected
    results: dict[Aggregate, pa.ChunkedArray] = {}
    for key, group in groups.items():
        takes_part, projected = inputs[key]
        array = None if projected is None else plain(projected.values)
        fitting = [node for node in group if array is None or fits_kernel(node, array.type, reader.dialect)]
        by_host += [node for node in group if node not in fitting]
        # The value of a mapped row is found at its place among the rows that were evaluated.
        place = _NONE if projected is None else projected.place
        held = _Values(reader.matches.label_offsets[:-1], place, _NONE, _NONE.view(np.uint8), 0, takes_part)
        if fitting:
            results |= _by_kernel(reader, fitting, array, held, is_final)
    return results


def member_labels(reader: MatchReader, node: Aggregate) -> NDArray[np.bool_] | None:
    """Per label, whether the aggregate is over rows with that label; None if it is over all rows."""
    variables = selecting(node.variables, reader.variables)
    return None if variables is None else reader.is_member(variables)


def _is_ready(values: pa.ChunkedArray) -> bool:
    """Whether the kernel can read the values without a copy."""
    type_ = values.type
    is_number = pa.types.is_int64(type_) or pa.types.is_float64(type_)
    return values.num_chunks == 1 and bool(is_number or pa.types.is_timestamp(type_) or pa.types.is_time64(type_))


def buffers_of(array: pa.Array, *, reads_values: bool) -> tuple[NDArray[Any], NDArray[np.uint8], int]:
    """An Arrow array as the kernel reads it: values, validity bits, and the first bit."""
    bits, bit_offset = np.zeros(0, np.uint8), 0
    if array.null_count:
        is_valid = array.is_valid()
        bits, bit_offset = np.frombuffer(is_valid.buffers()[1], np.uint8), is_valid.offset
    if not reads_values or not len(array):
        is_real = reads_values and pa.types.is_floating(array.type)
        return np.zeros(1, np.float64 if is_real else np.int64), bits, bit_offset
    if pa.types.is_floating(array.type):
        array = array.cast(pa.float64())
        values: NDArray[Any] = np.frombuffer(array.buffers()[1], np.float64)
    else:
        if not pa.types.is_integer(array.type) and not pa.types.is_boolean(array.type):
            array = array.view(pa.int32() if array.type.bit_width == 32 else pa.int64())
        array = array.cast(pa.int64())
        values = np.frombuffer(array.buffers()[1], np.int64)
    return values[array.offset : array.offset + len(array)], bits, bit_offset


@dataclass(frozen=True, eq=False, slots=True)
class Statistics:
    """What the kernel found for one set of variables, per output."""

    count: NDArray[np.int64]
    total: NDArray[Any]
    least: NDArray[Any]
    most: NDArray[Any]
    square: NDArray[np.float64]


def _by_kernel(
    reader: MatchReader, nodes: list[Aggregate], array: pa.Array | None, held: _Values, is_final: bool
) -> dict[Aggregate, pa.ChunkedArray]:
    """Aggregates of one array, or counts of rows if there is none, over one set of variables or several."""
    matches = reader.matches
    sets = {node.variables: node for node in nodes}
    numbers = {variables: number for number, variables in enumerate(sets)}
    is_filtered = len(held.takes_part) > 0
    members = [None if is_filtered else member_labels(reader, node) for node in sets.values()]
    nowhere = np.zeros(2 * max(len(reader.variables), 1), np.bool_)
    is_member = np.array([nowhere if member is None else member for member in members])
    by_label = np.array([member is not None for member in members])
    wanted = np.zeros((len(sets), 4), np.bool_)
    for node in nodes:
        statistic = ACCUMULATED[node.function]
        if statistic is not None:
            wanted[numbers[node.variables], statistic] = True
    if array is not None:
        values, bits, bit_offset = buffers_of(array, reads_values=bool(wanted.any()))
        held = held._replace(values=values, valid_bits=bits, bit_offset=bit_offset)
    dtype = held.values.dtype
    n_results = len(matches) if is_final else matches.n_mapped
    count = np.empty((len(sets), n_results), np.int64)
    total, least, most = (np.empty((len(sets), n_results if wanted[:, k].any() else 0), dtype) for k in range(3))
    square = np.empty((len(sets), n_results if wanted[:, SQUARE].any() else 0), np.float64)
    overflowed = np.zeros(len(sets), np.bool_)
    read = (matches.label_offsets, matches.labels, held.first, held.order, held.values, held.valid_bits)
    offsets, labels, first, order, values, bits = (read_only(item) for item in read)
    if _is_one_extreme(wanted, held) and is_final and matches.n_mapped > FEW_ROWS and not reader.has_empty:
        wants_most = bool(wanted[0, MOST])
        member = is_member[0] if by_label[0] else is_member[0, :0]
        found = (most if wants_most else least)[0]
        spread_slices(
            lambda begin, end: find_extremes(
                offsets, labels, first, values, member, wants_most, begin, end, count[0], found
            ),
            reader.pieces, matches.label_offsets,
        )
        return _finish(nodes, numbers, overflowed, (count, total, least, most, square), array)
    kernel = kernel_for(accumulate, matches.n_mapped)
    mapped = accumulated.Mapped(offsets, labels, first, order, held.takes_part)
    column = accumulated.Values(values, bits, held.bit_offset, dtype.type(0), dtype.kind == "i")
    asked = accumulated.Sets(is_member, by_label, wanted)
    totals = accumulated.Totals(count, total, least, most, square, overflowed)
    spread_slices(
        lambda begin, end: kernel(mapped, column, asked, not is_final, begin, end, totals),
        reader.pieces, matches.label_offsets,
    )
    return _finish(nodes, numbers, overflowed, (count, total, least, most, square), array)


def _is_one_extreme(wanted: NDArray[np.bool_], held: _Values) -> bool:
    """Whether one least or one greatest value is all that is asked of values that lie together and are all there."""
    is_plain = not (len(held.order) or len(held.valid_bits) or len(held.takes_part))
    return is_plain and len(wanted) == 1 and wanted.sum() == 1 and bool(wanted[0, LEAST] or wanted[0, MOST])


def _finish(
    nodes: list[Aggregate], numbers: dict[frozenset[str] | None, int], overflowed: NDArray[np.bool_],
    totals: tuple[NDArray[Any], ...], array: pa.Array | None,
) -> dict[Aggregate, pa.ChunkedArray]:
    """Each aggregate from what was accumulated for its set of variables."""
    results = {}
    for node in nodes:
        number = numbers[node.variables]
        if overflowed[number] and node.function in ("sum", "avg"):
            raise ExecutionError("REX405", f"{node.function} is out of the range of BIGINT", None, node.span)
        found = Statistics(*(every[number] for every in totals))
        results[node] = finish_aggregate(node.function, found, None if array is None else array.type)
    return results


def finish_aggregate(function: str, found: Statistics, type_: Any) -> pa.ChunkedArray:
    """The aggregate from what was accumulated for it."""
    count = found.count
    if function == "count":
        return pa.chunked_array([wrap(count)])
    if function == "count_if":
        return pa.chunked_array([wrap(np.where(count == 0, 0, found.total))])
    is_null = count < (2 if function.endswith("_samp") else 1)
    mask = is_null if is_null.any() else None
    if function in _REALS:
        with np.errstate(all="ignore"):
            if function == "avg":
                reals = found.total / count
            else:
                reals = found.square / (count - 1 if function.endswith("_samp") else count)
                reals = np.sqrt(reals) if function.startswith("stddev") else reals
        return pa.chunked_array([wrap(reals, mask)])
    if function == "sum":
        return pa.chunked_array([wrap(found.total, mask)])
    chosen = wrap(found.least if ACCUMULATED[function] == LEAST else found.most, mask)
    if pa.types.is_boolean(type_) or pa.types.is_integer(type_) or pa.types.is_floating(type_):
        return pa.chunked_array([chosen.cast(type_)])
    width = pa.int32() if type_.bit_width == 32 else pa.int64()
    return pa.chunked_array([chosen.cast(width).view(type_)])


def fits_kernel(node: Aggregate, type_: pa.DataType, dialect: str) -> bool:
    """Whether the kernel can compute the aggregate of such values."""
    if node.function == "count":
        return True
    kind = kind_of(type_)
    name = "" if kind is None else kind.name
    match node.function:
        case "count_if" | "bool_and" | "bool_or":
            return name == "bool"
        case "min" | "max":
            return name in ("int", "float", "bool", "date", "timestamp", "time")
        case "sum":
            # DuckDB's sum of integers is a HUGEINT, which is the host's business.
            return name == "float" or (name == "int" and dialect != "duckdb")
        case _:
            return name in ("int", "float")
