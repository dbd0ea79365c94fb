"""What the footer of a Parquet file proves: that Arrow reads a column as Spark does, or why that is not sure.

A column is proven by its physical and logical type and the type that Spark has for it. Where a type leaves values open
that the two read differently (dates before the Gregorian calendar, decimals with more digits than declared), the
statistics of every row group have to exclude them.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_SPARK_SCHEMA = b"org.apache.spark.sql.parquet.row.metadata"
_SPARK_VERSION = b"org.apache.spark.version"
_LEGACY_DATES, _LEGACY_INT96 = b"org.apache.spark.legacyDateTime", b"org.apache.spark.legacyINT96"
_REBASED_UNTIL_DAY = -141_427
"""15 October 1582 in days since 1970: from there on all calendars agree."""
_REBASED_UNTIL_MICROSECOND = -2_208_902_400_000_000
"""2 January 1900 in UTC: from there on no zone has another offset in the older calendar."""
_MOST_MILLISECONDS = (1 << 63) // 1000 - 1
_PHYSICAL = {
    "boolean": "BOOLEAN", "tinyint": "INT32", "smallint": "INT32", "int": "INT32", "bigint": "INT64",
    "float": "FLOAT", "double": "DOUBLE", "string": "BYTE_ARRAY", "binary": "BYTE_ARRAY", "date": "INT32",
    "timestamp": "INT64", "timestamp_ntz": "INT64",
}
_COMPRESSIONS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "LZ4")
"""Those that Spark brings along; of others a cluster may lack what reads them."""
_WIDTHS = {"tinyint": 8, "smallint": 16, "int": 32, "bigint": 64}


class NotProvenError(Exception):
    """What is not proven; the text says it of a column, or of a file."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A column that a query reads: its name, Spark's type for it as text, and Arrow's."""

    name: str
    spark_type: str
    type: pa.DataType


@dataclass(frozen=True, slots=True)
class Rules:
    """What of the session matters: whether names have a case, and whether old dates and timestamps are taken as they
    are, in files that do not say who wrote them."""

    is_case_sensitive: bool
    keeps_old_dates: bool
    keeps_old_int96: bool


def proven_columns(footer: Any, wanted: Sequence[Wanted], rules: Rules) -> dict[str, str | None]:
    """For each column its name in the file, None if the file lacks it; `NotProvenError` if it is read otherwise."""
    described = json.loads((footer.metadata or {}).get(_SPARK_SCHEMA) or "{}")
    declared = {field["name"].lower(): field for field in described.get("fields", ())}
    found: dict[str, str | None] = {}
    for column in wanted:
        name = _name_in(footer, column.name, rules)
        found[column.name] = name
        if name is None:
            continue
        text = json.dumps(declared.get(name.lower(), {})).lower()
        if "char(" in text or "__char_varchar" in text:
            raise NotProvenError(f"column {column.name} is declared as CHAR or VARCHAR")
        _check_column(footer, name, column, rules)
    return found


def _name_in(footer: Any, name: str, rules: Rules) -> str | None:
    """The file's own name of a column."""
    names = [field.name for field in footer.schema.to_arrow_schema()]
    if rules.is_case_sensitive:
        fitting = [known for known in names if known == name]
    else:
        fitting = [known for known in names if known.lower() == name.lower()]
    if len(fitting) > 1:
        raise NotProvenError(f"column {name} is there more than once: {', '.join(fitting)}")
    return fitting[0] if fitting else None


def _check_column(footer: Any, name: str, wanted: Wanted, rules: Rules) -> None:
    leaves = [
        number for number in range(footer.num_columns)
        if footer.schema.column(number).path.split(".")[0] == name
    ]
    if not leaves and "." in name:
        raise NotProvenError(f"column {wanted.name} has a dot in its name")
    column = footer.schema.column(leaves[0]) if len(leaves) == 1 else None
    if column is None or column.path != name or column.max_repetition_level or column.max_definition_level > 1:
        raise NotProvenError(f"column {wanted.name} is nested, a list or a VARIANT")
    logical = column.logical_type
    kind = str(logical.type) if logical is not None else "NONE"
    stored = footer.schema.to_arrow_schema().field(name).type
    physical = column.physical_type
    shown = f"column {wanted.name} is {_shown(physical, logical, kind)} in a file and {wanted.spark_type} to Spark"
    chunks = [footer.row_group(number).column(leaves[0]) for number in range(footer.num_row_groups)]
    for chunk in chunks:
        if chunk.compression not in _COMPRESSIONS:
            raise NotProvenError(f"column {wanted.name} is compressed by {chunk.compression}")
    if physical == "INT96" and wanted.spark_type == "timestamp":
        # No statistics are written of these, so nothing bounds them.
        if not _keeps_old(footer, (3, 1), _LEGACY_INT96, default=rules.keeps_old_int96):
            raise NotProvenError(f"column {wanted.name} is an INT96 timestamp that may be rebased")
        return
    if wanted.spark_type.startswith("decimal("):
        _check_decimal(wanted, logical, kind, stored, chunks, shown)
        return
    if _PHYSICAL.get(wanted.spark_type) != physical or not _is_meant(wanted.spark_type, logical, kind):
        raise NotProvenError(shown)
    if not _is_stored_so(stored, wanted.type):
        raise NotProvenError(f"column {wanted.name} was written from the type {stored}")
    if wanted.spark_type in ("timestamp", "timestamp_ntz") and "milliseconds" in str(logical):
        _check_range(wanted, chunks, -_MOST_MILLISECONDS, _MOST_MILLISECONDS, "a time in milliseconds, without bounds")
    if wanted.spark_type in ("date", "timestamp") and not _keeps_old(
        footer, (3,), _LEGACY_DATES, default=rules.keeps_old_dates
    ):
        least = _REBASED_UNTIL_DAY if wanted.spark_type == "date" else _REBASED_UNTIL_MICROSECOND
        if "milliseconds" in str(logical):
            least //= 1000
        _check_range(wanted, chunks, least, (1 << 63) - 1, "an old date or timestamp, or one without bounds, rebased")


