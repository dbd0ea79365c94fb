"""Values and tables as golden cases write them: types, reading a cell, comparing rows, rendering.

Two answers are compared as SQL values: NULL equals only NULL here, NaN equals NaN, doubles agree within 1e-9 relative.
"""

from __future__ import annotations

import datetime
import json
import math
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Sequence

_DECIMAL = re.compile(r"decimal\((\d+), *(\d+)\)\Z")
_PLAIN_TYPES: dict[str, pa.DataType] = {
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "double": pa.float64(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One value as written. A quoted cell is a string whatever it reads."""

    text: str
    is_quoted: bool = False

    @property
    def is_null(self) -> bool:
        return self.text == "NULL" and not self.is_quoted


@dataclass(frozen=True, slots=True)
class Table:
    """A table of a case: names, types (None where a result leaves one out) and cells."""

    name: str
    columns: tuple[str, ...]
    types: tuple[str | None, ...]
    rows: tuple[tuple[Cell, ...], ...]

    def to_arrow(self) -> pa.Table:
        """The table with its declared types."""
        arrays = []
        for index, type_text in enumerate(self.types):
            if type_text is None:
                raise ValueError(f"column {self.columns[index]} of {self.name} has no type")
            arrow_type = arrow_type_of(type_text)
            arrays.append(pa.array([parse_value(row[index], arrow_type) for row in self.rows], arrow_type))
        return pa.Table.from_arrays(arrays, names=list(self.columns))


def arrow_type_of(text: str) -> pa.DataType:
    """The Arrow type of a type as cases write it."""
    if text.endswith("[]"):
        return pa.list_(arrow_type_of(text[:-2]))
    if text in _PLAIN_TYPES:
        return _PLAIN_TYPES[text]
    found = _DECIMAL.match(text)
    if found is None:
        raise ValueError(f"unknown type {text!r}")
    return pa.decimal128(int(found[1]), int(found[2]))


def type_text_of(arrow_type: pa.DataType) -> str | None:
    """The type as cases write it, None if they cannot. Encodings of the same SQL type are one."""
    if pa.types.is_dictionary(arrow_type):
        return type_text_of(arrow_type.value_type)
    if pa.types.is_large_string(arrow_type) or pa.types.is_string_view(arrow_type):
        return "string"
    if pa.types.is_timestamp(arrow_type):
        return "timestamp" if arrow_type.tz is None else None
    if pa.types.is_decimal(arrow_type):
        return f"decimal({arrow_type.precision},{arrow_type.scale})"
    if pa.types.is_list(arrow_type) or pa.types.is_large_list(arrow_type):
        inner = type_text_of(arrow_type.value_type)
        return None if inner is None else f"{inner}[]"
    for text, plain in _PLAIN_TYPES.items():
        if arrow_type.equals(plain):
            return text
    return None


def parse_value(cell: Cell, arrow_type: pa.DataType) -> Any:
    """The Python value of a cell, as `to_pylist` of that type would give it."""
    if cell.is_null:
        return None
    if pa.types.is_dictionary(arrow_type):
        return parse_value(cell, arrow_type.value_type)
    if _is_nested(arrow_type):
        return _from_json(json.loads(cell.text), arrow_type)
    return _from_text(cell.text, arrow_type)


def _is_nested(arrow_type: pa.DataType) -> bool:
    return bool(
        pa.types.is_list(arrow_type)
        or pa.types.is_large_list(arrow_type)
        or pa.types.is_fixed_size_list(arrow_type)
        or pa.types.is_map(arrow_type)
        or pa.types.is_struct(arrow_type)
    )


def _from_text(text: str, arrow_type: pa.DataType) -> Any:
    if pa.types.is_boolean(arrow_type):
        return _BOOLEANS[text.lower()] if text.lower() in _BOOLEANS else _refuse(text)
    if pa.types.is_integer(arrow_type):
        return int(text)
    if pa.types.is_floating(arrow_type):
        return float(text)
    if pa.types.is_decimal(arrow_type):
        return Decimal(text)
    if pa.types.is_date(arrow_type):
        return datetime.date.fromisoformat(text)
    if pa.types.is_timestamp(arrow_type):
        value = datetime.datetime.fromisoformat(text)
        return value.replace(tzinfo=datetime.UTC) if arrow_type.tz and value.tzinfo is None else value
    if pa.types.is_time(arrow_type):
        return datetime.time.fromisoformat(text)
    return text


_BOOLEANS = {"true": True, "false": False}


def _refuse(text: str) -> Any:
    raise ValueError(f"not a value: {text!r}")


def _from_json(value: Any, arrow_type: pa.DataType) -> Any:
    """A JSON value as the type has it; dates, times and decimals inside stand as JSON strings or numbers."""
    if value is None:
        return None
    if pa.types.is_map(arrow_type):
        return {
            _from_json(key, arrow_type.key_type): _from_json(item, arrow_type.item_type)
            for key, item in (value.items() if isinstance(value, dict) else value)
        }
    if pa.types.is_struct(arrow_type):
        return {field.name: _from_json(value[field.name], field.type) for field in arrow_type}
    if _is_nested(arrow_type):
        return [_from_json(item, arrow_type.value_type) for item in value]
    text = value if isinstance(value, str) else json.dumps(value)
    return _from_text(text, arrow_type)


def differences(expected: Table, actual: pa.Table, *, is_ordered: bool = True) -> list[str]:
    """What an answer does not have in common with the expected table; empty when they agree."""
    if tuple(actual.column_names) != expected.columns:
        return [f"columns: expected {list(expected.columns)}, got {actual.column_names}"]
    found = []
    for name, declared, field in zip(expected.columns, expected.types, actual.schema, strict=True):
        if declared is not None and not _same_type(declared, field.type):
            found.append(f"type of {name}: expected {declared}, got {type_text_of(field.type) or field.type}")
    expected_rows = []
    for row in expected.rows:
        try:
            expected_rows.append(
                tuple(parse_value(cell, field.type) for cell, field in zip(row, actual.schema, strict=True))
            )
        except (ValueError, ArithmeticError, KeyError, TypeError):
            # The answer's type cannot hold what is expected: show it as written.
            expected_rows.append(tuple(None if cell.is_null else cell.text for cell in row))
    return found + row_differences(expected.columns, expected_rows, rows_of(actual), is_ordered=is_ordered)


def _same_type(declared: str, actual: pa.DataType) -> bool:
    return type_text_of(actual) == type_text_of(arrow_type_of(declared))


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    """The rows as tuples of Python values; maps as dicts. By position: a name may occur twice."""
    columns = [_column_values(column) for column in table.columns]
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _column_values(column: pa.ChunkedArray) -> list[Any]:
    values: list[Any] = column.to_pylist()
    if pa.types.is_map(column.type):
        return [None if value is None else dict(value) for value in values]
    return values


def row_differences(
    columns: Sequence[str], expected: Sequence[Sequence[Any]], actual: Sequence[Sequence[Any]], *,
    is_ordered: bool = True, limit: int = 8,
) -> list[str]:
    """What two lists of rows do not have in common, in words: at most `limit` rows of it."""
    if is_ordered:
        found = [
            _row_difference(number, columns, left, right)
            for number, (left, right) in enumerate(zip(expected, actual, strict=False), start=1)
            if not same_row(left, right)
        ]
        found += [f"row {n}: missing {_shown(expected[n - 1])}" for n in range(len(actual) + 1, len(expected) + 1)]
        found += [f"row {n}: not expected {_shown(actual[n - 1])}" for n in range(len(expected) + 1, len(actual) + 1)]
    else:
        rest = list(actual)
        found = []
        for row in expected:
            place = next((index for index, other in enumerate(rest) if same_row(row, other)), None)
            if place is None:
                found.append(f"missing {_shown(row)}")
            else:
                del rest[place]
        found += [f"not expected {_shown(row)}" for row in rest]
    if len(expected) != len(actual):
        found.insert(0, f"expected {len(expected)} rows, got {len(actual)}")
    if len(found) > limit:
        found = [*found[:limit], f"... and {len(found) - limit} more differences"]
    return found


def _row_difference(number: int, columns: Sequence[str], expected: Sequence[Any], actual: Sequence[Any]) -> str:
    parts = [
        f"{name}: expected {show(left)}, got {show(right)}"
        for name, left, right in zip(columns, expected, actual, strict=True)
        if not same_value(left, right)
    ]
    return f"row {number}: {'; '.join(parts)} in {_shown(actual)}"


def same_row(left: Sequence[Any], right: Sequence[Any]) -> bool:
    """Whether two rows are equal, doubles within 1e-9 relative."""
    return len(left) == len(right) and all(map(same_value, left, right))


def same_value(left: Any, right: Any) -> bool:
    """Whether two values are the same SQL value. NaN equals itself; a boolean is no number; NULL equals only NULL."""
    if left is None or right is None:
        return left is right
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, float) or isinstance(right, float):
        return _is_number(left) and _is_number(right) and _close(float(left), float(right))
    if isinstance(left, list | tuple) and isinstance(right, list | tuple):
        return same_row(left, right)
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same_value(value, right[key]) for key, value in left.items())
    return bool(left == right)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | Decimal)


def _close(left: float, right: float) -> bool:
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    return math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-12)


def _shown(row: Sequence[Any]) -> str:
    return " | ".join(map(show, row))


def show(value: Any) -> str:
    """The value as a case writes it."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ")
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False) if _needs_quotes(value) else value
    if isinstance(value, list | tuple | dict):
        return json.dumps(value, ensure_ascii=False, default=str)
    return str(value)


def _needs_quotes(text: str) -> bool:
    return (
        text != text.strip() or text in ("", "NULL") or any(mark in text for mark in '|"\n\r\t') or text[0] in "#["
    )


def render_table(table: pa.Table) -> str:
    """The table as a case writes it, its columns aligned."""
    header = []
    for field in table.schema:
        type_text = type_text_of(field.type)
        name = json.dumps(field.name) if _needs_quotes(field.name) or ":" in field.name else field.name
        header.append(name if type_text is None else f"{name}:{type_text}")
    lines = [header] + [[show(value) for value in row] for row in rows_of(table)]
    widths = [max(len(line[index]) for line in lines) for index in range(len(header))]
    padded = (" | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) for line in lines)
    return "\n".join(line.rstrip() for line in padded)
