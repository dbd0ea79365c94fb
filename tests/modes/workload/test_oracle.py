"""The oracle of workloads by hand: each case from the definition of event queries."""

from __future__ import annotations

from typing import Any

import pytest
from tests.modes.workload.draws import parse
from tests.modes.workload.oracle import find_matches


def stream(*events: str, step: int = 1) -> list[dict[str, Any]]:
    """Events as `A1`: a type and x. Each comes `step` after the one before."""
    return [
        {"k": "u", "t": step * number, "b": number, "kind": event[0], "x": int(event[1:] or 0), "y": None, "s": None}
        for number, event in enumerate(events)
    ]


def found(text: str, *events: str, strict: bool = False, max_kleene: int = 20, step: int = 1) -> list[tuple[int, ...]]:
    """The rows of matches in the only partition."""
    (matches,) = find_matches(parse(f"PATTERN {text}", strict), stream(*events, step=step), max_kleene)
    return [rows for rows, _ in matches]


def test_seq_orders_and_does_not() -> None:
    assert found("SEQ(A a, B b)", "A", "B", "A", "B") == [(0, 1), (0, 3), (2, 3)]
    assert found("AND(A a, B b)", "A", "B", "A", "B") == [(0, 1), (1, 2), (0, 3), (2, 3)]


def test_two_events_of_one_type_give_two_matches() -> None:
    (matches,) = find_matches(parse("PATTERN AND(A a, A b)", False), stream("A", "A"))
    assert matches == [((0, 1), ("a", "b")), ((0, 1), ("b", "a"))]


def test_nested_parts() -> None:
    assert found("SEQ(A a, AND(B b, C c))", "B", "A", "C", "B") == [(1, 2, 3)]
    assert found("AND(A a, SEQ(B b, C c))", "B", "A", "C", "B") == [(0, 1, 2)]
    assert found("AND(A a, OR(B b, C c))", "B", "A", "C") == [(0, 1), (1, 2)]
    assert found("SEQ(A a, B? b, C c)", "A", "B", "C") == [(0, 2), (0, 1, 2)]


def test_windows() -> None:
    assert found("SEQ(A a, B b) WITHIN 2", "A", "C", "B", "B") == [(0, 2)]
    assert found("SEQ(A a, B b) WITHIN 2 EVENTS", "A", "C", "B", "B", step=5) == [(0, 2)]


def test_arrays() -> None:
    assert found("SEQ(A a, KL(B b))", "A", "B", "B") == [(0, 1), (0, 2), (0, 1, 2)]
    assert found("SEQ(KL(B b)) WHERE b[1].x > 0", "B0", "B1", "B0") == [(1,), (1, 2)]
    assert found("SEQ(KL(B b)) WHERE b[i].x > 0", "B0", "B1", "B0") == [(0,), (0, 1), (1,), (2,)]
    assert found("SEQ(KL(B b), A a) WHERE b[b.LEN].x < a.x", "B1", "B2", "A2") == [(0, 2)]
    assert found("SEQ(A a, KL(B b)) WHERE b[i].x < a.x", "A2", "B5", "B1") == [(0, 1), (0, 2), (0, 1, 2)]


@pytest.mark.parametrize(("pattern", "events", "expected"), [
    ("SEQ(NOT(C c), A a, B b) WITHIN 2", "CAB", []),
    ("SEQ(NOT(C c), A a, B b) WITHIN 2", "CDAB", [(2, 3)]),
    ("SEQ(NOT(C c), A a, B b) WITHIN 2", "ACB", [(0, 2)]),
    ("SEQ(A a, NOT(C c), B b) WITHIN 9", "ACB", []),
    ("SEQ(A a, NOT(C c), B b) WITHIN 9", "CABC", [(1, 2)]),
    ("SEQ(A a, B b, NOT(C c)) WITHIN 3", "ABDC", []),
    ("SEQ(A a, B b, NOT(C c)) WITHIN 2", "ABDC", [(0, 1)]),
    ("AND(A a, NOT(C c), B b)", "CBAC", [(1, 2)]),
    ("AND(A a, NOT(C c), B b)", "BCA", []),
    ("AND(A a, NOT(C c), B b, C d)", "ACB", []),
    ("SEQ(A? a, NOT(C c), B b) WITHIN 2", "CDDB", [(3,)]),
    ("SEQ(A? a, NOT(C c), B b) WITHIN 2", "CB", []),
])
def test_what_must_be_absent(pattern: str, events: str, expected: list[tuple[int, ...]]) -> None:
    assert found(pattern, *events) == expected


def test_conditions_of_what_must_be_absent() -> None:
    text = "SEQ(A a, NOT(C c), B b) WHERE c.x > a.x WITHIN 9"
    assert found(text, "A1", "C1", "B") == [(0, 2)]
    assert found(text, "A1", "C2", "B") == []


def test_strict_ties() -> None:
    """All events have the same time."""
    assert found("AND(A a, B b)", "A", "B", step=0) == [(0, 1)]
    assert found("AND(A a, B b)", "A", "B", step=0, strict=True) == []
    assert found("SEQ(KL(A a))", "A", "A", step=0, strict=True) == [(0,), (1,)]


def test_too_many_events_of_an_array_stop_a_pattern() -> None:
    assert found("SEQ(KL(A a)) WITHIN 1", "A", "A", "C", "A", "A", "A", max_kleene=2)[-1] == (5,)
    assert found("SEQ(KL(A a)) WITHIN 2", "A", "A", "A", "A", max_kleene=2) == [(0,), (0, 1), (1,)]
    assert found("SEQ(KL(A a)) WHERE a[1].x > 0 AND a[i].x > 0", "A1", "A0", "A1", "A0", max_kleene=2) == [
        (0,), (0, 2), (2,),
    ]


def test_a_null_is_in_no_partition() -> None:
    rows = stream("A", "B")
    rows[0]["k"] = None
    assert find_matches(parse("PATTERN AND(A a, B b) WHERE [k]", False), rows) == [[]]
