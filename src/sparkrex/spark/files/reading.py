"""What runs in a Spark worker to read files: row groups to rows, rows to blobs by bucket.

A file is read only as it was when the query was planned: its size and the time of its last change are compared before
and after. Whatever goes wrong is an error of ours with the file's name.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from sparkrex.columns.blobs import blobs
from sparkrex.columns.hashing import hashes_of
from sparkrex.errors import ExecutionError, InternalError, RexError
from sparkrex.spark.files.row_language import evaluate
from sparkrex.spark.files.units import FileState
from sparkrex.spark.worker import check_version
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.source import Source, Span
    from sparkrex.spark.files.footers import Wanted
    from sparkrex.spark.files.row_language import Row
    from sparkrex.spark.files.units import Piece

BUCKET, PAYLOAD = "rex_bucket", "rex_payload"
_ROWS_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class FileReading:
    """Row groups of files as blobs by bucket.

    `units` are read by number. Of `columns` the expressions of `projections` are computed, for the rows at which
    `where` is true; `schema` is that of the rows that travel. Values of the columns `hashed` say the bucket, and `ids`
    are what Spark knows buckets by. `source` and `span` are the place in the query.
    """

    units: tuple[tuple[Piece, ...], ...]
    columns: tuple[Wanted, ...]
    where: Row | None
    projections: tuple[Row, ...]
    schema: pa.Schema
    hashed: tuple[str, ...]
    ids: tuple[int, ...]
    version: str
    source: Source
    span: Span

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """The blobs of the units whose numbers are given."""
        yield from self.watched(batches, Stopwatch())

    def watched(self, batches: Iterator[pa.RecordBatch], watch: Stopwatch) -> Iterator[pa.RecordBatch]:
        """The same, its stages on a watch."""
        try:
            check_version(self.version)
            for batch in batches:
                for unit in batch.column(0).to_pylist():
                    yield from self._blobs(self.units[unit], watch)
        except RexError as error:
            raise error.with_traceback(None) from None
        except MemoryError:
            raise
        except Exception as error:
            raise InternalError(
                "REX901", f"{type(error).__name__}: {error}", self.source, self.span,
                hint="this is a fault of SparkRex; please report it with the query and the traceback",
            ) from error

    def _blobs(self, pieces: tuple[Piece, ...], watch: Stopwatch) -> Iterator[pa.RecordBatch]:
        rows = (batch for piece in pieces for batch in self.rows(piece, watch))
        for number, blob in blobs(rows, len(self.ids), partial(hashes_of, names=self.hashed)):
            packed = pa.record_batch({
                BUCKET: wrap_id(self.ids[number]), PAYLOAD: pa.array([blob], pa.large_binary()).cast(pa.binary())
            })
            watch.lap("pack", {"blobs": 1, "bytes": len(blob)})
            yield packed

    def rows(self, piece: Piece, watch: Stopwatch) -> Iterator[pa.RecordBatch]:
        """The rows of a piece that travel."""
        import pyarrow.parquet as pq

        with self._told_of(piece.file):
            with self._opened(piece.file) as stream:
                names = list(dict.fromkeys(piece.names.values()))
                # The worker has one core. What is read is large, so nothing is gained by reading ahead.
                file = pq.ParquetFile(stream, pre_buffer=False, coerce_int96_timestamp_unit="us")
                for batch in file.iter_batches(_ROWS_AT_ONCE, list(piece.groups), names or None, use_threads=False):
                    watch.lap("read", {"rows": batch.num_rows})
                    for rows in self._projected(pa.Table.from_batches([batch]), piece):
                        watch.lap("filter and project", {"rows": rows.num_rows})
                        yield rows
                        watch.lap("pack")
            self._check_unchanged(piece.file)

    def _projected(self, table: pa.Table, piece: Piece) -> Iterator[pa.RecordBatch]:
        columns = [self._column(wanted, table, piece) for wanted in self.columns]
        rows = pa.Table.from_arrays(columns, [wanted.name for wanted in self.columns])
        if self.where is not None:
            rows = rows.filter(evaluate(self.where, rows))
        found = [evaluate(row, rows) for row in self.projections]
        # Only the zone of a time may be another.
        found = [
            column if column.type == field.type else column.cast(field.type)
            for column, field in zip(found, self.schema, strict=True)
        ]
        yield from pa.table(found, schema=self.schema).to_batches()

    def _column(self, wanted: Wanted, table: pa.Table, piece: Piece) -> pa.ChunkedArray | pa.Array:
        if wanted.name in piece.values:
            return pa.repeat(pa.scalar(piece.values[wanted.name], wanted.type), table.num_rows)
        column = table.column(piece.names[wanted.name])
        return column if column.type == wanted.type else _cast(column, wanted.type)

    @contextmanager
    def _opened(self, file: FileState) -> Iterator[Any]:
        from sparkrex.columns.paths import find_file_system

        self._check_unchanged(file)
        system, place = find_file_system("", file.path)
        with system.open_input_file(place) as stream:
            yield stream

    def _check_unchanged(self, file: FileState) -> None:
        """Raise REX407 if a file is gone, or another one than that which the plan is for."""
        found = state_of(file.path)
        if found is None:
            raise self._error(f"the file {file.path} is not there any more")
        if (found.size, found.changed) != (file.size, file.changed):
            raise self._error(f"the file {file.path} has changed since the query was made")

    @contextmanager
    def _told_of(self, file: FileState) -> Iterator[None]:
        try:
            yield
        except RexError:
            raise
        except (OSError, pa.ArrowException) as error:
            self._check_unchanged(file)  # then that is the reason
            note = str(error).split("\n")[0]
            raise self._error(f"the file {file.path} cannot be read as Parquet", note) from error

    def _error(self, message: str, *notes: str) -> ExecutionError:
        return ExecutionError(
            "REX407", message, self.source, self.span, notes=notes,
            hint='make the query again; with the setting files="spark" Spark reads the files, whatever happens to them',
            command_hint="run it again; with --set files=spark Spark reads the files, whatever happens to them",
        )


def state_of(path: str) -> FileState | None:
    """A file as it is now; None if there is none."""
    from pyarrow import fs

    from sparkrex.columns.paths import find_file_system

    system, place = find_file_system("", path)
    info = system.get_file_info(place)
    if info.type is not fs.FileType.File:
        return None
    return FileState(path, info.size, info.mtime_ns or 0)


def wrap_id(number: int) -> pa.Array:
    """The id of a bucket, which Spark knows as an int."""
    return pa.array([number], pa.int32())


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """A column as Spark has it; bytes that are no text stay as they are."""
    if pa.types.is_dictionary(column.type):
        column = pc.cast(column, column.type.value_type)
        return column if column.type == kind else _cast(column, kind)
    if kind == pa.string() and column.type != kind:
        # From one layout of texts to another Arrow would check that they are UTF-8.
        binary = pa.binary_view() if column.type == pa.string_view() else pa.large_binary()
        chunks = [chunk.view(binary).cast(pa.binary()).view(kind) for chunk in column.chunks]
        return pa.chunked_array(chunks, kind)
    if pa.types.is_timestamp(kind):
        # Instants stay what they are, whatever zone a writer of Arrow's kept beside them.
        column = column.cast(pa.timestamp("us", column.type.tz))
        return pa.chunked_array([chunk.view(kind) for chunk in column.chunks], kind)
    return column.cast(kind)
