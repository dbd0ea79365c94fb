"""Whole segment queries, from text to table, through the public functions."""

from __future__ import annotations

import math
import re
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.modes.segments import test_cold_wave as cold_wave
from tests.modes.segments.analysis import analyzed
from tests.modes.segments.oracle import evaluate
from tests.modes.segments.texts import TYPES

import sparkrex as rex
from sparkrex import settings as config
from sparkrex.modes.segments.aggregates.contract import CostClass
from sparkrex.modes.segments.aggregates.registry import find, forget
from sparkrex.modes.segments.planner.planners import PLANNERS

if TYPE_CHECKING:
    from collections.abc import Iterator

SCHEMA = pa.schema([("k", pa.string()), ("t", pa.int64()), ("x", pa.int64()), ("y", pa.float64())])
X = [5, 3, 1, 2, 4, 4]
TABLE = pa.table({"k": ["a"] * 6, "t": range(6), "x": X, "y": [0.5 * x for x in X]}, schema=SCHEMA)


def rows(clause: str, table: pa.Table = TABLE, **options: Any) -> list[tuple[Any, ...]]:
    """The answer to a clause."""
    found = rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", t=table, **options)
    return [tuple(row.values()) for row in found.to_pylist()]


def same(found: Any, expected: Any) -> bool:
    """Equal, or doubles that agree but for rounding."""
    if isinstance(found, float) and isinstance(expected, float) and math.isnan(expected):
        return math.isnan(found)
    if isinstance(found, float) and isinstance(expected, int | float):
        return math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-12)
    return bool(found == expected)


UP = "ORDER BY t MEASURES START_INDEX() AS i, END_INDEX() AS j"


@pytest.mark.parametrize("planner", PLANNERS)
def test_every_planner_gives_the_same_answer(planner: str) -> None:
    define = "SEGMENT W AS true, SEGMENT S AS last(x) > first(x), P AS x = 1"
    clause = f"{UP} PATTERN ((W (P S) W) & ~(S P)) DEFINE {define}"
    assert rows(clause, planner=planner) == rows(clause) != []


def test_the_planners_of_the_settings_are_those_there_are() -> None:
    assert config.PLANNERS == PLANNERS


def test_an_unknown_planner_gets_a_hint() -> None:
    clause = f"{UP} PATTERN (UP) DEFINE SEGMENT UP AS true"
    with pytest.raises(rex.AnalysisError, match=r"REX217.*unknown planner 'sm_leftt'(?s:.*)did you mean sm_left"):
        rows(clause, planner="sm_leftt")
    with pytest.raises(rex.AnalysisError, match=r"unknown planner 'best'(?s:.*)one of optimizer, pr_left"):
        rows(clause, settings={"planner": "best"})
    with pytest.raises(rex.AnalysisError, match=r"REX217.*has nothing to plan: there is no segment search"):
        rows("MEASURES x AS x PATTERN (A)", planner="sm_left")


EVERY = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (2, 4), (3, 4), (3, 5), (4, 5)]


@pytest.mark.parametrize(
    ("skip", "expected"),
    [
        ("", EVERY),
        ("ALL MATCHES", EVERY),
        ("AFTER MATCH SKIP PAST LAST ROW", [(0, 3), (4, 5)]),
        ("AFTER MATCH SKIP TO NEXT ROW", [(0, 3), (1, 3), (2, 4), (3, 5), (4, 5)]),
        ("AFTER MATCH SKIP TO LAST S", [(0, 3), (3, 5)]),
    ],
)
def test_which_matches_count(skip: str, expected: list[tuple[int, int]]) -> None:
    clause = f"{UP} {skip} PATTERN (S) DEFINE SEGMENT S AS window(2, 3) OR window(4) AND first(t) = 0"
    assert rows(clause) == expected


