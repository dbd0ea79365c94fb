"""Conditions that kernels do not know, evaluated by the host on many partial matches at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import plain
from sparkrex.modes.workload.kernels.links import FIRST, SINGLE
from sparkrex.scalar.expression import ColumnAt, walk
from sparkrex.scalar.render.duckdb import render

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.workload.arrays import SegmentArrays
    from sparkrex.modes.workload.kernels.arguments import Cells
    from sparkrex.modes.workload.symbols import Formula
    from sparkrex.scalar.render.renderer import Leaf


def where_holds(
    formula: Formula, values: NDArray[np.int64], cells: Cells, arrays: SegmentArrays
) -> NDArray[np.bool_]:
    """Where a formula holds; `values[n]` are those of the slot of item n, one for each partial match."""
    n_matches = values.shape[1]
    if not n_matches:
        return np.ones(0, np.bool_)
    names: dict[tuple[int, str], str] = {}
    for node in walk(formula.expression):
        if isinstance(node, ColumnAt):
            names.setdefault(_place(node), f"c{len(names)}")
    columns = {}
    for (item, column), name in names.items():
        rows = rows_of(values[item], formula.reads[item], cells)
        columns[name] = arrays.take([column], rows).column(0)

    def leaf(node: Leaf) -> str:
        assert isinstance(node, ColumnAt)  # a formula reads events only
        return f"rex_rows.{names[_place(node)]}"

    table = pa.table(columns) if columns else pa.table({"c": pa.nulls(n_matches, pa.int8())})
    text = render(formula.expression, leaf)
    (result,) = arrays.evaluator.evaluate([text], table, [formula.expression.span])
    holds: NDArray[np.bool_] = plain(result.cast(pa.bool_())).fill_null(False).to_numpy(zero_copy_only=False)
    return holds


def rows_of(values: NDArray[np.int64], reads: int, cells: Cells) -> NDArray[np.int64]:
    """The rows that slots hold: of a Kleene the first or the last event's."""
    if reads == SINGLE:
        return values
    found: NDArray[np.int64] = (cells.first if reads == FIRST else cells.row)[values]
    return found


def _place(node: ColumnAt) -> tuple[int, str]:
    (variable,) = node.target.variables or ("",)
    return int(variable), node.column
