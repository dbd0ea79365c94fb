"""A row comes out in the first batch that decides it: by hand, and against what continuations can still change."""

from __future__ import annotations

import random

import pytest
from tests.differential.relations import one_database
from tests.streams.driving import EPOCH, TICK, TIME, Query, Stream
from tests.streams.finality import Case, case_of, table_of, timings, too_early, too_late

N_CASES = {"rows": 20, "events": 10, "trends": 8, "segments": 8, "workloads": 8}
SEED = 20261118
BEGIN = EPOCH * TICK


def row_query(pattern: str, define: str, *, within: str = "", skip: str = "PAST LAST ROW") -> Query:
    return Query(
        f"PARTITION BY k ORDER BY ts MEASURES FIRST(id) AS f, LAST(id) AS l AFTER MATCH SKIP {skip} "
        f"PATTERN ({pattern}) {within} DEFINE {define}", settings={"tie_break": "id"},
    )


@pytest.mark.parametrize("query", [
    row_query("A+", "A AS a", within="WITHIN INTERVAL '2' SECOND"),
    row_query("A B*", "A AS a, B AS b", within="WITHIN INTERVAL '2' SECOND", skip="TO NEXT ROW"),
    row_query("A B*", "A AS a, B AS b AND ts < PREV(ts) + INTERVAL '2' SECOND"),
    row_query("A B*", "A AS a, B AS b AND ts - PREV(ts) < INTERVAL '2' SECOND"),
    row_query("A B*", "A AS a, B AS b AND ts < A.ts + INTERVAL '2000' MILLISECONDS"),
    row_query("A B*", "A AS a, B AS b AND ts < FIRST(ts) + INTERVAL '2' SECOND", skip="TO NEXT ROW"),
    row_query("A+", "A AS a AND ts - FIRST(ts) <= INTERVAL '3' SECOND", within="WITHIN INTERVAL '2' SECOND"),
], ids=lambda query: query.text[query.text.index("PATTERN") :])
def test_time_alone_ends_a_greedy_match(query: Query) -> None:
    """The bound is not reached, so the tick before it decides; nothing but the watermark comes."""
    row = {"id": 7, "k": "p", "a": True, "b": True, "c": True, "x": 0, TIME: BEGIN}
    stream = Stream(query, table_of([row]))
    end = BEGIN + 2 * TICK - 1
    given = []
    for rows, watermark in (([row], BEGIN), ([], end - 1), ([], end)):
        found = stream.batch(table_of(rows), watermark)
        given.append(sum(one.rows.num_rows for one in found))
        assert [one.next_due for one in found if one.next_due is not None] == ([end] if watermark < end else [])
    assert given == [0, 0, 1]


@pytest.mark.parametrize("mode", N_CASES)
def test_no_row_comes_before_it_is_certain(mode: str) -> None:
    n_rows = 0
    with one_database():
        for number in range(N_CASES[mode]):
            case = case_of(mode, SEED, number)
            found = timings(case, random.Random(number))
            early = too_early(found)
            assert not early, f"seed {SEED}, case {number}\n{case}\n{early}"
            n_rows += len(found)
            late = too_late(found)
            assert is_known(case) or not late, f"seed {SEED}, case {number}\n{case}\n{late}"
    assert n_rows > N_CASES[mode] / 3


def is_known(case: Case) -> bool:
    """Whether rows may come later: see the kinds.

    Segments wait until no other one can begin in the same row. Where something reads the row behind the match, every
    row that the search has tested must have one behind it.
    """
    return case.kind.startswith("ALL MATCHES") or "NEXT" in case.kind.split(", ")
