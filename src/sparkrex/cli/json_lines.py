"""JSON lines, as Spark writes them: one object a row, NULL left out; and one array of such objects.

Values that JSON has no word for become strings: times in ISO 8601, NaN and infinities by name, binary in base64, and
decimals, which a JSON number would not carry exactly through most readers.
"""

from __future__ import annotations

import base64
import json
import math
from datetime import date, datetime, time
from typing import IO, TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pyarrow as pa

_ROWS_AT_ONCE = 10_000


def write_json_lines(table: pa.Table, file: IO[bytes]) -> None:
    """Write a table as one JSON object a line."""
    for row in _rows(table):
        file.write(json_line(row).encode())


def write_json_array(table: pa.Table, file: IO[bytes]) -> None:
    """Write a table as one JSON array, a line for each object; there NULL is null, so that all have the same names."""
    before = b"[\n"
    for row in _rows(table):
        file.write(before + _text({name: json_value(value) for name, value in row.items()}).encode())
        before = b",\n"
    file.write(b"\n]\n" if table.num_rows else b"[]\n")


def _rows(table: pa.Table) -> Iterator[dict[str, Any]]:
    for batch in table.to_batches(max_chunksize=_ROWS_AT_ONCE):
        yield from batch.to_pylist()


def json_line(row: dict[str, Any]) -> str:
    """A row as one line."""
    return _text(json_value(row)) + "\n"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


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
