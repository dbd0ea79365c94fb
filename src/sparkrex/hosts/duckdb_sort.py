"""Sorting more rows than fit: DuckDB's external sort, fed by and feeding record batches.

Order is Spark's: NULLs where the key says, NaN above every number, -0.0 equal to 0.0, strings and binaries by bytes.
"""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from typing import TYPE_CHECKING

import duckdb
import pyarrow as pa

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.ir.plan import OrderKey

_CHUNK_ROWS = 131_072


def sorted_batches(
    batches: Iterator[pa.RecordBatch], schema: pa.Schema, keys: list[str], order: list[tuple[str, OrderKey]],
    memory: int,
) -> Iterator[pa.RecordBatch]:
    """The rows ordered by keys, then by the order columns, within about `memory` bytes; the rest goes to disk."""
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="sparkrex-"))
        connection = stack.enter_context(duckdb.connect(":memory:"))
        connection.execute(f"SET threads = 1; SET memory_limit = '{max(memory >> 20, 32)}MB'")
        connection.execute(f"SET temp_directory = '{folder}'")
        connection.execute("SET TimeZone = 'UTC'")
        plain = pa.schema([pa.field(field.name, _plain(field.type)) for field in schema])
        reader = pa.RecordBatchReader.from_batches(plain, (_viewed(batch, plain) for batch in batches))
        connection.register("rex_unsorted", reader)
        terms = [f"{_comparable(name, schema)} ASC NULLS FIRST" for name in keys]
        for name, key in order:
            direction = "DESC" if key.is_descending else "ASC"
            terms.append(f"{_comparable(name, schema)} {direction} NULLS {'FIRST' if key.nulls_first else 'LAST'}")
        listed = ", ".join(f'"{name}"' for name in schema.names)
        result = connection.sql(f"SELECT {listed} FROM rex_unsorted ORDER BY {', '.join(terms)}")
        for batch in result.to_arrow_reader(_CHUNK_ROWS):
            yield _restored(batch, schema)


def _comparable(name: str, schema: pa.Schema) -> str:
    # Adding zero turns -0.0 into 0.0.
    return f'("{name}" + 0.0)' if pa.types.is_floating(schema.field(name).type) else f'"{name}"'


def _plain(type_: pa.DataType) -> pa.DataType:
    """Durations travel as integers: DuckDB would turn them into intervals."""
    return pa.int64() if pa.types.is_duration(type_) else type_


def _viewed(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        column.view(pa.int64()) if pa.types.is_duration(column.type) else column for column in batch.columns
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _restored(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        column.view(field.type) if pa.types.is_duration(field.type) else column.cast(field.type)
        for column, field in zip(batch.columns, schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)
