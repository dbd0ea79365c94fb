"""Contains: recognised where it may be, and its ranges are what the oracle finds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from tests.modes.segments import building as b
from tests.modes.segments.draws import COLUMNS, Example, Variable, _definitions, tables
from tests.modes.segments.oracle import find_segments
from tests.modes.segments.test_plans import found_by, shape

import sparkrex as rex
from sparkrex.modes.segments.pattern import Window
from sparkrex.modes.segments.planner.contains import containment_of
from sparkrex.modes.segments.planner.logical import parts
from sparkrex.modes.segments.planner.make_logical import make_logical
from sparkrex.modes.segments.planner.planners import PLANNERS
from sparkrex.modes.segments.planner.rule_planners import random_plan
from sparkrex.modes.segments.rewrite.driver import rewrite_logical

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.segments.pattern import SegmentPattern
    from sparkrex.modes.segments.planner.logical import Logical

N_EXAMPLES = int(os.environ.get("REX_SEGMENT_EXAMPLES", "100"))
_Y = Variable("V1", True, ())


@st.composite
def containments(draw: st.DrawFn) -> Example:
    """Searches around `W X W`, `X W`, `W X`, negated or not, beside others, with all kinds of windows."""
    x = Variable("V0", draw(st.booleans()), ())
    wild = b.segment("W")
    inside = b.segment("V0") if x.is_segment else b.point("V0")
    chain = draw(st.sampled_from([
        b.concat(wild, inside, wild), b.concat(wild, inside, wild), b.concat(inside, wild), b.concat(wild, inside),
        b.concat(wild, inside, b.segment("V2"), wild), *[b.concat(wild, inside, wild, b.segment("V2"), wild)] * 2,
        b.concat(inside, wild, b.segment("V2"), wild), b.concat(wild, inside, wild, b.segment("V2")),
        b.concat(wild, b.segment("V2"), wild, inside, wild, b.segment("V3"), wild),
        b.concat(wild, inside, wild, wild, b.segment("V2"), wild), b.concat(wild, b.point("V4"), wild, inside, wild),
    ]))
    options: list[SegmentPattern] = [chain, b.absent(chain), b.absent(chain)]
    pattern = draw(st.sampled_from(options))
    other = b.segment("V1")
    around: list[SegmentPattern] = [
        pattern, b.both(other, pattern), b.both(other, pattern), b.both(other, pattern, b.segment("ALLW")),
        b.both(pattern, b.segment("ALLW")), b.concat(other, pattern), b.repeat(b.both(other, pattern), 1, None),
        b.either(other, pattern), b.absent(b.both(other, pattern)),
        b.both(b.segment("ALLW"), b.concat(wild, other, wild), pattern),
    ]
    pattern = draw(st.sampled_from(around))
    windows = [(), (), (), (Window(None, 2, None),), (Window(None, None, 2),), (Window("t", 1, None),)]
    whole = draw(st.sampled_from([Window(None, 1, 4), Window(None, 2, 3), Window("t", None, 3), Window("t", 1, 4)]))
    definitions = [
        b.define("W", None, *draw(st.sampled_from(windows))), b.define("ALLW", None, whole), draw(_definitions(x, [])),
        draw(_definitions(_Y, [])), draw(_definitions(Variable("V3", True, ()), [])),
        # One in six refers to another inside: then the two are looked for together.
        draw(_definitions(Variable("V2", True, ()), draw(st.sampled_from([[], [], [], [], [], ["V0"]])))),
        draw(_definitions(Variable("V4", False, ()), [])),
    ]
    measured = draw(st.sampled_from([[], [], ["V1"], ["V0"]]))
    text = str(pattern)
    search = b.search(
        pattern, *(one for one in definitions if one.variable in text.replace("~", " ")),
        measured=[name for name in measured if name in text and "~" not in text], columns=COLUMNS,
    )
    return Example(search, draw(tables(n_rows=7)))


def nodes(logical: Logical) -> Iterator[Logical]:
    """A node and all below."""
    yield logical
    for part in parts(logical):
        yield from nodes(part)


@settings(max_examples=N_EXAMPLES, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(containments(), st.integers(0, 1000))
def test_ranges_are_what_the_oracle_finds(example: Example, seed: int) -> None:
    written = make_logical(example.search, "t")
    expected = [
        (one.partition[0], one.start, one.end, *one.bindings) for one in find_segments(example.search, example.rows)
    ]
    for logical in (written, rewrite_logical(written)[0]):
        if not any(containment_of(node) for node in nodes(logical)):
            event("declined")
            continue
        plans = [random_plan(logical, seed + attempt) for attempt in range(12)]
        chosen = [plan for plan in plans if "Contains" in shape(plan)][:3]
        composed = any(one.gaps for node in nodes(logical) if (one := containment_of(node)))
        event(f"contains: {bool(chosen)}, composed: {composed}, matches: {bool(expected)}")
        for plan in chosen:
            found = found_by(plan, example)
            assert set(found) == set(expected), f"{shape(plan)}\n{example}"
            assert len(found) == len(expected), f"twice: {shape(plan)}\n{example}"


def walk(n_rows: int = 600) -> pa.Table:
    """A random walk."""
    steps = np.random.default_rng(7).normal(0, 0.004, n_rows)
    return pa.table({"t": np.arange(n_rows), "x": 100 * np.exp(np.cumsum(steps))})


RISE = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES START_INDEX() AS i, END_INDEX() AS j
  PATTERN ({}) DEFINE SEGMENT W AS {}, SEGMENT ALLW AS window(1, 50),
  SEGMENT FALL AS last(x) / first(x) < 0.99, SEGMENT RISE AS last(x) / first(x) > 1.01)"""


