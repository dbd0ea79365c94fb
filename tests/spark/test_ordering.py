"""Order and partitions are Spark's own, for every type that Spark can order, in memory and spilled.

The running COUNT(*) of a pattern that takes every row numbers the rows in our order; `row_number()` over the same order
numbers them in Spark's. A unique last column leaves no ties.
"""

from __future__ import annotations

import datetime
import math
import random
import struct
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import DataFrame, SparkSession

_N_ROWS = 240
_ORDERS = ("ASC NULLS FIRST", "ASC NULLS LAST", "DESC NULLS FIRST", "DESC NULLS LAST")
_IN_MEMORY: dict[str, Any] = {}
# Chunks so small that partitions and matches run over their edges.
_SPILLED = {"sort_memory": 1, "chunk_rows": 50}


@dataclass(frozen=True, slots=True)
class Kind:
    """A Spark type: how to draw a value, its Arrow type, and Spark SQL over it where Arrow has no such type."""

    name: str
    arrow: pa.DataType
    draw: Callable[[random.Random], Any]
    sql: str = "{}"


def _whole(n_bits: int) -> Callable[[random.Random], int]:
    low, high = -(1 << (n_bits - 1)), (1 << (n_bits - 1)) - 1
    return lambda rng: rng.choice((low, low + 1, -1, 0, 1, high - 1, high, rng.randint(low, high)))


def _double(rng: random.Random) -> float:
    negative_nan = struct.unpack("<d", struct.pack("<Q", 0xFFF8000000000001))[0]
    specials = (0.0, -0.0, math.nan, negative_nan, math.inf, -math.inf, 5e-324, -5e-324, 1.7e308, -1.7e308)
    return rng.choice((*specials, rng.uniform(-1, 1), rng.uniform(-1e9, 1e9)))


def _single(rng: random.Random) -> float:
    specials = (0.0, -0.0, math.nan, math.inf, -math.inf, 1e-45, -1e-45, 3e38, -3e38)
    return rng.choice((*specials, float(rng.randint(-8, 8)) / 4, rng.uniform(-1e6, 1e6)))


def _decimal(precision: int, scale: int) -> Callable[[random.Random], Decimal]:
    top = 10**precision - 1

    def draw(rng: random.Random) -> Decimal:
        unscaled = rng.choice((-top, 1 - top, -1, 0, 1, top - 1, top, rng.randint(-top, top), rng.randint(-500, 500)))
        return Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))

    return draw


def _text(rng: random.Random) -> str:
    # Above U+FFFF the order of UTF-16 units, Java's own, is not that of UTF-8 bytes, Spark's.
    letters = "aAbBzZ 0_~\u00e9\u00c9\u00df\u0130\u4e2d\uff21\U0001f600\U00010000\x01"
    return "".join(rng.choice(letters) for _ in range(rng.choice((0, 1, 1, 2, 3, 12))))


def _bytes(rng: random.Random) -> bytes:
    return bytes(rng.choice((0, 1, 127, 128, 255)) for _ in range(rng.choice((0, 1, 1, 2, 3, 12))))


def _date(rng: random.Random) -> datetime.date:
    days = rng.choice((0, -1, 1, -719_162, 2_932_896, rng.randint(-20_000, 20_000)))
    return datetime.date(1970, 1, 1) + datetime.timedelta(days=days)


def _timestamp(rng: random.Random) -> datetime.datetime:
    microseconds = rng.choice((0, -1, 1, rng.randint(-(10**16), 10**16), rng.randint(-5, 5) * 1_000_000))
    return datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=microseconds)


def _interval(rng: random.Random) -> datetime.timedelta:
    return datetime.timedelta(microseconds=rng.choice((0, -1, 1, rng.randint(-(10**12), 10**12))))


def _maybe(draw: Callable[[random.Random], Any]) -> Callable[[random.Random], Any]:
    return lambda rng: None if rng.random() < 0.2 else draw(rng)


def _struct(rng: random.Random) -> dict[str, Any]:
    return {"a": _maybe(_double)(rng), "b": _maybe(_text)(rng)}


def _list(draw: Callable[[random.Random], Any]) -> Callable[[random.Random], list[Any]]:
    return lambda rng: [_maybe(draw)(rng) for _ in range(rng.choice((0, 1, 2, 2)))]


def _few(rng: random.Random) -> int:
    return rng.randint(-3, 3)