@pytest.mark.parametrize(
    ("skip", "error"),
    [("TO FIRST A", "REX401(?s:.*)partition k = 'a'"), ("TO LAST B", "REX402(?s:.*)partition k = 'a'")],
)
def test_skipping_to_nowhere(skip: str, error: str) -> None:
    define = "SEGMENT A AS true, SEGMENT B AS sum(x) = 99"
    clause = f"PARTITION BY k {UP} AFTER MATCH SKIP {skip} PATTERN (A | B) DEFINE {define}"
    with pytest.raises(rex.ExecutionError, match=error):
        rows(clause)


def test_a_variable_without_a_segment_is_null_in_measures() -> None:
    clause = """ORDER BY t
        MEASURES MATCH_NUMBER() AS n, first(A.t) AS a, first(B.t) AS b, count(A.*) AS na, sum(B.x) AS sb
        PATTERN (A | B) DEFINE SEGMENT A AS sum(x) = 8 AND window(2), SEGMENT B AS sum(x) = 3 AND window(2)"""
    assert rows(clause) == [(1, 0, None, 2, None), (2, None, 2, 0, 3), (3, 4, None, 2, None)]


@pytest.mark.parametrize(
    "condition",
    [
        "NOT (avg(x) - A.x <= 0.83)", "A.x IS NULL", "count(A.x) = 0", "x > A.x OR first(x) > 2",
        "x > A.x AND first(x) > 2", "coalesce(A.x, 7) > 6", "max(A.x) IS NULL AND sum(x) > 5",
    ],
)
def test_a_reference_to_a_branch_not_taken_is_null(condition: str) -> None:
    clause = f"{UP} PATTERN (A | B) DEFINE SEGMENT A AS window(3), SEGMENT B AS ({condition}) AND window(2)"
    assert rows(clause) == evaluate(analyzed(clause, columns=TYPES), TABLE.to_pylist())


def test_numbers_and_indexes_begin_anew_in_every_partition() -> None:
    table = pa.table({"k": ["b", "a", "b", "a"], "t": [2, 1, 1, 2], "x": [1, 2, 3, 4], "y": [0.0] * 4}, schema=SCHEMA)
    clause = """PARTITION BY k ORDER BY t
        MEASURES MATCH_NUMBER() AS n, START_INDEX() AS i, END_INDEX() AS j, sum(x) AS s
        PATTERN (S) DEFINE SEGMENT S AS true"""
    assert sorted(rows(clause, table)) == [
        ("a", 1, 0, 0, 2), ("a", 2, 0, 1, 6), ("a", 3, 1, 1, 4),
        ("b", 1, 0, 0, 3), ("b", 2, 0, 1, 4), ("b", 3, 1, 1, 1),
    ]


def test_sql_around_a_search() -> None:
    names = pa.table({"k": ["a", "z"], "name": ["first", "never"]})
    query = """
        WITH found AS (
          SELECT * FROM (SELECT * FROM t WHERE t < 5) MATCH_RECOGNIZE (
            PARTITION BY k ORDER BY t MEASURES first(S.t) AS since, last(S.t) AS till
            PATTERN (S) DEFINE SEGMENT S AS last(x) > first(x) AND window(2, NULL)) AS m)
        SELECT names.name, since, till, steps
        FROM found JOIN names ON found.k = names.k
        JOIN t MATCH_RECOGNIZE (ORDER BY t MEASURES count(*) AS steps PATTERN (^ DOWN+) DEFINE DOWN AS x > NEXT(x)) AS r
          ON true
        WHERE till = 4 ORDER BY since"""
    assert rex.sql(query, t=TABLE, names=names).to_pylist() == [
        {"name": "first", "since": 1, "till": 4, "steps": 2}, {"name": "first", "since": 2, "till": 4, "steps": 2},
        {"name": "first", "since": 3, "till": 4, "steps": 2},
    ]