def by_definition(x: list[float], *, is_negated: bool) -> list[tuple[int, int]]:
    """Rises of at most 50 rows that contain a fall, or none."""
    found = []
    for s in range(len(x)):
        has_fall = False
        for e in range(s, min(len(x), s + 50)):
            has_fall = has_fall or any(x[e] / x[a] < 0.99 for a in range(s, e + 1))
            if x[e] / x[s] > 1.01 and has_fall is not is_negated:
                found.append((s, e))
    return found


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("is_negated", [True, False])
def test_a_rise_with_or_without_a_fall(planner: str, is_negated: bool) -> None:
    rows = walk(300)
    query = RISE.format(f"RISE & {'~' * is_negated}(W FALL W) & ALLW", "true")
    found: list[dict[str, Any]] = rex.sql(query, t=rows, planner=planner).to_pylist()
    assert [tuple(row.values()) for row in found] == by_definition(rows["x"].to_pylist(), is_negated=is_negated) != []


def test_the_optimizer_answers_it_by_ranges() -> None:
    assert "Contains" in str(rex.explain(RISE.format("RISE & ~(W FALL W) & ALLW", "true"), t=walk()))
    assert "Contains" in str(rex.explain(RISE.format("RISE & ~(W FALL W) & ALLW", "window(3, NULL)"), t=walk()))
    bounded = str(rex.explain(RISE.format("RISE & ~(W FALL W) & ALLW", "window(1, 3)"), t=walk()))
    assert "Contains" not in bounded


def test_a_containment_beside_an_and_of_others() -> None:
    """The planner groups the other parts as it likes; which part is the containment does not depend on that."""
    table = pa.table({"ts": [1, 2, 3], "i": pa.array([None, 2, 2], pa.int64())})
    query = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES count(S1.*) AS m, START_INDEX() AS s
        PATTERN (S0 & (W S1 W) & (S3 W))
        DEFINE SEGMENT S0 AS first(i) = last(i), SEGMENT W AS true, SEGMENT S1 AS window(2, NULL) AND max(i) > 0,
        SEGMENT S3 AS max(i) > 1)"""
    assert rex.sql(query, t=table).to_pylist() == rex.sql(query, t=table, planner="sm_left").to_pylist()
    assert rex.sql(query, t=table).to_pylist() == [{"m": 2, "s": 1}]


@pytest.mark.parametrize("negated", ["W R", "R W", "W R W"])
def test_a_negated_containment_beside_a_chain(negated: str) -> None:
    """Every segment has an R, so none is left; the chain beside it, of three parts, is planned as two."""
    table = pa.table({"ts": [1, 2, 3], "i": [1, 1, 2]})
    query = f"""SELECT * FROM t MATCH_RECOGNIZE (ORDER BY ts MEASURES START_INDEX() AS a
        PATTERN ((W S W2) & ~({negated})) DEFINE SEGMENT W AS true, SEGMENT W2 AS window(NULL, 2),
        SEGMENT S AS max(i) > 0, SEGMENT R AS max(i) > 0)"""
    assert rex.sql(query, t=table).num_rows == 0


def test_the_least_of_the_others_is_left_out_of_a_wildcards_window() -> None:
    """W has at most 46 rows beside a fall of 5 in 50: that says nothing more than that the whole has 50."""
    query = RISE.format("RISE & ~(W FALL W) & ALLW", "true").replace("< 0.99", "< 0.99 AND window(5, NULL)")
    assert "Contains" in str(rex.explain(query, t=walk()))
    found = rex.sql(query, t=walk(200))
    assert found.num_rows > 0
    assert found == rex.sql(query, t=walk(200), planner="sm_left")


@pytest.mark.parametrize("wild", ["true", "window(4, NULL)"])
@pytest.mark.parametrize("chain", ["W RISE W FALL W", "RISE W FALL W", "W RISE W FALL", "W FALL W RISE W FALL W"])
@pytest.mark.parametrize("is_negated", [True, False])
def test_several_in_a_row(chain: str, wild: str, is_negated: bool) -> None:
    query = RISE.format(f"{'~' * is_negated}({chain}) & ALLW", wild)
    plan = str(rex.explain(query, t=walk()))
    n_contained = chain.count("RISE") + chain.count("FALL")
    # Each is looked for by itself: no concatenation is left.
    assert "Contains" in plan and "Concat [" not in plan[plan.index("physical plan") :]
    assert plan[plan.index("physical plan") :].count("SegGenFilter") == n_contained
    found = rex.sql(query, t=walk(160))
    assert found.num_rows > 0
    assert found == rex.sql(query, t=walk(160), planner="sm_left")