KINDS = (
    Kind("tinyint", pa.int8(), _whole(8)),
    Kind("smallint", pa.int16(), _whole(16)),
    Kind("int", pa.int32(), _whole(32)),
    Kind("bigint", pa.int64(), _whole(64)),
    Kind("float", pa.float32(), _single),
    Kind("double", pa.float64(), _double),
    Kind("decimal(9,2)", pa.decimal128(9, 2), _decimal(9, 2)),
    Kind("decimal(38,10)", pa.decimal128(38, 10), _decimal(38, 10)),
    Kind("string", pa.string(), _text),
    Kind("binary", pa.binary(), _bytes),
    Kind("boolean", pa.bool_(), lambda rng: rng.random() < 0.5),
    Kind("date", pa.date32(), _date),
    Kind("timestamp", pa.timestamp("us", "UTC"), _timestamp),
    Kind("timestamp_ntz", pa.timestamp("us"), _timestamp, "CAST({} AS TIMESTAMP_NTZ)"),
    Kind("day-time interval", pa.duration("us"), _interval),
    Kind("struct", pa.struct({"a": pa.float64(), "b": pa.string()}), _struct),
    Kind("array<int>", pa.list_(pa.int32()), _list(_few)),
    Kind("array<double>", pa.list_(pa.float64()), _list(_double)),
    Kind("string collate UTF8_LCASE", pa.string(), _text, "{} COLLATE UTF8_LCASE"),
    Kind("string collate UNICODE", pa.string(), _text, "{} COLLATE UNICODE"),
)
_BY_NAME = {kind.name: kind for kind in KINDS}
every_kind = pytest.mark.parametrize("kind", KINDS, ids=_BY_NAME)


@pytest.fixture(autouse=True, scope="module")
def _small_batches(spark: SparkSession) -> Iterator[None]:
    """Several Arrow batches a task: the worker must join them, and spill after the first."""
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    before = str(spark.conf.get(name))
    spark.conf.set(name, "32")
    yield
    spark.conf.set(name, before)


def _frame(spark: SparkSession, *kinds: Kind, n_groups: int = 3, n_distinct: int = _N_ROWS) -> DataFrame:
    """Random rows: `id` unique in no order, `g` a small key, `v0`, `v1`, ... of the kinds, one in eight NULL."""
    rng = random.Random(", ".join(kind.name for kind in kinds))
    ids = list(range(_N_ROWS))
    rng.shuffle(ids)
    columns = {"id": pa.array(ids, pa.int64()), "g": pa.array([rng.randrange(n_groups) for _ in ids], pa.int64())}
    selected = ["id", "g"]
    for number, kind in enumerate(kinds):
        pool = [None if rng.random() < 0.125 else kind.draw(rng) for _ in range(n_distinct)]
        columns[f"r{number}"] = pa.array([rng.choice(pool) for _ in ids], kind.arrow)
        selected.append(f"{kind.sql.format(f'r{number}')} AS v{number}")
    return spark.createDataFrame(pa.table(columns)).selectExpr(*selected)


def _union(frames: list[DataFrame]) -> DataFrame:
    return reduce(lambda left, right: left.unionByName(right), frames)


def _numbered(frame: DataFrame, order: str, settings: dict[str, Any], partition: str = "PARTITION BY g") -> DataFrame:
    numbered: DataFrame = rex.sql(
        f"""SELECT id, n FROM t MATCH_RECOGNIZE (
              {partition} ORDER BY {order} MEASURES COUNT(*) AS n ALL ROWS PER MATCH PATTERN (A+))""",
        t=frame, settings=settings,
    )
    return numbered


def _check_orders(frame: DataFrame, orders: list[str], partition: str = "PARTITION BY g") -> None:
    """Each order gives the numbers that row_number() gives, in memory and spilled: one job for all."""
    ours = [
        _numbered(frame, order, settings, partition).select(F.lit(order).alias("o"), F.lit(way).alias("way"), "id", "n")
        for order in orders for way, settings in (("memory", _IN_MEMORY), ("spilled", _SPILLED))
    ]
    windows = [f"row_number() OVER ({partition} ORDER BY {order}) AS `{order}`" for order in orders]
    rows = frame.selectExpr("*", *windows).collect()
    found: dict[str, dict[tuple[str, int], int]] = {"memory": {}, "spilled": {}}
    for order, way, id_, number in _union(ours).collect():
        found[way][order, id_] = number
    for way, numbers in found.items():
        wrong = [
            f"{order}: number {numbers.get((order, row['id']))}, not {row[order]}: {row}"
            for row in rows for order in orders if row[order] != numbers.get((order, row["id"]))
        ]
        assert not wrong, "\n".join([way, *wrong[:5]])
        assert len(numbers) == _N_ROWS * len(orders)


@every_kind
def test_order_is_that_of_spark(kind: Kind, spark: SparkSession) -> None:
    _check_orders(_frame(spark, kind), [f"v0 {order}, id" for order in _ORDERS])


