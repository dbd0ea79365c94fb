"""Rows of a stream on standard output, as they come: aligned columns, CSV, or JSON lines."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from datetime import datetime
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from sparkrex.cli.json_lines import json_line, json_value
from sparkrex.cli.progress import ERASED

if TYPE_CHECKING:
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
            sys.stdout.write(ERASED + text if sys.stdout.isatty() else text)
            sys.stdout.flush()
        except BrokenPipeError:
            self.is_closed = True
            # Python flushes it once more at its end.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

    def _columns(self, rows: pa.Table) -> str:
        cells = [[_cell(value) for value in column.to_pylist()] for column in rows.columns]
        is_number = [pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
                     for kind in rows.schema.types]
        lines = list(zip(*cells, strict=True))
        widths = [max(map(len, column)) for column in cells]
        known = self._widths or [0] * len(cells)
        if not self._widths or any(width > before for width, before in zip(widths, known, strict=True)):
            lines.insert(0, tuple(rows.column_names))
            self._widths = [
                max(width, before, len(name))
                for width, before, name in zip(widths, known, rows.column_names, strict=True)
            ]
        return "".join(
            "  ".join(
                text.rjust(width) if right else text.ljust(width)
                for text, width, right in zip(line, self._widths, is_number, strict=True)
            ).rstrip() + "\n"
            for line in lines
        )

    def _csv(self, rows: pa.Table) -> str:
        from pyarrow import csv

        written = BytesIO()
        csv.write_csv(rows, written, csv.WriteOptions(include_header=self.n_rows == 0))
        return written.getvalue().decode()


def _json(rows: pa.Table) -> str:
    return "".join(map(json_line, rows.to_pylist()))


def _cell(value: Any) -> str:
    """A value in one line; a time as Spark shows it, in the zone of the session."""
    if value is None:
        return "NULL"
    if isinstance(value, datetime):
        return str(value.replace(tzinfo=None))
    text = json.dumps(json_value(value), ensure_ascii=False) if isinstance(value, (dict, list)) else str(value)
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t") if not text.isprintable() else text
