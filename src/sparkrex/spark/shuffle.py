"""Rows on their way to the workers: brought together by partition, with what is read there and no more.

Rows that are partitioned so already Spark does not move; it orders them only where the workers cannot, or need not.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import functions as F  # noqa: N812  as everybody writes it
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    IntegerType,
    MapType,
    StringType,
    StructField,
    StructType,
)

from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.matching.output import NO_COLUMNS
from sparkrex.matching.side_rows import ERROR, KIND, ROW
from sparkrex.modes.plan import columns_of
from sparkrex.scalar.render.spark import quoted
from sparkrex.spark.side_rows import is_carried
from sparkrex.spark.versions import spark_type_of
from sparkrex.spark.worker_expressions import proven_calls
from sparkrex.spark.worker_types import refuse_types
from sparkrex.warn import warn_user

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType

    from sparkrex.functions import Function
    from sparkrex.spark.host import SparkHost
    from sparkrex.spark.lowering import Lowered
    from sparkrex.statement.cut import Relation

_RANK = "rex_rank"
# Types whose equal values are not the same values, or are compared part by part.
_NO_PLAIN_EQUALITY = ("struct", "array", "map", "interval", "collate", "variant", "binary")
# Types that NumPy does not order or compare as Spark does: Spark numbers the rows instead.
_ORDERED_BY_SPARK = ("struct", "array", "interval", "collate")


@dataclass(frozen=True, slots=True)
class Shuffled:
    """Rows on their way to the workers, and what comes back. See `WorkerTask` for `is_ordered` and `cut`."""

    frame: DataFrame
    types: dict[str, DataType]
    output: StructType
    is_ordered: bool
    cut: str | None


def shuffle(
    projected: DataFrame, lowered: Lowered, host: SparkHost, relation: Relation, functions: Sequence[Function] = (),
    *, is_sliced: bool = False,
) -> Shuffled:
    """The rows of a partition brought together; ordered by Spark only where the workers cannot, or need not.

    `functions` are the user's, which the workers have. With `is_sliced`, tasks read the rows of one series themselves.
    """
    keys = list(dict.fromkeys(lowered.keys))
    types = {field.name: field.dataType for field in projected.schema}
    check_keys(lowered, types, host, relation)
    keep_comparable(lowered, types)
    apart = _apart(projected, lowered, types)
    output = output_schema(projected, lowered, types)
    ordered_by_spark = any(is_ordered_by_spark(types[name]) for name in (*keys, *lowered.order))
    # All rows of a search are in memory at once: there the workers order them.
    is_one = not keys and not apart
    is_ordered = ordered_by_spark or (is_one and not is_sliced and not lowered.worker.needs_whole_partitions)
    cut: str | None = None
    if is_sliced:
        frame = projected
    elif is_one:
        warn_user(lowered.worker.one_task_advice())
        frame = projected.repartition(1)
        if is_ordered:
            frame = frame.sortWithinPartitions(*_sort_columns(lowered))
    elif ordered_by_spark:
        cut = "rex_number"
        frame = projected.withColumn(cut, F.expr(f"row_number() {_window(lowered, apart)}"))
    else:
        frame = projected.repartition(*map(quoted, keys), *map(F.expr, apart))
    if lowered.worker.needs_order and any(is_ordered_by_spark(types[name]) for name in lowered.order):
        frame = frame.withColumn(_RANK, F.expr(f"rank() {_window(lowered, apart)}"))
        types[_RANK] = IntegerType()
        lowered.worker = lowered.worker.ranked(_RANK)
    needed = _carried_columns(lowered, keys, types, is_ordered=is_ordered)
    if cut is not None:
        needed.append(cut)
    frame = frame.select(*map(quoted, needed))
    check_carried(frame, lowered, host, relation)
    lowered.worker = proven_calls(lowered.worker, types, host, functions)
    refuse_types(lowered.worker, types)
    return Shuffled(frame, types, output, is_ordered, cut)


def keep_comparable(lowered: Lowered, types: dict[str, DataType]) -> None:
    """Forget keys of equalities whose values Spark and the workers may not compare alike."""
    kept = tuple(
        name for name in lowered.worker.equal_by
        if not any(word in types[name].simpleString() for word in _NO_PLAIN_EQUALITY)
    )
    lowered.worker = replace(lowered.worker, equal_by=kept)


def _apart(projected: DataFrame, lowered: Lowered, types: dict[str, DataType]) -> list[str]:
    """What keeps the events of an event query apart beside its keys, as Spark SQL: the keys of equalities.

    Events without a value there meet no other: they go anywhere, but not all to one task. Where they go depends on
    what they hold, so that a task that runs again gets the same ones.
    """
    names = list(lowered.worker.equal_by)
    missing = [f"{quoted(name)} IS NULL" for name in names if projected.schema[name].nullable]
    if not missing:
        return list(map(quoted, names))
    held = ", ".join(quoted(name) for name in lowered.order if not is_ordered_by_spark(types[name]))
    return [*map(quoted, names), f"CASE WHEN {' OR '.join(missing)} THEN xxhash64({held}) END"]


def is_ordered_by_spark(kind: DataType) -> bool:
    return any(word in kind.simpleString() for word in _ORDERED_BY_SPARK)


def _carried_columns(lowered: Lowered, keys: list[str], types: dict[str, DataType], *, is_ordered: bool) -> list[str]:
    """Columns that travel to the workers: once Spark has ordered the rows, order columns only if read otherwise."""
    columns = list(types)
    if not is_ordered:
        return columns
    plan = lowered.worker
    used = set(keys) | set(plan.equal_by) | plan.searched_columns()
    if plan.partition_gap is not None:
        used.add(lowered.order[0])
    if is_carried(lowered):
        used.add(ROW)
    # A window on the first order column bounds a search, if NumPy can read it.
    is_plain = not any(is_ordered_by_spark(types[name]) for name in lowered.order)
    if plan.needs_order or (plan.needs_whole_partitions and is_plain):
        used |= columns_of(key.expression for key in plan.order_by)
    return [name for name in columns if name in used] or columns[:1]


def _window(lowered: Lowered, apart: Sequence[str]) -> str:
    """The rows of a partition in order, as a window of Spark's."""
    keys = ", ".join([*map(quoted, dict.fromkeys(lowered.keys)), *apart])
    texts = []
    for name, key in zip(lowered.order, lowered.worker.order_by, strict=True):
        direction = "DESC" if key.is_descending else "ASC"
        texts.append(f"{quoted(name)} {direction} NULLS {'FIRST' if key.nulls_first else 'LAST'}")
    return f"OVER ({f'PARTITION BY {keys} ' if keys else ''}ORDER BY {', '.join(texts)})"


