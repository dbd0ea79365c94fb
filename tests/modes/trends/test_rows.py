"""Which events are read: what can fail, and what has no definite order, matters only where an event takes part."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import sparkrex as rex


def trends(text: str, table: pa.Table, **options: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = rex.trends(text, table, time="ts", type="kind", **options).to_pylist()
    return found


PAIR = "RETURN COUNT(*) AS n PATTERN SEQ(A, B) SEMANTICS skip-till-any-match"
NUMBERS = pa.table({"ts": [1, 2, 3], "kind": ["A", "B", "C"], "text": ["5", "x", None]})


def test_a_condition_is_not_asked_of_other_types() -> None:
    assert trends(f"{PAIR} WHERE CAST(A.text AS INT) > 3", NUMBERS)[0]["n"] == 1


def test_an_argument_is_not_asked_of_other_types() -> None:
    text = PAIR.replace("COUNT(*) AS n", "SUM(CAST(A.text AS INT)) AS n")
    assert trends(text, NUMBERS)[0]["n"] == 5


def test_a_side_of_a_comparison_is_not_asked_of_other_types() -> None:
    assert trends(f"{PAIR} WHERE CAST(A.text AS INT) < NEXT(B).ts + 4", NUMBERS)[0]["n"] == 1


def test_what_is_asked_fails() -> None:
    with pytest.raises(rex.RexError):
        trends(f"{PAIR} WHERE CAST(B.text AS INT) > 3", NUMBERS)


def test_events_that_take_no_part_may_be_tied() -> None:
    table = pa.table({"ts": [1, 2, 3, 3], "kind": ["A", "B", "X", "X"]})
    assert trends(PAIR, table, ties="order")[0]["n"] == 1
    # Under contiguous semantics they lie between others.
    with pytest.raises(rex.RexError, match="REX409"):
        trends(PAIR.replace("skip-till-any-match", "contiguous"), table, ties="order")
    # Windows that count events count them.
    with pytest.raises(rex.RexError, match="REX409"):
        trends(f"{PAIR} WITHIN 4 EVENTS", table, ties="order")


def test_a_tie_names_its_partition_and_the_pattern() -> None:
    table = pa.table({"ts": [1, 1, 2, 2, 2], "kind": ["A", "X", "X", "B", "B"], "k": [1, 1, 2, 2, 2]})
    with pytest.raises(rex.RexError) as caught:
        trends(f"{PAIR} GROUP-BY k", table, ties="order")
    assert caught.value.code == "REX409"
    assert caught.value.partition == (("k", 2),)
    assert "^^^^^^^^^" in str(caught.value)


def test_events_that_take_no_part_need_no_time() -> None:
    table = pa.table({"ts": [1, 2, None], "kind": ["A", "B", "X"]})
    assert trends(PAIR, table)[0]["n"] == 1
    with pytest.raises(rex.RexError, match="REX409"):
        trends(PAIR, pa.table({"ts": [1, None], "kind": ["A", "B"]}))


def test_an_event_without_a_type_fits_types_that_are_conditions() -> None:
    table = pa.table({"ts": [1, 2], "kind": ["A", None], "x": [5, 1]})
    text = "RETURN COUNT(*) AS n PATTERN SEQ(A a, Low b) SEMANTICS skip-till-any-match"
    assert trends(text, table, types={"Low": "x < 2"})[0]["n"] == 1
