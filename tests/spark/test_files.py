"""Files by path: what workers read is what Spark's reader gives, in rows, schema and first error; what may differ is
Spark's to read, and EXPLAIN says why. Most of what the footers decide is tested without Spark, in `files/`."""

from __future__ import annotations

import datetime as dt
import os
import random
import shutil
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.spark.files.test_statistics import TYPES, random_condition, random_rows

import sparkrex as rex
from sparkrex.spark.files import choosing

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

ALL_ROWS = """SELECT * FROM {} MATCH_RECOGNIZE (
  PARTITION BY k ORDER BY o MEASURES count(*) AS n, CLASSIFIER() AS c ALL ROWS PER MATCH
  PATTERN (A B*) DEFINE B AS o > PREV(o))"""
COUNTED = """SELECT n FROM t MATCH_RECOGNIZE (
  PARTITION BY k ORDER BY o MEASURES count(*) AS n PATTERN (A+) DEFINE A AS o >= 0)"""
NAN = float("nan")
NO_TEXT = pa.array([b"\xff\xfe", b"a", b"a", None]).view(pa.string())
EVERY_TYPE = pa.table({
    "k": ["x", "y", "x", None], "o": [1, 2, 3, 4], "tiny": pa.array([-128, 127, None, 0], pa.int8()),
    "small": pa.array([1, None, 3, 4], pa.int16()), "int": pa.array([1, None, 3, 4], pa.int32()),
    "float": pa.array([NAN, -0.0, 1.5, None], pa.float32()), "double": [NAN, -0.0, 1e300, None],
    "bool": [True, None, False, True], "bytes": [b"\xff", b"", None, b"ab"],
    "large": pa.array(["ü", "", "𝄞", None], pa.large_string()),
    "coded": pa.array(["a", "b", "a", None]).dictionary_encode(),
    "view": pa.array(["a", "long " * 9, "", None], pa.string_view()),
    "no_text": NO_TEXT, "dec": pa.array([Decimal("1.25"), Decimal("-999.99"), None, Decimal(0)], pa.decimal128(5, 2)),
    "wide": pa.array([Decimal("1e27"), None, Decimal("-0.01"), Decimal(0)], pa.decimal128(38, 2)),
    "day": [dt.date(1, 1, 1), dt.date(1582, 10, 4), dt.date(9999, 12, 31), None],
    "us": pa.array([-62135596800000000, 0, 253402300799999999, None], pa.timestamp("us", "Europe/Berlin")),
    "ms": pa.array([-62135596800000, 0, 1, None], pa.timestamp("ms", "UTC")),
    "ntz": pa.array([-62135596800000000, 0, 253402300799999999, None], pa.timestamp("us")),
})


def explained(spark: SparkSession, query: str, settings: dict[str, Any] | None = None, **tables: Any) -> str:
    """The line of EXPLAIN about files."""
    lines = str(rex.explain(query, tables, spark=spark, settings=settings)).splitlines()
    return next((line for line in lines if line.startswith("Files: ")), "")


def rows_of(frame: DataFrame) -> list[str]:
    table = frame.toArrow()
    columns = []
    for column in table.combine_chunks().columns:  # Python has neither broken texts nor times before the year 1
        plain = pa.binary() if pa.types.is_string(column.type) else column.type
        plain = pa.int64() if pa.types.is_timestamp(column.type) else plain
        columns.append(pa.chunked_array([chunk.view(plain) for chunk in column.chunks], plain))
    return sorted(map(str, pa.table(columns, table.column_names).to_pylist()))


def check(spark: SparkSession, query: str, path: Path | str, table: str = "t") -> list[str]:
    """The rows of a query that workers read the files of: those that it has over Spark's reader."""
    assert explained(spark, query, None, **{table: path}).startswith("Files: workers read")
    fast = rex.sql(query, {table: path}, spark=spark)
    ordinary = rex.sql(query, {table: spark.read.parquet(str(path))})
    assert fast.schema == ordinary.schema
    found = rows_of(fast)
    assert found == rows_of(ordinary)
    return found


def refused(spark: SparkSession, query: str, path: Path | str, settings: dict[str, Any] | None = None) -> str:
    line = explained(spark, query, settings, t=str(path))
    assert line.startswith("Files: read by Spark: ")
    return line.removeprefix("Files: read by Spark: ")