def _sort_columns(lowered: Lowered) -> list[Column]:
    columns: list[Column] = []
    for name, key in zip(lowered.order, lowered.worker.order_by, strict=True):
        column = F.col(quoted(name))
        if key.is_descending:
            columns.append(column.desc_nulls_first() if key.nulls_first else column.desc_nulls_last())
        else:
            columns.append(column.asc_nulls_first() if key.nulls_first else column.asc_nulls_last())
    return columns


def output_schema(projected: DataFrame, lowered: Lowered, types: dict[str, DataType]) -> StructType:
    """What the workers give back."""
    aggregates: dict[str, DataType] = {}
    if lowered.aggregates:
        listed = [F.expr(text).alias(name) for name, text in lowered.aggregates.items()]
        aggregates = {field.name: field.dataType for field in projected.agg(*listed).schema}
    keys = dict.fromkeys(lowered.keys) if lowered.worker.returns_keys else {}
    fields = [StructField(name, types[name]) for name in keys]
    for name, origin in lowered.sources.items():
        if origin is None:
            known = aggregates[name]
        else:
            known = types[origin] if isinstance(origin, str) else spark_type_of(origin)
        fields.append(StructField(name, known))
    fields += [StructField(name, types[name]) for name in lowered.worker.input_columns]
    fields = [StructField(field.name, _nullable(field.dataType)) for field in fields]
    fields = fields or [StructField(NO_COLUMNS, BooleanType())]
    if is_carried(lowered):
        fields += side_fields(types[ROW])
    return StructType(fields)


def side_fields(row: DataType) -> list[StructField]:
    """The columns of side rows; `row` is the type of an input row."""
    error = StructType([StructField(name, StringType()) for name in ("code", "message")])
    return [StructField(KIND, StringType()), StructField(ROW, _nullable(row)), StructField(ERROR, error)]


def _nullable(kind: DataType) -> DataType:
    """The type with NULL allowed everywhere inside: Spark's own aggregates promise more than ours keep."""
    match kind:
        case ArrayType():
            return ArrayType(_nullable(kind.elementType), True)
        case MapType():
            return MapType(_nullable(kind.keyType), _nullable(kind.valueType), True)
        case StructType():
            return StructType([StructField(field.name, _nullable(field.dataType)) for field in kind])
        case _:
            return kind


def check_keys(lowered: Lowered, types: dict[str, DataType], host: SparkHost, relation: Relation) -> None:
    """Refuse PARTITION BY and ORDER BY of what Spark cannot compare."""
    for name in (*lowered.keys, *lowered.order):
        kind = types[name].simpleString()
        if kind == "interval" or "map<" in kind or "variant" in kind:
            raise AnalysisError(
                "REX214", f"{written_name(lowered, name)} of type {kind} can be neither ordered nor compared",
                host.source, lowered.spans.get(name) or relation.span, hint="use a part of it, or a cast to a string",
            )
    if lowered.worker.needs_order and is_ordered_by_spark(types[lowered.order[0]]):
        time = lowered.order[0]
        raise AnalysisError(
            "REX214", f"{written_name(lowered, time)} of type {types[time].simpleString()} cannot be a time",
            host.source, lowered.spans.get(time) or relation.span,
            hint="a time is a timestamp, a date, a number or a string",
        )


def check_carried(frame: DataFrame, lowered: Lowered, host: SparkHost, relation: Relation) -> None:
    """Refuse a column that Arrow cannot carry, naming it and a cast."""
    for field in frame.schema:
        name = field.dataType.simpleString()
        if is_not_carried(field.dataType):
            raise UnsupportedError(
                "REX301", f"{written_name(lowered, field.name)} of type {name} cannot be carried to Python workers",
                host.source, lowered.spans.get(field.name) or relation.span,
                hint=f"cast it in a subquery: SELECT CAST({written_name(lowered, field.name)} AS STRING) ...",
            )


def is_not_carried(kind: DataType) -> bool:
    """Whether Arrow has no type for it."""
    name = kind.simpleString()
    return name == "interval" or (name.startswith("interval") and ("month" in name or "year" in name))


def written_name(lowered: Lowered, column: str) -> str:
    """A projected column as the user knows it."""
    return lowered.projections.get(column, column).split(".", 1)[-1].strip("`")


def known_as(lowered: Lowered, column: str, query: str) -> str:
    """A projected column, an expression too, as it stands in the query; what has no place there by its column."""
    span = lowered.spans.get(column)
    return (" ".join(query[span.start : span.end].split()) if span is not None else "") or written_name(lowered, column)
