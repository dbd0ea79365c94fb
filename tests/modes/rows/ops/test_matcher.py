"""The matcher `ops` through whole queries: against the other matchers, whole and in chunks, forward and in reverse."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.modes.rows.ops import blocks

if TYPE_CHECKING:
    from collections.abc import Sequence

CONDITIONS = [
    "e = 'a'", "e = 'b'", "e <> 'a'", "e IN ('a', 'c')", "v > PREV(v)", "v < PREV(v)", "v <= 3", "v > 3",
    "v > 3 AND v > PREV(v)", "v BETWEEN 2 AND 4", "v > NEXT(v)", "v IS NULL", "v > 3 AND e = 'a'",
]
CONTEXTS = [
    "v > FIRST(v)", "v <= FIRST({other}.v)", "v >= LAST({other}.v)", "sum({other}.v) < 9", "count({own}.*) < 3",
    "MATCH_NUMBER() < 3", "v > LAST({other}.v, 1)", "CLASSIFIER({other}) = '{other}'",
]


def draw_query(draw: Random) -> str:
    """A query whose pattern may be possessive."""
    names = [f"E{number}" for number in range(draw.randint(1, 4))]
    pattern, defines = [], []
    for place, name in enumerate(names):
        pattern.append(name + draw.choice(["", "", "+", "+", "{2}", "{2,}"]))
        conditions = [draw.choice(CONDITIONS)] if draw.random() < 0.95 else []
        if draw.random() < 0.3:
            context = draw.choice(CONTEXTS)
            conditions.append(context.format(other=names[draw.randint(0, place)], own=name))
        if conditions:
            defines.append(f"{name} AS {' AND '.join(conditions)}")
    if not defines:
        defines.append(f"{names[0]} AS e = 'a'")
    measures = ", ".join(f"count({name}.*) AS c{name}, last({name}.r) AS l{name}" for name in names)
    output = draw.choice(["ONE ROW PER MATCH", "ALL ROWS PER MATCH", "ALL ROWS PER MATCH WITH UNMATCHED ROWS"])
    return (
        "SELECT * FROM t MATCH_RECOGNIZE (PARTITION BY k ORDER BY r "
        f"MEASURES MATCH_NUMBER() AS m, first(r) AS f, {measures}, CLASSIFIER() AS c {output} "
        f"PATTERN ({' '.join(pattern)}) DEFINE {', '.join(defines)})"
    )


def draw_table(draw: Random, n_rows: int) -> pa.Table:
    """Rows of some partitions, with NULLs."""
    value = 3
    rows = []
    for row in range(n_rows):
        value = max(0, min(6, value + draw.choice((-2, -1, 0, 1, 1))))
        rows.append({
            "k": draw.choice((0, 0, 1)), "r": row, "e": draw.choice("aabc"),
            "v": None if draw.random() < 0.05 else value,
        })
    return pa.Table.from_pylist(
        rows, schema=pa.schema({"k": pa.int64(), "r": pa.int64(), "e": pa.string(), "v": pa.int64()})
    )


def _matcher_of(query: str, table: pa.Table, **settings: Any) -> str:
    (line,) = [line for line in str(rex.explain(query, t=table, settings=settings)).splitlines() if "─ matcher" in line]
    return line.split("matcher ")[1].split(":")[0]


def _compare(query: str, table: pa.Table, draw: Random) -> None:
    expected = rex.sql(query, t=table, settings={"matcher": "backtrack"})
    ways: Sequence[dict[str, Any]] = [
        {"matcher": "ops"}, {"matcher": "ops_forward", "threads": 3}, {"matcher": "ops_reverse"},
        {"matcher": "ops", "chunk_rows": draw.choice((1, 2, 3, 5, 11))},
        {"matcher": "ops_reverse", "chunk_rows": draw.choice((2, 7))},
    ]
    for settings in ways:
        assert rex.sql(query, t=table, settings=settings).equals(expected), (query, settings, table.to_pydict())


@pytest.mark.parametrize("seed", range(3))
def test_random_queries_have_the_matches_of_other_matchers(seed: int) -> None:
    draw = Random(seed)
    n_taken = n_reverse = 0
    while n_taken < 25:
        query, table = draw_query(draw), draw_table(draw, draw.choice((0, 5, 40, 60)))
        if _matcher_of(query, table, matcher="ops") == "ops":
            n_taken += 1
            n_reverse += "reverse search:" in str(rex.explain(query, t=table, settings={"matcher": "ops_reverse"}))
            _compare(query, table, draw)
    assert n_reverse > 3


def _explained(query: str, table: pa.Table, **settings: Any) -> str:
    analyze = settings.pop("analyze", False)
    return str(rex.explain(f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY r {query})", t=table, settings=settings,
                           analyze=analyze))


TABLE = draw_table(Random(1), 50)


@pytest.mark.parametrize(("query", "why"), [
    ("AFTER MATCH SKIP TO NEXT ROW PATTERN (A B) DEFINE B AS v > AVG(v)", "AFTER MATCH SKIP TO NEXT ROW"),
    ("PATTERN (A+ B) DEFINE A AS v > 1, B AS v > 2 AND v > FIRST(v)", "A+ may give rows back: a row may be B as well"),
    ("PATTERN (A* B) DEFINE A AS v > 1, B AS v > FIRST(v)", "A* is neither a variable nor one or more rows of it"),
    ("PATTERN (A+? B) DEFINE A AS v > 1, B AS v > FIRST(v)", "A+? is neither a variable nor"),
    ("PATTERN ((A | B) C) DEFINE A AS v > 1, C AS v > AVG(v)", "is neither a variable nor"),
    ("PATTERN (A{200} B) DEFINE B AS v > FIRST(v)", "the pattern has more than 100 elements"),
    ("PATTERN (A+ B) DEFINE A AS v > 1, B AS v <= 1", "every condition is decided by rows alone"),
])
def test_other_patterns_are_refused_with_a_reason(query: str, why: str) -> None:
    (line,) = [line for line in _explained(f"MEASURES 1 AS one {query}", TABLE).splitlines() if "not ops" in line]
    assert why in line


def test_it_is_chosen_where_a_condition_reads_the_match() -> None:
    query = "MEASURES 1 AS one PATTERN (A+ B) DEFINE A AS v > 3, B AS v <= 3 AND v < sum(A.v)"
    text = _explained(query, TABLE)
    assert "matcher ops: no star of the pattern can give a row back" in text
    assert "A excludes B: v > 3 excludes v <= 3" in text
    assert "forward search: reverse search could give other matches, the condition of B reads the match so far" in text
    assert "starts inside the first star are tried" in text


def test_explain_analyze_counts_tests() -> None:
    table = pa.table({"r": range(6), "v": [1, 5, 5, 1, 5, 0]})
    text = _explained("MEASURES 1 AS one PATTERN (A+ B) DEFINE A AS v > 3, B AS v <= 3", table, matcher="ops_forward",
                      analyze=True)
    # A on rows 1 to 4, where it ends; B on row 4; A on rows 5 and 6; B on row 6.
    assert "├─ 8 tests of 6 rows" in text


def test_the_direction_is_estimated_or_asked_for() -> None:
    # In reverse a failure of the first element tested, C, says that the row is none of A or B either.
    query = "MEASURES 1 AS one PATTERN (A B C) DEFINE A AS v = 5, B AS v > 3, C AS v > 2"
    assert "search: estimated shift" in _explained(query, TABLE, matcher="ops")
    for direction in ("forward", "reverse"):
        text = _explained(query, TABLE, matcher=f"ops_{direction}")
        assert f"{direction} search: the setting matcher asks for it; estimated shift" in text


def test_conditions_are_evaluated_for_the_blocks_that_are_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    filled: list[tuple[int, int]] = []
    fill = blocks.BlockBitmaps.fill

    def noting(self: blocks.BlockBitmaps, number: int, block: int) -> None:
        filled.append((number, block))
        fill(self, number, block)

    monkeypatch.setattr(blocks.BlockBitmaps, "fill", noting)
    n_rows = 3 * blocks.BLOCK_ROWS
    edge = 2 * blocks.BLOCK_ROWS
    values = [0] * n_rows
    values[edge - 1 : edge + 2] = [1, 2, 3]
    table = pa.table({"r": range(n_rows), "v": values})
    query = ("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY r MEASURES first(r) AS f, last(r) AS l "
             "PATTERN (A B C) DEFINE A AS v = 1, B AS v > PREV(v) AND v = 2, C AS v > PREV(v, 2))")
    found = rex.sql(query, t=table, settings={"matcher": "ops_forward", "threads": 1})
    assert found.to_pylist() == [{"f": edge - 1, "l": edge + 1}]
    # The first condition everywhere, the others only where the search came to them.
    assert filled == [(0, 0), (0, 1), (1, 2), (2, 2), (0, 2)]
    shuffled = table.take(Random(2).sample(range(n_rows), n_rows))
    assert rex.sql(query, t=shuffled, settings={"matcher": "ops_forward"}).equals(found)
    assert rex.sql(query, t=shuffled, settings={"matcher": "ops_reverse"}).equals(found)
