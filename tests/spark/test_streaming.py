"""Searches on real streams: what they write and what drains is the answer over the table.

What a bucket does is tested without Spark (tests/streams); here is what Spark has to do with it. A stream takes ten
seconds and more, so most of them are slow tests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from pyspark.sql import functions as F  # noqa: N812  as everybody writes it
from tests.spark.stream_files import SETTINGS, Files, lines, ticks

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

ROWS = """SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts
      MEASURES FIRST(ts) AS began, MIN(price) AS low, upper(LAST(kind)) AS kind, MATCH_NUMBER() AS n
      PATTERN (STRT DOWN+ UP+) DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price))"""
SEGMENTS = """SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts MEASURES first(ts) AS s, last(ts) AS e ALL MATCHES
      PATTERN (R & ~(W F W)) DEFINE SEGMENT W AS true, SEGMENT R AS window(2, 4) AND last(price) - first(price) > 40,
      SEGMENT F AS last(price) - first(price) < -30)"""
EVENTS = """PATTERN SEQ(Buy a, ~(Hold h), Sell b) WHERE skip_till_next_match(a, b) { [sym] AND a.price < b.price }
      WITHIN 60 seconds RETURN a.ts AS t, b.ts AS u, b.price AS p"""
TRENDS = """RETURN sym, COUNT(*) AS n, MIN(A.ts) AS first PATTERN SEQ(Buy A, Sell B+)
      SEMANTICS skip-till-any-match WHERE [sym] GROUP-BY sym WITHIN 20 seconds SLIDE 10 seconds"""

QUERIES: dict[str, Callable[[DataFrame], DataFrame]] = {
    "rows": lambda frame: rex.sql(ROWS, ticks=frame, settings=SETTINGS),
    "segments": lambda frame: rex.sql(SEGMENTS, ticks=frame, settings=SETTINGS),
    "events": lambda frame: rex.events(EVENTS, frame, time="ts", type="kind", settings=SETTINGS),
    "trends": lambda frame: rex.trends(TRENDS, frame, time="ts", type="kind", settings=SETTINGS),
}
MADE: dict[str, rex.Query] = {
    "events": rex.events(EVENTS, time="ts", type="kind", settings=SETTINGS),
    "trends": rex.trends(TRENDS, time="ts", type="kind", settings=SETTINGS),
}


@pytest.fixture
def files(spark: SparkSession, tmp_path: Path) -> Files:
    """A folder without files."""
    return Files(spark, tmp_path)


def drained(name: str, files: Files) -> DataFrame:
    """What the end of the stream decides."""
    if name in MADE:
        return rex.drain(files.checkpoint(), MADE[name], files.stream())
    return rex.drain(files.checkpoint(), SEGMENTS, ticks=files.stream(), settings=SETTINGS)


@pytest.mark.parametrize("name", [
    pytest.param("segments", marks=pytest.mark.slow), "events", pytest.param("trends", marks=pytest.mark.slow),
])
def test_a_stream_gives_what_the_table_gives(files: Files, name: str) -> None:
    files.add(ticks(1, 150), ticks(2, 150, 150))
    found = QUERIES[name](files.stream())
    assert found.isStreaming
    progress = files.run(found)
    written, rest = files.written(found), lines(drained(name, files))
    expected = lines(QUERIES[name](files.whole()))
    assert len(expected) > 20
    assert sorted(written + rest) == expected
    assert len(written) > 0.8 * len(expected)
    assert sum(batch["rows_in"] for batch in progress.batches) <= 300
    assert sum(batch["rows_out"] for batch in progress.batches) == len(written)
    assert str(progress).count("\n") == len(progress.batches)


@pytest.mark.slow
def test_late_rows_are_counted_and_left_out(files: Files) -> None:
    late = ticks(4, 20)
    early, after = ticks(3, 200), ticks(5, 100, 200)
    # The watermark of a batch is known to the next one, and rows are late by the one before.
    files.add(early, ticks(6, 5, 300), pa.concat_tables([after.slice(0, 0), late]))
    found = QUERIES["rows"](files.stream())
    progress = files.run(found)
    assert [batch["late"] for batch in progress.batches] == [0, 0, 20, *[0] * (len(progress.batches) - 3)]
    in_time = files.spark.createDataFrame(pa.concat_tables([early, ticks(6, 5, 300)]))
    rest = lines(rex.drain(files.checkpoint(), ROWS, ticks=files.stream(), settings=SETTINGS))
    assert sorted(files.written(found) + rest) == lines(QUERIES["rows"](in_time))


def test_it_goes_on_where_it_stopped(files: Files) -> None:
    """With the SELECT around changed; another pattern is another query. The state can be looked at between."""
    files.add(ticks(7, 120))
    files.run(QUERIES["rows"](files.stream()))
    state = rex.state(files.checkpoint(), spark=files.spark)
    assert state.column_names == ["sym", "rows_held", "rows_waiting", "due"]
    assert 0 < state.num_rows <= 5
    assert sum(state.column("rows_waiting").to_pylist()) == 5  # a row a second, and the watermark is five behind
    files.add(ticks(8, 120, 120), ticks(9, 1, 1_000))
    # A column that nobody reads, the others in another order, the table's name where no table stands.
    stream = files.stream().select("price", F.lit(1).alias("more"), "kind", "ts", "sym")
    found = rex.sql(ROWS.replace("*", "ticks.sym, began, low, kind, n") + " AS ticks", ticks=stream, settings=SETTINGS)
    files.run(found)
    rest = lines(rex.drain(files.checkpoint(), ROWS, ticks=files.stream(), settings=SETTINGS))
    assert sorted(files.written(found) + rest) == lines(QUERIES["rows"](files.whole()))

    other = rex.sql(ROWS.replace("DOWN+", "DOWN"), ticks=files.stream(), settings=SETTINGS)
    files.add(ticks(10, 5, 2_000))
    with pytest.raises(Exception, match="REX419") as raised:
        files.run(other)
    assert "PATTERN (STRT DOWN+ UP+)" in str(raised.value)
    assert "PATTERN (STRT DOWN UP+)" in str(raised.value)
    with pytest.raises(rex.ExecutionError, match="REX419"):
        rex.drain(files.checkpoint(), ROWS.replace("DOWN+", "DOWN"), ticks=files.stream(), settings=SETTINGS)
    rounded = files.stream().withColumn("price", F.col("price").cast("int"))
    with pytest.raises(rex.ExecutionError, match="REX419") as retyped:
        rex.drain(files.checkpoint(), ROWS, ticks=rounded, settings=SETTINGS)
    assert "this query reads price int" in str(retyped.value)


@pytest.mark.parametrize(("selected", "alias"), [
    ("*", ""), ("*, 'ticks' AS source", ""), ("ticks.sym, ticks.n", "AS ticks"), ("ticks.* /* ticks */", "AS ticks"),
])
def test_a_source_is_planned_once_wherever_its_name_stands(files: Files, selected: str, alias: str) -> None:
    """A checkpoint belongs to a number of sources, and the SELECT around may change."""
    files.add(ticks(21, 5))
    found = rex.sql(f"{ROWS.replace('*', selected, 1)} {alias}", ticks=files.stream(), settings=SETTINGS)
    assert str(found._jdf.queryExecution().analyzed()).count("StreamingRelation") == 1


def test_patterns_that_are_alike_each_get_the_watermark(files: Files) -> None:
    """Spark would shuffle the rows of both once, and tell the watermark to one of them only."""
    files.add(ticks(23, 150), ticks(24, 1, 1_000))
    text = f"SELECT 1 AS which, * FROM ({ROWS}) UNION ALL SELECT 2 AS which, * FROM ({ROWS})"
    found = rex.sql(text, ticks=files.stream(), settings=SETTINGS)
    files.run(found)
    expected = lines(rex.sql(text, ticks=files.whole(), settings=SETTINGS))
    written = files.written(found)
    for which in "12":
        assert sum(line.startswith(f"Row(which={which}") for line in written) > 0.4 * len(expected)


@pytest.mark.slow
def test_rows_that_take_no_part_still_move_the_watermark(files: Files) -> None:
    files.add(ticks(11, 100))
    rest = ticks(12, 5, 500)
    idle = rest.set_column(3, "kind", pa.array(["Idle"] * 5))
    files.add(idle, idle)
    found = QUERIES["events"](files.stream())
    files.run(found)
    assert files.written(found) == lines(QUERIES["events"](files.whole()))


@pytest.mark.slow
def test_sql_around_a_stream(files: Files, spark: SparkSession) -> None:
    """Filters and projections, a static table beside it, and a pattern over a static table."""
    files.add(ticks(13, 100), ticks(14, 1, 1_000))
    names = spark.createDataFrame(pa.table({"sym": ["a", "b", "c"], "name": ["Ash", "Birch", "Cedar"], "x": [1, 2, 1]}))
    text = f"""WITH falls AS ({ROWS}),
        static AS (SELECT * FROM names
                   MATCH_RECOGNIZE (ORDER BY sym MEASURES LAST(x) AS x PATTERN (A B) DEFINE B AS x > 1))
      SELECT name, began, low * 2 AS twice, static.x
      FROM falls JOIN names USING (sym) CROSS JOIN static WHERE low < 50"""
    with pytest.warns(UserWarning, match="one task"):
        found = rex.sql(text, ticks=files.stream(), names=names, settings={"buckets": 4})
        expected = lines(rex.sql(text, ticks=files.whole(), names=names))
    files.run(found)
    assert len(expected) > 5
    assert set(files.written(found)) <= set(expected)
    assert len(files.written(found)) >= len(expected) - 3


@pytest.mark.slow
def test_results_are_windowed_and_searched_again(files: Files) -> None:
    """Falls within a minute of each other, by the time of the match; and how many there are in each minute."""
    files.add(ticks(17, 200), ticks(18, 1, 1_000))
    falls = ROWS.replace("MATCH_NUMBER() AS n", "MATCH_ROWTIME() AS at")
    again = f"""SELECT * FROM ({falls}) MATCH_RECOGNIZE (
      ORDER BY at MEASURES FIRST(at) AS a, LAST(at) AS b, COUNT(*) AS n PATTERN (X Y) DEFINE Y AS low < X.low)"""
    with pytest.warns(UserWarning, match="one task"):
        expected = lines(rex.sql(again, ticks=files.whole(), settings={"tie_break": ("sym",)}))
    stream = rex.sql(falls, ticks=files.stream(), settings=SETTINGS)
    found = rex.sql(again.replace(f"({falls})", "falls"), falls=stream, settings={"buckets": 1, "tie_break": ("sym",)})
    files.run(found)
    # A match that is decided late has a later time on a stream, so that pairs may differ.
    assert len(files.written(found)) > 0.7 * len(expected) > 5
    counted = stream.groupBy(F.window("at", "60 seconds").alias("w")).count()
    files.run(counted, "counted")
    written = files.spark.read.parquet(str(files.folder / "counted")).agg(F.sum("count")).collect()[0][0]
    assert written > 0.8 * len(lines(rex.sql(falls, ticks=files.whole(), settings=SETTINGS)))


def test_errors_of_the_search_name_code_place_and_key(files: Files) -> None:
    files.add(ticks(15, 50), ticks(16, 5, 100))
    found = rex.sql(
        """SELECT * FROM ticks MATCH_RECOGNIZE (
      PARTITION BY sym ORDER BY ts AFTER MATCH SKIP TO FIRST A
      PATTERN (A B) DEFINE B AS price > PREV(price))""", ticks=files.stream(), settings=SETTINGS,
    )
    with pytest.raises(Exception, match="REX401") as raised:
        files.run(found)
    told = str(raised.value)
    assert "AFTER MATCH SKIP TO FIRST A goes to" in told
    assert "note: in partition sym = '" in told
    assert "^" in told




@pytest.mark.slow
def test_late_and_failing_rows_come_as_rows(files: Files) -> None:
    """The failing ones are those of the table, and what is taken out of a result has the columns of the input."""
    text = ROWS.replace("PATTERN (STRT DOWN+ UP+)", "AFTER MATCH SKIP TO LAST UP PATTERN (STRT DOWN UP?)")
    settings = {**SETTINGS, "side_rows": True, "on_error": "report"}
    early, late = ticks(11, 60), ticks(12, 10)
    files.add(early, ticks(13, 5, 300), late)
    found = rex.sql(text, ticks=files.stream(), settings=settings)
    progress = files.run(found)
    written = files.spark.read.schema(found.schema).parquet(str(files.folder / "out"))
    rest = rex.drain(files.checkpoint(), text, ticks=files.stream(), settings=settings)
    given, in_time = written.unionByName(rest), files.spark.createDataFrame(pa.concat_tables(files.tables[:2]))
    table = rex.sql(text, ticks=in_time, settings=settings)
    assert lines(rex.failed(given)) == lines(rex.failed(table)) != []
    assert lines(rex.matches(given)) == lines(rex.matches(table)) != []
    assert lines(rex.late(given)) == lines(files.spark.createDataFrame(late))
    assert sum(batch["errors"] for batch in progress.batches) == rex.failed(written).count()
