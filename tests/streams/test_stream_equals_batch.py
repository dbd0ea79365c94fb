"""A stream and its drain give the rows of the batch over the same rows without the late ones."""

from __future__ import annotations

import random
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from tests.differential.relations import one_database
from tests.streams.driving import EPOCH, TICK, TIME, Query, Stream, drive

from sparkrex.languages.events.syntax import StreamOptions
from sparkrex.modes.trends.language.syntax import TrendOptions
from sparkrex.modes.trends.plan import Counts

TYPES = {"A": "x in (0, 1)", "B": "x >= 2", "C": "x = 4"}
EVENTS = StreamOptions(TIME, ("id",), None, TYPES, has_strict_ties=False)
TRENDS = TrendOptions(EVENTS, None, Counts.EXACT)
QUERIES = {
    "v shape": Query(
        "PARTITION BY k ORDER BY ts, id MEASURES FIRST(id) AS a, LAST(id) AS b, COUNT(D.x) AS n "
        "PATTERN (S D+ U+) DEFINE D AS x < PREV(x), U AS x > PREV(x)"
    ),
    "session": Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, COUNT(*) AS n PATTERN (S E*) "
        "DEFINE E AS ts <= PREV(ts) + INTERVAL '3' SECOND", settings={"tie_break": "id"},
    ),
    "timeouts": Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, LAST(id) AS b, MATCH_STATUS() AS s, MATCH_NUMBER() AS n "
        "ONE ROW PER MATCH SHOW TIMEOUT MATCHES PATTERN (A B+ C) WITHIN INTERVAL '5' SECOND "
        "DEFINE A AS x > 2, C AS x < A.x", settings={"tie_break": "id"},
    ),
    "within": Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, LAST(id) AS b, SUM(x) AS s "
        "AFTER MATCH SKIP TO NEXT ROW PATTERN (A B* C) WITHIN INTERVAL '5' SECOND DEFINE A AS x > 1, C AS x < A.x",
        settings={"tie_break": "id"},
    ),
    "within ops": Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a, LAST(id) AS b, AVG(x) AS s "
        "PATTERN (A B* C) WITHIN INTERVAL '7' SECOND "
        "DEFINE A AS x > 2, B AS x < A.x + 1 AND SUM(B.x) < 5, C AS x > A.x", settings={"tie_break": "id"},
    ),
    "all rows": Query(
        "PARTITION BY k ORDER BY ts, id MEASURES MATCH_NUMBER() AS m, CLASSIFIER() AS c, PREV(A.x) AS p "
        "ALL ROWS PER MATCH WITH UNMATCHED ROWS PATTERN (A+ B?) DEFINE A AS x > 1, B AS x < A.x"
    ),
    "next and ends": Query(
        "ORDER BY ts, id MEASURES FIRST(id) AS a, NEXT(LAST(id), 2) AS n PATTERN (^ A B | A A $) DEFINE A AS x > 0"
    ),
    "skip till any": Query(
        "PATTERN SEQ(A a, B+ b[], ~(C c)) WHERE skip_till_any_match(a, b[]) { [k] AND b[i].x > a.x } "
        "WITHIN 6 seconds RETURN a.id AS a, count(b[]) AS n, b[b.LEN].id AS b",
        "MATCH_EVENTS", EVENTS,
    ),
    "next match": Query(
        "PATTERN SEQ(A a, B b, C c) WHERE skip_till_next_match(a, b, c) { [k] } WITHIN 9 seconds "
        "RETURN a.id AS a, b.id AS b, c.id AS c", "MATCH_EVENTS", EVENTS,
    ),
    "trends": Query(
        "RETURN k, COUNT(*) AS n, SUM(A.x) AS s PATTERN SEQ(A+, B) SEMANTICS skip-till-any-match WHERE [k] "
        "GROUP-BY k WITHIN 10 seconds SLIDE 3 seconds",
        "MATCH_TRENDS", TRENDS,
    ),
    "trends of a group": Query(
        "RETURN COUNT(*) AS n, SUM(A.x) AS s, MATCH_ROWTIME() AS at PATTERN SEQ(A+, B) SEMANTICS skip-till-any-match "
        "WHERE [k] WITHIN 10 seconds SLIDE 3 seconds", "MATCH_TRENDS", TRENDS,
    ),
    "trends without windows": Query(
        "RETURN COUNT(*) AS n, MAX(A.x) AS s PATTERN SEQ(A+, B) SEMANTICS skip-till-next-match WHERE [k]",
        "MATCH_TRENDS", TRENDS,
    ),
    "trends in windows of events": Query(
        "RETURN COUNT(*) AS n PATTERN SEQ(A, B) SEMANTICS skip-till-any-match WHERE [k] WITHIN 6 EVENTS SLIDE 2 EVENTS",
        "MATCH_TRENDS", TRENDS,
    ),
    "segments": Query(
        "PARTITION BY k ORDER BY ts MEASURES FIRST(A.id) AS a, LAST(A.id) AS b, START_INDEX() AS i ALL MATCHES "
        "PATTERN (A) DEFINE SEGMENT A AS avg(x) > 2 AND window(ts, 0, 6, SECOND)",
        settings={"tie_break": "id"},
    ),
}


def rows_of(draw: random.Random, n_rows: int, *, nulls: bool = True) -> pa.Table:
    """Rows almost in the order of their times."""
    time = EPOCH
    lines: list[dict[str, Any]] = []
    for number in range(n_rows):
        time += draw.choice([0, 0, 1, 1, 2, 9])
        late = draw.choice([0, 0, 0, 1, 2, 12])
        lines.append({
            "id": number, "k": draw.choice(["a", "b", "c", None]), "x": draw.randint(0, 4),
            TIME: None if nulls and draw.random() < 0.02 else (time - late) * TICK,
        })
    schema = pa.schema([("id", pa.int64()), ("k", pa.string()), ("x", pa.int64()), (TIME, pa.timestamp("us"))])
    return pa.Table.from_pylist(lines, schema)


def sorted_rows(table: pa.Table) -> list[str]:
    return sorted(map(repr, table.to_pylist()))


@pytest.mark.parametrize("name", QUERIES)
@pytest.mark.parametrize("seed", range(10))
def test_stream_and_drain_are_the_batch(name: str, seed: int) -> None:
    draw = random.Random(f"{name} {seed}")
    table = rows_of(draw, draw.choice([0, 3, 10, 40]))
    with one_database():
        driven = drive(QUERIES[name], table, draw)
        kept = table.filter(pc.invert(driven.is_late))
        assert sorted_rows(driven.result) == sorted_rows(QUERIES[name].batch(kept))


def test_the_time_of_a_match_that_is_decided_late_is_in_time() -> None:
    """A session ends at its last row; when that is known, the watermark of the batch before is far behind it."""
    query = Query(
        "PARTITION BY k ORDER BY ts MEASURES MATCH_ROWTIME() AS at PATTERN (S E*) "
        "DEFINE E AS ts - PREV(ts) <= INTERVAL '3' SECOND"
    )
    rows = pa.table({"k": ["a"], TIME: pa.array([EPOCH * TICK], pa.timestamp("us"))})
    stream = Stream(query, rows)
    given = []
    for n_rows, seconds in ((1, 0), (0, EPOCH), (0, EPOCH + 2), (0, EPOCH + 9)):
        given += [one.rows for one in stream.batch(rows.slice(0, n_rows), seconds * TICK)]
    times = stream.cut.result(pa.concat_tables(given)).column("at").cast(pa.int64()).to_pylist()
    assert times == [(EPOCH + 2) * TICK + 1]