@pytest.fixture
def conf(spark: SparkSession) -> Iterator[Any]:
    """Sets options of the session for one test."""
    before: dict[str, str | None] = {}

    def change(name: str, value: str) -> None:
        before[name] = spark.conf.get(name, None)
        spark.conf.set(name, value)

    yield change
    for name, value in before.items():
        spark.conf.unset(name) if value is None else spark.conf.set(name, value)


def write(table: pa.Table, folder: Path, n_files: int = 2, **options: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    size = -(-table.num_rows // n_files)
    for number in range(n_files):
        pq.write_table(table.slice(number * size, size), folder / f"{number}.parquet", **options)
    return folder


def test_every_type_and_value_is_sparks(spark: SparkSession, tmp_path: Path, conf: Any) -> None:
    conf("spark.sql.session.timeZone", "America/New_York")
    assert len(check(spark, ALL_ROWS.format("t"), write(EVERY_TYPE, tmp_path / "t", row_group_size=1))) == 4


@pytest.mark.slow
def test_files_that_spark_wrote_with_partition_folders(spark: SparkSession, tmp_path: Path) -> None:
    rows = [
        (1, "x y", 1, "2026-01-01", "1500-01-01"), (2, "x y", 2, "2026-01-02", "2026-01-01"),
        (3, "a=b/ü", None, None, None), (4, None, 1, "2026-01-01", "1600-02-29"),
    ]
    frame = spark.createDataFrame(rows, "o int, k string, p int, d string, old string")
    frame = frame.selectExpr("o", "k", "p", "date(d) d", "date(old) old", "timestamp(old) AS at")
    path = tmp_path / "t"
    frame.write.partitionBy("k", "p", "d").parquet(str(path))
    found = check(spark, ALL_ROWS.format("t"), path)
    assert len(found) == 4 and any("a=b/ü".encode().__repr__() in row for row in found)
    query = ALL_ROWS.format("(SELECT o, k, old FROM t WHERE p = 1 AND d >= DATE '2026-01-01' AND o < 4)")
    assert len(check(spark, query, path)) == 1
    assert "1 row groups of" in explained(spark, query, t=path)
    # Below a pattern Spark counts folders otherwise, and one of doubles it reads by rules of its own.
    assert "below a pattern" in refused(spark, ALL_ROWS.format("(SELECT p AS k, o FROM t)"), f"{path}/k=x*")
    write(pa.table({"o": [1], "k": [1]}), tmp_path / "u" / "p=1.5", 1)
    assert "of partition folders, is double" in refused(spark, ALL_ROWS.format("t"), tmp_path / "u")
    check(spark, COUNTED, tmp_path / "u")


@pytest.mark.slow
def test_int96_timestamps_of_all_writers(spark: SparkSession, tmp_path: Path, conf: Any) -> None:
    conf("spark.sql.session.timeZone", "Europe/Berlin")
    times = ["0001-01-01", "1582-10-04 12:00:00.123456", "1900-01-01", "1969-12-31 23:59:59.999999"]
    times.append("9999-12-31 23:59:59.999999")
    frame = spark.createDataFrame([(1, number, text) for number, text in enumerate(times)], "k int, o int, t string")
    frame.selectExpr("k", "o", "timestamp(t) AS at").coalesce(1).write.parquet(str(tmp_path / "t"))
    (file,) = (tmp_path / "t").glob("*.parquet")
    assert pq.read_metadata(file).schema.column(2).physical_type == "INT96"
    assert len(check(spark, ALL_ROWS.format("t"), tmp_path / "t")) == 5
    nanos = pa.array([-1, 0, 1_999, -1_999, None, 1 << 62, -(1 << 62)], pa.timestamp("ns"))
    rows = pa.table({"k": [1] * 7, "o": range(7), "at": nanos, "zoned": nanos.cast(pa.timestamp("ns", "Asia/Tokyo"))})
    path = write(rows, tmp_path / "u", use_deprecated_int96_timestamps=True)
    assert len(check(spark, ALL_ROWS.format("t"), path)) == 7
    conf("spark.sql.parquet.int96RebaseModeInRead", "LEGACY")
    assert "may be rebased" in refused(spark, ALL_ROWS.format("t"), path)


@pytest.mark.slow
def test_folders_whose_values_are_texts_and_numbers(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("p=01", "p=a", "p=1e3", "p=__HIVE_DEFAULT_PARTITION__"):
        write(pa.table({"o": [1], "k": [1]}), tmp_path / "t" / name, 1)
    assert len(check(spark, ALL_ROWS.format("t"), tmp_path / "t")) == 4


def test_files_whose_schemas_differ(spark: SparkSession, tmp_path: Path) -> None:
    path = write(pa.table({"k": [1, 1], "o": [1, 2], "x": [1.5, NAN]}), tmp_path / "t")
    pq.write_table(pa.table({"O": [3], "K": [1], "extra": [1]}), path / "2.parquet")  # no x; names in another case
    check(spark, ALL_ROWS.format("t"), path)
    pq.write_table(pa.table({"k": [1], "o": pa.array([4], pa.int32()), "x": [1.0]}), path / "3.parquet")
    assert "column o is INT32 in a file and bigint to Spark" in refused(spark, ALL_ROWS.format("t"), path)


def test_names_that_are_there_twice_are_sparks(spark: SparkSession, tmp_path: Path, conf: Any) -> None:
    path = write(pa.table({"k": [1], "o": [1], "x": [1]}), tmp_path / "t", 1)
    pq.write_table(pa.table({"k": [1], "o": [1], "x": [1], "X": [1]}), path / "1.parquet")
    assert "column x is there more than once" in refused(spark, ALL_ROWS.format("t"), path)
    conf("spark.sql.caseSensitive", "true")
    pq.write_table(pa.table({"k": [1], "o": [1], "X": [7]}), path / "1.parquet")
    found = check(spark, ALL_ROWS.format("t"), path)
    assert sum("'x': None" in row for row in found) == 1


@pytest.mark.slow
def test_hidden_files_and_folders_below_are_those_that_spark_lists(spark: SparkSession, tmp_path: Path) -> None:
    path = write(pa.table({"k": [1], "o": [1]}), tmp_path / "t", 1)
    for name in ("_hidden.parquet", ".hidden.parquet", "_SUCCESS"):
        (path / name).write_bytes(b"not Parquet")
    write(pa.table({"k": [2], "o": [1]}), path / "below", 1)  # read under recursiveFileLookup only
    assert len(check(spark, ALL_ROWS.format("t"), path)) == 1
    assert len(check(spark, ALL_ROWS.format("t"), f"{path}/*")) == 2  # a pattern opens folders
    assert len(check(spark, ALL_ROWS.format("t"), f"{path.parent}/{{t,u}}/0.par[q]uet")) == 1
    frame = spark.read.option("recursiveFileLookup", "true").parquet(str(path))
    assert rex.sql(ALL_ROWS.format("t"), t=frame).count() == 2  # a DataFrame is read by Spark
    assert explained(spark, ALL_ROWS.format("t"), t=frame) == ""


def test_paths_with_blanks_and_signs(spark: SparkSession, tmp_path: Path) -> None:
    path = write(pa.table({"k": [1], "o": [1]}), tmp_path / "a b%20ü+#", 1)
    check(spark, ALL_ROWS.format("t"), path)


def test_conditions_of_the_input_have_sparks_values(spark: SparkSession, tmp_path: Path) -> None:
    draw = random.Random(7)
    tables = [random_rows(draw) for _ in range(30)]
    rows = pa.concat_tables(tables)
    rows = rows.append_column("k", pa.array([number % 3 for number in range(rows.num_rows)]))
    path = write(rows.append_column("o", pa.array(range(rows.num_rows))), tmp_path / "t", 3, row_group_size=8)
    tests = ", ".join(f"{random_condition(draw)} AS c{number}" for number in range(60))
    sums = "x + y AS s1, x - 1 AS s2, y * x AS s3, x * 2.5 AS s4"
    check(spark, ALL_ROWS.format(f"(SELECT k, o, {tests}, {sums} FROM t)"), path)
    conditions = [random_condition(draw) for _ in range(40)]
    picked = " OR ".join(f"(k = {number % 3} AND o > {number} AND ({text}))" for number, text in enumerate(conditions))
    assert check(spark, ALL_ROWS.format(f"(SELECT * FROM t WHERE {picked})"), path)
    assert set(TYPES) < set(rows.column_names)


@pytest.mark.slow
def test_conditions_of_define_and_keys_that_are_expressions(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table({"k": ["a", "b", None, "a"] * 25, "o": range(100), "x": [1.0, NAN, 3.0, None] * 25})
    path = write(rows, tmp_path / "t", 3, row_group_size=10)
    query = """SELECT * FROM t MATCH_RECOGNIZE (
      PARTITION BY k, x > 2 AS big ORDER BY o DESC MEASURES FIRST(A.o) AS began, count(B.*) AS n
      PATTERN (A B+) DEFINE A AS k IS NOT NULL OR x > 2, B AS x >= 1 AND o < PREV(o))"""
    assert check(spark, query, path)
    outside = query.replace("k IS NOT NULL", "upper(k) = 'A'")
    assert "UPPER" in refused(spark, outside, path)
    # What the statement around asks of keys chooses partitions, and row groups; never what DEFINE asks.
    around = f"SELECT began FROM ({query}) WHERE k = 'zz' AND n > 0"
    assert "left out" not in explained(spark, around, t=path)
    direct = query.replace("*", "began, k, n", 1).replace("x > 2 AS big ", "o < 50 AS low ") + " AS m WHERE {}"
    assert check(spark, direct.format("m.k = 'a' AND low AND n > 0"), path)
    assert "6 more are left out" in explained(spark, direct.format("low"), t=path)


@pytest.mark.slow
def test_other_modes_read_files_too(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table({"k": [1, 2] * 20, "ts": range(40), "kind": ["A", "B", "C", "A"] * 10, "x": [1.0, 2.0] * 20})
    path = str(write(rows, tmp_path / "t", 2))
    reader = spark.read.parquet(path)
    for query in (
        rex.events("PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] } WITHIN 9", time="ts", type="kind"),
        rex.trends("RETURN k, COUNT(*) PATTERN A+ SEMANTICS contiguous WHERE [k] GROUP-BY k", time="ts", type="kind"),
    ):
        assert rows_of(query(path, spark=spark)) == rows_of(query(reader))
        assert "Files: " in str(query.explain(path, spark=spark))
    pattern = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { [k] } WITHIN 9"
    patterns = rex.workload({"ab": pattern}, time="ts", type="kind")
    assert rows_of(patterns.detect(path, spark=spark).table) == rows_of(patterns.detect(reader).table)


def test_first_errors_are_the_same(spark: SparkSession, tmp_path: Path) -> None:
    path = write(pa.table({"k": [7] * 4, "o": [1, 2, 3, 4], "x": [1, 2, 0, 3]}), tmp_path / "t")
    query = """SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY o MEASURES count(*) AS n
      PATTERN (A B+) DEFINE B AS PREV(o) / x > 0)"""
    told = []
    for table in (str(path), spark.read.parquet(str(path))):
        with pytest.raises(Exception, match="error") as caught:
            rex.sql(query, t=table, spark=spark).collect()
        text = str(caught.value)
        told.append(text[text.index("error[REX") :].split("\n\n")[0].splitlines()[:4])
    assert told[0] == told[1] and "division by zero" in told[0][0]
    with pytest.raises(rex.ExecutionError, match="table t: there is no file") as missing:
        rex.sql(query, t=str(tmp_path / "gone.parquet"), spark=spark)
    assert missing.value.code == "REX407"
    with pytest.raises(rex.AnalysisError, match="column nowhere does not exist"):
        rex.sql(query.replace("x > 0", "nowhere > 0"), t=str(path), spark=spark)
    (tmp_path / "cut").mkdir()
    (tmp_path / "cut" / "a.parquet").write_bytes(b"PAR1 is cut off")
    with pytest.raises(rex.ExecutionError, match="cannot be read as parquet by Spark") as cut:
        rex.sql(query, t=str(tmp_path / "cut"), spark=spark)
    assert cut.value.code == "REX407" and "o4" not in str(cut.value) and "at org." not in str(cut.value)


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda file: file.unlink(), "is not there any more"),
        (lambda file: pq.write_table(pa.table({"k": [1, 2], "o": [1, 2]}), file), "has changed since"),
        (lambda file: os.utime(file, (1, 1)), "has changed since"),
    ],
    ids=["missing", "replaced", "touched"],
)
def test_files_that_change_are_errors_of_ours(spark: SparkSession, tmp_path: Path, change: Any, told: str) -> None:
    path = write(pa.table({"k": [1], "o": [1]}), tmp_path / "t", 1)
    result = rex.sql(ALL_ROWS.format("t"), t=path, spark=spark)
    change(path / "0.parquet")
    with pytest.raises(Exception, match=r"error\[REX407\]: the file .* " + told) as caught:
        result.collect()
    assert "make the query again" in str(caught.value) and "SELECT * FROM t MATCH_RECOGNIZE" in str(caught.value)


def test_a_file_that_breaks_off_is_an_error_of_ours(spark: SparkSession, tmp_path: Path) -> None:
    rows = pa.table({"k": ["key"] * 5000, "o": range(5000)})
    path = write(rows, tmp_path / "t", 1, compression="none", use_dictionary=False)
    file = path / "0.parquet"
    data = bytearray(file.read_bytes())
    data[4:60] = b"\xff" * 56  # the header of the first page
    file.write_bytes(data)
    with pytest.raises(Exception, match=r"error\[REX407\]: the file .* cannot be read as Parquet"):
        rex.sql(ALL_ROWS.format("t"), t=path, spark=spark).collect()


def test_what_spark_reads_and_why(spark: SparkSession, tmp_path: Path, conf: Any) -> None:
    query = ALL_ROWS.format("t")
    path = write(pa.table({"k": [1], "o": [1], "x": [[1]]}), tmp_path / "t", 1)
    assert "column x is nested" in refused(spark, query, path)
    path = write(pa.table({"k": [1], "o": [1]}), tmp_path / "u", 1)
    assert "there is no ORDER BY" in refused(spark, query.replace("ORDER BY o", ""), path)
    with pytest.warns(UserWarning, match="one task"):
        assert "there is no PARTITION BY" in refused(spark, query.replace("PARTITION BY k", ""), path)
    assert "DISTINCT in the input" in refused(spark, ALL_ROWS.format("(SELECT DISTINCT * FROM t)"), path)
    assert 'the setting files="spark"' in refused(spark, query, path, {"files": "spark"})
    assert "side_rows" in refused(spark, query, path, {"side_rows": True})
    (tmp_path / "v.csv").write_text("k,o\n1,1\n")
    assert "t is CSV" in refused(spark, query, tmp_path / "v.csv")
    for name in ("spark.sql.files.ignoreCorruptFiles", "spark.sql.files.ignoreMissingFiles"):
        conf(name, "true")
        assert name in refused(spark, query, path)
        spark.conf.set(name, "false")
    with pytest.raises(rex.AnalysisError, match="setting files must be"):
        rex.sql(query, t=str(path), spark=spark, settings={"files": "both"})


@pytest.mark.slow
def test_timestamps_under_the_settings_of_spark(spark: SparkSession, tmp_path: Path, conf: Any) -> None:
    query = ALL_ROWS.format("t")
    times = pa.array([1, -(1 << 55)], pa.timestamp("us"))
    path = write(pa.table({"k": [1, 1], "o": [1, 2], "x": times}), tmp_path / "t", 1)
    conf("spark.sql.parquet.inferTimestampNTZ.enabled", "false")
    assert "isAdjustedToUTC=false" in refused(spark, query, path)
    shutil.rmtree(path)
    write(pa.table({"k": [1, 1], "o": [1, 2], "x": times.cast(pa.timestamp("us", "UTC"))}), path, 1)
    check(spark, query, path)
    conf("spark.sql.parquet.datetimeRebaseModeInRead", "LEGACY")
    assert "may hold an old date or timestamp" in refused(spark, query, path)


@pytest.mark.slow
def test_spark_before_4_1_partitions_by_the_hash_of_an_id(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choosing, "_takes_ids", lambda _: False)
    monkeypatch.setattr(choosing, "_LEAST_BYTES", 1)
    path = write(pa.table({"k": [number % 97 for number in range(500)], "o": range(500)}), tmp_path / "t")
    assert len(check(spark, ALL_ROWS.format("t"), path)) == 500
    result = rex.sql(COUNTED, t=path, spark=spark)
    assert result.rdd.glom().map(len).filter(bool).count() == 8


def test_files_elsewhere_are_sparks_unless_arrow_may_read_them(spark: SparkSession, tmp_path: Path) -> None:
    path = write(pa.table({"k": [1], "o": [1]}), tmp_path / "t", 1)
    assert explained(spark, ALL_ROWS.format("t"), t=f"file:{path}").startswith("Files: workers read")
    assert explained(spark, ALL_ROWS.format("t"), t=f"file://{path}").startswith("Files: workers read")


def test_the_plan_is_lazy_and_small(spark: SparkSession, tmp_path: Path, jobs: Any) -> None:
    path = write(pa.table({"k": [1], "o": [1], "x": [1.0]}), tmp_path / "t", 1)
    before = jobs()
    spark.read.parquet(str(path))  # Spark asks a file for the schema
    asked = jobs() - before
    rex.sql(COUNTED, t=path, spark=spark)
    assert jobs() - before == 2 * asked
    assert "columns k, o;" in explained(spark, COUNTED, t=path)
