"""Expressions over the input rows, and by them the partitions and their order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.columns.arrange import Arrangement, SortKey, arrange
from sparkrex.columns.keys import refuse_unordered
from sparkrex.matching.gaps import end_at_gaps
from sparkrex.scalar.expression import ColumnAt
from sparkrex.scalar.render.duckdb import render

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.plan import Plan
    from sparkrex.scalar.expression import Expression


def row_values(expressions: list[Expression], table: pa.Table, evaluator: Evaluator) -> list[pa.ChunkedArray]:
    """Expressions for every row of the table. Plain columns are taken as they are."""
    names = {name: f"c{number}" for number, name in enumerate(table.column_names)}
    computed = [e for e in expressions if not isinstance(e, ColumnAt)]
    texts = [
        render(e, lambda leaf: f"rex_rows.{names[leaf.column]}" if isinstance(leaf, ColumnAt) else "NULL")
        for e in computed
    ]
    renamed = table.rename_columns(list(names.values()))
    results = iter(evaluator.evaluate(texts, renamed, [e.span for e in computed], reads_relation=True))
    return [table.column(e.column) if isinstance(e, ColumnAt) else next(results) for e in expressions]


def arrange_rows(
    plan: Plan, table: pa.Table, evaluator: Evaluator, threads: int
) -> tuple[Arrangement, list[pa.ChunkedArray]]:
    """Partitions and their order by PARTITION BY and ORDER BY, and the values of PARTITION BY for every row."""
    keys = [key.expression for key in plan.partition_by] + [key.expression for key in plan.order_by]
    values = row_values(keys, table, evaluator)
    partition_columns = values[: len(plan.partition_by)]
    sort_keys = []
    for column, key in zip(values[len(plan.partition_by) :], plan.order_by, strict=True):
        refuse_unordered(column.type, key.expression.span)
        name = key.expression.column if isinstance(key.expression, ColumnAt) else None
        sort_keys.append(SortKey(column, key.is_descending, key.nulls_first, name))
    arrangement = arrange(partition_columns, sort_keys, table.num_rows, threads)
    return end_at_gaps(plan, arrangement, sort_keys), partition_columns
