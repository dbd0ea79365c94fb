"""Equalities between variables as partitions: which queries have them, and that answers, order and numbers stay."""

from __future__ import annotations

import os
import random
import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.modes.events.analysis import analyzed
from tests.modes.events.building import query, seq
from tests.modes.events.engine_runs import (
    compressed_matches,
    engine_matches,
    evaluator_of,
    returned_matches,
)
from tests.modes.events.equalities import generate_equalities
from tests.modes.events.oracle import find_matches
from tests.modes.rows.property.draws import RandomDraw

import sparkrex as rex
from sparkrex.modes.events import engine as event_engine
from sparkrex.modes.events.analyze.equalities import EqualityPartition, find_partition
from sparkrex.modes.events.mode import EventsMode
from sparkrex.modes.events.nfab import matcher
from sparkrex.modes.events.nfab.automaton import compile_automaton
from sparkrex.modes.events.pattern import absences
from sparkrex.modes.events.plan import Strategy
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.hosts.duckdb.host import RelationEvaluator

N_EXAMPLES = int(os.environ.get("REX_EVENT_EXAMPLES", "200"))
SEED = int(os.environ.get("REX_SEED", "20080612"))
N_SHARES = 2


def refusal(pattern: str, where: str, strategy: str = "skip_till_any_match", rest: str = "") -> str | None:
    """Why the equalities make no partition; None if they make one."""
    variables = {"SEQ(A a, B+ b[], C c)": "a, b[], c"}.get(pattern, "")
    names = variables or ", ".join(
        part.strip(" ()~").split()[-1] for part in pattern.removeprefix("SEQ(").replace("|", ",").split(",")
    )
    text = f"PATTERN {pattern} WHERE {strategy}({names}) {{ {where} }} {rest} RETURN EVENTS"
    found = find_partition(analyzed(text, time="n"))
    assert bool(found.keys) != bool(found.refusals)
    assert len(found.used) == len(found.keys)
    return None if found.keys else found.refusals[0]


@pytest.mark.parametrize("strategy", ["skip_till_next_match", "skip_till_any_match"])
@pytest.mark.parametrize(
    ("pattern", "where"),
    [
        ("SEQ(A a, B b)", "a.lot = b.lot"),
        ("SEQ(A a, B b, C c)", "a.lot = b.lot AND b.lot = c.lot"),
        ("SEQ(A a, B b, C c)", "a.lot = b.lot AND a.lot = c.lot"),
        ("SEQ(A a, B b, C c)", "a.lot = b.lot AND a.lot = c.lot AND b.lot = c.lot"),
        ("SEQ(A a, B b)", "a.level + 1 = b.level + 1"),
        ("SEQ(A a, B b)", "lower(a.lot) = lower(b.lot)"),
        ("SEQ(A a, B b)", "a.place.city = b.place.city"),
        ("SEQ(A a, B? b, C c)", "a.lot = b.lot AND a.lot = c.lot"),
        ("SEQ(A a, (B b | D d), C c)", "a.lot = b.lot AND a.lot = d.lot AND a.lot = c.lot"),
        ("SEQ(A a, ~(B b), C c)", "a.lot = b.lot AND a.lot = c.lot"),
        ("SEQ(A a, ~(B b), C c)", "c.lot = b.lot AND a.lot = c.lot"),
        ("SEQ(A a, B+ b[], C c)", "a.lot = b[1].lot AND b[i].lot = b[i-1].lot AND c.lot = b[b.LEN].lot"),
        ("SEQ(A a, B+ b[], C c)", "a.lot = b[1].lot AND b[i].lot = b[1].lot AND c.lot = a.lot"),
        ("SEQ(A a, B+ b[], C c)", "a.lot = b[1].lot AND b[i].lot = a.lot AND c.lot = b[b.LEN].lot"),
    ],
)
def test_equalities_that_partition(pattern: str, where: str, strategy: str) -> None:
    assert refusal(pattern, where, strategy) is None