@pytest.mark.parametrize("planner", [pytest.param("optimizer", marks=pytest.mark.slow), "sm_left", "pr_right"])
def test_hundreds_of_alternatives(planner: str) -> None:
    names = "ABCDEFGHI"
    pattern = " ".join(f"{name}?" for name in names)
    define = ", ".join(f"SEGMENT {name} AS avg(x) > 0.{number}" for number, name in enumerate(names))
    expected = [(i, j) for i in range(6) for j in range(i, 6)]
    assert rows(f"{UP} PATTERN ({pattern}) DEFINE {define}", planner=planner) == expected


def test_a_search_over_no_rows() -> None:
    assert rows(f"{UP} PATTERN (A & ~B) DEFINE SEGMENT A AS true, SEGMENT B AS avg(x) > 1", TABLE.slice(0, 0)) == []


@pytest.mark.parametrize(
    ("pattern", "define"),
    [
        ("~B", "SEGMENT B AS min(x) > 5"),
        ("B+", "SEGMENT B AS min(x) > 0"),
        ("A B", "SEGMENT A AS true, SEGMENT B AS min(x) > 0"),
        ("A & ~(B A)", "SEGMENT A AS true, SEGMENT B AS min(x) > 5"),
    ],
)
def test_too_many_segments_are_an_error_that_says_how_many(pattern: str, define: str) -> None:
    n = 300
    table = pa.table({"k": ["a"] * n, "t": range(n), "x": [1] * n, "y": [0.0] * n}, schema=SCHEMA)
    few = {"max_segments": 1000}
    message = r"REX408.*max_segments = 1,000(?s:.*)may have up to 45,150 segments"
    with pytest.raises(rex.ExecutionError, match=message):
        rows(f"{UP} PATTERN ({pattern}) DEFINE {define}", table, settings=few)
    bounded = f"{UP} PATTERN (({pattern}) & PAIR) DEFINE {define}, SEGMENT PAIR AS window(2)"
    assert len(rows(bounded, table, settings=few)) == n - 1


def test_what_joins_make_on_the_way_is_no_answer() -> None:
    """Every segment can be taken apart in as many ways as it has rows; the answer is below the limit all the same."""
    n = 600
    x = [row % 7 for row in range(n)]
    table = pa.table({"k": ["a"] * n, "t": range(n), "x": x, "y": [0.0] * n}, schema=SCHEMA)
    define = "SEGMENT S AS true, SEGMENT T AS last(x) > first(x), SEGMENT W AS window(1, 20)"
    clause = f"{UP} PATTERN ((S T)+ & W) DEFINE {define}"
    expected = [(i, j) for i in range(n) for j in range(i, min(n, i + 20)) if min(x[i : j + 1]) < x[j]]
    assert rows(clause, table, settings={"max_segments": 20_000}) == expected
    with pytest.raises(rex.ExecutionError, match=r"REX408.*max_segments = 100(?s:.*)may have up to 11,810 segments"):
        rows(clause, table, settings={"max_segments": 100})


@pytest.fixture
def roughness() -> Iterator[None]:
    """The aggregate that docs/language.md shows."""

    @rex.aggregate
    class roughness:  # noqa: N801  named as queries write it
        def scan(self, x: Any) -> Any:
            return np.abs(np.diff(x)).sum() / abs(x[-1] - x[0]) if len(x) > 1 else None

        def index(self, x: Any) -> Any:
            return x, np.concatenate([[0.0], np.abs(np.diff(x)).cumsum()])

        def lookup(self, index: Any, start: Any, end: Any) -> Any:
            x, way = index
            return (way[end] - way[start]) / np.abs(x[end] - x[start])

    yield
    forget("roughness")


@pytest.mark.usefixtures("roughness")
def test_an_aggregate_of_ones_own() -> None:
    clause = f"{UP} PATTERN (S) DEFINE SEGMENT S AS roughness(x) < 1.5 AND window(3, NULL)"
    expected = [
        (i, j) for i in range(6) for j in range(i + 2, 6)
        if np.abs(np.diff(X[i : j + 1])).sum() < 1.5 * abs(X[j] - X[i])
    ]
    assert expected
    for planner in PLANNERS:
        assert rows(clause, planner=planner) == expected


