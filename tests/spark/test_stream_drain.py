"""What a query with several states has written and what drains is the answer over the table, or draining is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it
from tests.spark.stream_files import Files, lines, ticks

import sparkrex as rex
from sparkrex.spark.streaming.checkpoint import damaged

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

SETTINGS: dict[str, Any] = {"buckets": 4}
RISES = """SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES FIRST(ts) AS began, MATCH_ROWTIME() AS at, LAST(price) - FIRST(price) AS gain
      AFTER MATCH SKIP TO NEXT ROW PATTERN (X Y) DEFINE Y AS price > X.price)"""
PAIRS = """SELECT * FROM rises MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY at, began
      MEASURES FIRST(began) AS first, COUNT(*) AS n, LAST(gain) AS gain
      PATTERN (X Y+) DEFINE Y AS gain > X.gain)"""
CHAIN = PAIRS.replace("FROM rises", f"FROM ({RISES})")


@pytest.fixture
def files(spark: SparkSession, tmp_path: Path) -> Files:
    """Two files, the second far behind the first, and a row that is far behind both."""
    made = Files(spark, tmp_path)
    made.add(ticks(21, 120), ticks(22, 120, 120))
    return made


def asked(text: str, **tables: DataFrame) -> DataFrame:
    return rex.sql(text, tables, settings=SETTINGS)


def test_a_chain_is_drained_in_order(files: Files) -> None:
    found = asked(CHAIN, ticks=files.stream())
    files.run(found)
    written, expected = files.written(found), lines(asked(CHAIN, ticks=files.whole()))
    rest = lines(rex.drain(files.checkpoint(), CHAIN, ticks=files.stream(), settings=SETTINGS))
    assert rest
    assert written
    assert sorted(written + rest) == expected
    # One after the other, as where the queries were written one after the other.
    before = rex.drain(files.checkpoint(), RISES, ticks=files.stream(), settings=SETTINGS)
    assert lines(rex.drain(files.checkpoint(), PAIRS, rises=before, settings=SETTINGS)) == rest
    with pytest.raises(rex.UnsupportedError, match="the results of another pattern") as raised:
        rex.drain(files.checkpoint(), PAIRS, rises=asked(RISES, ticks=files.stream()), settings=SETTINGS)
    assert raised.value.code == "REX302"
    with pytest.raises(rex.ExecutionError, match="REX419"):
        rex.drain(files.checkpoint(), CHAIN.replace("Y+", "Y"), ticks=files.stream(), settings=SETTINGS)


def test_a_union_of_patterns_is_drained(files: Files, spark: SparkSession) -> None:
    """Two of them are alike, over streams with other rows; one has a table beside it."""
    names = spark.createDataFrame(pa.table({"sym": ["a", "b", "c"], "name": ["Ash", "Birch", "Cedar"]}))
    text = f"""SELECT sym, began, gain FROM ({RISES})
      UNION ALL SELECT sym, began, gain FROM ({RISES.replace('FROM ticks', 'FROM few')})
      UNION ALL SELECT name, began, gain FROM ({RISES.replace('Y AS price >', 'Y AS price <')}) JOIN names USING (sym)
      """

    def tables(frame: DataFrame) -> dict[str, DataFrame]:
        return {"ticks": frame, "few": frame.where("kind = 'Buy'"), "names": names}

    found = asked(text, **tables(files.stream()))
    files.run(found)
    written, expected = files.written(found), lines(asked(text, **tables(files.whole())))
    rest = lines(rex.drain(files.checkpoint(), text, tables(files.stream()), settings=SETTINGS))
    assert len(rest) > 2
    assert sorted(written + rest) == expected


def test_trends_of_groups_are_merged_in_each_batch(files: Files) -> None:
    """Symbols are partitions, and all are one group, or those of a kind of symbol are."""
    text = """SELECT * FROM (SELECT *, sym < 'c' AS low FROM ticks) MATCH_TRENDS (
      TIME ts TYPE kind RETURN low, COUNT(*) AS n, MAX(B.price) AS most, MATCH_ROWTIME() AS at
      PATTERN SEQ(Buy A, Sell B+) SEMANTICS skip-till-any-match WHERE [sym] GROUP-BY low
      WITHIN 20 seconds SLIDE 10 seconds)"""
    found = asked(text, ticks=files.stream())
    progress = files.run(found)
    written, expected = files.written(found), lines(asked(text, ticks=files.whole()))
    rest = lines(rex.drain(files.checkpoint(), text, ticks=files.stream(), settings=SETTINGS))
    assert len(written) > 20
    assert sorted(written + rest) == expected
    assert progress.batches[-1]["open_keys"] <= 5


def test_duplicates_before_a_pattern_are_left_out(files: Files) -> None:
    after_1970 = "unix_micros(ts) > 0"  # Spark takes the first watermark for 1970, and drops duplicates and late rows
    stream = files.stream().where(after_1970).dropDuplicatesWithinWatermark(["sym", "ts"])
    found = asked(RISES, ticks=stream)
    files.run(found)
    rest = lines(rex.drain(files.checkpoint(), RISES, ticks=stream, settings=SETTINGS))
    assert sorted(files.written(found) + rest) == lines(asked(RISES, ticks=files.whole().where(after_1970)))


@pytest.mark.parametrize("what", ["dropDuplicatesWithinWatermark", "an aggregation"])
def test_what_spark_keeps_behind_a_pattern_is_refused(files: Files, what: str) -> None:
    matches = asked(RISES, ticks=files.stream())
    if what == "an aggregation":
        files.run(matches.groupBy(F.window("at", "60 seconds"), "sym").count())
    else:
        files.run(matches.dropDuplicatesWithinWatermark(["sym"]))
    with pytest.raises(rex.UnsupportedError, match=f"{what} behind the pattern cannot be drained") as raised:
        rex.drain(files.checkpoint(), RISES, ticks=files.stream(), settings=SETTINGS)
    assert raised.value.code == "REX302"
    assert raised.value.hint
    counted = files.stream().groupBy(F.window("ts", "5 seconds").alias("w"), "sym").agg(F.max("price").alias("price"))
    text = RISES.replace("FROM ticks", "FROM (SELECT window_time(w) AS ts, sym, price FROM counted)")
    with pytest.raises(rex.UnsupportedError, match="an aggregation in front of the pattern"):
        rex.drain(files.checkpoint(), text, counted=counted, settings=SETTINGS)


def test_a_path_that_sparks_reader_does_not_find(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "a b").mkdir()
    files = Files(spark, tmp_path / "a b")
    files.add(ticks(23, 50))
    files.run(rex.sql(RISES, ticks=files.stream()))
    with pytest.raises(rex.ExecutionError, match="because of the character ' '") as raised:
        rex.state(files.checkpoint(), spark=spark)
    assert raised.value.code == "REX420"
    link = tmp_path / "link"
    link.symlink_to(files.checkpoint())  # as the hint says
    assert rex.state(link, spark=spark).num_rows > 0
    rest = lines(rex.drain(link, RISES, ticks=files.stream()))
    assert rest
    # In a session with other tasks their number is that of the checkpoint; in another time zone times are the same.
    names = ("spark.sql.shuffle.partitions", "spark.sql.session.timeZone")
    kept = [str(spark.conf.get(name)) for name in names]
    for name, value in zip(names, ("7", "Asia/Tokyo"), strict=True):
        spark.conf.set(name, value)
    try:
        assert lines(rex.drain(link, RISES, ticks=files.stream())) == rest
        with pytest.raises(rex.ExecutionError, match="has 32 buckets, and the query 8"):
            rex.drain(link, RISES, ticks=files.stream(), settings={"buckets": 8})
    finally:
        for name, value in zip(names, kept, strict=True):
            spark.conf.set(name, value)


def test_a_damaged_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    files = Files(spark, tmp_path)
    files.add(ticks(25, 50))
    files.run(asked(RISES, ticks=files.stream()))
    log = max((tmp_path / "out_checkpoint" / "offsets").glob("[0-9]*"), key=lambda path: int(path.name))
    kept = log.read_bytes()
    log.write_bytes(b"")  # as when the disk is full
    with pytest.raises(rex.ExecutionError, match="the checkpoint is damaged: Spark cannot read"):
        rex.state(files.checkpoint(), spark=spark)
    log.write_bytes(kept)
    paths = [path for path in (tmp_path / "out_checkpoint" / "state").rglob("*") if path.is_file()]
    paths = [path for path in paths if "metadata" not in str(path)]
    of_rows = [path for path in paths if "schema" not in str(path).lower()]
    assert of_rows != paths
    for broken in (of_rows, paths):
        for path in broken:
            path.write_bytes(b"no state")
        with pytest.raises(rex.ExecutionError, match="the checkpoint is damaged: Spark cannot read") as raised:
            rex.state(files.checkpoint(), spark=spark)
        notes = " ".join(raised.value.notes)
        # Which file it fails over first, and whether it names that one, is Spark's to say.
        assert "Exception" in notes and "calling o" not in notes
    with pytest.raises(rex.ExecutionError, match=r"REX420.*the empty path has no state"):
        rex.state("", spark=spark)


def test_the_file_that_spark_names_is_told() -> None:
    told = """An error occurred while calling o1.load.
: org.apache.spark.SparkException: Job aborted
Caused by: java.io.IOException: cannot read /c/state/0/1/2.zip
Caused by: java.util.zip.ZipException: not a zip"""
    assert damaged("/c", Exception(told)).notes == (
        "java.util.zip.ZipException: not a zip", "java.io.IOException: cannot read /c/state/0/1/2.zip",
    )
    assert damaged("/c", Exception("An error occurred while calling o1.load.\n: java.io.EOFException")).notes == (
        "java.io.EOFException",
    )