@pytest.mark.parametrize(
    ("pattern", "where", "why"),
    [
        ("SEQ(A a, B b, C c)", "a.lot = b.lot", r"\(a\) c and a are not connected"),
        ("SEQ(A a, B? b, C c)", "a.lot = b.lot AND b.lot = c.lot", r"\(a\) c and a are not connected"),
        ("SEQ(A a, (B b | D d), C c)", "a.lot = b.lot AND a.lot = c.lot", r"\(a\) d, which not every match has"),
        ("SEQ((A a | B b), C c)", "a.lot = c.lot", r"\(a\) b, which not every match has"),
        ("SEQ(A a, ~(B b), C c)", "a.lot = c.lot", r"\(c\) the negated b"),
        ("SEQ(A a, ~(B b), C c)", "a.lot = b.lot AND b.lot = c.lot", r"\(a\) c and a are not connected"),
        ("SEQ(A a, B+ b[], C c)", "a.lot = b[1].lot AND a.lot = c.lot", r"\(b\) b\[i\]"),
        # With one b, nothing would join a and c.
        ("SEQ(A a, B+ b[], C c)", "b[i].lot = a.lot AND c.lot = b[b.LEN].lot AND c.lot = b[1].lot", r"\(a\) b and a"),
        ("SEQ(A a, B b)", "coalesce(a.lot, 'x') = coalesce(b.lot, 'x')", "a value where there is no event"),
    ],
)
def test_equalities_that_do_not_partition(pattern: str, where: str, why: str) -> None:
    found = refusal(pattern, where)
    assert found is not None
    assert re.search(why, found), found


@pytest.mark.parametrize(
    ("strategy", "rest", "why"),
    [
        ("strict_contiguity", "", "under strict_contiguity events of other values end runs"),
        ("skip_till_any_match", "WITHIN 5 EVENTS", "WITHIN EVENTS counts events of other values"),
        ("skip_till_any_match", "OUTPUT NON-OVERLAPPING", "with NON-OVERLAPPING a match keeps out matches"),
    ],
)
def test_never(strategy: str, rest: str, why: str) -> None:
    found = refusal("SEQ(A a, B b)", "a.lot = b.lot", strategy, rest)
    assert found is not None
    assert found.startswith(why)


@pytest.mark.parametrize("where", ["a.lot = b.site", "a.lot <> b.lot", "a.lot = b.lot OR a.level > 1", "a.lot = 'x'"])
def test_no_equality_of_one_key(where: str) -> None:
    text = f"PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) {{ {where} }} RETURN EVENTS"
    assert find_partition(analyzed(text)) == find_partition(analyzed(text.replace(f"{{ {where} }}", "")))


LETTERS = pa.table({"ts": [1, 2, 3, 4], "kind": list("ABBC"), "x": [1, 2, 1, 1]})


def test_next_match_commits_to_an_event_of_another_value() -> None:
    """A1 B2 B1 C1: b is compared with c only, so the run selects B2, and C1 is not equal to it."""
    where = "a.x = c.x AND b.x = c.x"
    text = f"PATTERN SEQ(A a, B b, C c) WHERE skip_till_next_match(a, b, c) {{ {where} }} RETURN a.ts AS a, b.ts AS b"
    options: dict[str, Any] = {"time": "ts", "type": "kind"}
    assert rex.events(text, LETTERS, **options).num_rows == 0
    explained = str(rex.explain(rex.events(text, **options), LETTERS))
    assert "no partition by equalities: x: skip_till_next_match selects b without comparing it" in explained
    any_match = text.replace("next", "any")
    assert rex.events(any_match, LETTERS, **options).to_pylist() == [{"a": 1, "b": 3}]
    explained = str(rex.explain(rex.events(any_match, **options), LETTERS))
    assert "partition by equalities: a.x = c.x, b.x = c.x" in explained


NAN = float("nan")


def test_null_is_a_partition_of_its_own_and_nan_is_one() -> None:
    stream = pa.table({"ts": range(6), "kind": list("AAAABB"), "x": [None, None, NAN, 1.0, None, NAN]})
    silent = "PATTERN SEQ(A a, ~(B b)) WHERE skip_till_next_match(a, b) { a.x = b.x } WITHIN 10 RETURN a.ts AS a"
    options: dict[str, Any] = {"time": "ts", "type": "kind"}
    assert rex.events(silent, stream, **options).column("a").to_pylist() == [0, 1, 3]
    pairs = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { a.x = b.x } RETURN a.ts AS a, b.ts AS b"
    assert rex.events(pairs, stream, **options).to_pylist() == [{"a": 2, "b": 5}]


def test_order_and_numbers_are_those_of_the_whole_stream() -> None:
    """By the last event, whatever the value: the partitions are ours alone."""
    stream = pa.table({"ts": range(8), "kind": list("AABBABAB"), "x": [2, 1, 1, 2, 3, 3, 1, 1]})
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { a.x = b.x }"
    for settings in ({}, {"chunk_rows": 1}, {"chunk_rows": 3}, {"matcher": "backtrack"}):
        found = rex.events(text, stream, time="ts", type="kind", settings=settings)
        assert found.column("match_id").to_pylist() == [1, 1, 2, 2, 3, 3, 4, 4]
        assert found.column("ts").to_pylist() == [1, 2, 0, 3, 4, 5, 6, 7]
        measured = rex.events(f"{text} RETURN a.ts AS a", stream, time="ts", type="kind", settings=settings)
        assert measured.column("a").to_pylist() == [1, 0, 4, 6]


