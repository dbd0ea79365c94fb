"""What fails leaves a run as it was: the next feed gives what it would have given."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import sparkrex as rex

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.filterwarnings("ignore:no event has type")

GREEDY = {"g": "PATTERN SEQ(A a, B b) WITHIN 3", "k": "PATTERN SEQ(KL(A a), B b) WITHIN 9"}
WATCHED = {
    "g": "PATTERN SEQ(A a, B b) WITHIN 9", "n": "PATTERN SEQ(A a, NOT(C c), B b, NOT(C d)) WITHIN 4",
    "k": "PATTERN SEQ(KL(A a), B b) WHERE [k] WITHIN 9", "c": "PATTERN SEQ(A a, B b) WHERE [k] WITHIN 2 EVENTS",
    "own": "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) WITHIN 9",
    "div": "PATTERN SEQ(A a, B b) WHERE 10 / b.x > 1 WITHIN 9",
}


def _chunk(events: str) -> pa.Table:
    """Of each event the type, after `@` the time, after `/` the key if any. Q is a B with which `div` fails."""
    words = [word.partition("/") for word in events.split()]
    kinds = [event[0] for event, _, _ in words]
    return pa.table({
        "ts": pa.array([int(event[2:]) for event, _, _ in words], pa.int64()),
        "kind": ["B" if kind == "Q" else kind for kind in kinds],
        "k": [key or "p" for _, _, key in words], "x": [0 if kind == "Q" else 1 for kind in kinds],
    })


def _rows(found: Any) -> list[tuple[str, int, str, int]]:
    return [(row["pattern"], row["match_id"], row["variable"], row["ts"]) for row in found.to_pylist()]


def _open(patterns: dict[str, str], **options: Any) -> Any:
    return rex.workload(patterns, time="ts", type="kind", **options).open()


def test_a_chunk_with_too_many_events_is_not_taken_by_half() -> None:
    run = _open(GREEDY, max_kleene=1, on_overflow="error")
    for _ in range(2):
        with pytest.raises(rex.ExecutionError, match="REX418"):
            run.feed(_chunk("A@1 A@2 B@3"))
    assert run.nbytes == 0
    assert _rows(run.feed(_chunk("A@1 B@3"))) == [
        ("g", 1, "a", 1), ("g", 1, "b", 3), ("k", 1, "a", 1), ("k", 1, "b", 3),
    ]


def _removed(run: Any) -> None:
    run.remove("k")


def _added(run: Any) -> None:
    run.add("h", "PATTERN SEQ(A a, B b) WITHIN 2")


def _replanned(run: Any) -> None:
    run.replan("none")


@pytest.mark.parametrize("change", [_removed, _added, _replanned])
def test_after_a_first_chunk_that_fails_patterns_change(change: Callable[[Any], None]) -> None:
    run = _open(GREEDY, max_kleene=1, on_overflow="error")
    with pytest.raises(rex.ExecutionError, match="REX418"):
        run.feed(_chunk("A@1 A@2 B@3"))
    change(run)
    found = [row for row in _rows(run.feed(_chunk("A@1 B@3"))) if row[0] == "g"]
    assert found == [("g", 1, "a", 1), ("g", 1, "b", 3)]
    assert [row for row in _rows(run.feed(_chunk("B@4"))) if row[0] == "g"] == [("g", 2, "a", 1), ("g", 2, "b", 4)]


BAD_CHUNKS = {
    "a condition fails": ("A@{0}/q A@{0}/r Q@{1}", "REX404"),
    "a condition fails, events of new keys": ("A@{0}/n1 A@{0}/n2 B@{0}/p Q@{1}/p", "REX404"),
    "too many events": ("B@{0} A@{1} A@{2} A@{3} A@{4}", "REX418"),
    "an event is too early": ("A@0", "REX409"),
}


@pytest.mark.parametrize("name", BAD_CHUNKS)
@pytest.mark.parametrize("is_changed", [False, True])
def test_a_run_goes_on_as_if_the_chunk_had_not_been_fed(name: str, is_changed: bool) -> None:
    events, code = BAD_CHUNKS[name]
    options: dict[str, Any] = {"max_kleene": 3, "on_overflow": "error", "tie_break": "k", "ties": "strict"}
    run, still = _open(WATCHED, **options), _open(WATCHED, **options)
    for number, chunk in enumerate(["A@1 A@2/q B@3", "C@4 B@5/q A@6", "B@9/q Z@10 A@11/q", "B@13 B@15/q", "Z@40"]):
        if is_changed and number == 2:
            for one in (run, still):
                one.remove("n")
                one.add("late", "PATTERN SEQ(A a, B b, NOT(C c)) WHERE [k] WITHIN 5")
        if number:
            held = run.nbytes
            latest = {1: 3, 2: 6, 3: 11, 4: 15}[number]
            with pytest.raises(rex.RexError, match=code):
                run.feed(_chunk(events.format(*range(latest + 1, latest + 6))))
            assert run.nbytes == held
        assert _rows(run.feed(_chunk(chunk))) == _rows(still.feed(_chunk(chunk)))
        assert len(run.switches) == len(still.switches)
    assert _rows(run.finish()) == _rows(still.finish())


def test_a_caller_who_fails_may_feed_again() -> None:
    fails = True

    def on_progress(_steps: int, _cost: float) -> None:
        if fails:
            raise RuntimeError("no")

    patterns = {f"p{one}{other}": f"PATTERN SEQ(A a, {one} b, {other} c) WITHIN 9" for one in "BC" for other in "DE"}
    run = _open(patterns, on_progress=on_progress)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="no"):
            run.feed(_chunk("A@1 B@2 C@3"))
    fails = False
    run.feed(_chunk("A@1 B@2 C@3"))
    fails = True
    with pytest.raises(RuntimeError, match="no"):
        run.replan()
    assert run.switches == []
    assert len(_rows(run.feed(_chunk("D@4")))) == 6


def test_switches_stay_when_the_last_pattern_goes() -> None:
    run = _open({"g": GREEDY["g"]})
    run.feed(_chunk("A@1"))
    run.replan("none")
    run.remove("g")
    run.feed(_chunk("A@2"))
    assert [switch.reason for switch in run.switches] == ["asked for"]
