"""Which events of a stream a query may use, and the columns that its partitions are by."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.ordered import Columns
from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.scalar.expression import ColumnAt, walk
from sparkrex.scalar.split import Condition

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.scalar.expression import Expression
    from sparkrex.settings import Settings


def key_columns(query: EventQuery) -> list[str]:
    """The attributes of equivalence tests."""
    return [key.expression.column for key in query.partition_by if isinstance(key.expression, ColumnAt)]


def taking_part(query: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings) -> pa.Table:
    """The rows that can influence a match."""
    keep = rows_taking_part(query, table, evaluator, settings)
    return table if keep.all() else table.filter(wrap(keep))


def rows_taking_part(
    query: EventQuery, table: pa.Table, evaluator: Evaluator, settings: Settings
) -> NDArray[np.bool_]:
    """By row whether it can influence a match: of a type that the query names, without NULL in an equivalence test."""
    n_rows = table.num_rows
    keep = np.ones(n_rows, np.bool_)
    if query.relevant is not None:
        columns = Columns(_read_by(query.relevant, table), np.array([0, n_rows], np.int64))
        conditions = [Condition("an event", query.relevant, None)]
        _, bitmaps = evaluate_bitmaps(conditions, columns, evaluator, query.source, settings.thread_count())
        keep &= bitmaps[0].view(np.bool_)
    for name in key_columns(query):
        if table.column(name).null_count:
            keep &= numpy_of(plain(table.column(name).is_valid()))
    return keep


def _read_by(condition: Expression, table: pa.Table) -> pa.Table:
    used = {node.column for node in walk(condition) if isinstance(node, ColumnAt)}
    read = table.select([name for name in table.column_names if name in used])
    return read if used else pa.table({"rex_row": pa.nulls(table.num_rows, pa.int8())})