class _Moody:
    """Fails over the rows of `TABLE`, in `scan`, `index` or `lookup`."""

    def __init__(self, where: str = "scan") -> None:
        self.where = where

    def scan(self, x: Any) -> Any:
        if self.where == "scan" and x[0] == 5:
            raise ValueError("no fives")
        return float(len(x))


class _Indexed(_Moody):
    def index(self, x: Any) -> Any:
        if self.where == "index" and len(x) == 6:
            raise ValueError("no fives")
        return len(x)

    def lookup(self, index: Any, start: Any, end: Any) -> Any:
        return np.ones(1) if self.where == "lookup" and index == 6 else end - start + 1.0


@pytest.mark.parametrize("where", ["scan", "index", "lookup"])
def test_an_aggregate_of_ones_own_that_fails(where: str) -> None:
    kind = _Moody if where == "scan" else _Indexed
    rex.aggregate(type("moody", (kind,), {"__init__": lambda self: kind.__init__(self, where)}))
    message = {"lookup": r"TypeError: \(1,\) values for"}.get(where, "ValueError: no fives")
    try:
        for clause, caret in [
            (f"{UP} PATTERN (S) DEFINE SEGMENT S AS moody(x) > 0", "moody(x) > 0"),
            ("ORDER BY t MEASURES moody(S.x) AS m PATTERN (S) DEFINE SEGMENT S AS true", "moody(S.x)"),
        ]:
            with pytest.raises(rex.ExecutionError, match=f"REX411.*{where} of moody: {message}") as raised:
                rows(clause, planner="sm_left")
            assert raised.value.source is not None and raised.value.span is not None
            assert raised.value.source.text[raised.value.span.start :].startswith(caret)
    finally:
        forget("moody")


def test_the_cost_of_an_aggregate_of_ones_own() -> None:
    class slow:  # noqa: N801  named as queries write it
        def scan(self, x: Any) -> Any:
            return float(len(x))

    register: Any = rex.aggregate
    try:
        register(slow, cost="quadratic")
        found = find("slow")
        assert found is not None and found.cost.scan is CostClass.QUADRATIC
    finally:
        forget("slow")


@pytest.mark.parametrize("name", ["sum", "Mean", "window", "PREV", "start_index", "abs", "Length"])
def test_an_aggregate_of_ones_own_cannot_have_a_name_that_is_taken(name: str) -> None:
    with pytest.raises(ValueError, match=r"is built in|is a function of SQL"):
        rex.aggregate(name=name)(_Moody)


def test_an_aggregate_that_was_forgotten_is_unknown() -> None:
    with pytest.raises(rex.AnalysisError, match="roughness"):
        rows(f"{UP} PATTERN (S) DEFINE SEGMENT S AS roughness(x) < 1.5")


def test_explain_names_every_step_of_the_plain_cold_wave() -> None:
    text = str(rex.explain(cold_wave.PLAIN, t=cold_wave.weather()))
    rewriting = text[text.index("├─ rewritten in ") : text.index("├─ logical plan")].splitlines()
    n_steps = int(rewriting[0].split()[3])
    steps = [re.fullmatch(r"│  [├└]─ ([^:]+): .*", line)[1] for line in rewriting[1:]]  # type: ignore[index]
    assert steps[0] == "from"
    assert len([step for step in steps if step not in ("from", "as a logical plan")]) == n_steps
    named = {
        "convert unions", "convert stars", "convert pluses", "reassign conditions", "decompose conditions",
        "drop irrelevant", "flatten", "embed windows", "push down windows",
    }
    assert named | {"as a logical plan"} <= set(steps)
    for part in ("└─ physical plan by optimizer, estimated at", "UU_1 [tstamp ", "│     ├─ Concat shared row"):
        assert part in text, text


