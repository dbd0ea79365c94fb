"""What EXPLAIN says of silent keys is what remains of them: derived from the query, compared with a state."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.differential.relations import one_database
from tests.streams.driving import EPOCH, TICK, Query
from tests.streams.test_state import OneBucket, rows_of_keys
from tests.streams.test_stream_equals_batch import EVENTS, TRENDS

from sparkrex.matching.silent import Lasting, silent_lines, warn_of_lasting
from sparkrex.source import Source

FAR = (EPOCH + 1_000_000) * TICK
N_KEYS = 40
SIZE = "INTERVAL '5' SECOND"


def rows(pattern: str, define: str, *, measures: str = "", within: str = "", skip: str = "PAST LAST ROW") -> Query:
    return Query(
        f"PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS a{measures} AFTER MATCH SKIP {skip} PATTERN ({pattern}) "
        f"{within} DEFINE {define}", settings={"tie_break": "id"},
    )


def segments(window: str, measures: str = "") -> Query:
    return Query(
        f"PARTITION BY k ORDER BY ts MEASURES FIRST(A.id) AS a{measures} ALL MATCHES PATTERN (A) "
        f"DEFINE SEGMENT A AS sum(x) > 0 AND {window}", settings={"tie_break": "id"},
    )


def events(within: str) -> Query:
    return Query(
        f"PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) {{ [k] }} {within} RETURN a.id AS a", "MATCH_EVENTS",
        EVENTS,
    )


def trends(within: str) -> Query:
    return Query(
        f"RETURN k, COUNT(*) AS n PATTERN A+ SEMANTICS skip-till-any-match WHERE [k] GROUP-BY k {within}",
        "MATCH_TRENDS", TRENDS,
    )


WITHIN = f"WITHIN {SIZE}"
NOTHING = {
    "a single row": rows("A", "A AS x > 0"),
    "WITHIN": rows("A B*", "B AS x > 100", within=WITHIN),
    "a bound between neighbours": rows("A B*", f"B AS ts - PREV(ts) <= {SIZE}"),
    "the bound with the interval first": rows("A B*", f"B AS {SIZE} >= ts - PREV(ts)"),
    "a bound on the first row": rows("A B* C", f"B AS ts - A.ts <= {SIZE}, C AS C.ts <= A.ts + {SIZE}"),
    "PREV inside the match": rows("A B*", "B AS x > PREV(x)", within=WITHIN),
    "a reluctant end": rows("A B*?", "B AS x > 100"),
    "a bound on a row that has to come": rows("A (B+ C)?", f"B AS x > 0, C AS C.ts <= A.ts + {SIZE}"),
    "a bound by the first of several": rows("A A+ B* C", f"B AS x < 0, C AS C.ts - FIRST(A.ts) <= {SIZE}", within=""),
    "NEXT inside the match": rows("A A", "A AS x > 0", measures=", NEXT(FIRST(x)) AS n", within=WITHIN),
    "NEXT of a variable before the last": rows("A C", "A AS x > 0", measures=", NEXT(A.x) AS n", within=WITHIN),
    "starts on their own": rows("A B*", "B AS x > 0", within=WITHIN, skip="TO NEXT ROW"),
    "events": events("WITHIN 6 seconds"),
    "trends": trends("WITHIN 6 seconds"),
    "segments": segments("window(ts, 0, 6, SECOND)"),
}
A_RECORD = {
    "MATCH_NUMBER": (rows("A", "A AS x > 0", measures=", MATCH_NUMBER() AS m"), "a number"),
    "^": (rows("^ A", "A AS x > 0"), "a bit"),
    "START_INDEX": (segments("window(ts, 0, 6, SECOND)", ", START_INDEX() AS i"), "a number"),
    "MATCH_NUMBER of segments": (segments("window(ts, 0, 6, SECOND)", ", MATCH_NUMBER() AS i"), "a number"),
}
LAST_ROWS = {
    "PREV in DEFINE": (rows("A", "A AS x > PREV(x)"), 1),
    "PREV before a match": (rows("A", "A AS x > PREV(x, 2)"), 2),
    "PREV in MEASURES": (rows("A", "A AS x > 0", measures=", PREV(FIRST(x)) AS p"), 1),
}
OPEN_ROWS = {
    "a greedy end": (rows("A B*", "B AS x > 0"), "B"),
    "a row that is still missing": (rows("A B* C", "C AS x > 100"), "B"),
    "an end": (rows("A $", "A AS x > 0"), "$"),
    "a row that is missing, and a bound behind it": (
        rows("A B+ C", f"B AS x > 100, C AS C.ts <= LAST(B.ts) + {SIZE}"), "B"
    ),
    "NEXT of a row that may be the last": (
        rows("A C?", "A AS x > 0, C AS x > 100", measures=", NEXT(A.x) AS n", within=WITHIN), "NEXT"
    ),
    "NEXT behind the match": (rows("A A", "A AS x > 0", measures=", NEXT(LAST(x)) AS n"), "NEXT"),
    "NEXT in DEFINE": (rows("A", "A AS x < NEXT(x)"), "NEXT"),
    "WITHIN, and NEXT in DEFINE": (rows("A B*", "B AS x < NEXT(x)", within=WITHIN), "NEXT"),
    "windows that count": (segments("window(1, 5)"), "count"),
    "events without a window": (events(""), "WITHIN"),
    "events in a window that counts": (events("WITHIN 5 events"), "counts"),
    "trends without a window": (trends(""), "WITHIN"),
}


def derived(bucket: OneBucket) -> list[Lasting]:
    found: list[Lasting] = bucket.operator.runner.lasting()
    return found


def left_of_silent_keys(query: Query) -> tuple[OneBucket, list[Lasting]]:
    """A bucket that keys have been silent in for long, and what was derived of them."""
    table = rows_of_keys(np.arange(N_KEYS), n=3)
    bucket = OneBucket(query, table)
    bucket.batch(table, 0)
    bucket.batch(table.slice(0, 0), (EPOCH + 2) * TICK)
    watermark = (EPOCH + 100) * TICK
    for _ in range(3):
        bucket.batch(table.slice(0, 0), watermark)
        watermark *= 10
    return bucket, derived(bucket)


@pytest.mark.parametrize("name", NOTHING)
def test_where_nothing_is_derived_nothing_is_left(name: str) -> None:
    with one_database():
        bucket, kept = left_of_silent_keys(NOTHING[name])
    assert not kept
    head = bucket.head
    assert (head.n_open, head.n_silent, head.n_held, head.n_bytes) == (0, 0, 0, 0)


@pytest.mark.parametrize("name", A_RECORD)
def test_a_record_of_every_key_is_left_where_one_is_derived(name: str) -> None:
    query, what = A_RECORD[name]
    with one_database():
        bucket, (kept,) = left_of_silent_keys(query)
    assert (kept.what, kept.n_rows) == (what, 0)
    assert (bucket.head.n_silent, bucket.head.n_held) == (N_KEYS, 0)


@pytest.mark.parametrize("name", LAST_ROWS)
def test_as_many_last_rows_are_left_as_are_derived(name: str) -> None:
    query, n_rows = LAST_ROWS[name]
    with one_database():
        bucket, (kept,) = left_of_silent_keys(query)
    assert kept.n_rows == n_rows
    assert (bucket.head.n_silent, bucket.head.n_held) == (N_KEYS, n_rows * N_KEYS)


@pytest.mark.parametrize("name", OPEN_ROWS)
def test_open_rows_are_left_where_they_are_derived(name: str) -> None:
    query, why = OPEN_ROWS[name]
    with one_database():
        bucket, kept = left_of_silent_keys(query)
    assert [one.n_rows for one in kept] == [None] * len(kept)
    assert any(why in one.why for one in kept)
    head = bucket.head
    assert head.n_open + head.n_silent == N_KEYS
    assert head.n_bytes > 0


def test_partition_gap_leaves_nothing_of_what_is_derived() -> None:
    query = rows("A B*", "B AS x > 0", measures=", MATCH_NUMBER() AS m")
    query = replace(query, settings={**query.settings, "partition_gap": "5 seconds"})
    with one_database():
        bucket, kept = left_of_silent_keys(query)
    assert len(kept) == 2
    assert bucket.head.n_open + bucket.head.n_silent == 0
    schema = bucket.task.schema
    assert silent_lines(kept, schema, [], has_gap=True) == [
        "State of silent keys: nothing, once the watermark is partition_gap behind the key's last row"
    ]


def test_the_section_says_how_much_and_how_to_bound_it() -> None:
    with one_database():
        bucket, kept = left_of_silent_keys(rows("A", "A AS x > PREV(x)", measures=", MATCH_NUMBER() AS m"))
    keys = [column for column, _ in bucket.task.key_names]
    assert silent_lines(kept, bucket.task.schema, keys, has_gap=False) == [
        "State of silent keys, for ever",
        "├─ a number: MATCH_NUMBER() counts the matches of a key; 53 bytes a key, and the texts of keys",
        "├─ the last row: PREV or an aggregate reads up to 1 row before a match; 89 bytes a key, and their texts",
        "└─ to bound it: the setting partition_gap, which ends a partition where no row comes for long",
    ]


def test_the_sizes_are_those_of_the_state() -> None:
    """Of many keys, and give or take what a table and a group of slots have beside their rows."""
    table = rows_of_keys(np.arange(3000), n=3)
    with one_database():
        bucket = OneBucket(A_RECORD["MATCH_NUMBER"][0], table)
        bucket.batch(table, 0)
        bucket.batch(table.slice(0, 0), FAR)
    a_key = bucket.head.n_bytes / 3000
    assert 53 <= a_key < 53 + len("k1000") + 20


def test_one_warning_points_into_the_query() -> None:
    text = "MATCH_RECOGNIZE (... PATTERN (A B*) ...)"
    query = rows("A B*", "B AS x > 0")
    with one_database():
        _, kept = left_of_silent_keys(query)
    source = Source(query.text)
    with pytest.warns(UserWarning, match="keeps state of every key for ever") as found:
        warn_of_lasting(kept, source)
    shown = str(found[0].message).split("\n")
    line, caret = next((shown[n], shown[n + 1]) for n in range(len(shown)) if "PATTERN (A B*)" in shown[n])
    assert line[caret.index("^")] == "B", text
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_lasting(kept, source)
