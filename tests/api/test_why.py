"""`rex.why`: the text shown, the tables behind it, and what it refuses."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from tests.api.why_shown import CASES, TICKS, kept, shown

import sparkrex as rex
from sparkrex.modes.rows.why import by_prefixes, states
from sparkrex.reasons.answer import Barrier, Status

RISE = (
    "PARTITION BY symbol ORDER BY ts PATTERN (DOWN UP UP) "
    "DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"
)


@pytest.mark.parametrize("name", CASES)
def test_the_text_shown(name: str) -> None:
    assert shown(name) == kept()[name]


def test_the_texts_are_of_ten_reasons() -> None:
    assert len(CASES) == 10
    assert kept().keys() == CASES.keys()


def test_starts_matches_and_rows() -> None:
    answer = rex.why(rex.match(RISE), TICKS)
    assert (answer.n_partitions, answer.key) == (2, ())
    assert answer.starts.column_names == [
        "symbol", "ts", "start_row", "status", "match", "need", "is_exact", "blockers", "last_row", "last_variable",
        "closest_row", "closest_variable", "missed_by",
    ]
    assert answer.starts.num_rows == answer.rows.num_rows == TICKS.num_rows
    assert answer.starts.column("status").to_pylist() == [
        "blocked", "match", "skipped", "skipped", "blocked", "blocked", "blocked", "blocked", "blocked",
    ]
    assert answer.starts.column("match").to_pylist()[:5] == [None, 1, 1, 1, None]
    assert answer.starts.column("need").to_pylist()[:6] == [3, None, None, None, 1, 3]
    assert answer.matches.to_pylist() == [{"match": 1, "partition": 1, "first_row": 2, "last_row": 4}]
    assert "<pre" in answer._repr_html_()
    assert repr(answer) == str(answer)


def test_a_query_has_it_too() -> None:
    query = rex.match(RISE)
    assert str(query.why(TICKS, key={"symbol": "BX"})) == str(rex.why(query, TICKS, key={"SYMBOL": "BX"}))


def test_asked_by_row_and_by_time() -> None:
    query, key = rex.match(RISE), {"symbol": "AY"}
    by_row = rex.why(query, TICKS, key=key, at=5).shown[0]
    by_time = rex.why(query, TICKS, key=key, at=datetime(2024, 1, 1, 9, 20)).shown[0]
    by_text = rex.why(query, TICKS, key=key, at="2024-01-01 09:20:00").shown[0]
    assert by_row == by_time == by_text
    assert (by_row.row, by_row.status, by_row.need, by_row.n_blockers) == (5, Status.BLOCKED, 1, 1)
    assert by_row.last is not None
    assert (by_row.last.row, by_row.last.variable, by_row.last.barrier) == (7, "UP", Barrier.END)
    assert by_row.last.prefix == (("DOWN", 5, 5), ("UP", 6, 6))


def test_a_start_with_a_match() -> None:
    assert "Row 2 (ts = 2024-01-01 09:05:00) starts match 1, rows 2 to 4." in str(
        rex.why(rex.match(RISE), TICKS, key={"symbol": "AY"}, at=2)
    )


def test_a_key_of_null() -> None:
    table = pa.table({"k": [None, 1, None], "x": [1, 2, 3]})
    answer = rex.why(rex.match("PARTITION BY k ORDER BY x PATTERN (A B) DEFINE B AS x > 9"), table, key={"k": None})
    assert (answer.n_rows, answer.key) == (2, (("k", None),))


@pytest.mark.parametrize(
    ("clause", "key", "at", "code", "message"),
    [
        (RISE, {"symbl": "AY"}, None, "REX240", "key= names symbl, and PARTITION BY has symbol"),
        (RISE, {"symbol": "AZ"}, None, "REX240", "no row has symbol = 'AZ'"),
        (RISE, {"symbol": 7}, None, "REX240", "no row has symbol = 7"),
        (RISE, {"symbol": "AY"}, 7, "REX240", "at=7, and the partition has 6 rows, counted from 1"),
        (RISE, {"symbol": "AY"}, "noon", "REX240", "'noon' is no value of ts, which is of type timestamp[us]"),
        (RISE, {"symbol": "AY"}, "2024-01-01 09:21:00", "REX240", "no row has ts = '2024-01-01 09:21:00'"),
        (RISE, None, 1, "REX240", "at=1 is a row of a partition, and there are 2"),
        ("PATTERN (A B)", None, "x", "REX240", "at='x' is a time, and the query has no ORDER BY"),
    ],
)
def test_what_is_refused(clause: str, key: Any, at: Any, code: str, message: str) -> None:
    with pytest.raises(rex.RexError) as caught:
        rex.why(rex.match(clause), TICKS, key=key, at=at)
    assert (caught.value.code, caught.value.message) == (code, message)


def test_other_modes_are_refused() -> None:
    query = rex.events("PATTERN SEQ(buy a, sell b) WHERE skip_till_any_match(a, b)", time="ts", type="side")
    with pytest.raises(rex.UnsupportedError, match="this is a query of the mode events") as caught:
        rex.why(query, TICKS.slice(0, 6))
    assert caught.value.code == "REX301"


def test_one_pattern_at_a_time() -> None:
    two = "SELECT * FROM t MATCH_RECOGNIZE (PATTERN (A)), u MATCH_RECOGNIZE (PATTERN (A))"
    with pytest.raises(rex.UnsupportedError, match="asked about one pattern, and the query has 2"):
        rex.why(two, t=TICKS, u=TICKS)
    with pytest.raises(rex.UnsupportedError, match="asked about one pattern, and the query has none"):
        rex.why("SELECT * FROM t", t=TICKS)
    with pytest.raises(TypeError, match="key= is a str"):
        rex.why(rex.match(RISE), TICKS, key="AY")  # type: ignore[arg-type]


def test_the_bound_is_said() -> None:
    """Fewer tests than there are to make: need is at most, blockers at least what is said."""
    table = pa.table({"x": np.arange(40)})
    query = rex.match("ORDER BY x PATTERN (A+ B+ C) DEFINE B AS x > avg(A.x), C AS x < avg(A.x)")
    whole = rex.why(query, table, at=1)
    with patch.object(by_prefixes, "MOST_PREFIXES", 3):
        cut = rex.why(query, table, at=1)
    assert whole.is_exact
    assert not cut.is_exact
    one, other = whole.shown[0], cut.shown[0]
    assert one.need is not None and other.need is not None
    assert one.n_blockers is not None and other.n_blockers is not None
    assert other.need >= one.need
    assert other.n_blockers <= one.n_blockers
    assert "at most 2 more rows needed, at least 1 blocker" in str(cut)
    assert "(the search was cut short" in str(cut)
    with patch.object(by_prefixes, "MOST_TESTS", 4_000):
        shared = rex.why(query, table, at=1)
    assert not shared.is_exact
    assert shared.shown[0].n_blockers is not None  # one start alone has the whole bound


def test_many_states_are_searched() -> None:
    """The answer is the same by prefixes as by states."""
    table = pa.table({"x": np.random.default_rng(5).integers(0, 9, 300)})
    query = rex.match("PATTERN (A{2,9} B C{1,4} A) DEFINE A AS x > 3, B AS x < 4, C AS x <> 6")
    by_states = rex.why(query, table)
    with patch.object(states, "MOST_STATES", 3):
        searched = rex.why(query, table)
    assert by_states.starts.equals(searched.starts)
    assert str(by_states) == str(searched)


@pytest.mark.parametrize("pattern", ["(A X* B)", "(A{2,3} (X | B)+ A)", "(^ A B | X B+ X{2} $)"])
def test_walks_in_windows_are_the_search(pattern: str) -> None:
    draw = np.random.default_rng(7)
    table = pa.table({
        "k": np.repeat([0, 1, 2], 40), "x": draw.integers(0, 9, 120),
        "ts": pa.array(draw.integers(0, 90, 120) * 1_000_000, pa.timestamp("us")),
    })
    query = rex.match(
        f"PARTITION BY k ORDER BY ts AFTER MATCH SKIP TO NEXT ROW PATTERN {pattern} WITHIN INTERVAL '20' SECOND "
        "DEFINE A AS x > 3, B AS x < PREV(x), X AS x <> 6"
    )
    walked = rex.why(query, table)
    with patch.object(states, "MOST_STATES", 1):
        searched = rex.why(query, table)
    assert walked.starts.equals(searched.starts)
    assert str(walked) == str(searched)
    assert set(walked.starts.column("status").to_pylist()) > {"blocked"}


def test_a_guarded_division_is_no_error() -> None:
    table = pa.table({"x": [0, 0, 4], "y": [1, 2, 3]})
    query = rex.match("ORDER BY y PATTERN (A B) DEFINE B AS x <> 0 AND y / x > 2")
    assert rex.why(query, table).starts.column("missed_by").to_pylist() == [0.0, 1.25, None]


def test_a_match_that_is_empty() -> None:
    answer = rex.why(rex.match("ORDER BY x PATTERN (A*) DEFINE A AS x > 5"), pa.table({"x": [1]}), at=1)
    assert "Row 1 (x = 1) starts match 1, which is empty at row 1." in str(answer)
    assert answer.shown[0].status is Status.MATCH


def test_without_rows() -> None:
    answer = rex.why(rex.match(RISE), TICKS.slice(0, 0))
    assert (answer.n_rows, answer.shown, answer.shares) == (0, (), ())
    assert "0 rows" in str(answer)


def test_keys_that_are_named_as_our_columns() -> None:
    table = pa.table({"status": ["a"], "need": [1], "x": [3]})
    answer = rex.why(rex.match("PARTITION BY status ORDER BY need PATTERN (A) DEFINE A AS x > 9"), table)
    assert answer.starts.column_names[:2] == ["status_key", "need_key"]
    assert answer.starts.column("status").to_pylist() == ["blocked"]


def test_a_time_with_a_zone() -> None:
    zone = pa.timestamp("us", "Europe/Zurich")
    table = pa.table({"ts": pa.array([datetime(2024, 1, 1, 8, minute) for minute in (0, 1)], zone), "x": [1, 2]})
    query = rex.match("ORDER BY ts PATTERN (A B) DEFINE B AS x > 9", settings={"time_zone": "Europe/Zurich"})
    assert rex.why(query, table, at=datetime(2024, 1, 1, 9, 1)).shown[0].row == 2
    assert rex.why(query, table, at="2024-01-01 09:01:00").shown[0].row == 2
