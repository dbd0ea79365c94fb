"""Aggregates over found matches.

Numbers, booleans and times go through a kernel, in row order: one walk over the matches for all aggregates of a column.
Everything else, and every aggregate that only the host knows, is one query of the host over the mapped rows: grouped by
match for final values, a window for running ones. DISTINCT is a filter to the first occurrence, which is right for
running values too.
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
from sparkrex.ir.scalar import EACH_ROW, Aggregate, ColumnAt, Expression, Literal
from sparkrex.kernels.accumulate import LEAST, MOST, SQUARE, SUM, accumulate
from sparkrex.kernels.lazy import kernel_for
from sparkrex.physical.labels import selecting
from sparkrex.threads import spread

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sparkrex.physical.reading import MatchReader

_ACCUMULATED = {
    "count": None, "count_if": SUM, "sum": SUM, "avg": SUM, "min": LEAST, "bool_and": LEAST, "max": MOST,
    "bool_or": MOST, "var_samp": SQUARE, "var_pop": SQUARE, "stddev_samp": SQUARE, "stddev_pop": SQUARE,
}
"""What an aggregate that the kernel computes needs besides the number of values."""
_COUNTS = ("count", "count_if")
_REALS = ("avg", "var_samp", "var_pop", "stddev_samp", "stddev_pop")

_NONE = np.zeros(0, np.int64)


def aggregate_together(
    reader: MatchReader, nodes: Iterable[Aggregate], *, is_final: bool
) -> dict[Aggregate, pa.ChunkedArray]:
    """Aggregates per match if final, else per mapped row."""
    columns: dict[str | None, list[Aggregate]] = {}
    computed: dict[tuple[object, object], list[Aggregate]] = {}
    results: dict[Aggregate, pa.ChunkedArray] = {}
    for node in nodes:
        if node.function not in _ACCUMULATED or node.is_distinct or len(node.arguments) > 1:
            results[node] = _by_host(reader, node, is_final)
        elif node.filter is None and all(map(_is_column, node.arguments)):
            columns.setdefault(_column_of(reader, node), []).append(node)
        else:
            computed.setdefault((node.variables, node.filter), []).append(node)
    for column, group in columns.items():
        results.update(_over_column(reader, column, group, is_final))
    for group in computed.values():
        results.update(_over_computed(reader, group, is_final))
    return results


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
    reader: MatchReader, column: str | None, nodes: list[Aggregate], is_final: bool
) -> dict[Aggregate, pa.ChunkedArray]:
    """Aggregates of one column, or counts of rows if there is none."""
    matches = reader.matches
    nothing = _Values(matches.start, _NONE, _NONE, _NONE.view(np.uint8), 0, _NONE.view(np.bool_))
    if column is None:
        return _by_kernel(reader, nodes, None, nothing, is_final)
    values = reader.table.column(column)
    fitting = [node for node in nodes if _fits(node, values.type, reader.dialect)]
    results = {node: _by_host(reader, node, is_final) for node in nodes if node not in fitting}
    if not fitting:
        return results
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
    return results | _by_kernel(reader, fitting, array, held, is_final)


def _over_computed(reader: MatchReader, nodes: list[Aggregate], is_final: bool) -> dict[Aggregate, pa.ChunkedArray]:
    """Aggregates of expressions over one set of rows. The expressions are evaluated for these rows only."""
    takes_part = _takes_part(reader, nodes[0])
    rows = np.flatnonzero(takes_part)
    arguments = list(dict.fromkeys(argument for node in nodes for argument in node.arguments))
    arrays = dict(zip(arguments, reader.each_row(arguments, rows) if arguments else [], strict=True))
    # The value of a mapped row is found at its place among the rows that take part.
    held = _Values(
        reader.matches.label_offsets[:-1], np.cumsum(takes_part) - 1, _NONE, _NONE.view(np.uint8), 0, takes_part
    )
    results: dict[Aggregate, pa.ChunkedArray] = {}
    for argument in {node.arguments: None for node in nodes}:
        group = [node for node in nodes if node.arguments == argument]
        array = plain(arrays[argument[0]]) if argument else None
        fitting = [node for node in group if array is None or _fits(node, array.type, reader.dialect)]
        results |= {node: _by_host(reader, node, is_final) for node in group if node not in fitting}
        if fitting:
            results |= _by_kernel(reader, fitting, array, held, is_final)
    return results


def _members(reader: MatchReader, node: Aggregate) -> NDArray[np.bool_] | None:
    """Per label, whether the aggregate is over rows with that label; None if it is over all rows."""
    variables = selecting(node.variables, reader.variables)
    return None if variables is None else reader.is_member(variables)


def _takes_part(reader: MatchReader, node: Aggregate) -> NDArray[np.bool_]:
    """Per mapped row, whether it is one of the aggregate's rows."""
    is_member = _members(reader, node)
    takes_part = np.ones(reader.matches.n_mapped, np.bool_) if is_member is None else is_member[reader.matches.labels]
    if node.filter is not None:
        rows = np.flatnonzero(takes_part)
        (condition,) = reader.each_row([node.filter], rows)
        holds = plain(condition.cast(pa.bool_())).fill_null(False).to_numpy(zero_copy_only=False)
        takes_part[rows[~holds]] = False
    return takes_part


