"""Runs looked up by the value that they await: the same matches in the same order as if all were tested."""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.modes.events.building import query, seq
from tests.modes.events.engine_runs import engine_matches, evaluator_of
from tests.modes.events.equalities import generate_equalities
from tests.modes.events.oracle import find_matches
from tests.modes.rows.property.draws import RandomDraw

import sparkrex as rex
from sparkrex.modes.events import engine as event_engine
from sparkrex.modes.events.analyze.equalities import EqualityPartition
from sparkrex.modes.events.kernels import codes
from sparkrex.modes.events.nfab import matcher
from sparkrex.modes.events.nfab.lookup import lookup_tables
from sparkrex.modes.events.nfab.search import Search
from sparkrex.modes.events.plan import Strategy
from sparkrex.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sparkrex.hosts.duckdb.host import RelationEvaluator

N_EXAMPLES = int(os.environ.get("REX_EVENT_EXAMPLES", "200")) // 2
SEED = int(os.environ.get("REX_SEED", "20080612"))
NAN = float("nan")
OPTIONS: dict[str, Any] = {"time": "ts", "type": "kind"}
TRANSITIVE = "a.x = c.x AND b.x = c.x"
RETURN = "RETURN a.ts AS a, c.ts AS c"


@pytest.fixture
def unpartitioned(monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs are looked up where equalities would partition the stream, too."""
    monkeypatch.setattr(event_engine, "find_partition", lambda query: EqualityPartition())


@pytest.fixture
def searches(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Search]]:
    """All searches that were made."""
    made: list[Search] = []
    run = Search.run

    def note(self: Search) -> Any:
        made.append(self)
        return run(self)

    monkeypatch.setattr(Search, "run", note)
    yield made


def without_lookup(ask: Callable[[], Any]) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(matcher, "STRATEGIES", ())
        return ask()


def stream(n_events: int, n_values: int, seed: int = 3) -> pa.Table:
    """Kinds A to D; x, y and s of so many values, with NULL, NaN and zeros of both signs."""
    draws = np.random.default_rng(seed)
    values = draws.integers(0, n_values, n_events)
    doubles = [None if value == 3 else NAN if value == 2 else (-0.0 if i % 2 else 0.0) if value == 1 else value / 2
               for i, value in enumerate(values.tolist())]
    return pa.table({
        "ts": np.arange(n_events) // 2, "n": np.arange(n_events), "kind": draws.choice(list("ABCD"), n_events),
        "x": pa.array(values, mask=values == 0), "y": pa.array(doubles, pa.float64()),
        "s": pa.array([None if value == 4 else f"text {value}" for value in values.tolist()]),
    })


QUERIES = {
    "transitive": ("SEQ(A a, B b, C c)", "next_match(a, b, c)", TRANSITIVE),
    "b is free": ("SEQ(A a, B b, C c)", "any_match(a, b, c)", "a.x = c.x"),
    "doubles": ("SEQ(A a, C c)", "any_match(a, c)", "a.y = c.y"),
    "text": ("SEQ(A a, C c)", "next_match(a, c)", "a.s = c.s"),
    "two columns": ("SEQ(A a, B b, C c)", "any_match(a, b, c)", "a.x = mod(c.n, 7) AND b.y = a.y"),
    "negation": ("SEQ(A a, ~(B b), C c)", "next_match(a, b, c)", "a.x = c.x AND b.y > a.y"),
    "negation at the end": ("SEQ(A a, C c, ~(B b))", "any_match(a, c, b)", "a.x = c.x AND b.y = c.y"),
    "optional": ("SEQ(A a, B? b, C c)", "next_match(a, b, c)", "a.x = c.x AND b.x = a.x"),
    "repeated": ("SEQ(A a, B+ b[], C c)", "next_match(a, b[], c)", "b[i].x = b[i-1].x AND c.x = a.x"),
    "alternatives": ("SEQ(A a, (B b | D d), C c)", "any_match(a, b, d, c)", "a.x = b.x AND a.x = c.x"),
}


@pytest.mark.usefixtures("unpartitioned")
@pytest.mark.parametrize("name", QUERIES)
def test_the_answer_is_that_of_testing_all_runs(name: str) -> None:
    """In the same order, with windows, ties, chunks, and matches that may not overlap."""
    pattern, strategy, where = QUERIES[name]
    events = stream(500, 7)
    text = f"PATTERN {pattern} WHERE skip_till_{strategy} {{ {where} }} WITHIN %s {RETURN}"
    ways = [
        ("20", {}, {}), ("9", {}, {"chunk_rows": 13}), ("9", {"ties": "strict"}, {}),
        ("30 EVENTS", {}, {"matcher": "basic"}), ("15 EVENTS", {"output": "non_overlapping"}, {}),
    ]
    for within, options, settings in ways:
        options = dict(options)
        asked = text % within
        if options.pop("output", None):
            asked = asked.replace("RETURN", "OUTPUT NON-OVERLAPPING RETURN")

        def ask(asked: str = asked, options: Any = options, settings: Any = settings) -> pa.Table:
            return rex.events(asked, events, tie_break="n", settings={"threads": 1, **settings}, **OPTIONS, **options)

        assert ask() == without_lookup(ask), (asked, options, settings)
        if within == "20":
            assert ask().num_rows > 3


def test_only_runs_that_await_the_value_are_tested(searches: list[Search]) -> None:
    events = stream(4_000, 500)
    text = f"PATTERN SEQ(A a, B b, C c) WHERE skip_till_next_match(a, b, c) {{ a.x = b.x }} WITHIN 1000 {RETURN}"

    def ask() -> pa.Table:
        return rex.events(text, events, tie_break="n", settings={"threads": 1}, **OPTIONS)

    found = ask()
    assert found.num_rows > 0
    assert found == without_lookup(ask)
    looked_up, tested = (search.statistics[codes.RUN_STEPS] for search in searches)
    assert looked_up < tested / 50


def test_runs_outside_the_window_go_where_nobody_is_asked(searches: list[Search]) -> None:
    """Nothing but A: no event asks for a run, and at most ten are inside the window."""
    events = pa.table({"ts": range(20_000), "kind": ["A"] * 19_999 + ["C"], "x": range(20_000)})
    text = f"PATTERN SEQ(A a, C c) WHERE skip_till_any_match(a, c) {{ a.x = c.x + 1 }} WITHIN 10 {RETURN}"
    assert rex.events(text, events, settings={"threads": 1, "max_event_memory": 200_000}, **OPTIONS).num_rows == 0
    (search,) = searches
    assert search.statistics[codes.MOST_RUNS] < 100


def test_a_failing_conjunct_in_front_is_still_computed() -> None:
    """a.x + c.x overflows for a run that awaits another value: nothing may be looked up before that."""
    events = pa.table({"ts": [1, 2], "kind": ["A", "C"], "x": [2**63 - 1, 1]})
    where = "c.x + a.x > 0 AND a.x = c.x"
    text = f"PATTERN SEQ(A a, C c) WHERE skip_till_any_match(a, c) {{ {where} }} WITHIN 9 EVENTS {RETURN}"
    with pytest.raises(rex.ExecutionError, match="REX405"):
        rex.events(text, events, **OPTIONS)


def test_explain_names_the_edges() -> None:
    events = stream(10, 5).drop(["n"]).take([0, 2, 4])
    text = f"PATTERN SEQ(A a, B b, C c) WHERE skip_till_next_match(a, b, c) {{ %s }} {RETURN}"
    explained = str(rex.explain(rex.events(text % TRANSITIVE, **OPTIONS), events))
    assert explained.count("runs looked up by") == 1
    assert "runs looked up by (a.x = x)" in explained
    partitioned = str(rex.explain(rex.events(text % "a.x = b.x AND b.x = c.x", **OPTIONS), events))
    assert "runs looked up" not in partitioned
    contiguous = text.replace("skip_till_next_match", "strict_contiguity")
    assert "runs looked up" not in str(rex.explain(rex.events(contiguous % TRANSITIVE, **OPTIONS), events))


@pytest.fixture(scope="module")
def evaluator() -> RelationEvaluator:
    """One host for all queries."""
    return evaluator_of(query(seq("A a"), Strategy.ANY))


def test_looked_up_equals_oracle(
    evaluator: RelationEvaluator, record_property: Callable[[str, object], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Random equalities with NULL, NaN, negation, optional parts and ties; whole and in chunks, states saved."""
    monkeypatch.setattr(matcher, "LEAST_ROWS", 1)
    counts = dict.fromkeys(["asked", "looked up", "looked up and matched"], 0)
    tables: list[Any] = []

    def note(*what: Any) -> Any:
        tables.append(lookup_tables(*what))
        return tables[-1]

    monkeypatch.setattr("sparkrex.modes.events.nfab.frame.lookup_tables", note)
    for number in range(N_EXAMPLES):
        draw = RandomDraw(random.Random(SEED + 7_000_000 + number))
        example = generate_equalities(draw)
        asked, rows = example.query, example.rows
        settings = Settings(threads=draw.choice((1, 3)), matcher=draw.choice(("nfab", "nfab", "basic")))
        chunk = draw.choice((None, None, 1, 3))
        told = f"seed {SEED + 7_000_000 + number}, {settings}, {chunk}\n{example}"
        tables.clear()

        def ask() -> Any:
            return engine_matches(asked, rows, chunk=chunk, evaluator=evaluator, settings=settings)  # noqa: B023

        found = ask()
        is_looked_up = any(table is not None for table in tables)
        expected = find_matches(asked, rows)
        assert sorted(found) == sorted(expected), told
        assert found == without_lookup(ask), told
        counts["asked"] += 1
        counts["looked up"] += is_looked_up
        counts["looked up and matched"] += is_looked_up and bool(expected)
    record_property("coverage", f"event queries with equalities: {counts}")
    if counts["asked"] >= 100:
        assert counts["looked up"] > counts["asked"] / 2
        assert counts["looked up and matched"] > counts["asked"] / 4
