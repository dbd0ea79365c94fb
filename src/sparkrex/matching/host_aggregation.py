"""Aggregates that only the host knows: one query for all that read the same mapped rows.

Final values are grouped by match, running ones are windows. DISTINCT is a filter to the first occurrence, which is
right for running values too. Aggregates of other rows are another query: part of an argument may be the host's to
compute, and must not be computed where it is not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import take_or_null
from sparkrex.errors import ExecutionError, RexError
from sparkrex.scalar.expression import Aggregate, Expression, Literal
from sparkrex.scalar.render.duckdb import DUCKDB
from sparkrex.scalar.render.renderer import render_literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.matching.row_projection import Projected, RowProjection

_COUNTS = ("count", "count_if")


def aggregate_by_host(
    projection: RowProjection, nodes: Sequence[Aggregate], *, is_final: bool
) -> dict[Aggregate, pa.ChunkedArray]:
    """These aggregates, per match if final, else per mapped row."""
    groups: dict[int, list[Aggregate]] = {}
    for node in nodes:
        groups.setdefault(id(projection.mask(projection.row_set(node))), []).append(node)
    dialect = projection.reader.dialect
    results: dict[Aggregate, pa.ChunkedArray] = {}
    for group in groups.values():
        columns = _ask_together(projection, group, is_final)
        results |= {node: as_declared(node, column, dialect) for node, column in zip(group, columns, strict=True)}
    return results


def _ask_together(projection: RowProjection, nodes: list[Aggregate], is_final: bool) -> list[pa.ChunkedArray]:
    try:
        return _ask(projection, nodes, is_final)
    except RexError:
        if len(nodes) == 1:
            raise
    # One by one, so that the error names its own place.
    return [_ask(projection, [node], is_final)[0] for node in nodes]


def _ask(projection: RowProjection, nodes: list[Aggregate], is_final: bool) -> list[pa.ChunkedArray]:
    """Aggregates over one set of rows."""
    reader = projection.reader
    mask = projection.mask(projection.row_set(nodes[0]))
    # A final value needs only the rows it is over; a running one is told of every row.
    rows = np.flatnonzero(mask) if is_final else np.arange(len(mask))
    columns: dict[str, Any] = {"m": reader.row_match[rows], "i": rows, "t": mask[rows]}
    known: dict[int, str] = {}
    distinct: dict[str, str] = {}
    calls = []
    for node in nodes:
        names: dict[int, str] = {}
        for expression in (*node.arguments, *(item.expression for item in node.order_by)):
            if not isinstance(expression, Literal):
                projected = projection.projected(expression, projection.row_set(node))
                names[id(expression)] = known.setdefault(id(projected), f"a{len(known)}")
                if names[id(expression)] not in columns:
                    columns[names[id(expression)]] = _column(projected, mask, rows)
        condition = "t"
        if node.is_distinct and node.arguments:
            # A constant has one value.
            keys = ", ".join(["m", "t", *(names[id(one)] for one in node.arguments if id(one) in names)])
            first = f"row_number() OVER (PARTITION BY {keys} ORDER BY i) = 1"
            condition = "t AND " + distinct.setdefault(first, f"d{len(distinct)}")
        over = "" if is_final else " OVER (PARTITION BY m ORDER BY i ROWS UNBOUNDED PRECEDING)"
        calls.append(_host_call(node, names).format(filter=condition, over=over))
    source = "rex_rows"
    if distinct:
        source = f"(SELECT *, {', '.join(f'{text} AS {name}' for text, name in distinct.items())} FROM rex_rows)"
    listed = ", ".join(f"{call} AS v{number}" for number, call in enumerate(calls))
    table = pa.table(columns)
    n_results = len(reader.matches) if is_final else len(mask)
    by = " GROUP BY m" if is_final else ""
    key = "m" if is_final else "i"
    result = reader.evaluator.query(f"SELECT {key} AS k, {listed} FROM {source}{by}", table, nodes[0].span)
    place = np.full(n_results, -1)
    place[result.column("k").to_numpy()] = np.arange(len(result))
    found = result.select(range(1, len(nodes) + 1))
    if is_final and len(result) < n_results:
        # The host says what the result is over no rows.
        place[place < 0] = len(result)
        nothing = reader.evaluator.query(f"SELECT {listed} FROM {source}", table.slice(0, 0), nodes[0].span)
        found = pa.concat_tables([found, nothing.cast(found.schema)])
    return [take_or_null(column, place) for column in found.columns]


def _column(projected: Projected, mask: NDArray[np.bool_], rows: NDArray[np.int64]) -> pa.ChunkedArray:
    """An expression over `rows`, NULL where it is not read."""
    if len(projected.values) == len(rows) and projected.mask is mask:
        return projected.values
    return take_or_null(projected.values, np.where(mask, projected.place, -1)[rows])


def as_declared(node: Aggregate, values: pa.ChunkedArray, dialect: str) -> pa.ChunkedArray:
    """What the host returned as what the query's dialect says the aggregate is."""
    if node.function == "map_agg":
        values = _maps(values)
    if node.function in _COUNTS:
        values = values.fill_null(0)
    if node.function == "sum" and dialect != "duckdb" and pa.types.is_decimal(values.type) and (
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
            call = DUCKDB.aggregate(node, arguments)
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