def test_numbers_are_those_of_the_querys_own_partition() -> None:
    """Two partitions by [k], cut further by x."""
    stream = pa.table({
        "ts": range(8), "kind": list("AABBAABB"), "x": [2, 1, 1, 2, 1, 2, 2, 1], "k": list("ppppqqqq"),
    })
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { [k] AND a.x = b.x }"
    for settings in ({}, {"chunk_rows": 1}, {"chunk_rows": 3}, {"matcher": "backtrack"}):
        found = rex.events(text, stream, time="ts", type="kind", settings=settings)
        assert found.column("match_id").to_pylist() == [1, 1, 2, 2, 1, 1, 2, 2]
        assert found.column("ts").to_pylist() == [1, 2, 0, 3, 5, 6, 4, 7]
    buffer = rex.events(text, time="ts", type="kind").buffer(stream)
    assert rex.decompress(buffer) == found


@pytest.mark.parametrize(
    ("pattern", "where"),
    [("SEQ(A a, ~(B b), C c)", "a.x = b.x AND a.x = c.x"),
     ("SEQ(A a, ~(B b), C c, D d)", "a.x = b.x AND a.x = c.x AND a.x = d.x AND b.ts > d.ts")],
    ids=["before the gap", "behind the gap"],
)
def test_negated_events_of_other_values_do_not_change_the_order(
    pattern: str, where: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are candidates for the whole stream: merged by candidates, runs would be merged in its partitions only."""
    stream = pa.table({"ts": range(8), "kind": list("ABACBCAD"), "x": [1, 2, 1, 1, 2, 1, 1, 1]})
    variables = "a, b, c, d" if "D" in pattern else "a, b, c"
    text = f"PATTERN {pattern} WHERE skip_till_any_match({variables}) {{ {where} }}"
    found = rex.events(text, stream, time="ts", type="kind")
    assert "─ partition by equalities" in str(rex.explain(rex.events(text, time="ts", type="kind"), stream))
    monkeypatch.setattr(event_engine, "find_partition", lambda query: EqualityPartition())
    assert found == rex.events(text, stream, time="ts", type="kind")
    assert found.num_rows > 2


def test_tied_events_of_other_values_are_still_an_error() -> None:
    stream = pa.table({"ts": [1, 1, 2], "kind": list("AAB"), "x": [1, 2, 1]})
    text = "PATTERN SEQ(A a, B b) WHERE skip_till_next_match(a, b) { a.x = b.x } RETURN a.ts AS a"
    for settings in ({}, {"chunk_rows": 1}):
        with pytest.raises(rex.ExecutionError, match="REX409"):
            rex.events(text, stream, time="ts", type="kind", settings=settings)


def test_a_key_that_fails_on_rows_nobody_asks_partitions_nothing() -> None:
    """2^63 - 1 of C, which is never compared, has no successor."""
    stream = pa.table({"ts": [1, 2, 3], "kind": list("ABC"), "x": [1, 1, 2**63 - 1]})
    text = """PATTERN SEQ(A a, B b, C? c) WHERE skip_till_any_match(a, b, c) {
        a.ts < b.ts AND a.x + 1 = b.x + 1 AND c.ts > a.ts AND c.x > 0 } RETURN a.ts AS a, c.ts AS c"""
    expected = rex.events(text.replace("a.x + 1 = b.x + 1", "a.x = b.x"), stream, time="ts", type="kind").to_pylist()
    assert rex.events(text, stream, time="ts", type="kind").to_pylist() == expected


def test_strict_ties_keep_their_order_in_memory() -> None:
    """Found by chance: events of other values tell that the time has moved on, and runs are merged then."""
    times, xs = [-1, 1, 2, 2, 3, 4, 4, 4], [1, 1, 2, 2, 1, 2, 1, 2]
    stream = pa.table({"t": times, "b": [2, 5, 1, 3, 0, 4, 7, 6], "x": xs})
    text = """PATTERN SEQ(A a, A+ b[]) WHERE skip_till_any_match(a, b[]) { b[1].x = a.x AND b[i].x = b[i-1].x } WITHIN 6
        RETURN a.b AS a, array_agg(b[].b) AS b"""
    options: dict[str, Any] = {"time": "t", "tie_break": "b", "ties": "strict"}
    found = rex.events(text, stream, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(event_engine, "find_partition", lambda query: EqualityPartition())
        assert rex.events(text, stream, **options) == found
    assert "no partition by equalities: with strict ties" in str(rex.explain(rex.events(text, **options), stream))


def test_nested_types_decline() -> None:
    stream = pa.table({"ts": [1, 2], "kind": list("AB"), "x": [[1], [1]]})
    asked = analyzed("PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { a.codes = b.codes }")
    assert len(find_partition(asked).keys) == 1
    own = query(seq("A a"), Strategy.ANY)
    found = event_engine.equality_keys(asked, stream.rename_columns(["n", "kind", "codes"]), evaluator_of(own))
    assert found.values == ()
    assert found.found.refusals == (f"codes: values of type {stream.schema.field('x').type} are compared part by part",)


def test_two_keys_and_an_equivalence_test() -> None:
    random = np.random.default_rng(5)
    n_rows = 300
    stream = pa.table({
        "ts": np.arange(n_rows), "kind": random.choice(list("ABC"), n_rows), "k": random.integers(0, 2, n_rows),
        "x": random.integers(0, 3, n_rows), "y": random.integers(0, 3, n_rows),
    })
    text = """PATTERN SEQ(A a, B b, C c) WHERE skip_till_any_match(a, b, c) { %s } WITHIN 40
        RETURN a.ts AS a, b.ts AS b, c.ts AS c"""
    equal = " AND ".join(f"a.{name} = b.{name} AND b.{name} = c.{name}" for name in ("x", "y"))
    options: dict[str, Any] = {"time": "ts", "type": "kind"}
    found = rex.events(text % f"[k] AND {equal}", stream, **options)
    same = rex.events(text % "[k] AND [x] AND [y]", stream, **options)
    assert found.num_rows > 10
    assert sorted(map(repr, found.to_pylist())) == sorted(map(repr, same.to_pylist()))
    explained = str(rex.explain(rex.events(text % f"[k] AND {equal}", **options), stream))
    assert "partition by equalities: a.x = b.x, b.x = c.x" in explained
    assert "partition by equalities: a.y = b.y, b.y = c.y" in explained


@pytest.fixture(scope="module")
def evaluator() -> RelationEvaluator:
    """One host for all queries."""
    return evaluator_of(query(seq("A a"), Strategy.ANY))


@pytest.mark.parametrize("share", range(N_SHARES))
def test_partitioned_equals_oracle(
    share: int, evaluator: RelationEvaluator, record_property: Callable[[str, object], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The oracle's matches, in the very order of the unpartitioned query."""
    monkeypatch.setattr(matcher, "LEAST_ROWS", 1)
    counts = dict.fromkeys(["asked", "partitioned", "partitioned and matched", "two values matched", "compressed"], 0)
    for number in range(share, N_EXAMPLES, N_SHARES):
        draw = RandomDraw(random.Random(SEED + number))
        example = generate_equalities(draw)
        asked, rows = example.query, example.rows
        expected = find_matches(asked, rows)
        found = find_partition(asked)
        settings = Settings(
            threads=draw.choice((1, 3)), matcher=draw.choice(EventsMode.matchers),
            chunk_rows=draw.choice((None, None, 3, 1)),
        )
        whole = engine_matches(
            asked, rows, evaluator=evaluator, settings=Settings(threads=1, matcher=settings.matcher)
        )
        answer = returned_matches(asked, rows, evaluator=evaluator, settings=settings)
        told = f"seed {SEED + number}, {settings}, {found}\n{example}"
        assert sorted(answer) == sorted(expected), told
        # With strict ties there is no partition in memory, and matches of one last event come as chunks decide them.
        if found.keys and not asked.has_strict_ties and asked.strategy in (Strategy.ANY, Strategy.NEXT):
            assert answer == whole, told
        counts["asked"] += 1
        if found.keys:
            counts["partitioned"] += 1
            counts["partitioned and matched"] += bool(expected)
            counts["two values matched"] += len({rows[match[0][0]]["x"] for match in expected}) > 1
        is_plain = not (asked.is_non_overlapping or absences(asked.pattern))
        if is_plain and compile_automaton(asked.pattern, asked.source).is_unambiguous:
            merging = Settings(threads=1)
            verbose = returned_matches(asked, rows, evaluator=evaluator, settings=merging)
            assert compressed_matches(asked, rows, evaluator=evaluator, settings=merging) == verbose, told
            counts["compressed"] += bool(found.keys)
    record_property("coverage", f"event queries with equalities: {counts}")
    if counts["asked"] >= 200:
        assert counts["partitioned"] > counts["asked"] / 5
        assert counts["partitioned and matched"] > counts["asked"] / 8
        assert counts["two values matched"] > counts["asked"] / 25
        assert counts["compressed"] > counts["asked"] / 20
