"""From text to rows by the oracle: what the language writes is what the definitions read."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest
from tests.modes.segments.analysis import analyzed
from tests.modes.segments.oracle import evaluate

_X = [5, 3, 1, 2, 4, 4]
ROWS: list[dict[str, Any]] = [
    {
        "tstamp": datetime(2024, 1, 1) + timedelta(hours=6 * row), "n": row, "price": float(x), "ticker": "ab"[row % 2],
        "temp": None if row == 4 else 2.0 * x,
    }
    for row, x in enumerate(_X)
]
_WHERE = "ORDER BY tstamp MEASURES START_INDEX() AS s, END_INDEX() AS e"


@pytest.mark.parametrize(
    ("clause", "answer"),
    [
        (f"{_WHERE} PATTERN (P Q S) DEFINE P AS n = 1, Q AS n = 2, SEGMENT S AS window(2)", [(1, 3)]),
        (f"{_WHERE} PATTERN (S P Q) DEFINE P AS n = 1, Q AS n = 2, SEGMENT S AS window(2)", [(0, 2)]),
        (f"{_WHERE} PATTERN ((S P) Q) DEFINE P AS n = 1, Q AS n = 1, SEGMENT S AS window(2)", [(0, 1)]),
        (f"{_WHERE} PATTERN (P S? Q) DEFINE P AS n = 1, Q AS n = 2 OR n = 4, SEGMENT S AS window(4)", [(1, 2), (1, 4)]),
        (f"{_WHERE} PATTERN (S & W) DEFINE SEGMENT S AS price < first(price) AND count(*) > 2,"
         " SEGMENT W AS window(0, 4)", [(0, 2), (0, 3), (1, 3)]),
        (f"{_WHERE} PATTERN (S & ~(T W)) DEFINE SEGMENT S AS window(3), SEGMENT T AS price > first(price),"
         " SEGMENT W AS true", [(0, 2), (1, 3)]),
        (f"{_WHERE} PATTERN (S) DEFINE SEGMENT S AS linear_reg_r2_signed(tstamp, price) <= -0.99"
         " AND window(tstamp, 12, HOUR)", [(0, 2)]),
        (f"{_WHERE} PATTERN (S) DEFINE SEGMENT S AS NOT window(tstamp, 0, 24, HOURS)", [(0, 5)]),
        (f"{_WHERE} PATTERN (S) DEFINE SEGMENT S AS equal_up_down_ticks(price) AND count(*) > 1 AND ticker = 'b'",
         [(0, 5), (1, 3), (4, 5)]),
        (f"{_WHERE} PATTERN (S) DEFINE SEGMENT S AS 1 / (price - first(price)) > 0.4 AND n > 3",
         [(1, 4), (1, 5), (3, 4), (3, 5)]),
        (f"{_WHERE} PATTERN (S) DEFINE SEGMENT S AS count(temp) < count(*) AND window(1)", [(4, 4)]),
        (f"{_WHERE} PATTERN (P X* Q) DEFINE SEGMENT X AS window(1), P AS n = 0, Q AS n = 1", [(0, 1)]),
        (f"{_WHERE} ALL MATCHES PATTERN (P Q) DEFINE Q AS price > P.price AND price > PREV(price)", [(2, 3), (3, 4)]),
        (f"{_WHERE} AFTER MATCH SKIP PAST LAST ROW PATTERN (S) DEFINE SEGMENT S AS window(1, 4)", [(0, 3), (4, 5)]),
    ],
)
def test_answers(clause: str, answer: list[tuple[int, int]]) -> None:
    assert evaluate(analyzed(clause), ROWS) == answer


@pytest.mark.parametrize("quantifier", ["?", "*", "+", "{2}", "{1,2}"])
def test_reluctant_quantifiers_match_the_same_segments(quantifier: str) -> None:
    for skip in ("", "AFTER MATCH SKIP PAST LAST ROW"):
        greedy, reluctant = (
            f"{_WHERE} {skip} PATTERN (P S{written} Q) DEFINE SEGMENT S AS window(2)"
            for written in (quantifier, f"{quantifier}?")
        )
        assert evaluate(analyzed(greedy), ROWS) == evaluate(analyzed(reluctant), ROWS) != []


def test_measures_of_variables_multiply_and_others_do_not() -> None:
    body = """PATTERN ((W A W) & WHOLE)
        DEFINE SEGMENT W AS true, A AS price < 4, SEGMENT WHOLE AS window(4) AND first(n) = 0"""
    assert evaluate(analyzed(f"{_WHERE} {body}"), ROWS) == [(0, 3)]
    assert evaluate(analyzed(f"ORDER BY tstamp MEASURES A.n AS a, avg(A.price) AS p {body}"), ROWS) == [
        (1, 3.0), (2, 1.0), (3, 2.0),
    ]
