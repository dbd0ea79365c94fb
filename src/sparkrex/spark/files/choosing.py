"""Whether workers read the files of a relation, and how: a plan, or the reason why Spark reads them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeAlias

import pyarrow as pa
import sqlglot
from pyspark.sql.types import StructType
from sqlglot import exp
from sqlglot.errors import SqlglotError

import sparkrex
from sparkrex.columns.blobs import MOST_NUMBERS, spread_ids
from sparkrex.columns.paths import find_file_system
from sparkrex.spark.files.folders import folder_value, folder_values
from sparkrex.spark.files.footers import NotProvenError, Rules, Wanted, proven_columns
from sparkrex.spark.files.listing import listed_files, read_footers
from sparkrex.spark.files.reading import BUCKET, PAYLOAD, FileReading
from sparkrex.spark.files.row_language import Column, Operation, OutsideError, Row, columns_in
from sparkrex.spark.files.row_sql import read_row
from sparkrex.spark.files.simple_input import over_columns, read_input
from sparkrex.spark.files.slicing import SlicesRead, cut_slices, find_needs
from sparkrex.spark.files.statistics import Statistics, may_hold, statistics_of
from sparkrex.spark.files.units import FileState, Piece, share_out
from sparkrex.spark.shipping import shipped_task
from sparkrex.spark.shuffle import is_not_carried, is_ordered_by_spark, keep_comparable
from sparkrex.spark.versions import zoned_arrow_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from sparkrex.matching.slices import SliceNeeds
    from sparkrex.modes.plan import Plan
    from sparkrex.modes.protocol import Mode
    from sparkrex.pipeline import ParsedQuery
    from sparkrex.settings import Settings
    from sparkrex.spark.files.opening import SparkFiles
    from sparkrex.spark.host import SparkHost
    from sparkrex.spark.lowering import Lowered
    from sparkrex.statement.cut import Relation

_UNIT_BYTES, _BUCKET_BYTES = 64 << 20, 32 << 20
"""Of files that a task reads, and of rows in memory that a task matches, about."""
_LEAST_BYTES = 1 << 20
"""Fewer are not worth another task."""
_ROUNDS = 4
"""Tasks for each that runs at a time, so that a slow one holds up little."""
_SLICE_ROUNDS = 2
"""The same of slices of time: each reads row groups at its edges that others read too, so they are larger."""
_BATCH_BYTES, _MOST_UNBOUNDED = "spark.sql.execution.arrow.maxBytesPerBatch", 1 << 30
"""What bounds a batch of Arrow in Spark, from 4.1 on, and the bytes of rows that need no such bound."""
_SHOWN = {"csv": "CSV", "tsv": "CSV", "json": "JSON"}


@dataclass(frozen=True, slots=True)
class FilesRead:
    """Files that workers read; `n_pruned` row groups were left out."""

    reading: FileReading
    n_files: int
    n_groups: int
    n_pruned: int

    def blobs(self, spark: SparkSession) -> DataFrame:
        """The rows as blobs, those of a bucket in one task."""
        n_buckets = len(self.reading.ids)
        blobs = self.units(spark).mapInArrow(shipped_task(self.reading), f"{BUCKET} int, {PAYLOAD} binary")
        if _takes_ids(blobs):
            return blobs.repartitionById(n_buckets, BUCKET)
        return blobs.repartition(n_buckets, BUCKET)

    def units(self, spark: SparkSession) -> DataFrame:
        """The numbers of units to read, each in a task of its own."""
        n_units = len(self.reading.units)
        return spark.range(0, n_units, 1, n_units)

    def line(self) -> str:
        """What EXPLAIN says."""
        read = self.n_groups - self.n_pruned
        pruned = f", {self.n_pruned} more are left out by their statistics" if self.n_pruned else ""
        names = ", ".join(wanted.name for wanted in self.reading.columns)
        return (
            f"Files: workers read {read} row groups of {self.n_files} files by Arrow{pruned}; columns {names}; "
            f"{len(self.reading.units)} tasks read, {len(self.reading.ids)} match"
        )


FoundWay: TypeAlias = "FilesRead | SlicesRead | str | None"
"""How workers read the files of a relation, the reason why Spark does, or nothing where it reads no files."""


def choose_way(
    query: ParsedQuery, relation: Relation, mode: Mode[Any], plan: Plan, lowered: Lowered, projected: DataFrame,
    host: SparkHost, settings: Settings,
) -> FoundWay:
    """How the files of a relation are read. Footers are read for it, here and now."""
    if not host.files or host.checkpoint is not None:
        return None
    sql = host.translated(f"{relation.prefix}SELECT * FROM {relation.input_sql}")
    words = {token.lower() for token in sql.replace("`", " ").replace("(", " ").replace(")", " ").split()}
    if not words & set(host.files):
        return None
    try:
        _check_plan(plan, lowered, projected, host, settings)
        needs = None
        if not lowered.keys and not lowered.worker.equal_by:
            sample = zoned_arrow_schema(projected.schema, host.time_zone()).empty_table()
            types = {field.name: field.dataType for field in projected.schema}
            needs = find_needs(mode, plan, lowered.worker, sample, types, host, settings)
        return _plan(query, relation, lowered, projected, sql, host, settings, needs)
    except (NotProvenError, OutsideError) as reason:
        return str(reason)


def _check_plan(plan: Plan, lowered: Lowered, projected: DataFrame, host: SparkHost, settings: Settings) -> None:
    """What of the query, the settings and the session asks for Spark's own reader."""
    if settings.files == "spark":
        raise OutsideError('the setting files="spark"')
    if settings.side_rows:
        raise OutsideError("side_rows")
    if ".connect." in type(host.spark).__module__ and settings.files != "arrow":
        raise OutsideError('a Connect server may have other files than this machine; files="arrow" says it has not')
    if not plan.order_by:
        raise OutsideError("there is no ORDER BY")
    types = {field.name: field.dataType for field in projected.schema}
    for kind in types.values():
        if is_not_carried(kind):
            raise OutsideError(f"Arrow has no {kind.simpleString()}")  # soon an error of its own
    for name in (*lowered.keys, *lowered.order):
        if is_ordered_by_spark(types[name]):
            raise OutsideError(f"Spark orders values of type {types[name].simpleString()}")
    for name in ("ignoreCorruptFiles", "ignoreMissingFiles"):
        if _is_set(host, f"spark.sql.files.{name}"):
            raise OutsideError(f"spark.sql.files.{name} is set")
    if _is_set(host, "spark.sql.parquet.fieldId.read.enabled"):
        raise OutsideError("spark.sql.parquet.fieldId.read.enabled is set")


