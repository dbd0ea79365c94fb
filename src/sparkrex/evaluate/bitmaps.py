"""Row conditions as truth bitmaps, once for all rows, NULL counting as false.

What `vectorised` compiles runs over blocks of NumPy arrays; the rest, and conditions in which a row may fail (the host
says how, and whether it is reached), are evaluated by the host over a table with a column per column and distance.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import shifted_positions, take_or_null
from sparkrex.columns.values import plain
from sparkrex.errors import AnalysisError
from sparkrex.evaluate.row_kinds import CannotVectoriseError
from sparkrex.evaluate.vectorised import Compiler
from sparkrex.evaluate.vectorised_batch import VectorisedBatch
from sparkrex.scalar.expression import ColumnAt, walk
from sparkrex.scalar.render.duckdb import render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.hosts.host import Evaluator
    from sparkrex.scalar.render.renderer import Leaf
    from sparkrex.scalar.split import Condition
    from sparkrex.source import Source


def evaluate_bitmaps(
    conditions: Sequence[Condition], columns: Columns, evaluator: Evaluator, source: Source, threads: int = 1
) -> tuple[dict[str, int], NDArray[np.uint8]]:
    """The bitmap's number by variable, and all bitmaps, one a line."""
    rows = [condition for condition in conditions if condition.row is not None]
    numbers = {condition.variable: number for number, condition in enumerate(rows)}
    bitmaps = np.empty((len(rows), columns.n_rows), np.uint8)
    if not rows:
        return numbers, bitmaps
    expressions = [condition.row for condition in rows if condition.row is not None]
    left = VectorisedBatch(expressions, columns, evaluator, threads).evaluate(bitmaps)
    if left:
        results = host_truths([rows[number] for number in left], columns, evaluator, source)
        for number, result in zip(left, results, strict=True):
            bitmaps[number] = result
    return numbers, bitmaps


def host_reasons(conditions: Sequence[Condition], sample: pa.Table) -> dict[str, str]:
    """Why the host evaluates a variable's row condition, for those that it does; the sample has no rows."""
    compiler = Compiler(sample.schema)
    reasons: dict[str, str] = {}
    for condition in conditions:
        if condition.row is not None:
            try:
                compiler.condition(condition.row)
            except CannotVectoriseError as error:
                reasons[condition.variable] = str(error)
    return reasons


def host_truths(
    conditions: Sequence[Condition], columns: Columns, evaluator: Evaluator, source: Source
) -> list[NDArray[np.bool_]]:
    """Where each row condition holds, by the host."""
    names: dict[tuple[str, int], str] = {}
    expressions = [condition.row for condition in conditions if condition.row is not None]
    for expression in expressions:
        for node in walk(expression):
            if isinstance(node, ColumnAt):
                names.setdefault((node.column, node.target.shift), f"c{len(names)}")

    def leaf(node: Leaf) -> str:
        assert isinstance(node, ColumnAt)  # a row condition reads columns only
        return f"rex_rows.{names[node.column, node.target.shift]}"

    table = shifted_table(columns, names)
    texts = [render(expression, leaf) for expression in expressions]
    results = evaluator.evaluate(texts, table, [expression.span for expression in expressions])
    truths: list[NDArray[np.bool_]] = []
    for condition, expression, result in zip(conditions, expressions, results, strict=True):
        if not pa.types.is_boolean(result.type) and not pa.types.is_null(result.type):
            raise AnalysisError(
                "REX214", f"the condition of {condition.variable} is not boolean but {result.type}", source,
                expression.span, hint="compare it with something",
            )
        holds = plain(result.cast(pa.bool_()))
        truths.append(holds.fill_null(False).to_numpy(zero_copy_only=False))
    return truths


def shifted_table(columns: Columns, names: dict[tuple[str, int], str]) -> pa.Table:
    """A table with one column per (column, shift), each read that many rows further in the same partition."""
    n_rows = columns.table.num_rows
    if not names:
        return pa.table({"c": pa.nulls(n_rows, pa.int8())})
    positions = {shift: _input_rows(columns, shift) for _, shift in names}
    return pa.table(
        {
            name: columns.table.column(column) if rows is None else take_or_null(columns.table.column(column), rows)
            for (column, shift), name in names.items()
            for rows in (positions[shift],)
        }
    )


def _input_rows(columns: Columns, shift: int) -> NDArray[np.int64] | None:
    """For every row in order, the row of the input that a reference at this distance reads; None: each its own."""
    if shift == 0:
        return columns.order
    positions = shifted_positions(columns.offsets, columns.n_rows, shift)
    if columns.order is None or columns.n_rows == 0:
        return positions
    return np.where(positions < 0, -1, columns.order[positions])