def test_explain_analyze_counts_what_happens() -> None:
    clause = "PATTERN (S & T) DEFINE SEGMENT S AS last(x) > first(x), SEGMENT T AS avg(x) > 2 AND window(2, 4)"
    query = f"SELECT * FROM t MATCH_RECOGNIZE ({UP} {clause})"
    n_found = len(rows(f"{UP} {clause}"))
    for planner in PLANNERS:
        text = str(rex.explain(query, t=TABLE, planner=planner, analyze=True))
        operators = text[text.index("physical plan by") :].splitlines()[1:]
        [root] = [line for line in operators if "real" in line][:1]
        assert f"real {n_found} segments of 1 spaces" in root, text
        assert re.search(r"real \d+ segments of \d+ spaces, \d+ evaluations, [\d.e-]+ ms", text), text
        assert re.search(rf"find: [\d.e-]+ ms, {n_found} segments", text), text
    assert "real" not in str(rex.explain(query, t=TABLE))


def test_explain_analyze_of_a_row_pattern_has_its_stages() -> None:
    query = "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES count(*) AS n PATTERN (A B+) DEFINE B AS x > PREV(x))"
    text = str(rex.explain(query, t=TABLE, analyze=True))
    shown = text[text.index("run in") :]
    assert re.search(r"order: [\d.e-]+ ms, 6 rows, 1 partitions", shown)
    assert re.search(r"match: [\d.e-]+ ms, 1 matches", shown)
    assert re.search(r"measures: [\d.e-]+ ms, 1 rows", shown)
    assert "run in" not in str(rex.explain(query, t=TABLE))


def test_windows_on_dates_count_days() -> None:
    table = pa.table({"d": [date(2024, 1, 1) + timedelta(days=n) for n in (0, 1, 4, 5)], "x": [1, 2, 3, 4]})
    clause = f"{UP.replace(' t ', ' d ')} PATTERN (S) DEFINE SEGMENT S AS window(d, 3, 4, DAY)"
    assert rows(clause, table) == [(0, 2), (1, 2), (1, 3)]


@pytest.mark.parametrize(
    ("order", "window", "expected"),
    [
        ("n", "window(at, 1, 2, HOUR)", [(0, 1), (1, 2), (1, 3), (2, 3)]),
        ("at", "NOT window(at, 0, 2, HOUR)", [(0, 2), (0, 3)]),
        ("at DESC", "window(at, 0, 2, HOUR)", [(0, 0), (1, 1), (2, 2), (3, 3)]),
    ],
)
def test_a_window_on_a_time_that_cannot_prune_is_a_condition(
    order: str, window: str, expected: list[tuple[int, int]]
) -> None:
    hours = [datetime(2024, 1, 1) + timedelta(hours=hour) for hour in (0, 2, 3, 4)]
    for unit in ("s", "ms", "us"):
        table = pa.table({"n": range(4), "at": pa.array(hours, pa.timestamp(unit))})
        clause = f"{UP.replace(' t ', f' {order} ')} PATTERN (S) DEFINE SEGMENT S AS {window}"
        assert rows(clause, table) == expected


def test_very_many_candidates_are_warned_of_before_the_run() -> None:
    n = 200_000
    table = pa.table({"k": ["a"] * n, "t": range(n), "x": [0, 1] * (n // 2), "y": [0.0] * n}, schema=SCHEMA)
    clause = "ORDER BY t MEASURES START_INDEX() AS i PATTERN (A B)" \
        " DEFINE SEGMENT A AS avg(x) > 0.4, SEGMENT B AS last(x) > first(x){}"
    many = n * (n + 1) // 2
    with pytest.warns(UserWarning, match=f"has {many:,} segments to go through"), pytest.raises(
        rex.ExecutionError, match="REX408"
    ):
        rows(clause.format(""), table, settings={"max_segments": 1000})
    bounded = clause.replace("(A B)", "((A B) & ALLW)").format(", SEGMENT ALLW AS window(1, 3)")
    assert len(rows(bounded, table.slice(0, 1000))) > 0  # and no warning, which would be an error