def _plan(
    query: ParsedQuery, relation: Relation, lowered: Lowered, projected: DataFrame, sql: str, host: SparkHost,
    settings: Settings, needs: SliceNeeds | None,
) -> FilesRead | SlicesRead:
    keep_comparable(lowered, {field.name: field.dataType for field in projected.schema})
    found = read_input(sql, {name: files.frame.columns for name, files in host.files.items()})
    files = host.files[found.table]
    if files.kind != "parquet":
        raise OutsideError(f"{found.table} is {_SHOWN[files.kind]}, whose types and values Spark reads in its own way")
    spark_types = {field.name: field.dataType.simpleString() for field in files.frame.schema}
    types = _arrow_types(files, host)
    name = f"{relation.placeholder}_in"

    def row(tree: exp.Expr) -> Row:
        return read_row(over_columns(tree, found.columns, {name.lower()}), types)

    schema = zoned_arrow_schema(projected.schema, host.time_zone())
    projections = {column: row(_tree(text)) for column, text in lowered.projections.items()}
    for column, text in lowered.projections.items():
        if projections[column].type != schema.field(column).type:
            raise OutsideError(f"{text} of type {schema.field(column).type}")
    conditions = [read_row(condition, types) for condition in found.where]
    if lowered.where:
        conditions.append(row(_tree(lowered.where)))
    keys = {
        name.lower(): projections[key] for key, name in lowered.key_names() if lowered.outputs.get(name) == key
    }
    conditions += _outer_conditions(query, relation, keys, host)
    where = None if not conditions else _all_of(conditions)
    read = {name for part in (*projections.values(), *conditions) for name in columns_in(part)}
    wanted = tuple(Wanted(name, spark_types[name], types[name]) for name in files.frame.columns if name in read)
    time = None if needs is None else _column_of(projections[needs.column])
    pieces, n_files, n_groups = _pieces(files, _Looking(wanted, where, time), host, settings)
    n_bytes = sum(piece.n_bytes for piece in pieces)
    n_rows = sum(piece.n_rows for piece in pieces)
    n_memory = max(n_bytes, n_rows * sum(_width(field.type) for field in schema))
    n_pruned = n_groups - sum(len(piece.groups) for piece in pieces)
    if needs is not None:
        reading = FileReading(
            units=(), columns=wanted, where=where, projections=tuple(projections.values()), schema=schema, hashed=(),
            ids=(), version=sparkrex.__version__, source=host.source, span=relation.span,
        )
        # What a worker would order in memory, searching included; see `WorkerTask`.
        n_slices = _task_count(n_memory, settings.sort_memory // 2, host.spark, _SLICE_ROUNDS)
        most_rows = settings.sort_memory * n_rows // max(1, n_memory)
        return cut_slices(reading, pieces, needs, n_slices, most_rows, n_files, n_pruned)
    n_units = _task_count(n_bytes, _UNIT_BYTES, host.spark)
    if not _option(host, _BATCH_BYTES) and n_memory > _MOST_UNBOUNDED:
        raise OutsideError("this version of Spark puts all blobs of a task into one batch, and there are too many")
    n_buckets = min(_task_count(n_memory, _BUCKET_BYTES, host.spark), MOST_NUMBERS)
    reading = FileReading(
        units=share_out(pieces, n_units), columns=wanted, where=where, projections=tuple(projections.values()),
        schema=schema, hashed=tuple(dict.fromkeys((*lowered.keys, *lowered.worker.equal_by))),
        ids=tuple(range(n_buckets)) if _takes_ids(projected) else spread_ids(n_buckets),
        version=sparkrex.__version__, source=host.source, span=relation.span,
    )
    return FilesRead(reading, n_files, n_groups, n_pruned)


def _column_of(row: Row) -> str:
    """The column that slices are cut by."""
    if not isinstance(row, Column):
        raise OutsideError("there is no PARTITION BY, and the rows are ordered by an expression of columns")
    return row.name


@dataclass(frozen=True, slots=True)
class _Looking:
    """What is looked for in footers: columns, rows at which a condition may be true, and the times of a column."""

    wanted: Sequence[Wanted]
    where: Row | None
    time: str | None


def _pieces(
    files: SparkFiles, looking: _Looking, host: SparkHost, settings: Settings
) -> tuple[list[Piece], int, int]:
    """The row groups to read, one by one; how many files and row groups there are."""
    rules = Rules(
        is_case_sensitive=_is_set(host, "spark.sql.caseSensitive"),
        keeps_old_dates=_option(host, "spark.sql.parquet.datetimeRebaseModeInRead") == "corrected",
        keeps_old_int96=_option(host, "spark.sql.parquet.int96RebaseModeInRead") == "corrected",
    )
    if _is_set(host, "spark.sql.parquet.int96TimestampConversion"):
        raise OutsideError("spark.sql.parquet.int96TimestampConversion is set")
    paths = listed_files(files.frame, is_local_only=settings.files != "arrow")
    root = _root(files.path)
    pieces: list[Piece] = []
    n_groups = 0
    footers = read_footers(paths)
    for state, footer in footers:
        n_groups += footer.num_row_groups
        values = _folder_values(state, root, looking.wanted, rules)
        names = proven_columns(footer, [column for column in looking.wanted if column.name not in values], rules)
        values |= {name: None for name, known in names.items() if known is None}
        own = {name: known for name, known in names.items() if known is not None}
        pieces += _groups(state, footer, looking, own, values)
    return pieces, len(footers), n_groups


def _folder_values(
    state: FileState, root: str | None, wanted: Sequence[Wanted], rules: Rules
) -> dict[str, str | int | None]:
    """The values of partition folders, of the columns that are read."""
    if "=" not in state.path:
        return {}
    if root is None or not PurePosixPath(state.path).is_relative_to(root):
        if any("=" in part for part in PurePosixPath(state.path).parts[:-1]):
            raise NotProvenError("partition folders below a pattern")
        return {}
    texts = folder_values(state.path, root)
    found: dict[str, str | int | None] = {}
    for column in wanted:
        for name, text in texts.items():
            is_meant = name == column.name if rules.is_case_sensitive else name.lower() == column.name.lower()
            if is_meant:
                found[column.name] = folder_value(text, column)
    return found


def _groups(
    state: FileState, footer: Any, looking: _Looking, names: Mapping[str, str],
    values: Mapping[str, str | int | None],
) -> list[Piece]:
    """The row groups of a file in which the condition may be true."""
    places = {footer.schema.column(number).path: number for number in range(footer.num_columns)}
    found: list[Piece] = []
    for number in range(footer.num_row_groups):
        group = footer.row_group(number)
        chunks = {name: group.column(places[known]) for name, known in names.items()}
        known = {
            column.name: statistics_of(chunks[column.name], column.type) if column.name in chunks
            else _constant_statistics(values[column.name], group.num_rows)
            for column in looking.wanted if looking.where is not None or column.name == looking.time
        }
        if looking.where is not None and not may_hold(looking.where, known):
            continue
        times = None if looking.time is None or not group.num_rows else _times(known[looking.time], looking.time)
        n_bytes = sum(chunk.total_compressed_size for chunk in chunks.values())
        found.append(Piece(state, (number,), names, values, n_bytes, group.num_rows, times))
    return found


def _times(known: Statistics, name: str) -> tuple[int, int]:
    """The first and the last time of a row group."""
    if known.n_nulls or known.n_nulls is None:
        raise OutsideError(f"there is no PARTITION BY, and {name} may be NULL")
    if not isinstance(known.least, int) or not isinstance(known.most, int):
        raise OutsideError(f"there is no PARTITION BY, and a file does not say between which times {name} is")
    return known.least, known.most


def _constant_statistics(value: str | int | None, n_rows: int) -> Statistics:
    return Statistics(value, value, n_rows if value is None else 0, n_rows)


def _root(path: str) -> str | None:
    """The folder below which folders are partitions; None below a pattern."""
    if any(sign in path for sign in "*?[{"):
        return None
    return find_file_system("", path)[1] if "://" not in path or path.startswith("file:") else path


def _outer_conditions(
    query: ParsedQuery, relation: Relation, keys: Mapping[str, Row], host: SparkHost
) -> list[Row]:
    """Conditions of the statement around the relation that only read keys: they choose among partitions."""
    if query.statement.bare_relation is not None or relation.column_aliases is not None or not keys:
        return []
    try:
        tree = sqlglot.parse_one(host.translated(query.statement.host_sql), read="spark")
    except SqlglotError:
        return []
    start = tree.args.get("from_") or tree.args.get("from")
    where = tree.args.get("where")
    if not isinstance(tree, exp.Select) or start is None or where is None or tree.args.get("joins"):
        return []
    table = start.this
    is_alone = isinstance(table, exp.Table) and not tree.args.get("with_") and not table.args.get("sample")
    if not is_alone or table.name.lower() != relation.placeholder.lower() or table.args.get("pivots"):
        return []
    columns: dict[str, exp.Expr] = {name: exp.column(name, quoted=True) for name in keys}
    found = []
    for condition in where.this.flatten() if isinstance(where.this, exp.And) else [where.this]:
        try:
            tree = over_columns(condition, columns, {table.alias_or_name.lower()})
            found.append(_with_keys(read_row(tree, {name: key.type for name, key in keys.items()}), keys))
        except OutsideError:
            continue  # Spark tests it on the result
    return found


def _with_keys(row: Row, keys: Mapping[str, Row]) -> Row:
    match row:
        case Column(name):
            return keys[name]
        case Operation(function, operands, kind):
            return Operation(function, tuple(_with_keys(operand, keys) for operand in operands), kind)
        case _:
            return row


def _all_of(conditions: Sequence[Row]) -> Row:
    return conditions[0] if len(conditions) == 1 else Operation("and", tuple(conditions), pa.bool_())


def _tree(text: str) -> exp.Expr:
    try:
        found = sqlglot.parse_one(text, read="spark")
    except SqlglotError:
        raise OutsideError(text) from None
    return found


def _arrow_types(files: SparkFiles, host: SparkHost) -> dict[str, pa.DataType]:
    """Arrow's types of the columns; a column that Arrow cannot carry has none, and is outside if it is read."""
    found: dict[str, pa.DataType] = {}
    for field in files.frame.schema:
        try:
            found[field.name] = zoned_arrow_schema(StructType([field]), host.time_zone()).field(0).type
        except Exception:  # PySpark's, whichever
            found[field.name] = pa.null()
    return found


def _is_set(host: SparkHost, name: str) -> bool:
    return _option(host, name) == "true"


def _option(host: SparkHost, name: str) -> str:
    """An option of the session, or Spark's own default; empty where this version does not know it."""
    # With a default of ours, Spark would give that instead of its own.
    try:
        return str(host.spark.conf.get(name)).lower()
    except Exception:  # of another class in each version, and on Connect
        return ""


def _task_count(n_bytes: int, n_each: int, spark: SparkSession, rounds: int = _ROUNDS) -> int:
    """Tasks for so many bytes: of a size each, but enough for all cores, unless there is next to nothing to do."""
    context = getattr(spark, "_sc", None)
    n_cores = int(context.defaultParallelism) if context is not None else 8  # a Connect session does not say
    return max(1 + n_bytes // n_each, min(rounds * n_cores, 1 + n_bytes // _LEAST_BYTES))


def _takes_ids(frame: DataFrame) -> bool:
    """Whether Spark partitions by a number itself, from 4.1 on."""
    return hasattr(frame, "repartitionById")


def _width(kind: pa.DataType) -> int:
    """Bytes of a value in memory; texts are counted by their bytes in the files."""
    return max(1, kind.bit_width // 8) if pa.types.is_primitive(kind) or pa.types.is_decimal(kind) else 8