def _shown(physical: str, logical: Any, kind: str) -> str:
    return physical if kind == "NONE" else f"{physical} {logical}"


def _is_meant(spark_type: str, logical: Any, kind: str) -> bool:
    """Whether a logical type means that type of Spark's."""
    text = str(logical).replace(" ", "")
    match spark_type:
        case "tinyint" | "smallint":
            return f"Int(bitWidth={_WIDTHS[spark_type]},isSigned=true)" == text
        case "int" | "bigint":
            return kind == "NONE" or f"Int(bitWidth={_WIDTHS[spark_type]},isSigned=true)" == text
        case "date":
            return kind == "DATE"
        case "timestamp" | "timestamp_ntz":
            is_adjusted = f"isAdjustedToUTC={'true' if spark_type == 'timestamp' else 'false'}" in text
            return kind == "TIMESTAMP" and is_adjusted and "nanoseconds" not in text
        case "string":
            return kind == "STRING"
        case _:
            return kind == "NONE"


def _is_stored_so(stored: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether what a writer of Arrow's kept of its type changes no value when cast."""
    if pa.types.is_dictionary(stored):
        return _is_stored_so(stored.value_type, wanted)
    if pa.types.is_timestamp(wanted):
        return pa.types.is_timestamp(stored) and stored.unit in ("us", "ms", "s")
    alike = {
        pa.string(): (pa.string(), pa.large_string(), pa.string_view()),
        pa.binary(): (pa.binary(), pa.large_binary(), pa.binary_view()),
        pa.date32(): (pa.date32(), pa.date64()),
    }
    return stored in alike.get(wanted, (wanted,))


def _check_decimal(
    wanted: Wanted, logical: Any, kind: str, stored: pa.DataType, chunks: Sequence[Any], shown: str
) -> None:
    """Precision and scale agree, and no value has more digits: of those Spark makes NULL on their way to Python."""
    is_equal = pa.types.is_decimal(stored) and (stored.precision, stored.scale) == (
        wanted.type.precision, wanted.type.scale
    )
    if kind != "DECIMAL" or not is_equal:
        raise NotProvenError(shown)
    for chunk in chunks:
        for value in _bounds(chunk):
            if not isinstance(value, Decimal) or abs(value.scaleb(wanted.type.scale)) >= 10**wanted.type.precision:
                raise NotProvenError(
                    f"column {wanted.name} may have decimals with more digits than {wanted.spark_type}"
                )


def _check_range(wanted: Wanted, chunks: Sequence[Any], least: int, most: int, what: str) -> None:
    for chunk in chunks:
        for value in _bounds(chunk, is_raw=True):
            if value is None or not least <= value <= most:
                raise NotProvenError(f"column {wanted.name} may hold {what}")


def _bounds(chunk: Any, *, is_raw: bool = False) -> Iterator[Any]:
    """The least and the greatest value of a column chunk; None where they are not known, nothing if all are NULL."""
    found = chunk.statistics
    if found is not None and found.has_null_count and found.null_count == chunk.num_values:
        return
    if found is None or not found.has_min_max:
        yield None
        return
    yield from (found.min_raw, found.max_raw) if is_raw else (found.min, found.max)


def _keeps_old(footer: Any, since: tuple[int, ...], legacy: bytes, *, default: bool) -> bool:
    """Whether Spark takes old dates as they are: by the version of Spark that wrote the file, else by a setting."""
    about = footer.metadata or {}
    version = about.get(_SPARK_VERSION)
    if version is None:
        return default
    return tuple(int(part) for part in version.split(b".")[: len(since)]) >= since and legacy not in about
