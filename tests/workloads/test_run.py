"""Runs that are fed chunk by chunk: rules that come and go, plans that change, and what may not be fed."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pytest
from tests.workloads.streams import DOORS, INTRUDER, PAIR, events_of

import sparkrex as rex
from sparkrex.modes.workload import watch


def _open(patterns: dict[str, str], **options: Any) -> Any:
    return rex.workload(patterns, time="ts", type="sensor").open(**options)


def _fed(run: Any, *cuts: int) -> list[Any]:
    """What chunks of the signals give, and the end."""
    parts = [
        events_of(run.feed(DOORS.slice(first, last - first)).table)
        for first, last in zip((0, *cuts), (*cuts, 6), strict=True)
    ]
    return [*parts, events_of(run.finish().table)]


def test_matches_come_when_they_are_decided() -> None:
    first, second, third, end = _fed(_open({"intruder": INTRUDER, "pair": PAIR}), 2, 4)
    assert first == []
    assert [event[:3] for event in second] == [
        ("intruder", 1, "a"), ("intruder", 1, "b"), ("intruder", 1, "c"), ("pair", 1, "a"), ("pair", 1, "c"),
        ("pair", 2, "c"), ("pair", 2, "a"),
    ]
    assert [event[:2] for event in third] == [("intruder", 2)] * 3
    assert end == []


def test_an_added_pattern_gives_what_begins_after_it() -> None:
    run = _open({"intruder": INTRUDER})
    run.feed(DOORS.slice(0, 3))
    run.add("ac", "PATTERN SEQ(A a, C c) WITHIN 10")
    assert events_of(run.feed(DOORS.slice(3)).table)[3:] == [("ac", 1, "a", 4), ("ac", 1, "c", 6)]
    assert run.names == ("intruder", "ac")
    assert [switch.reason for switch in run.switches] == ["the patterns changed"]


def test_a_leading_negation_of_an_added_pattern_looks_back() -> None:
    run = _open({"wide": "PATTERN SEQ(A a, B b) WITHIN 10"})
    run.feed(DOORS.slice(0, 3))
    run.add("no B before", "PATTERN SEQ(NOT(B b), A a) WITHIN 3")
    run.add("no D before", "PATTERN SEQ(NOT(D d), A a) WITHIN 3")
    found = run.feed(DOORS.slice(3))
    assert found["no B before"].num_rows == 0  # B at 2 is within 3 of A at 4
    assert found["no D before"].num_rows == 1


def test_a_removed_pattern_gives_nothing_more() -> None:
    waits = "PATTERN SEQ(A a, NOT(B b)) WITHIN 10"
    run = _open({"intruder": INTRUDER, "waits": waits})
    run.feed(DOORS.slice(0, 5))
    run.remove("waits")
    assert {event[0] for event in events_of(run.feed(DOORS.slice(5)).table)} == {"intruder"}
    assert events_of(run.finish().table) == []
    # Left in, it would have given the A at 4, when the run ends.
    assert _fed(_open({"intruder": INTRUDER, "waits": waits}), 5)[-1] == [("waits", 1, "a", 4)]


@pytest.mark.parametrize("where", ["", "WHERE skip_till_next_match(a, e)"])
def test_a_decided_match_waits_for_those_before_it(where: str) -> None:
    """Of the A alone it is known at 7 that no D came: then the A with the C is given too, which was decided at 2."""
    run = _open({"p": f"PATTERN SEQ(A a, NOT(D d), C? e) {where} WITHIN 5"})
    chunks = [pa.table({"ts": [ts], "sensor": [kind]}) for ts, kind in ((1, "A"), (2, "C"), (7, "Z"))]
    assert [sorted({row["ts"] for row in run.feed(chunk).to_pylist()}) for chunk in chunks] == [[], [], [1, 2]]


def test_the_pattern_that_owned_a_shared_node_is_removed() -> None:
    run = _open({"owner": INTRUDER, "other": "PATTERN SEQ(A a, B b, D d) WHERE a.floor = b.floor WITHIN 10"})
    run.feed(DOORS.slice(0, 3))
    run.remove("owner")
    found = events_of(run.feed(DOORS.slice(3)).table)
    assert found == [("other", 1, "a", 1), ("other", 1, "b", 2), ("other", 1, "d", 5)]


def test_a_name_that_comes_again_is_another_pattern() -> None:
    run = _open({"wide": "PATTERN SEQ(D a, D b) WITHIN 10", "p": "PATTERN SEQ(A a, C c) WITHIN 10"})
    run.feed(DOORS.slice(0, 3))
    run.remove("p")
    run.add("p", "PATTERN SEQ(A a, C c) WITHIN 10")
    assert events_of(run.feed(DOORS.slice(3)).table) == [("p", 1, "a", 4), ("p", 1, "c", 6)]


def test_all_patterns_go() -> None:
    run = _open({"intruder": INTRUDER})
    run.feed(DOORS.slice(0, 2))
    run.remove("intruder")
    assert run.feed(DOORS.slice(2, 2)).num_rows == 0
    run.add("ac", "PATTERN SEQ(D d, C c) WITHIN 10")
    assert run.feed(DOORS.slice(4)).num_rows == 2


def test_mistakes_of_an_added_pattern_are_shown_at_once() -> None:
    run = _open({"intruder": INTRUDER})
    run.feed(DOORS.slice(0, 2))
    with pytest.raises(rex.AnalysisError, match="REX205"):
        run.add("intruder", PAIR)
    with pytest.raises(rex.ParseError, match="in the pattern broken"):
        run.add("broken", "PATTERN SEQ(A")
    with pytest.raises(rex.AnalysisError, match="REX201"):
        run.add("unknown", "PATTERN SEQ(A a, B b) WHERE a.nothing > b.diff WITHIN 3")
    with pytest.raises(rex.AnalysisError, match="there is no pattern intrude"):
        run.remove("intrude")
    assert run.names == ("intruder",)
    assert run.feed(DOORS.slice(2)).num_rows == 6


def test_chunks_come_in_order_with_the_same_columns() -> None:
    run = _open({"intruder": INTRUDER})
    run.feed(DOORS.slice(2, 2))
    with pytest.raises(rex.ExecutionError, match=r"REX409.*ts = 1 after 4"):
        run.feed(DOORS.slice(0, 2))
    with pytest.raises(rex.ExecutionError, match=r"REX407.*other columns"):
        run.feed(DOORS.drop_columns(["diff"]))
    with pytest.raises(rex.ExecutionError, match=r"REX407.*other types"):
        run.feed(DOORS.set_column(0, "ts", pa.array(["x"] * 6)))


def test_a_finished_run_takes_no_more() -> None:
    run = _open({"intruder": INTRUDER})
    run.finish()
    with pytest.raises(rex.AnalysisError, match="the run is finished"):
        run.feed(DOORS)


def test_a_run_without_chunks_ends() -> None:
    assert _open({"intruder": INTRUDER}).finish().num_rows == 0


def test_empty_chunks() -> None:
    run = _open({"intruder": INTRUDER})
    assert run.feed(DOORS.slice(0, 0)).num_rows == 0
    assert run.feed(DOORS).num_rows == 6


def test_what_is_kept_follows_the_window() -> None:
    run = rex.workload({"ab": "PATTERN SEQ(A a, B b) WITHIN 50"}, time="ts", type="kind").open()
    sizes = []
    for chunk in range(30):
        times = np.arange(100) + 100 * chunk
        run.feed(pa.table({"ts": times, "kind": np.where(times % 7 == 0, "A", "B")}))
        sizes.append(run.nbytes)
    assert max(sizes[5:]) < 2 * sizes[2]


def _shifting(n_rows: int) -> list[pa.Table]:
    """Two chunks in which A is frequent and C rare, then two the other way round."""
    random = np.random.default_rng(3)
    tables = []
    for number, shares in enumerate([(0.6, 0.35, 0.05)] * 2 + [(0.05, 0.35, 0.6)] * 3):
        kinds = random.choice(["A", "B", "C"], n_rows, p=shares)
        times = np.arange(n_rows) + n_rows * number
        tables.append(pa.table({"ts": times, "kind": kinds, "x": random.integers(0, 200, n_rows)}))
    return tables


def test_a_run_plans_anew_when_rates_drift(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(watch, "LOOK_SHARE", 1e9)  # three types take no time that is worth a look
    monkeypatch.setattr(watch.Watch, "pays", lambda *_: True)
    texts = {"abc": "PATTERN SEQ(A a, B b, C c) WHERE a.x < b.x AND b.x < c.x WITHIN 20"}
    workload = rex.workload(texts, time="ts", type="kind", max_steps=100)
    chunks = _shifting(4000)
    run = workload.open()
    still = workload.open(adaptive=False)
    for chunk in chunks:
        assert run.feed(chunk).table.equals(still.feed(chunk).table)
    assert any("the rate of an event went from" in switch.reason for switch in run.switches)
    assert all(switch.cost < switch.cost_before for switch in run.switches)
    assert still.switches == []


@pytest.mark.filterwarnings("ignore:the pattern kleene has stopped")
def test_a_pattern_that_has_stopped_stays_so() -> None:
    texts = {"kleene": "PATTERN SEQ(KL(A k), C c) WITHIN 50", "single": "PATTERN SEQ(A a, C c) WITHIN 2"}
    run = rex.workload(texts, time="ts", type="kind", max_kleene=1).open()
    stopped = run.feed(pa.table({"ts": [1, 2, 3], "kind": ["A", "A", "C"]}))
    assert [(stop.pattern, stop.event["ts"]) for stop in stopped.stopped] == [("kleene", 2)]
    run.replan("re")
    run.add("more", "PATTERN SEQ(A a, C c) WITHIN 3")
    # The window with the two events is over long ago.
    found = run.feed(pa.table({"ts": [101, 102], "kind": ["A", "C"]}))
    assert {event[0] for event in events_of(found.table)} == {"single", "more"}
    run.remove("kleene")
    run.add("kleene", texts["kleene"])
    assert run.feed(pa.table({"ts": [201, 202], "kind": ["A", "C"]}))["kleene"].num_rows == 2


@pytest.mark.parametrize("on_overflow", ["stop", "error"])
def test_what_came_before_a_pattern_does_not_stop_it(on_overflow: Literal["stop", "error"]) -> None:
    texts = {"single": "PATTERN SEQ(A a, C c) WITHIN 50"}
    run = rex.workload(texts, time="ts", type="kind", max_kleene=1, on_overflow=on_overflow).open()
    run.feed(pa.table({"ts": [1, 2, 3], "kind": ["A", "A", "C"]}))
    run.add("kleene", "PATTERN SEQ(KL(A k), C c) WITHIN 5")
    for time in (20, 30):
        found = run.feed(pa.table({"ts": [time, time + 1], "kind": ["A", "C"]}))
        assert [event["ts"] for event in found["kleene"].to_pylist()] == [time, time + 1]


def test_numbers_go_on_when_the_first_pattern_of_a_group_goes() -> None:
    """Both name the same keys, in another order."""
    texts = {"o": "PATTERN SEQ(B b) WHERE [h] AND [g] WITHIN 5", "p": "PATTERN SEQ(A a) WHERE [g] AND [h] WITHIN 5"}
    run = rex.workload(texts, time="ts", type="kind").open()

    def number(ts: int) -> list[int]:
        chunk = pa.table({"ts": [ts], "kind": ["A"], "g": ["p"], "h": ["q"]})
        return [row["match_id"] for row in run.feed(chunk).to_pylist()]

    assert number(1) == [1]
    run.remove("o")
    assert number(100) == [2]


def test_columns_of_a_chunk_may_come_in_another_order() -> None:
    run = _open({"ab": "PATTERN SEQ(A a, B b) WITHIN 10"})
    run.feed(DOORS.slice(0, 1))
    assert run.feed(DOORS.slice(1, 1).select(["diff", "floor", "sensor", "ts"])).num_rows == 2


@pytest.mark.parametrize("options", [
    {"drift": "x"}, {"drift": 0}, {"drift": 1.0}, {"drift": float("nan")}, {"drift": None}, {"adaptive": "x"},
])
def test_options_of_a_run_that_are_none(options: dict[str, Any]) -> None:
    with pytest.raises(rex.AnalysisError, match="REX217"):
        _open({"intruder": INTRUDER}, **options)


def test_arguments_of_a_run_that_are_none() -> None:
    run = _open({"intruder": INTRUDER})
    for name, text in (("q", None), (5, INTRUDER)):
        with pytest.raises(TypeError, match="a pattern has a name and a text"):
            run.add(name, text)
    with pytest.raises(TypeError, match="not a table"):
        run.feed(None)
    with pytest.raises(rex.AnalysisError, match="unknown method"):
        run.replan("best")


@pytest.mark.parametrize("name", [5, None])
def test_what_is_no_name_is_not_removed(name: Any) -> None:
    with pytest.raises(TypeError, match="a pattern has a name, and"):
        _open({"pair": PAIR}).remove(name)
