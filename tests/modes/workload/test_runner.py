"""The runner of shared plans: plans that replace each other, patterns that stop, limits, ties, larger streams."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import pytest
from tests.interrupts import interrupt_when_busy
from tests.modes.events.engine_runs import evaluator_of
from tests.modes.workload.draws import parse
from tests.modes.workload.running import arranged, collect, fed, new_runner, shared_forms

from sparkrex.errors import ExecutionError
from sparkrex.matching.feeding import feeds_of
from sparkrex.modes.workload import search, segment_search
from sparkrex.modes.workload.runner import GroupRunner
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from tests.modes.workload.running import Found

    from sparkrex.hosts.duckdb.host import RelationEvaluator
    from sparkrex.modes.workload.prepared import Prepared


@pytest.fixture(scope="module")
def evaluator() -> RelationEvaluator:
    """One host for all queries."""
    return evaluator_of(parse("PATTERN SEQ(A a)", False))


def prepared_of(texts: dict[str, str], method: str = "sa-edge", *, strict: bool = False) -> Prepared:
    queries = {name: parse(f"PATTERN {text}", strict) for name, text in texts.items()}
    return shared_forms(queries).prepared(method, random.Random(1))


def events(kinds: str, **columns: Any) -> list[dict[str, Any]]:
    """One event after the other."""
    return [
        {"k": "u", "t": number, "b": number, "kind": kind, "x": number, "y": None, "s": None,
         **{name: values[number] for name, values in columns.items()}}
        for number, kind in enumerate(kinds)
    ]


def whole(runner: GroupRunner, rows: list[dict[str, Any]]) -> Found:
    return fed(runner, feeds_of(*arranged(runner.queries, rows), None))


# Patterns that stop.


def test_a_pattern_that_stops_says_where_and_the_others_go_on(evaluator: RelationEvaluator) -> None:
    prepared = prepared_of({
        "small": "SEQ(KL(A a), B b) WITHIN 1", "large": "SEQ(KL(A a), B b) WITHIN 9", "other": "SEQ(A a, B b) WITHIN 9",
    })
    rows = events("AABAAB")
    runner = new_runner(prepared, evaluator, max_kleene=3)
    state = runner.open()
    decided = [runner.decide(state, feed) for feed in feeds_of(*arranged(runner.queries, rows), 2)]
    names = [pattern.name for pattern in prepared.patterns]
    stops = [(names[one], part.frame.table.column("t")[row].as_py()) for part in decided for one, row in part.stops]
    assert stops == [("large", 4)]
    found = collect(runner, decided)
    assert {name: len(found[name][0]) for name in names} == {"small": 2, "large": 3, "other": 6}


# Limits.


def test_instances_take_what_event_memory_says(evaluator: RelationEvaluator) -> None:
    prepared = prepared_of({"p": "AND(A a, A b, A c, A d) WITHIN 300"}, "none")
    runner = GroupRunner(prepared, evaluator, Settings(threads=1, max_event_memory=20_000_000))
    with pytest.raises(ExecutionError, match="REX410"):
        whole(runner, events("A" * 300))


def test_cells_take_what_event_memory_says(evaluator: RelationEvaluator) -> None:
    prepared = prepared_of({"p": "SEQ(KL(A a), B b) WITHIN 300"}, "none")
    runner = GroupRunner(prepared, evaluator, Settings(threads=1, max_event_memory=20_000_000), max_kleene=30)
    with pytest.raises(ExecutionError, match="REX410"):
        whole(runner, events("A" * 30))


def test_ctrl_c_ends_a_search(evaluator: RelationEvaluator) -> None:
    prepared = prepared_of({"p": "AND(A a, A b, A c, A d) WHERE a.x < b.x AND c.x < d.x WITHIN 9000"}, "none")
    runner = GroupRunner(prepared, evaluator, Settings(threads=1, max_event_memory=1 << 33))
    whole(runner, events("AB"))  # compiles
    with pytest.raises(KeyboardInterrupt), interrupt_when_busy():
        whole(runner, events("A" * 9000))


# Order.


def test_only_events_that_a_pattern_may_use_must_have_an_order(evaluator: RelationEvaluator) -> None:
    prepared = prepared_of({"p": "SEQ(A a, B b) WITHIN 9", "q": "SEQ(A a, C c) WITHIN 9"})
    runner = new_runner(prepared, evaluator)
    found = whole(runner, events("ABC", t=[0, 1, 1], b=[0, 0, 0]))
    assert {name: len(matches[0]) for name, matches in found.items()} == {"p": 1, "q": 1}
    with pytest.raises(ExecutionError, match="REX409"):
        whole(runner, events("ABA", t=[0, 1, 1], b=[0, 0, 0]))


# Larger streams.


def large_stream(seed: int, n_rows: int) -> list[dict[str, Any]]:
    draw = random.Random(seed)
    rows = events("".join(draw.choice("ABCDE") for _ in range(n_rows)))
    for row in rows:
        row |= {"x": draw.choice([*range(40), None]), "y": draw.random() * 40, "s": draw.choice("pqrstu"),
                "t": row["t"] // 2, "k": draw.choice("uv")}
    return rows


LARGE = {
    "equal": "SEQ(A a, B b, C c) WHERE a.x = b.x AND b.y < c.y WITHIN 120",
    "less": "SEQ(A p, B q, C r) WHERE p.x = q.x AND q.y < r.y AND p.s <= r.s WITHIN 200",
    "any order": "AND(A a, D d, NOT(E e), B b) WHERE a.x = d.x AND b.s = d.s AND e.x = a.x WITHIN 120",
    "array": "SEQ(A a, KL(E e), B b) WHERE a.s <= b.s AND e[1].x < 4 AND e[i].x < 4 AND a.x = b.x WITHIN 80",
    "trailing": "SEQ(A a, C c, NOT(B b)) WHERE a.x = c.x AND b.x < c.x WITHIN 20",
    "counted": "AND(A a, C c) WHERE a.x = c.x AND a.y < c.y WITHIN 100 EVENTS",
}


@pytest.mark.parametrize("strict", [False, True])
def test_all_plans_and_ways_agree_on_larger_streams(
    strict: bool, evaluator: RelationEvaluator, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = large_stream(3, 4000)
    answers = []
    for method, threads, chunk, segment, block in (
        ("none", 1, None, 1 << 20, 1 << 12), ("sa-edge", 2, None, 700, 64), ("sh", 1, 900, 1 << 20, 128),
        ("re", 2, 1500, 500, 4096),
    ):
        monkeypatch.setattr(segment_search, "SEGMENT_ROWS", segment)
        monkeypatch.setattr(search, "BLOCK_ROWS", block)
        monkeypatch.setattr(search, "MOST_COMPLETE", 50)
        prepared = prepared_of({name: text.replace("WITHIN", "AND [k] WITHIN") for name, text in LARGE.items()}, method,
                               strict=strict)
        runner = new_runner(prepared, evaluator, threads=threads)
        answers.append(fed(runner, feeds_of(*arranged(runner.queries, rows), chunk)))
    assert all(answer == answers[0] for answer in answers)
    n_matches = {name: sum(map(len, answers[0].get(name, []))) for name in LARGE}
    assert min(n_matches.values()) > 20, n_matches

