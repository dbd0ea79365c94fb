"""Evaluate one function by Spark and by a worker's DuckDB over the same rows, and compare bit for bit.

Spark's side is `TryEval(struct(e))`, whose value is NULL exactly where `e` raises an error; the worker's is DuckDB as
workers open it. Equal are the result's type, the bits of every value, and the rows at which there is an error.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from tests.spark.worker_functions.forms import form_of
from tests.spark.worker_functions.samples import CLASSES, N_ROWS, SAMPLES, column

from sparkrex.errors import RexError
from sparkrex.hosts.duckdb.host import DuckDbHost, RelationEvaluator
from sparkrex.settings import Settings
from sparkrex.source import Source
from sparkrex.spark.proven_functions import duckdb_type
from sparkrex.syntax.tokens import find_dialect

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

_ERROR = object()
_TYPES = {spark: arrow for spark, arrow, *_ in SAMPLES.values()}


@dataclass(frozen=True, slots=True)
class Rendering:
    """A function of Spark's, what it is tried with, and DuckDB's SQL for it.

    `{0}`, `{1}`, ... stand for the operands in both; one letter of `kinds` for each says its types (`CLASSES`).
    `legacy` is the rendering without ANSI rules, where it is another.
    """

    spark: str
    kinds: str
    duckdb: str
    legacy: str | None = None


@cache
def _spark_sql(rendering: Rendering, samples: tuple[str, ...]) -> str:
    case = Case(rendering, samples)
    quoted = [f"`{name}`" for name in case.columns]
    made = form_of(rendering.spark, case.types)
    if made is None:
        return rendering.spark.format(*quoted)
    form, order = made
    return form.text.format(*(quoted[place] for place in order))


@dataclass(frozen=True, slots=True)
class Case:
    """A rendering over operands of certain samples."""

    rendering: Rendering
    samples: tuple[str, ...]

    @property
    def types(self) -> tuple[str, ...]:
        """Spark's types of the operands."""
        return tuple(SAMPLES[name][0] for name in self.samples)

    @property
    def columns(self) -> list[str]:
        """The columns that hold the operands."""
        return [_column_name(name, place) for place, name in enumerate(self.samples)]

    @property
    def spark(self) -> str:
        """Spark's SQL over these columns: what analysis makes of it, where it is a call of a function."""
        return _spark_sql(self.rendering, self.samples)


def cases_of(rendering: Rendering) -> list[Case]:
    """A rendering over every combination of types."""
    return [Case(rendering, samples) for samples in product(*(CLASSES[kind] for kind in rendering.kinds))]


def _column_name(sample: str, place: int) -> str:
    return f"c{place} {sample}"


def arguments(n_places: int = 4) -> pa.Table:
    """Columns of all samples in all places."""
    return pa.table({_column_name(name, place): column(name, place) for place in range(n_places) for name in SAMPLES})


