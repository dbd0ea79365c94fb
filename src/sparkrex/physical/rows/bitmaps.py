"""Row conditions as truth bitmaps: evaluated by the host once for all rows, NULL counting as false."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.gather import shifted_positions, take_or_null
from sparkrex.columns.values import plain
from sparkrex.errors import AnalysisError
from sparkrex.ir.render import render
from sparkrex.ir.scalar import ColumnAt, walk

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.analyze.split import Condition
    from sparkrex.hosts.host import Evaluator
    from sparkrex.ir.render import Leaf
    from sparkrex.physical.contract import Columns
    from sparkrex.source import Source


def evaluate_bitmaps(
    conditions: Sequence[Condition], columns: Columns, evaluator: Evaluator, source: Source, threads: int = 1
) -> tuple[dict[str, int], NDArray[np.uint8]]:
    """The bitmap's number by variable, and all bitmaps, one a line."""
    rows = [condition for condition in conditions if condition.row is not None]
    n_rows = columns.table.num_rows
    if not rows:
        return {}, np.empty((0, n_rows), np.uint8)
    names: dict[tuple[str, int], str] = {}
    for condition in rows:
        assert condition.row is not None  # filtered above
        for node in walk(condition.row):
            if isinstance(node, ColumnAt):
                names.setdefault((node.column, node.target.shift), f"c{len(names)}")

    def leaf(node: Leaf) -> str:
        assert isinstance(node, ColumnAt)  # a row condition reads columns only
        return f"rex_rows.{names[node.column, node.target.shift]}"

    table = shifted_table(columns, names)
    texts = [render(condition.row, leaf) for condition in rows if condition.row is not None]
    results = evaluator.evaluate(texts, table, [condition.row.span for condition in rows if condition.row is not None])
    bitmaps = np.empty((len(rows), n_rows), np.uint8)
    for number, (condition, result) in enumerate(zip(rows, results, strict=True)):
        if not pa.types.is_boolean(result.type) and not pa.types.is_null(result.type):
            span = condition.row.span if condition.row is not None else None
            raise AnalysisError(
                "REX214", f"the condition of {condition.variable} is not boolean but {result.type}", source, span,
                hint="compare it with something",
            )
        holds = plain(result.cast(pa.bool_()))
        bitmaps[number] = holds.fill_null(False).to_numpy(zero_copy_only=False)
    return {condition.variable: number for number, condition in enumerate(rows)}, bitmaps


def shifted_table(columns: Columns, names: dict[tuple[str, int], str]) -> pa.Table:
    """A table with one column per (column, shift), each read that many rows further in the same partition."""
    n_rows = columns.table.num_rows
    if not names:
        return pa.table({"c": pa.nulls(n_rows, pa.int8())})
    positions = {
        shift: shifted_positions(columns.offsets, n_rows, shift) for shift in {shift for _, shift in names} if shift
    }
    return pa.table(
        {
            name: take_or_null(columns.ordered.column(column), positions[shift])
            if shift
            else columns.ordered.column(column)
            for (column, shift), name in names.items()
        }
    )