def _is_ready(values: pa.ChunkedArray) -> bool:
    """Whether the kernel can read the values without a copy."""
    type_ = values.type
    is_number = pa.types.is_int64(type_) or pa.types.is_float64(type_)
    return values.num_chunks == 1 and bool(is_number or pa.types.is_timestamp(type_) or pa.types.is_time64(type_))


def _held(array: pa.Array, *, reads_values: bool) -> tuple[NDArray[Any], NDArray[np.uint8], int]:
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
class _Statistics:
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
    members = [None if is_filtered else _members(reader, node) for node in sets.values()]
    nowhere = np.zeros(2 * max(len(reader.variables), 1), np.bool_)
    is_member = np.array([nowhere if member is None else member for member in members])
    by_label = np.array([member is not None for member in members])
    wanted = np.zeros((len(sets), 4), np.bool_)
    for node in nodes:
        statistic = _ACCUMULATED[node.function]
        if statistic is not None:
            wanted[numbers[node.variables], statistic] = True
    if array is not None:
        values, bits, bit_offset = _held(array, reads_values=bool(wanted.any()))
        held = held._replace(values=values, valid_bits=bits, bit_offset=bit_offset)
    dtype = held.values.dtype
    n_results = len(matches) if is_final else matches.n_mapped
    count = np.empty((len(sets), n_results), np.int64)
    total, least, most = (np.empty((len(sets), n_results if wanted[:, k].any() else 0), dtype) for k in range(3))
    square = np.empty((len(sets), n_results if wanted[:, SQUARE].any() else 0), np.float64)
    overflowed = np.zeros(len(sets), np.bool_)
    read = (matches.label_offsets, matches.labels, held.first, held.order, held.values, held.valid_bits)
    offsets, labels, first, order, values, bits = (read_only(item) for item in read)
    kernel = kernel_for(accumulate, matches.n_mapped)
    spread(
        lambda begin, end: kernel(
            offsets, labels, first, order, values, bits, held.bit_offset, held.takes_part, is_member, by_label, wanted,
            dtype.type(0), dtype.kind == "i", not is_final, begin, end, count, total, least, most, square, overflowed,
        ),
        reader.pieces,
    )
    results = {}
    for node in nodes:
        number = numbers[node.variables]
        if overflowed[number] and node.function in ("sum", "avg"):
            raise ExecutionError("REX405", f"{node.function} is out of the range of BIGINT", None, node.span)
        found = _Statistics(*(every[number] for every in (count, total, least, most, square)))
        results[node] = _finished(node.function, found, None if array is None else array.type)
    return results


def _finished(function: str, found: _Statistics, type_: Any) -> pa.ChunkedArray:
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
    chosen = wrap(found.least if _ACCUMULATED[function] == LEAST else found.most, mask)
    if pa.types.is_boolean(type_) or pa.types.is_integer(type_) or pa.types.is_floating(type_):
        return pa.chunked_array([chosen.cast(type_)])
    width = pa.int32() if type_.bit_width == 32 else pa.int64()
    return pa.chunked_array([chosen.cast(width).view(type_)])


def _fits(node: Aggregate, type_: pa.DataType, dialect: str) -> bool:
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


