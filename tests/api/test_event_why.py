"""`rex.why` of event queries: the texts shown, the tables behind them, what is asked and what the bound leaves out."""

from __future__ import annotations

from unittest.mock import patch

import pyarrow as pa
import pytest
from tests.api.event_why_shown import CASES, ORDERS, kept, shown

import sparkrex as rex
from sparkrex.modes.events.why import runs
from sparkrex.reasons.answer import Barrier, Status

LATER = "PATTERN SEQ(Order o, Ship+ s[], Recall r) WHERE skip_till_any_match(o, s[], r) { [shop] }"


@pytest.mark.parametrize("name", CASES)
def test_the_text_shown(name: str) -> None:
    assert shown(name) == kept()[name]


def test_the_texts_are_of_these_reasons() -> None:
    assert kept().keys() == CASES.keys()


def test_starts_and_matches() -> None:
    query = rex.events(
        "PATTERN SEQ(Order o, Bill b) WHERE skip_till_next_match(o, b) { [shop] }", time="ts", type="kind"
    )
    answer = query.why(ORDERS)
    assert (answer.n_partitions, answer.key, answer.n_rows) == (2, (), 7)
    assert answer.starts.select(["ts", "shop", "start_row", "status", "need"]).to_pylist() == [
        {"ts": 1, "shop": "north", "start_row": 1, "status": "match", "need": None},
        {"ts": 3, "shop": "north", "start_row": 3, "status": "match", "need": None},
        {"ts": 2, "shop": "south", "start_row": 1, "status": "blocked", "need": 1},
    ]
    # Numbered as RETURN EVENTS numbers them.
    first_times = {row["match_id"]: row["ts"] for row in reversed(query(ORDERS).to_pylist())}
    assert sorted(first_times.values()) == [1, 3]
    for match in answer.matches.to_pylist():
        assert match == {
            "match": match["match"], "partition": 1, "first_row": first_times[match["match"]], "last_row": 5,
        }
    (start,) = answer.shown
    assert (start.status, start.need, start.n_blockers, start.closest) == (Status.BLOCKED, 1, 1, None)
    assert start.last is not None
    assert (start.last.row, start.last.variable, start.last.barrier) == (2, "b", Barrier.END)
    assert start.last.prefix == (("o", 1, 1),)


def test_asked_by_time() -> None:
    query = rex.events(CASES["the window passed"][0], time="ts", type="kind")
    by_time = query.why(ORDERS, key={"shop": "north"}, at=3)
    assert by_time.shown == query.why(ORDERS, key={"SHOP": "north"}, at=3).shown
    assert by_time.shown[0].row == 3


def test_nothing_to_begin_with() -> None:
    answer = rex.why(rex.events(LATER, time="ts", type="kind"), ORDERS.filter(pa.array([False] * 7)))
    assert str(answer).split("\n")[1:] == [
        "  0 events, 0 matches; 0 starts without a match", "  no event has a type that the pattern begins with",
    ]


def test_the_bound_is_said() -> None:
    query = rex.events(LATER, time="ts", type="kind")
    exact = query.why(ORDERS, key={"shop": "north"}, at=1)
    assert (exact.is_exact, exact.shown[0].need, exact.shown[0].is_exact) == (True, 1, True)
    with patch.object(runs, "MOST_RUNS", 1):
        fewer = query.why(ORDERS, key={"shop": "north"}, at=1)
    assert (fewer.is_exact, fewer.shown[0].is_exact) == (False, False)
    assert "at most 1 more event needed, at least 1 blocker" in str(fewer)
    assert "(the search was cut short" in str(fewer)
    with patch.object(runs, "MOST_TESTS", 0):
        none = query.why(ORDERS, key={"shop": "north"}, at=1)
    assert (none.shown[0].need, none.shown[0].is_exact) == (2, False)


def test_what_is_refused() -> None:
    query = rex.events(CASES["the window passed"][0], time="ts", type="kind")
    with pytest.raises(rex.AnalysisError, match="key= names kind, and PARTITION BY has shop"):
        query.why(ORDERS, key={"kind": "Order"})
    with pytest.raises(rex.AnalysisError, match="no row has shop = 'west'"):
        query.why(ORDERS, key={"shop": "west"})
