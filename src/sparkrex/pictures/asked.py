"""What `rex.plot` and `rex.regions` are asked: a query and its tables, or a result and the rows that it is of."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparkrex.columns.inputs import is_spark, to_arrow
from sparkrex.errors import UnsupportedError
from sparkrex.faults import faults_reported
from sparkrex.pictures.from_query import picture_of_query
from sparkrex.pictures.from_result import picture_of_result
from sparkrex.pictures.plot import Plot

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from sparkrex.pictures.from_result import ResultColumns
    from sparkrex.pictures.options import Options
    from sparkrex.query import Query


def plot_query(query: Query, tables: Any, named: Mapping[str, object], args: Any, options: Options) -> Plot:
    """The picture of a query over tables in memory."""
    parsed, arrow = query.bound_in_memory(tables, named, args, "plot()")
    with faults_reported(query.text):
        return Plot(picture_of_query(parsed, arrow, query.settings, options))


def plot_result(result: Any, rows: Any, columns: ResultColumns, options: Options) -> Plot:
    """The picture of a result over the rows that it is of."""
    return Plot(picture_of_result(table_of("the result", result), table_of("the table", rows), columns, options))


def table_of(what: str, value: Any) -> pa.Table:
    """A table in memory."""
    if is_spark(value):
        raise UnsupportedError(
            "REX301", f"{what} is a DataFrame of Spark's, and pictures are made in memory", None, None,
            hint="collect what it should show: frame.where(...).toArrow(), or toPandas()",
        )
    found = to_arrow("", value)
    return found if hasattr(found, "slice") else found.to_table()
