"""A workload on a real stream: operators for two sets of keys, patterns that come and go from one start to the next.

What a bucket does is tested without Spark, in tests/streams.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.spark.stream_files import Files, lines, ticks

import sparkrex as rex

if TYPE_CHECKING:
    from pathlib import Path

    from pyspark.sql import DataFrame, SparkSession

    from sparkrex.workloads.workload import Workload

STAYS = {
    "rise": "PATTERN SEQ(Buy a, Sell b) WHERE [sym] AND a.price < b.price WITHIN 20 seconds",
    "quiet": "PATTERN SEQ(Buy a, NOT(Sell s)) WHERE [sym] WITHIN 4 seconds",
    "steps": "PATTERN SEQ(Sell a, Hold b, Sell c) WHERE a.price > b.price AND b.price > c.price WITHIN 4 seconds",
}
GOES = {"next": "PATTERN SEQ(Hold a, Buy b) WHERE skip_till_next_match(a, b) { [sym] AND upper(b.kind) = 'BUY' }"}
COMES = {"fall": "PATTERN SEQ(Buy a, Sell b) WHERE [sym] AND a.price > b.price + 1 WITHIN 20 seconds"}


def workload(texts: dict[str, str]) -> Workload:
    settings: dict[str, Any] = {"buckets": 2}
    return rex.workload(texts, time="ts", type="kind", tie_break="price", max_steps=50, settings=settings)


def events(frame: DataFrame, names: Any) -> list[str]:
    """The events of the matches of some patterns; a stream gives them other numbers."""
    return lines(frame.where(frame.pattern.isin(list(names))).drop("match_id"))


@pytest.mark.filterwarnings("ignore:patterns without an equivalence test")
def test_patterns_come_and_go_from_start_to_start(spark: SparkSession, tmp_path: Path) -> None:
    files = Files(spark, tmp_path)
    files.add(ticks(21, 150))
    before = workload({**STAYS, **GOES})
    found = before.detect(files.stream())
    assert found.table.isStreaming
    assert found.stopped.isStreaming
    files.run(found.table)
    state = rex.state(files.checkpoint(), spark=spark)
    assert set(state.column_names) == {"sym", "rows_held", "rows_waiting", "due"}
    files.add(ticks(22, 150, 150))
    after = workload({**COMES, **STAYS})
    progress = files.run(after.detect(files.stream()).table)
    assert sum(batch["rows_in"] for batch in progress.batches) > 150  # those without keys go to two operators
    written = spark.read.schema(found.table.schema).parquet(str(tmp_path / "out"))
    drained = after.drain(files.checkpoint(), files.stream())
    rest = drained.table
    quiet = rest.where("pattern = 'quiet'").drop("pattern")
    assert lines(drained["quiet"]) == lines(quiet)
    assert quiet.count()
    expected = events(after.detect(files.whole()).table, STAYS)
    assert len(expected) > 20
    assert sorted(events(written, STAYS) + events(rest, STAYS)) == expected
    second = spark.createDataFrame(files.tables[1])
    new = sorted(events(written, COMES) + events(rest, COMES))
    assert new
    assert set(new) <= set(events(after.detect(second).table, COMES))


def test_it_is_explained(spark: SparkSession, tmp_path: Path) -> None:
    files = Files(spark, tmp_path)
    files.add(ticks(23, 10))
    text = str(workload({**STAYS, **GOES}).explain(files.stream()))
    assert "2 branches of one query" in text
    assert text.count("State of silent keys") == 2
    assert "Workload of 3 of 4 patterns" in text


def test_what_returns_give_is_not_drained_with_others(spark: SparkSession, tmp_path: Path) -> None:
    files = Files(spark, tmp_path)
    files.add(ticks(24, 60))
    watched = workload({"quiet": f"{STAYS['quiet']} RETURN a.price AS price"})
    files.run(watched.detect(files.stream()).table)
    drained = watched.drain(files.checkpoint(), files.stream())
    with pytest.raises(rex.UnsupportedError, match="RETURN gives of the pattern quiet is not drained") as raised:
        drained["quiet"]
    assert raised.value.code == "REX302"
    with pytest.raises(KeyError, match="no pattern quite"):
        drained["quite"]
    with pytest.raises(TypeError, match=r"the query is a Workload, not a string: .*drain\(checkpoint, stream\)"):
        rex.drain(files.checkpoint(), watched, files.stream())  # type: ignore[arg-type]
