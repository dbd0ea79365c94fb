"""What patterns of a workload mean, by small streams whose matches are derived by hand; `rex.events` gives the same.

In a stream, `A1 B2` are events of types A and B at times 1 and 2, and `A1=5` has 5 as its x. A match `a1 b2` has the
event at 1 as a and that at 2 as b.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

import sparkrex as rex


def _stream(text: str) -> pa.Table:
    parts = [re.fullmatch(r"([A-Z])(-?\d+)(?:=(\d+))?", part) for part in text.split()]
    rows = [{"ts": int(part[2]), "id": row, "kind": part[1], "x": int(part[3] or 0)} for row, part in enumerate(parts)
            if part is not None]
    return pa.Table.from_pylist(rows, pa.schema([("ts", "int64"), ("id", "int64"), ("kind", "string"), ("x", "int64")]))


def _matches(table: pa.Table) -> Counter[str]:
    events: dict[int, list[str]] = {}
    for row in table.to_pylist():
        events.setdefault(row["match_id"], []).append(f"{row['variable']}{row['ts']}")
    return Counter(" ".join(sorted(match, key=lambda event: (int(event[1:]), event))) for match in events.values())


def _found(texts: dict[str, str], stream: str, **options: Any) -> dict[str, Counter[str]]:
    """The matches of every pattern, which are those of its event query."""
    options = {"time": "ts", "type": "kind", "tie_break": "id", **options}
    rows = _stream(stream)
    found = rex.workload(texts, **options, max_steps=50).detect(rows)
    matches = {name: _matches(found[name]) for name in texts}
    for name, text in texts.items():
        assert matches[name] == _matches(rex.events(text, rows, **options)), name
    return matches


def _one(text: str, stream: str, **options: Any) -> list[str]:
    return sorted(_found({"p": f"PATTERN {text}"}, stream, **options)["p"].elements())


pytestmark = pytest.mark.filterwarnings("ignore:no event has type")


def test_without_a_strategy_any_event_may_be_passed_over() -> None:
    expected = ["a1 b3", "a1 b4", "a2 b3", "a2 b4"]
    assert _one("SEQ(A a, B b) WITHIN 9", "A1 A2 B3 B4") == expected
    assert _one("SEQ(A a, B b) WHERE skip_till_any_match(a, b) WITHIN 9", "A1 A2 B3 B4") == expected
    assert _one("SEQ(A a, B b) WHERE b.x > 0 WITHIN 9", "A1 A2 B3 B4=1") == ["a1 b4", "a2 b4"]


def test_and_is_in_any_order() -> None:
    assert _one("AND(A a, B b) WITHIN 9", "B1 A2 B3") == ["a2 b3", "b1 a2"]


def test_two_events_of_one_type_under_and_are_two_matches() -> None:
    assert _one("AND(A a, A b) WITHIN 9", "A1 A2") == ["a1 b2", "b1 a2"]
    assert _one("AND(A a, A b) WITHIN 9", "A1") == []


def test_words_and_signs_are_the_same() -> None:
    for text in ("SEQ(A a, NOT(D d), KL(B b)) WITHIN 9", "SEQ(A a, ~(D d), B+ b[]) WITHIN 9"):
        assert _one(text, "A1 B2 B3 D4 B5") == ["a1 b2", "a1 b2 b3", "a1 b2 b3 b5", "a1 b2 b5", "a1 b3", "a1 b3 b5"]
    for text in ("OR(A a, B b) WITHIN 9", "(A a | B b) WITHIN 9"):
        assert _one(text, "A1 B2") == ["a1", "b2"]


def test_a_kleene_is_every_choice_in_order() -> None:
    assert _one("SEQ(KL(K k), E e) WITHIN 9", "K1 K2 K3 E4") == [
        "k1 e4", "k1 k2 e4", "k1 k2 k3 e4", "k1 k3 e4", "k2 e4", "k2 k3 e4", "k3 e4",
    ]


@pytest.mark.filterwarnings("ignore:the pattern p has stopped")
def test_what_a_pattern_found_before_it_stopped_stays() -> None:
    stream = _stream("K1 E2 K3 K4 E5 K20 E21")
    texts = {"p": "PATTERN SEQ(KL(K k), E e) WITHIN 5", "other": "PATTERN SEQ(E e, E f) WITHIN 5"}
    found = rex.workload(texts, time="ts", type="kind", max_kleene=2).detect(stream)
    # The third K of a window is that at 4. Nothing that ends there or later is given, in this partition.
    assert _matches(found["p"]) == {"k1 e2": 1}
    assert _matches(found["other"]) == {"e2 f5": 1}
    assert [stop.event["ts"] for stop in found.stopped] == [4]


def test_a_negated_beginning_looks_back_a_window_from_the_last_event() -> None:
    text = "SEQ(NOT(D d), A a, B b) WITHIN 4"
    assert _one(text, "D0 A1 B4") == []
    assert _one(text, "D0 A1 B5") == ["a1 b5"]
    assert _one(text, "A1 D2 B4") == ["a1 b4"]


def test_a_negated_middle_is_between_its_neighbours() -> None:
    text = "SEQ(A a, NOT(D d), B b, C c) WITHIN 9"
    assert _one(text, "A1 D2 B3 C4") == []
    assert _one(text, "D0 A1 B3 D4 C5") == ["a1 b3 c5"]


def test_a_negated_end_looks_ahead_a_window_from_the_first_event() -> None:
    text = "SEQ(A a, B b, NOT(D d)) WITHIN 4"
    assert _one(text, "A1 B2 D5") == []
    assert _one(text, "A1 B2 D6") == ["a1 b2"]
    assert _one(text, "A1 D2 B3") == ["a1 b3"]


def test_what_is_negated_in_and_is_between_the_first_and_the_last_event() -> None:
    text = "AND(A a, NOT(D d), C c) WITHIN 9"
    assert _one(text, "C1 D2 A3") == []
    assert _one(text, "D0 C1 A3 D4") == ["c1 a3"]
    assert _one(text, "C1 D1 D3 A3") == []


def test_strictly_between_is_in_time_under_strict_ties() -> None:
    assert _one("AND(A a, NOT(D d), C c) WITHIN 9", "C1 D1 D3 A3", ties="strict") == ["c1 a3"]


def test_a_condition_of_what_is_negated() -> None:
    assert _one("SEQ(A a, NOT(D d), B b) WHERE d.x > a.x WITHIN 9", "A1=2 D2=1 B3 D4=3 B5") == ["a1 b3"]


@pytest.mark.parametrize(("condition", "is_given"), [
    ("c.x > e.x", True), ("c.x < e.x + 1", True), ("NOT (c.x > e.x)", True), ("e.x IS NULL OR c.x > e.x", False),
    ("coalesce(e.x, 0) < c.x", False), ("c.x + coalesce(e.x, 0) > 0", False),
])
def test_what_is_negated_is_compared_with_an_event_that_is_not_there(condition: str, *, is_given: bool) -> None:
    """There is no e: its values are NULL."""
    texts = {"p": f"PATTERN SEQ(E? e, A a, NOT(C c), B b) WHERE {condition} WITHIN 5"}
    assert _found(texts, "A1=1 C2=2 B4=3")["p"] == Counter(["a1 b4"] if is_given else [])


def test_an_event_that_fits_two_alternatives_is_two_matches() -> None:
    """Their variables differ. The same events under the same variables are one match."""
    assert _one("SEQ(A a, (B b | B c)) WITHIN 9", "A1 B2") == ["a1 b2", "a1 c2"]
    assert _one("SEQ(A a, B? b, C? c) WITHIN 9", "A1 B2") == ["a1", "a1 b2"]


def test_a_shared_part_serves_patterns_with_other_windows_and_conditions() -> None:
    both = "WHERE a.x = b.x"
    texts = {
        "short": f"PATTERN SEQ(A a, B b) {both} WITHIN 2", "long": f"PATTERN SEQ(A a, B b) {both} WITHIN 6",
        "more": f"PATTERN SEQ(A a, B b, C c) {both} AND c.x > b.x WITHIN 5",
        "counted": f"PATTERN SEQ(A a, B b) {both} WITHIN 2 EVENTS",
    }
    assert _found(texts, "A1=3 X2 B3=3 C4=4 B5=3 C6=3 B7=3") == {
        "short": {"a1 b3": 1}, "long": {"a1 b3": 1, "a1 b5": 1, "a1 b7": 1}, "more": {"a1 b3 c4": 1},
        "counted": {"a1 b3": 1},
    }


def test_windows_include_their_bound() -> None:
    assert _one("AND(A a, B b) WITHIN 3", "B1 A4 B8") == ["b1 a4"]
    assert _one("SEQ(A a, B b) WITHIN 2 EVENTS", "A1 X2 B3 B4") == ["a1 b3"]


def test_ties() -> None:
    assert _one("SEQ(A a, B b) WITHIN 3", "A1 B1 B2") == ["a1 b1", "a1 b2"]
    assert _one("SEQ(A a, B b) WITHIN 3", "A1 B1 B2", ties="strict") == ["a1 b2"]
    with pytest.raises(rex.ExecutionError, match="REX409"):
        _one("SEQ(A a, B b) WITHIN 3", "A1 B1", tie_break=())


def test_types_that_no_pattern_names_may_be_tied() -> None:
    assert _one("SEQ(A a, B b) WITHIN 3", "A1 X1 X1 B2", tie_break=()) == ["a1 b2"]


def test_an_event_with_null_in_an_equivalence_test_is_in_no_match() -> None:
    stream = pa.table({"ts": [1, 2, 3], "kind": ["A", "B", "B"], "k": [None, None, "p"]})
    found = rex.workload({"p": "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 9"}, time="ts", type="kind").detect(stream)
    assert found.num_rows == 0


def test_matches_are_numbered_by_pattern_and_key() -> None:
    stream = pa.table({"ts": [1, 2, 3, 4, 5], "kind": list("ABABB"), "k": list("ppqqp")})
    texts = {"pair": "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 9", "b": "PATTERN SEQ(B b) WHERE [k] WITHIN 9"}
    rows = rex.workload(texts, time="ts", type="kind").detect(stream).table.to_pylist()
    assert [(row["pattern"], row["k"], row["match_id"]) for row in rows if row["variable"] == "b"] == [
        ("pair", "p", 1), ("pair", "p", 2), ("pair", "q", 1), ("b", "p", 1), ("b", "p", 2), ("b", "q", 1),
    ]
