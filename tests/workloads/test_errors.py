"""Errors while a workload runs: which pattern, with its place, and in which partition."""

from __future__ import annotations

from contextlib import nullcontext

import pyarrow as pa
import pytest
from tests.workloads.streams import DOORS, INTRUDER

import sparkrex as rex

ALIKE = "PATTERN SEQ(A a, C c) WHERE a.diff / 2 > c.diff WITHIN 5"
"""A pattern without fault whose condition stands where those of the others do."""


@pytest.mark.parametrize(("text", "position"), [
    ("PATTERN SEQ(A a, C c) WHERE 1 / (a.floor - 1) > 0 WITHIN 5", (1, 29)),
    ("PATTERN SEQ(A a, C c) WHERE 1 / (a.floor - 1) > c.diff WITHIN 5", (1, 29)),
    ("PATTERN SEQ(A a, C c) WHERE 1 / (a.floor - c.floor) > 0 WITHIN 5", (1, 29)),
    ("PATTERN SEQ(A a, C c) WHERE a.diff > 0 AND 1 / (a.floor - 1) > 0 WITHIN 5", (1, 29)),
    ("PATTERN SEQ(A a, C+ c[]) WHERE avg(c[].diff) > 0 AND 1 / (a.floor - 1) > 0 WITHIN 5", (1, 13)),
    ("PATTERN SEQ(A a, C c) WITHIN 5 RETURN c.diff / (a.floor - 1) AS x", (1, 39)),
])
def test_a_condition_that_fails_is_found(text: str, position: tuple[int, int]) -> None:
    texts = {"alike": ALIKE, "intruder": INTRUDER, "fails": text}
    workload = rex.workload(texts, time="ts", type="sensor")
    for found in (workload.detect, workload.open().feed):
        with pytest.raises(rex.ExecutionError) as caught:
            found(DOORS)
        assert (caught.value.code, caught.value.position) == ("REX404", position)
        assert "in the pattern fails" in str(caught.value)
        assert f"1 | {text}" in str(caught.value)


def test_a_function_that_does_not_exist() -> None:
    texts = {"alike": ALIKE, "wrong": "PATTERN SEQ(A a, C c) WHERE frobnicate(a.diff) > 1 WITHIN 5"}
    with pytest.raises(rex.AnalysisError, match=r"REX213.*frobnicate") as caught:
        rex.workload(texts, time="ts", type="sensor").detect(DOORS)
    assert caught.value.position == (1, 29)
    assert "in the pattern wrong" in str(caught.value)


def test_a_partition_is_named() -> None:
    text = "PATTERN SEQ(KL(C c), D d) WHERE [floor] WITHIN 9"
    stream = DOORS.set_column(1, "sensor", [["C", "C", "D", "C", "D", "C"]])
    workload = rex.workload({"many": text}, time="ts", type="sensor", max_kleene=1, on_overflow="error")
    with pytest.raises(rex.ExecutionError, match=r"REX418.*the pattern many") as caught:
        workload.detect(stream)
    assert caught.value.partition == (("floor", 1),)
    assert caught.value.position == (1, 9)


def test_ties_are_named_by_pattern_or_stream() -> None:
    tied = DOORS.set_column(0, "ts", [[1, 1, 3, 4, 5, 6]])
    with pytest.raises(rex.ExecutionError, match=r"REX409.*two events have the same ts"):
        rex.workload({"intruder": INTRUDER}, time="ts", type="sensor").detect(tied)


@pytest.mark.parametrize("wanted", ["detect", "explain", "run"])
def test_an_error_of_the_callers_progress_is_the_callers(wanted: str) -> None:
    def fail(steps: int, cost: float) -> None:
        raise ZeroDivisionError(f"at {steps} steps")

    texts = {
        name: f"PATTERN SEQ(A a, B b, C c) WHERE a.ts < b.ts + {number} WITHIN 9" for number, name in enumerate("pqrs")
    }
    workload = rex.workload(texts, time="ts", type="kind", max_steps=500, on_progress=fail)
    stream = pa.table({"ts": [1, 2, 3, 4], "kind": ["A", "B", "C", "A"]})
    with pytest.raises(ZeroDivisionError, match="at "):
        workload.open().feed(stream) if wanted == "run" else getattr(workload, wanted)(stream)


@pytest.mark.parametrize("wanted", ["detect", "explain"])
def test_what_is_no_session(wanted: str) -> None:
    workload = rex.workload({"p": "PATTERN SEQ(A a, B b) WITHIN 9"}, time="ts", type="kind")
    with pytest.raises(TypeError, match="spark= is a int, not a SparkSession"):
        getattr(workload, wanted)(pa.table({"ts": [1], "kind": ["A"]}), spark=5)


@pytest.mark.parametrize("values", [[["A"]], [{"x": "A"}]])
def test_types_are_no_lists_and_no_structs(values: list[object]) -> None:
    text, stream = "PATTERN SEQ(A a, B b)", pa.table({"ts": [1], "kind": values})
    workload = rex.workload({"p": text}, time="ts", type="kind")

    def of_events(given: pa.Table) -> object:
        return rex.events(text, given, time="ts", type="kind")

    for ask in (workload.detect, workload.open().feed, workload.explain, of_events):
        with pytest.raises(rex.AnalysisError, match=r"REX214.*the type column kind is a (ARRAY|STRUCT)"):
            ask(stream)


@pytest.mark.parametrize(("ts", "said"), [([1, 1], "have the same ts"), ([1, None], "ts is NULL")])
def test_events_without_an_order_are_of_a_pattern(ts: list[int | None], said: str) -> None:
    stream = pa.table({"ts": pa.array([0, *ts], pa.int64()), "kind": ["Z", "C", "D"]})
    texts = {"none": "PATTERN SEQ(A a, B b) WITHIN 5", "tied": "PATTERN SEQ(C c, D d) WITHIN 5"}
    workload = rex.workload(texts, time="ts", type="kind")
    for ask in (workload.detect, workload.open().feed):
        with pytest.warns(UserWarning) if ask == workload.detect else nullcontext(), \
                pytest.raises(rex.ExecutionError, match="REX409") as caught:
            ask(stream)
        assert "in the pattern tied" in str(caught.value)
        assert f"1 | {texts['tied']}" in str(caught.value)


def test_a_mistake_in_types_is_of_no_pattern() -> None:
    workload = rex.workload({"a": "PATTERN SEQ(Hot h, B b)"}, time="ts", type="kind", types={"Hot": "nothing > 3"})
    with pytest.raises(rex.AnalysisError, match=r"REX201.*nothing") as caught:
        workload.detect(pa.table({"ts": [1], "kind": ["A"]}))
    assert "in the pattern" not in str(caught.value)


@pytest.mark.parametrize("text", [
    f"PATTERN AND({', '.join(f'A{number} a{number}' for number in range(9))}) WITHIN 5",
    f"PATTERN SEQ({', '.join(f'A{number} a{number}' for number in range(2001))}) WITHIN 5",
])
def test_what_is_too_large_for_an_event_query_is_so_for_a_workload(text: str) -> None:
    stream = pa.table({"ts": pa.array([], pa.int64()), "kind": pa.array([], pa.string())})
    errors = []
    for ask in (
        lambda: rex.events(text, stream, time="ts", type="kind"),
        lambda: rex.workload({"p": text}, time="ts", type="kind").detect(stream),
    ):
        with pytest.raises(rex.RexError) as caught:
            ask()
        errors.append((caught.value.code, caught.value.message, caught.value.position))
    assert errors[0] == errors[1]