@pytest.mark.parametrize("kinds", [("double", "string"), ("string", "decimal(38,10)"), ("boolean", "float", "date")])
def test_several_order_columns(kinds: tuple[str, ...], spark: SparkSession) -> None:
    frame = _frame(spark, *(_BY_NAME[name] for name in kinds), n_distinct=8)
    mixed = [", ".join(f"v{i} {_ORDERS[(i + shift) % 4]}" for i in range(len(kinds))) for shift in range(4)]
    _check_orders(frame, [f"{order}, id DESC" for order in mixed])


def test_nulls_stand_where_spark_puts_them_by_default(spark: SparkSession) -> None:
    _check_orders(_frame(spark, _BY_NAME["double"]), ["v0, id", "v0 DESC, id", "v0 ASC, id DESC"])


def test_order_by_an_expression(spark: SparkSession) -> None:
    frame = _frame(spark, _BY_NAME["double"], _BY_NAME["string"])
    _check_orders(frame, ["abs(v0) DESC, lower(v1), id", "length(v1), id"])


def test_order_by_a_type_that_arrow_cannot_carry(spark: SparkSession) -> None:
    """Spark orders by it; the workers never see it."""
    frame = _frame(spark, Kind("year-month interval", pa.int32(), _few, "make_ym_interval(0, {})"))
    for order in _ORDERS:
        ours = rex.sql(
            f"""SELECT ids FROM t MATCH_RECOGNIZE (
                  PARTITION BY g ORDER BY v0 {order}, id MEASURES array_agg(id) AS ids PATTERN (A+))""",
            t=frame,
        )
        numbered = frame.selectExpr("id", "g", f"row_number() OVER (PARTITION BY g ORDER BY v0 {order}, id) AS n")
        expected: dict[int, list[int]] = {}
        for row in sorted(numbered.collect(), key=lambda row: row["n"]):
            expected.setdefault(row["g"], []).append(row["id"])
        assert sorted(row["ids"] for row in ours.collect()) == sorted(expected.values())


@pytest.mark.filterwarnings("ignore:MATCH_RECOGNIZE without PARTITION BY")
@pytest.mark.parametrize("name", ["double", "string", "decimal(38,10)", "struct"])
def test_order_without_partitions(name: str, spark: SparkSession) -> None:
    _check_orders(_frame(spark, _BY_NAME[name]), [f"v0 {order}, id" for order in _ORDERS[::3]], "")


def test_tie_break_orders_equal_rows(spark: SparkSession) -> None:
    """Without `id` in ORDER BY, the setting makes the order total."""
    frame = _frame(spark, _BY_NAME["boolean"])
    numbered = frame.selectExpr("id", "row_number() OVER (PARTITION BY g ORDER BY v0 DESC, id) AS n")
    expected = {row["id"]: row["n"] for row in numbered.collect()}
    for settings in (_IN_MEMORY, _SPILLED):
        ours = _numbered(frame, "v0 DESC", {**settings, "tie_break": ("id",)})
        assert {row["id"]: row["n"] for row in ours.collect()} == expected


@every_kind
def test_partitions_are_the_groups_of_spark(kind: Kind, spark: SparkSession) -> None:
    """NULL is one key, every NaN is one key, -0.0 is 0.0, and a collation decides which strings are equal."""
    _check_groups(_frame(spark, kind, n_distinct=30), "v0")


@pytest.mark.parametrize("kinds", [("double", "string"), ("boolean", "float", "binary"), ("int", "array<double>")])
def test_several_partition_columns(kinds: tuple[str, ...], spark: SparkSession) -> None:
    frame = _frame(spark, *(_BY_NAME[name] for name in kinds), n_distinct=6)
    _check_groups(frame, ", ".join(f"v{i}" for i in range(len(kinds))))


def test_partition_by_an_expression(spark: SparkSession) -> None:
    _check_groups(_frame(spark, _BY_NAME["string"], _BY_NAME["bigint"]), "length(v0), v1 % 5")


def _check_groups(frame: DataFrame, keys: str) -> None:
    """Matches that take all rows of a partition hold the rows that GROUP BY puts together."""
    grouped = frame.groupBy(*map(F.expr, keys.split(", "))).agg(F.sort_array(F.collect_list("id")).alias("ids"))
    expected = {tuple(row["ids"]) for row in grouped.collect()}
    for way, settings in (("memory", _IN_MEMORY), ("spilled", _SPILLED)):
        ours = rex.sql(
            f"""SELECT ids FROM t MATCH_RECOGNIZE (
                  PARTITION BY {keys} ORDER BY id MEASURES array_agg(id) AS ids PATTERN (A+))""",
            t=frame, settings=settings,
        )
        groups = [tuple(row["ids"]) for row in ours.collect()]
        assert all(list(group) == sorted(group) for group in groups), way
        assert len(groups) == len(set(groups)), way
        assert set(groups) == expected, way
