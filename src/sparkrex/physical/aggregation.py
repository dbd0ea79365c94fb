"""Aggregates over found matches.

Numbers, booleans and times go through kernels, in row order. Everything else, and every aggregate that only the host
knows, is one query of the host over the mapped rows: grouped by match for final values, a window for running ones.
DISTINCT is a filter to the first occurrence, which is right for running values too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.columns.values import floats_of, ints_of, kind_of, nulls_of, plain
from sparkrex.errors import ExecutionError
from sparkrex.ir.scalar import Aggregate, Expression, Literal
from sparkrex.kernels import machine
from sparkrex.kernels.accumulate import accumulate_floats, accumulate_ints

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.physical.reading import MatchReader

_KERNELS = {
    "count": machine.COUNT, "count_if": machine.COUNT_IF, "sum": machine.SUM, "avg": machine.AVG, "min": machine.MIN,
    "max": machine.MAX, "var_samp": machine.VAR_SAMP, "var_pop": machine.VAR_POP, "stddev_samp": machine.STDDEV_SAMP,
    "stddev_pop": machine.STDDEV_POP, "bool_and": machine.MIN, "bool_or": machine.MAX,
}
_COUNTS = ("count", "count_if")
_REALS = ("avg", "var_samp", "var_pop", "stddev_samp", "stddev_pop")


def aggregate(reader: MatchReader, node: Aggregate, *, is_final: bool) -> pa.ChunkedArray:
    """The aggregate per match if final, else per mapped row."""
    takes_part = _takes_part(reader, node)
    if node.function in _KERNELS and not node.is_distinct and len(node.arguments) <= 1:
        result = _by_kernel(reader, node, takes_part, is_final)
        if result is not None:
            return result
    return _by_host(reader, node, takes_part, is_final)


def _takes_part(reader: MatchReader, node: Aggregate) -> NDArray[np.bool_]:
    """Per mapped row, whether it is one of the aggregate's rows."""
    labels = reader.matches.labels
    takes_part = np.ones(len(labels), np.bool_)
    if node.variables is not None:
        takes_part = reader.is_member(node.variables)[labels // 2]
    if node.filter is not None:
        rows = np.flatnonzero(takes_part)
        (condition,) = reader.each_row([node.filter], rows)
        holds = plain(condition.cast(pa.bool_())).fill_null(False).to_numpy(zero_copy_only=False)
        takes_part = takes_part.copy()
        takes_part[rows[~holds]] = False
    return takes_part


def _by_kernel(
    reader: MatchReader, node: Aggregate, takes_part: NDArray[np.bool_], is_final: bool
) -> pa.ChunkedArray | None:
    """None if the values are of a kind that kernels do not hold."""
    n_rows = len(takes_part)
    kind = _KERNELS[node.function]
    result_type: pa.DataType = pa.int64()
    values: NDArray[Any] = np.zeros(n_rows, np.int64)
    nulls = np.zeros(n_rows, np.bool_)
    kernel = accumulate_ints
    if node.arguments:
        rows = np.flatnonzero(takes_part)
        (argument,) = reader.each_row(node.arguments, rows)
        array = plain(argument)
        value_kind = kind_of(array.type)
        if node.function == "count":
            result_type = pa.int64()
        elif value_kind is None or not _fits(node, value_kind.name, reader.dialect):
            return None
        nulls[rows] = nulls_of(array).astype(np.bool_)
        if node.function != "count":
            is_float = value_kind is not None and value_kind.name == "float"
            values = values.astype(np.float64) if is_float else values
            values[rows] = floats_of(array) if is_float else ints_of(array)
            kernel = accumulate_floats if is_float else accumulate_ints
            result_type = _result_type(node.function, array.type)
    n_results = len(reader.matches) if is_final else n_rows
    whole, reals, is_null = np.zeros(n_results, np.int64), np.zeros(n_results), np.ones(n_results, np.bool_)
    offsets = reader.matches.label_offsets
    if not kernel(offsets, takes_part, values, nulls, kind, not is_final, whole, reals, is_null):
        raise ExecutionError("REX405", f"{node.function} is out of the range of BIGINT", None, node.span)
    chosen = reals if pa.types.is_floating(result_type) else whole
    if pa.types.is_boolean(result_type):
        return pa.chunked_array([pa.array(chosen != 0, mask=is_null)])
    if pa.types.is_integer(result_type) or pa.types.is_floating(result_type):
        return pa.chunked_array([pa.array(chosen, mask=is_null).cast(result_type)])
    width = pa.int32() if result_type.bit_width == 32 else pa.int64()
    return pa.chunked_array([pa.array(chosen, mask=is_null).cast(width).view(result_type)])


def _fits(node: Aggregate, kind: str, dialect: str) -> bool:
    match node.function:
        case "count_if" | "bool_and" | "bool_or":
            return kind == "bool"
        case "min" | "max":
            return kind in ("int", "float", "bool", "date", "timestamp", "time")
        case "sum":
            # DuckDB's sum of integers is a HUGEINT, which is the host's business.
            return kind == "float" or (kind == "int" and dialect != "duckdb")
        case _:
            return kind in ("int", "float")


def _result_type(function: str, type_: pa.DataType) -> pa.DataType:
    if function in _COUNTS:
        return pa.int64()
    if function in _REALS:
        return pa.float64()
    if function == "sum":
        return pa.float64() if pa.types.is_floating(type_) else pa.int64()
    return type_


def _by_host(reader: MatchReader, node: Aggregate, takes_part: NDArray[np.bool_], is_final: bool) -> pa.ChunkedArray:
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
