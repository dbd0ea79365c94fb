"""JSON lines, as Spark writes them: one object a row, NULL left out.

Values that JSON has no word for become strings: times in ISO 8601, NaN and infinities by name, binary in base64, and
decimals, which a JSON number would not carry exactly through most readers.
"""

from __future__ import annotations

import base64
import json
import math
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa

_ROWS_AT_ONCE = 10_000


def write_json_lines(table: pa.Table, path: Path) -> None:
    """Write a table as one JSON object a line."""
    with path.open("w", encoding="utf-8") as file:
        for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
            for row in batch.to_pylist():
                file.write(json_line(row))


def json_line(row: dict[str, Any]) -> str:
    """A row as one line."""
    return json.dumps(json_value(row), ensure_ascii=False, separators=(",", ":")) + "\n"


def json_value(value: Any) -> Any:
    """A value of Arrow as one that JSON can hold."""
    match value:
        case dict():
            return {name: json_value(part) for name, part in value.items() if part is not None}
        case list() | tuple():
            return [json_value(part) for part in value]
        case None | bool() | int() | str():
            return value
        case float():
            if math.isfinite(value):
                return value
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case datetime() | date() | time():
            return value.isoformat()
        case bytes():
            return base64.b64encode(value).decode("ascii")
    return str(value)