def _by_host(reader: MatchReader, node: Aggregate, is_final: bool) -> pa.ChunkedArray:
    takes_part = _takes_part(reader, node)
    arguments = [argument for argument in node.arguments if not isinstance(argument, Literal)]
    order = [item.expression for item in node.order_by]
    rows = np.flatnonzero(takes_part) if is_final else np.arange(len(takes_part))
    columns = reader.each_row([*arguments, *order], rows) if arguments or order else []
    names = {id(expression): f"a{number}" for number, expression in enumerate([*arguments, *order])}
    table = pa.table(
        {
            "m": reader.row_match[rows],
            "i": rows,
            "t": takes_part[rows],
            **{f"a{number}": column for number, column in enumerate(columns)},
        }
    )
    call = _host_call(node, names)
    source = "rex_rows"
    condition = "t"
    if node.is_distinct and arguments:
        keys = ", ".join(names[id(argument)] for argument in arguments)
        source = f"(SELECT *, row_number() OVER (PARTITION BY m, t, {keys} ORDER BY i) = 1 AS d FROM rex_rows)"
        condition = "t AND d"
    if is_final:
        sql = f"SELECT m AS k, {call.format(filter=condition, over='')} AS v FROM {source} GROUP BY m"
        n_results = len(reader.matches)
    else:
        over = " OVER (PARTITION BY m ORDER BY i ROWS UNBOUNDED PRECEDING)"
        sql = f"SELECT i AS k, {call.format(filter=condition, over=over)} AS v FROM {source}"
        n_results = len(takes_part)
    result = reader.evaluator.query(sql, table, node.span)
    place = np.full(n_results, -1)
    place[result.column("k").to_numpy()] = np.arange(len(result))
    values = take_or_null(result.column("v"), place)
    if node.function == "map_agg":
        values = _maps(values)
    if node.function in _COUNTS:
        values = values.fill_null(0)
    if node.function == "sum" and reader.dialect != "duckdb" and pa.types.is_decimal(values.type) and (
        values.type.precision == 38 and values.type.scale == 0
    ):
        values = _to_bigint(values, node)
    return values


def _to_bigint(values: pa.ChunkedArray, node: Aggregate) -> pa.ChunkedArray:
    try:
        return values.cast(pa.int64())
    except pa.ArrowInvalid:
        raise ExecutionError("REX405", f"{node.function} is out of the range of BIGINT", None, node.span) from None


def _host_call(node: Aggregate, names: dict[int, str]) -> str:
    """The aggregate as host SQL with `{filter}` and `{over}` left open. Ties go to the earlier row."""

    def text(expression: Expression) -> str:
        if isinstance(expression, Literal):
            from sparkrex.ir.render import render_literal

            return render_literal(expression.value)
        return names[id(expression)]

    arguments = [text(argument) for argument in node.arguments]
    order = [
        f"{text(item.expression)} {'DESC' if item.is_descending else 'ASC'} "
        f"NULLS {'FIRST' if item.nulls_first else 'LAST'}"
        for item in node.order_by
    ]
    by = ", ".join([*order, "i"])
    match node.function:
        case "min_by" | "max_by":
            direction = "ASC" if node.function == "min_by" else "DESC"
            key = arguments[1]
            listed = (
                f"(list({arguments[0]} ORDER BY {key} {direction}, i) "
                f"FILTER (WHERE {{filter}} AND {key} IS NOT NULL){{over}})"
            )
            return f"{listed}[1:{arguments[2]}]" if len(arguments) == 3 else f"{listed}[1]"
        case "map_agg":
            entry = f"struct_pack(k := {arguments[0]}, v := {arguments[1]})"
            return f"list({entry} ORDER BY {by}) FILTER (WHERE {{filter}} AND {arguments[0]} IS NOT NULL){{over}}"
        case "array_agg":
            return f"list({arguments[0]} ORDER BY {by}) FILTER (WHERE {{filter}}){{over}}"
        case "string_agg":
            separator = arguments[1] if len(arguments) > 1 else "','"
            value = f"CAST({arguments[0]} AS VARCHAR)"
            return f"string_agg({value}, {separator} ORDER BY {by}) FILTER (WHERE {{filter}}){{over}}"
        case _:
            call = node.template.format(*arguments)
            return call.replace("{", "{{").replace("}", "}}") + " FILTER (WHERE {filter}){over}"


def _maps(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lists of entries as maps; of equal keys the first entry stays."""
    entry = values.type.value_type
    type_ = pa.map_(entry.field("k").type, entry.field("v").type)
    rows: list[list[tuple[object, object]] | None] = []
    for entries in values.to_pylist():
        if entries is None:
            rows.append(None)
            continue
        kept: dict[object, object] = {}
        for item in entries:
            kept.setdefault(item["k"], item["v"])
        rows.append(list(kept.items()))
    return pa.chunked_array([pa.array(rows, type_)])
