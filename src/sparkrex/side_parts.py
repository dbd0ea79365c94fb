"""The parts of a result with side rows: matches, late rows, rows at which a search failed. Filters that keep nothing.

Each takes a result as it is: a DataFrame of Spark's, a batch of a stream in `foreachBatch` above all, or a table in
memory, and gives the part as the same kind of table.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparkrex.columns.inputs import is_spark, to_arrow
from sparkrex.columns.results import result_library, to_library
from sparkrex.errors import AnalysisError
from sparkrex.matching.side_rows import ERROR, FAILED, KIND, LATE, MATCH, ROW, SIDE_COLUMNS

if TYPE_CHECKING:
    from collections.abc import Sequence


def matches_of(result: Any) -> Any:
    """The rows of matches, with the columns that the result would have without side rows."""
    if is_spark(result):
        _check(result.columns, [KIND])
        return result.where(f"{KIND} = '{MATCH}'").drop(*SIDE_COLUMNS)
    table = to_arrow("result", result)
    _check(table.schema.names, [KIND])
    kept = [name for name in table.schema.names if name.lower() not in SIDE_COLUMNS]
    return to_library(_of_kind(table, MATCH).select(kept), result_library([result]))


def late_of(result: Any) -> Any:
    """The late rows, with the columns of the input."""
    return _inputs(result, LATE, [])


def failed_of(result: Any) -> Any:
    """The rows at which a search failed, with the columns of the input, and the error."""
    return _inputs(result, FAILED, [ERROR])


def _inputs(result: Any, kind: str, others: Sequence[str]) -> Any:
    if is_spark(result):
        _check(result.columns, [KIND, ROW, *others])
        return result.where(f"{KIND} = '{kind}'").select(f"{ROW}.*", *others)
    table = to_arrow("result", result)
    _check(table.schema.names, [KIND, ROW, *others])
    found = _of_kind(table, kind)
    rows = found.column(ROW).combine_chunks()
    columns = {field.name: rows.field(place) for place, field in enumerate(rows.type)}
    columns |= {name: found.column(name) for name in others}
    import pyarrow as pa

    return to_library(pa.table(columns), result_library([result]))


def _of_kind(table: Any, kind: str) -> Any:
    import pyarrow.compute as pc

    found = table if hasattr(table, "column") else table.to_table()  # a folder is a dataset
    return found.filter(pc.equal(found.column(KIND), kind))


def _check(columns: Sequence[str], needed: Sequence[str]) -> None:
    for name in needed:
        if name not in columns:
            raise AnalysisError(
                "REX201", f"the result has no column {name}", None, None,
                hint='a query gives it with settings={"side_rows": True}, unless the SELECT around leaves it out',
            )
