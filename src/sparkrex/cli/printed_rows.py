"""Rows of a stream on standard output, as they come: aligned columns, CSV, or JSON lines."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from io import BytesIO
from typing import TYPE_CHECKING

from sparkrex.cli.cells import cells_of, visible, width_of
from sparkrex.cli.failures import ReaderGone
from sparkrex.cli.json_lines import json_line
from sparkrex.cli.progress import ERASED
from sparkrex.cli.standard_output import write_text
from sparkrex.cli.table_text import aligned_lines, numeric_columns

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame


@dataclass
class PrintedRows:
    """Prints the batches of a stream, for `foreachBatch`. `is_closed` says that nobody reads them any more."""

    format: str
    n_rows: int = 0
    is_closed: bool = False
    _widths: list[int] = field(default_factory=list)

    def __call__(self, batch: DataFrame, _: int) -> None:
        """Print one batch in one piece."""
        rows = batch.toArrow()
        if rows.num_rows == 0 or self.is_closed:
            return
        text = {"csv": self._csv, "json": _json}.get(self.format, self._columns)(rows)
        self.n_rows += rows.num_rows
        try:
            write_text(ERASED + text if sys.stdout.isatty() else text)
        except ReaderGone:
            self.is_closed = True

    def _columns(self, rows: pa.Table) -> str:
        cells = [cells_of(column) for column in rows.columns]
        is_number = numeric_columns(rows)
        lines = list(zip(*cells, strict=True))
        widths = [max(map(width_of, column)) for column in cells]
        known = self._widths or [0] * len(cells)
        if not self._widths or any(width > before for width, before in zip(widths, known, strict=True)):
            lines.insert(0, tuple(map(visible, rows.column_names)))
            self._widths = [
                max(width, before, width_of(visible(name)))
                for width, before, name in zip(widths, known, rows.column_names, strict=True)
            ]
        return aligned_lines(lines, self._widths, is_number)

    def _csv(self, rows: pa.Table) -> str:
        from pyarrow import csv

        written = BytesIO()
        csv.write_csv(rows, written, csv.WriteOptions(include_header=self.n_rows == 0))
        return written.getvalue().decode()


def _json(rows: pa.Table) -> str:
    return "".join(map(json_line, rows.to_pylist()))
