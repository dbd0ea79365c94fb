"""Expressions of one row as columns: plain columns as they are, others by the host."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from sparkrex.scalar.expression import ColumnAt, walk
from sparkrex.scalar.render.duckdb import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.hosts.host import Evaluator
    from sparkrex.scalar.expression import Expression
    from sparkrex.scalar.render.renderer import Leaf


def project_rows(expressions: Sequence[Expression], table: pa.Table, evaluator: Evaluator) -> list[pa.ChunkedArray]:
    """The values of expressions that read one row each, by row of the table."""
    computed = [expression for expression in expressions if not isinstance(expression, ColumnAt)]
    used = dict.fromkeys(node.column for part in computed for node in walk(part) if isinstance(node, ColumnAt))
    names = {column: f"c{number}" for number, column in enumerate(used)}

    def leaf(node: Leaf) -> str:
        assert isinstance(node, ColumnAt)  # it reads one row
        return f"rex_rows.{names[node.column]}"

    read = table.select(list(names)).rename_columns(list(names.values()))
    if not names:
        read = pa.table({"c": pa.nulls(table.num_rows, pa.int8())})
    texts = [render(expression, leaf) for expression in computed]
    values = iter(evaluator.evaluate(texts, read, [expression.span for expression in computed]) if computed else ())
    return [
        table.column(expression.column) if isinstance(expression, ColumnAt) else next(values)
        for expression in expressions
    ]
