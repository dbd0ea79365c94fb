"""A streaming job that may be killed: `python -m tests.spark.stream_job FOLDER`, over the files in FOLDER/in.

Queries of three modes run side by side. Each is started again when it fails, as it does when its Python worker is gone,
and whenever files may have come, until there is a file named `stop`.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from tests.spark.conftest import ROCKSDB
from tests.spark.stream_files import SETTINGS, Files

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql.streaming.query import StreamingQuery

_EVENTS: dict[str, Any] = {"time": "ts", "type": "kind", "settings": SETTINGS}
QUERIES: dict[str, rex.Query] = {
    "rows": rex.compile("""SELECT * FROM ticks MATCH_RECOGNIZE (
        PARTITION BY sym ORDER BY ts
        MEASURES FIRST(ts) AS began, MIN(price) AS low, MATCH_NUMBER() AS n, MATCH_STATUS() AS status
        ONE ROW PER MATCH SHOW TIMEOUT MATCHES
        PATTERN (STRT DOWN+ UP+) WITHIN INTERVAL '20' SECOND
        DEFINE STRT AS kind = 'Buy', DOWN AS price < PREV(price), UP AS price > PREV(price))""", settings=SETTINGS),
    "events": rex.events("""PATTERN SEQ(Buy a, ~(Sell b))
        WHERE skip_till_any_match(a, b) { [sym] AND b.price < a.price }
        WITHIN 15 seconds RETURN a.ts AS t, a.price AS p""", **_EVENTS),
    "trends": rex.trends("""RETURN sym, COUNT(*) AS n, MIN(A.ts) AS first PATTERN SEQ(Buy A, Sell B+)
        SEMANTICS skip-till-any-match WHERE [sym] GROUP-BY sym WITHIN 20 seconds SLIDE 10 seconds""", **_EVENTS),
}


def main(folder: Path) -> None:
    """Run until told to stop, and nothing is left."""
    files = Files(session(), folder)
    run(folder, lambda: [files.start(query(files.stream()), name) for name, query in QUERIES.items()])


def session(*jars: Path) -> SparkSession:
    """Of a job, which may need more than Spark has."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    return (
        SparkSession.builder.master("local[2]")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.jars", ",".join(map(str, jars)))
        .config("spark.log.level", "OFF")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.session.timeZone", "UTC")
        .config("spark.sql.streaming.stateStore.providerClass", ROCKSDB)
        .config("spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled", "true")
        # Spark would refuse the checkpoint of a job that was killed while its first batch began.
        .config("spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart", "false")
        .getOrCreate()
    )


def run(folder: Path, start: Callable[[], list[StreamingQuery]]) -> None:
    """Start queries that end when they have read what there is, again and again until there is a file named `stop`."""
    while True:
        is_last = (folder / "stop").exists()
        has_ended = [_ended(query) for query in start()]
        if is_last and all(has_ended):
            return


def _ended(query: StreamingQuery) -> bool:
    """Whether a query has come to the end of its files; if not, it has failed."""
    try:
        query.awaitTermination()
    except PySparkException as error:
        print(str(error)[:500], file=sys.stderr, flush=True)  # if no worker was killed, somebody has to know
        return False
    return True


if __name__ == "__main__":
    main(Path(sys.argv[1]))
