"""Where answers lie agrees with what the same queries answer in tables, in every mode."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.pictures.samples import V_SHAPES, clicks, random_ticks

import sparkrex as rex
from sparkrex.errors import UnsupportedError
from sparkrex.matching.located import Located, LocatedWindows, Pieces
from sparkrex.matching.matches import Matches
from sparkrex.pipeline import locate_answers

if TYPE_CHECKING:
    from sparkrex.query import Query


def located(query: Query, table: pa.Table) -> Located | LocatedWindows:
    parsed, given = query.bound_in_memory(table, {}, None, "a test")
    return locate_answers(parsed, given, query.settings, table.column_names)[1]


def listed(found: Located | LocatedWindows, row: str) -> list[tuple[Any, ...]]:
    """Every match as its number, and for each of its rows the value of a column and the variable."""
    assert isinstance(found, Located)
    values = found.table.column(row).to_pylist()
    matches: list[list[tuple[Any, str]]] = [[] for _ in range(len(found))]
    pieces = found.pieces
    for match, variable, first, last in zip(pieces.match, pieces.variable, pieces.first, pieces.last, strict=True):
        for at in found.arrangement.input_rows(np.arange(first, last + 1)).tolist():
            matches[match].append((values[at], found.variables[variable]))
    return [(number, tuple(rows)) for number, rows in zip(found.number.tolist(), matches, strict=True)]


@pytest.mark.parametrize("skip", ["PAST LAST ROW", "TO NEXT ROW", "TO LAST DOWN"])
@pytest.mark.parametrize("gaps", [False, True])
def test_row_patterns(skip: str, gaps: bool) -> None:
    table = random_ticks(gaps=gaps)
    table = table.append_column("row", pa.array(range(table.num_rows)))
    shared = f"""AFTER MATCH SKIP {skip} PATTERN (STRT DOWN+ UP{{1,3}})
      DEFINE DOWN AS price < PREV(price), UP AS price > PREV(price)"""
    rows = rex.match(
        f"""PARTITION BY symbol ORDER BY ts MEASURES MATCH_NUMBER() AS n, CLASSIFIER() AS v
        ALL ROWS PER MATCH {shared}""", table
    ).to_pylist()
    expected: dict[tuple[Any, Any], list[tuple[Any, str]]] = {}
    for row in rows:
        expected.setdefault((row["symbol"], row["n"]), []).append((row["row"], row["v"]))
    found = located(rex.match(f"PARTITION BY symbol ORDER BY ts {shared}"), table)
    assert isinstance(found, Located)
    assert listed(found, "row") == [(n, tuple(own)) for (_, n), own in expected.items()]
    assert (found.behind > found.first).all()
    assert len(expected) > 3


def test_empty_matches_are_where_they_were_found() -> None:
    table = pa.table({"x": [3, 1, 2], "up": [False, True, False]})
    found = located(rex.match("ORDER BY x PATTERN (A*) DEFINE A AS up"), table)
    assert isinstance(found, Located)
    assert list(zip(found.first.tolist(), found.behind.tolist(), strict=True)) == [(0, 1), (1, 1), (2, 2)]
    assert len(found.pieces) == 1


def test_timeouts_are_no_matches() -> None:
    table = pa.table({"ts": pa.array([0, 1, 9], pa.timestamp("s")), "kind": ["A", "B", "A"]})
    text = """ORDER BY ts MEASURES MATCH_STATUS() AS s ONE ROW PER MATCH SHOW TIMEOUT MATCHES PATTERN (A B)
      WITHIN INTERVAL '2' SECOND DEFINE A AS kind = 'A', B AS kind = 'B'"""
    assert len(listed(located(rex.match(text), table), "ts")) == 1


def test_windows_have_each_match_once() -> None:
    table = random_ticks(40)
    text = V_SHAPES.split("PATTERN")[1][:-1]
    window = rex.compile(f"""SELECT n OVER w AS n FROM ticks WINDOW w AS (PARTITION BY symbol ORDER BY ts
      MEASURES FIRST(price) AS n ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING
      AFTER MATCH SKIP PAST LAST ROW INITIAL PATTERN{text})""")
    same = rex.match("PARTITION BY symbol ORDER BY ts PATTERN" + text)
    # Without SKIP TO every row is tried unless it lies in the match of an earlier one.
    assert listed(located(window, table), "ts") == listed(located(same, table), "ts")


def test_windows_that_overlap() -> None:
    table = pa.table({"x": range(5), "y": [1, 2, 3, 2, 1]})
    window = rex.compile("""SELECT last_value(y) OVER w AS n FROM t WINDOW w AS (ORDER BY x
      ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING AFTER MATCH SKIP TO NEXT ROW PATTERN (A UP+)
      DEFINE UP AS y > PREV(y))""")
    assert listed(located(window, table), "x") == [
        (1, ((0, "A"), (1, "UP"), (2, "UP"))), (2, ((1, "A"), (2, "UP"))),
    ]


def test_segments() -> None:
    table = random_ticks(30)
    shared = """MEASURES START_INDEX() AS first, END_INDEX() AS last, first(UP.price) AS low{} ALL MATCHES
      PATTERN ((A UP) & W) DEFINE SEGMENT W AS window(3, 6), SEGMENT UP AS last(UP.price) > first(UP.price) + 2"""
    text = f"PARTITION BY symbol ORDER BY ts {shared}"
    expected = rex.match(text.format(", last(UP.price) AS high"), table).to_pylist()
    found = located(rex.match(text.format("")), table)
    assert isinstance(found, Located)
    begin = found.arrangement.offsets[found.place]
    assert [(row["first"], row["last"]) for row in expected] == list(
        zip((found.first - begin).tolist(), (found.behind - 1 - begin).tolist(), strict=True)
    )
    price = found.table.column("price").to_pylist()
    rows = [found.arrangement.input_rows(one).tolist() for one in (found.pieces.first, found.pieces.last)]
    assert [(row["low"], row["high"]) for row in expected] == [
        (price[low], price[high]) for low, high in zip(*rows, strict=True)
    ]
    assert found.variables == ("UP",)
    assert len(expected) == 5


def test_plain_queries_under_all_matches_have_the_variables_that_are_measured() -> None:
    table = pa.table({"x": range(4), "y": [1, 2, 1, 3]})
    found = located(rex.match("""ORDER BY x MEASURES SUM(A.y) AS s ALL MATCHES PATTERN (A+ B+)
      DEFINE A AS A.y <= 2, B AS B.y > SUM(A.y)"""), table)
    assert isinstance(found, Located)
    assert len(found) == len(rex.match("""ORDER BY x MEASURES SUM(A.y) AS s ALL MATCHES PATTERN (A+ B+)
      DEFINE A AS A.y <= 2, B AS B.y > SUM(A.y)""", table))
    assert {found.variables[number] for number in found.pieces.variable.tolist()} == {"A"}


@pytest.mark.parametrize("equal", ["[user]", "v.user = p.user"])
def test_events(equal: str) -> None:
    table = clicks()
    query = rex.events(
        f"PATTERN SEQ(view v, cart+ c[], pay p) WHERE skip_till_any_match(v, c[], p) {{ {equal} }}",
        time="ts", type="kind",
    )
    expected: dict[tuple[Any, ...], list[tuple[Any, str]]] = {}
    number = 0
    for row in query(table).to_pylist():
        number += row["variable"] == "v"
        expected.setdefault((number, row["match_id"]), []).append((row["ts"], row["variable"]))
    assert listed(located(query, table), "ts") == [(n, tuple(rows)) for (_, n), rows in expected.items()]
    assert len(expected) > 2


def test_trends_have_windows_and_values_by_group() -> None:
    table = clicks()
    text = "RETURN {}COUNT(*) PATTERN SEQ(view v+, cart c) SEMANTICS skip-till-any-match GROUP-BY user WITHIN 4 SLIDE 2"
    with_group = rex.trends(text.format("user, "), time="ts", type="kind")
    found = located(rex.trends(text.format(""), time="ts", type="kind"), table)
    assert isinstance(found, LocatedWindows)
    rows = zip(
        found.start.to_pylist(), found.end.to_pylist(), found.window_keys[0].to_pylist(),
        found.values.column(0).to_pylist(), strict=True,
    )
    assert list(rows) == [tuple(row.values()) for row in with_group(table).to_pylist()]
    assert found.values.num_rows > 2


def test_pieces_of_matches_are_those_of_their_rows() -> None:
    random = np.random.default_rng(4)
    for _ in range(200):
        lengths = random.integers(0, 5, random.integers(0, 6))
        start = np.cumsum(random.integers(0, 3, len(lengths)))
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
        labels = (2 * random.integers(0, 2, offsets[-1]) + random.integers(0, 2, offsets[-1])).astype(np.int16)
        matches = Matches(start, start + lengths, np.ones(len(start), np.int64), labels, offsets)
        match = np.repeat(np.arange(len(start)), lengths)
        row = np.arange(offsets[-1]) - offsets[:-1][match] + start[match] if len(match) else match
        by_row = Pieces.of_rows(match, row, (labels >> 1).astype(np.int64))
        found = Pieces.of_matches(matches)
        for name in ("match", "variable", "first", "last"):
            assert getattr(found, name).tolist() == getattr(by_row, name).tolist()


def test_a_statement_without_a_pattern_has_nothing_to_show() -> None:
    query = rex.compile("SELECT 1 AS x")
    with pytest.raises(UnsupportedError, match="the statement has no pattern"):
        locate_answers(*query.bound_in_memory(None, {}, None, "a test"), query.settings)
