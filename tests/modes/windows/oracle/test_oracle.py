"""The oracle against answers worked out by hand from the definition; the comments say how.

`found("...")` shows for each row what it got: `.` unmatched, `-` an empty match, else the numbers of the match's first
and last row and its labels.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from tests.modes.rows.oracle.errors import CannotEvaluate, OracleError
from tests.modes.windows.oracle.scalars import Scope
from tests.modes.windows.oracle.search import Empty, Matched, measure, search
from tests.modes.windows.oracle.spec import Window, clauses_of, read_window
from tests.modes.windows.oracle.statement import answer
from tests.modes.windows.oracle.tokens import tokens, written

# x of the rows 1 to 6
XS = (10, 8, 6, 9, 7, 11)
ROWS = [{"id": number, "x": x, "n": number % 3} for number, x in enumerate(XS, start=1)]
UNBOUNDED = "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING"


def window_of(text: str) -> Window:
    scope = Scope({name: name for name in ROWS[0]}, {}, "trino")
    return read_window(clauses_of(tokens(text), {}), scope)


def found(text: str, frame: str = UNBOUNDED) -> str:
    shown = []
    for match in search(window_of(f"ORDER BY id {frame} {text}"), ROWS):
        if isinstance(match, Matched):
            shown.append(f"{match.rows[0]['id']}-{match.rows[-1]['id']}:{''.join(match.labels)}")
        else:
            shown.append("-" if isinstance(match, Empty) else ".")
    return " ".join(shown)


def test_rows_inside_a_match_are_unmatched() -> None:
    # 10 8 6 falls, 9 7 falls, 11 has nothing after it.
    assert found("PATTERN (A B+) DEFINE B AS x < PREV(x)") == "1-3:ABB . . 4-5:AB . ."


def test_to_next_row_tries_each_row() -> None:
    assert found("AFTER MATCH SKIP TO NEXT ROW PATTERN (A B+) DEFINE B AS x < PREV(x)") == "1-3:ABB 2-3:AB . 4-5:AB . ."


def test_an_empty_match_skips_nothing() -> None:
    assert found("PATTERN (A*) DEFINE A AS x < 9") == "- 2-3:AA . - 5-5:A -"


def test_prev_is_null_on_the_frames_first_row() -> None:
    # So a fall cannot begin a match, and a row without a row before it always can.
    assert found("PATTERN (B) DEFINE B AS x < PREV(x)") == ". . . . . ."
    assert found("PATTERN (B) DEFINE B AS PREV(x) IS NULL") == "1-1:B 2-2:B 3-3:B 4-4:B 5-5:B 6-6:B"


def test_next_is_null_on_the_frames_last_row() -> None:
    # Frames of two rows: 10 8, 8 6, 6 9, 9 7, 7 11 and 11.
    frame = "ROWS BETWEEN CURRENT ROW AND 1 FOLLOWING"
    skip = "AFTER MATCH SKIP TO NEXT ROW"
    assert found(f"{skip} PATTERN (A+) DEFINE A AS NEXT(x) > 8", frame) == ". . 3-3:A . 5-5:A ."
    assert found(f"{skip} PATTERN (A+) DEFINE A AS NEXT(x) IS NULL", frame) == ". . . . . 6-6:A"


def test_a_match_ends_inside_the_frame() -> None:
    pattern = "PATTERN (A+ B) DEFINE B AS x > 8"
    assert found(pattern) == "1-6:AAAAAB . . . . ."
    # Rows 1 to 4 are the first row's frame, so B is row 4.
    assert found(pattern, "ROWS BETWEEN CURRENT ROW AND 3 FOLLOWING") == "1-4:AAAB . . . 5-6:AB ."
    assert found(pattern, "ROWS BETWEEN CURRENT ROW AND CURRENT ROW") == ". . . . . ."


def test_each_row_has_its_own_end() -> None:
    # n is 1 2 0 1 2 0: rows 1-2, 3 alone, 4-5, 6 alone.
    frame = "ROWS BETWEEN CURRENT ROW AND n FOLLOWING"
    assert found("PATTERN (A+) DEFINE A AS true", frame) == "1-2:AA . 3-3:A 4-5:AA . 6-6:A"


@pytest.mark.parametrize("end", ["-1", "CASE WHEN id = 2 THEN NULL ELSE 5 END", "CASE WHEN id = 6 THEN -1 ELSE 5 END"])
def test_a_bad_end_is_an_error_on_skipped_rows_too(end: str) -> None:
    with pytest.raises(OracleError):
        found("PATTERN (A+) DEFINE A AS true", f"ROWS BETWEEN CURRENT ROW AND {end} FOLLOWING")


def test_seek_takes_the_first_match_in_the_frame() -> None:
    # Falls of two rows begin at rows 1, 2 and 4; U is a rise.
    assert found("SEEK PATTERN (A U) DEFINE U AS x > PREV(x)") == "3-4:AU . . . 5-6:AU ."
    frame = "ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING"
    assert found("SEEK PATTERN (A U) DEFINE U AS x > PREV(x)", frame) == ". 3-4:AU . . 5-6:AU ."


def test_seek_and_to_next_row_go_on_after_the_current_row() -> None:
    skip = "AFTER MATCH SKIP TO NEXT ROW"
    assert found(f"{skip} SEEK PATTERN (A U) DEFINE U AS x > PREV(x)") == "3-4:AU 3-4:AU 3-4:AU 5-6:AU 5-6:AU ."


def test_seek_sees_rows_before_the_match() -> None:
    assert found("SEEK PATTERN (D+) DEFINE D AS x < PREV(x)") == "2-3:DD . . 5-5:D . ."


def test_an_empty_match_ends_seek() -> None:
    assert found("SEEK PATTERN (A*) DEFINE A AS x < 9") == "- 2-3:AA . - 5-5:A -"


def test_skip_to_variables() -> None:
    any_rows = "PATTERN (A B+) DEFINE A AS true"
    frame = "ROWS BETWEEN CURRENT ROW AND 2 FOLLOWING"
    assert found(f"AFTER MATCH SKIP TO LAST B {any_rows}", frame) == "1-3:ABB . 3-5:ABB . 5-6:AB ."
    assert found(f"AFTER MATCH SKIP TO B {any_rows}", frame) == "1-3:ABB . 3-5:ABB . 5-6:AB ."
    assert found(f"AFTER MATCH SKIP TO FIRST B {any_rows}", frame) == "1-3:ABB 2-4:ABB 3-5:ABB 4-6:ABB 5-6:AB ."


@pytest.mark.parametrize(("skip", "code"), [("FIRST A", "REX401"), ("LAST C", "REX402")])
def test_skipping_nowhere(skip: str, code: str) -> None:
    with pytest.raises(OracleError) as problem:
        found(f"AFTER MATCH SKIP TO {skip} PATTERN (A C? B) DEFINE C AS x > 100")
    assert problem.value.code == code


def test_skipping_to_the_matchs_first_row_under_seek_is_an_error() -> None:
    with pytest.raises(OracleError):
        found("AFTER MATCH SKIP TO FIRST A SEEK PATTERN (A U) DEFINE U AS x > PREV(x)")


def test_measures() -> None:
    text = (
        "ORDER BY id MEASURES 7 AS c, LAST(A.x) AS l, count(*) AS n, CLASSIFIER() AS k, PREV(FIRST(A.x)) AS p "
        f"{UNBOUNDED} PATTERN (A*) DEFINE A AS x < 9"
    )
    window = window_of(text)
    matches = search(window, ROWS)
    values = [[measure(window, name, match) for name in ("C", "L", "N", "K", "P")] for match in matches[:4]]
    assert values == [[7, None, 0, None, None], [7, 6, 2, "A", None], [None] * 5, [7, None, 0, None, None]]


def test_a_query_around_windows() -> None:
    table = pa.Table.from_pylist(ROWS)
    query = f"""
      WITH c AS (SELECT id, x FROM t WHERE id > 1)
      SELECT id, count(*) FILTER (WHERE x > 6) OVER w AS n, m OVER w, rank() OVER (ORDER BY x) AS r
      FROM (SELECT * FROM c) s
      WINDOW b AS (ORDER BY id), w AS (b MEASURES FIRST(B.x) AS m {UNBOUNDED} PATTERN (A B+) DEFINE B AS x < PREV(x))
      ORDER BY m OVER w, id"""
    # Rows 2 to 6 are 8 6 9 7 11: 8 6 and 9 7 fall.
    assert answer(query, {"t": table}, "duckdb").to_pylist() == [
        {"id": 2, "n": 1, "m": 6, "r": 3},
        {"id": 4, "n": 2, "m": 7, "r": 4},
        {"id": 3, "n": 0, "m": None, "r": 1},
        {"id": 5, "n": 0, "m": None, "r": 2},
        {"id": 6, "n": 0, "m": None, "r": 5},
    ]


def test_it_says_where_it_has_no_opinion() -> None:
    table = pa.Table.from_pylist(ROWS)
    for query in (
        f"SELECT x, count(*) OVER (ORDER BY x {UNBOUNDED} PATTERN (A) DEFINE A AS true) FROM t GROUP BY x",
        f"SELECT q OVER (ORDER BY x MEASURES 1 AS m {UNBOUNDED} PATTERN (A) DEFINE A AS true) FROM t",
        f"SELECT count(*) OVER (ORDER BY x {UNBOUNDED} PATTERN (A) DEFINE A AS unknown_function(x)) FROM t",
    ):
        with pytest.raises(CannotEvaluate):
            answer(query, {"t": table}, "trino")


def test_tokens_keep_what_matters() -> None:
    assert written(tokens("a  /* b */ + `c d` -- e\n , 'f''g' {- x -}")) == "a + \"c d\", 'f''g' {- x -}"