class Comparison:
    """Compares in one session, whose ANSI rules and time zone it sets."""

    def __init__(self, spark: SparkSession, *, is_ansi: bool, time_zone: str, n_rows: int = N_ROWS) -> None:
        self.spark = spark
        self.is_ansi = is_ansi
        self.time_zone = time_zone
        spark.conf.set("spark.sql.ansi.enabled", str(is_ansi).lower())
        spark.conf.set("spark.sql.session.timeZone", time_zone)
        self.table = arguments().slice(0, n_rows)
        spark.conf.set("spark.sql.timestampType", "TIMESTAMP_NTZ")  # or a time without a zone would get the session's
        self.frame: DataFrame = spark.createDataFrame(self.table)
        spark.conf.unset("spark.sql.timestampType")
        host = DuckDbHost(Source(""), find_dialect("spark"), "spark", Settings(threads=1, time_zone=time_zone))
        self.workers = RelationEvaluator(host, "")

    def result_type(self, case: Case) -> str | None:
        """Spark's type of the result; None if it does not take such operands."""
        try:
            (field,) = self.frame.selectExpr(case.spark).schema
        except Exception:  # whatever Spark's analysis says
            return None
        return field.dataType.simpleString()

    def spark_values(self, cases: Sequence[Case]) -> list[list[Any]]:
        """Spark's values of several cases."""
        from pyspark.sql.classic.column import Column

        jvm: Any = self.spark._jvm
        session: Any = self.spark._jsparkSession
        parser = session.sessionState().sqlParser()
        asked = []
        for number, case in enumerate(cases):
            whole = parser.parseExpression(f"named_struct('v', {case.spark})")
            tried = jvm.org.apache.spark.sql.catalyst.expressions.TryEval(whole)
            asked.append(Column(jvm.org.apache.spark.sql.classic.ExpressionUtils.column(tried)).alias(f"e{number}"))
        table = self.frame.select(*asked).toArrow()
        return [_values(found, found.type.field("v").type) for found in table.columns]

    def worker_values(self, case: Case, result: str) -> list[Any] | str:
        """A worker's values of a case, or why it has none."""
        text = self.worker_sql(case, result)
        names = dict.fromkeys(case.columns)
        table = self.table.select(list(names))
        kind = arrow_type(result)
        try:
            self.workers.evaluate([text], table.slice(0, 0), [None])
            tried = self.workers.evaluate([f"try(struct_pack(v := {text}))"], table, [None])[0]
            return _values(tried, kind)
        except RexError as error:
            if "volatile" not in str(error):
                return str(error).split("\n")[0]
        return [value for part in self._by_halves(text, table, kind) for value in part]

    def _by_halves(self, text: str, table: pa.Table, kind: pa.DataType) -> Iterator[list[Any]]:
        """Values where `try` is of no use: a part that fails is cut, down to one row."""
        try:
            (found,) = self.workers.evaluate([text], table, [None])
            yield [_bits(value.as_py()) for value in _as_numbers(found.cast(kind))]
        except RexError:
            if table.num_rows == 1:
                yield [_ERROR]
                return
            middle = table.num_rows // 2
            yield from self._by_halves(text, table.slice(0, middle), kind)
            yield from self._by_halves(text, table.slice(middle), kind)

    def worker_sql(self, case: Case, result: str) -> str:
        """DuckDB's SQL of a case."""
        rendering = case.rendering
        written = rendering.duckdb if self.is_ansi or rendering.legacy is None else rendering.legacy
        operands = [f'"{name}"' for name in case.columns]
        return rendered(written, operands, case.types, result)

    def difference(self, case: Case, result: str, expected: list[Any]) -> str | None:
        """Where a worker differs from Spark, None if nowhere."""
        try:
            arrow_type(result)
        except KeyError:
            return f"no rows can carry {result}"
        found = self.worker_values(case, result)
        if isinstance(found, str):
            return found
        for row, (ours, theirs) in enumerate(zip(found, expected, strict=True)):
            if ours is not theirs and (ours is _ERROR or theirs is _ERROR or ours != theirs):
                given = [self.table.column(name)[row].as_py() for name in case.columns]
                return f"{given}: {_shown(ours)}, not {_shown(theirs)}"
        return None


def rendered(written: str, operands: Sequence[str], types: Sequence[str], result: str) -> str:
    """A rendering over operands, as the type that Spark says it has."""
    known = {f"t{place}": duckdb_type(kind) for place, kind in enumerate(types)}
    return f"CAST({written.format(*operands, **known, result=duckdb_type(result))} AS {duckdb_type(result)})"


def arrow_type(spark_type: str) -> pa.DataType:
    """The Arrow type that workers give a result in."""
    if spark_type.startswith("decimal"):
        precision, scale = spark_type[8:-1].split(",")
        return pa.decimal128(int(precision), int(scale))
    if spark_type.startswith("array<"):
        return pa.list_(arrow_type(spark_type[6:-1]))
    return _TYPES[spark_type]


def _values(tried: pa.ChunkedArray, kind: pa.DataType) -> list[Any]:
    """The values in a column of structs, an error where there is no struct."""
    inner = pa.chunked_array([chunk.field("v") for chunk in tried.chunks], tried.type.field("v").type)
    values = _as_numbers(inner.cast(kind))
    return [
        _bits(value.as_py()) if is_valid.as_py() else _ERROR
        for value, is_valid in zip(values, tried.is_valid(), strict=True)
    ]


def _as_numbers(values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dates and times as numbers: Python has none before the year 1 and after 9999, which is where some results are."""
    def number(kind: pa.DataType) -> pa.DataType | None:
        if pa.types.is_list(kind):
            inner = number(kind.value_type)
            return None if inner is None else pa.list_(inner)
        return pa.int64() if pa.types.is_timestamp(kind) else pa.int32() if pa.types.is_date32(kind) else None

    kind = number(values.type)
    return values if kind is None else values.cast(kind)


def _bits(value: Any) -> Any:
    """A value that is equal to another one only if all its bits are; NaN is NaN."""
    match value:
        case float():
            return "NaN" if value != value else struct.pack("<d", value)
        case list():
            return [_bits(item) for item in value]
        case bool():
            return f"boolean {value}"
        case _:
            return value


def _shown(value: Any) -> str:
    if value is _ERROR:
        return "an error"
    if isinstance(value, bytes) and len(value) == 8:
        return f"{struct.unpack('<d', value)[0]!r} or {value!r}"
    return repr(value)
