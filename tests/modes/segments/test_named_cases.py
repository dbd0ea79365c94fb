"""The cases that the specification names, by every planner, and against the oracle."""

from __future__ import annotations

import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from tests.modes.segments.analysis import analyzed
from tests.modes.segments.oracle import evaluate

import sparkrex as rex
from sparkrex.modes.segments.planner.planners import PLANNERS

if TYPE_CHECKING:
    from collections.abc import Iterable

TYPES = {"t": "BIGINT", "x": "BIGINT", "ticker": "VARCHAR"}
WHERE = "ORDER BY t MEASURES START_INDEX() AS i, END_INDEX() AS j"


def table(*x: int, tickers: str | None = None, times: Iterable[int] | None = None) -> pa.Table:
    """Rows of one series; a letter is a ticker."""
    return pa.table({
        "t": list(range(len(x)) if times is None else times), "x": list(x), "ticker": list(tickers or "g" * len(x)),
    })


def answer(clause: str, rows: pa.Table, planner: str) -> list[tuple[Any, ...]]:
    """What a planner's plan gives; what the oracle gives."""
    found = rex.sql(f"SELECT * FROM t MATCH_RECOGNIZE ({clause})", t=rows, planner=planner)
    ours = [tuple(row.values()) for row in found.to_pylist()]
    assert ours == evaluate(analyzed(clause, columns=TYPES), rows.to_pylist())
    return ours


DEFINITIONS = {"P1": "P1 AS x = 1", "P2": "P2 AS x = 2", "S": "SEGMENT S AS last(x) > first(x)"}


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize(
    ("pattern", "x", "expected"),
    [
        # Points are neighbours, the last of them is the first row of S.
        ("P1 P2 S", (1, 2, 5, 3), [(0, 2), (0, 3)]),
        # The first point is the last row of S.
        ("S P1 P2", (0, 1, 2, 1), [(0, 2)]),
        ("P1 S? P2", (1, 2, 1, 3, 2), [(0, 1), (0, 4), (2, 4)]),
        # A group that holds S shares its last row with what follows: a row of 1 cannot be one of 2.
        ("(S P1) P2", (0, 1, 2), []),
        ("(S P1) P1", (0, 1, 2), [(0, 1)]),
    ],
)
def test_junctions(pattern: str, x: tuple[int, ...], expected: list[tuple[int, int]], planner: str) -> None:
    defined = [definition for name, definition in DEFINITIONS.items() if name in pattern]
    clause = f"{WHERE} PATTERN ({pattern}) DEFINE {', '.join(defined)}"
    assert answer(clause, table(*x), planner) == expected


@pytest.mark.parametrize("planner", PLANNERS)
def test_a_probe_that_refers_to_two_left_segments_with_the_same_end(planner: str) -> None:
    """Whoever remembers what was found from a row on, but not for which A, gives [2, 3] to both or to neither."""
    clause = """ORDER BY t MEASURES START_INDEX() AS i, END_INDEX() AS j, first(A.x) AS a, last(B.x) AS b
        PATTERN (A B) DEFINE SEGMENT A AS last(x) = 1 AND first(x) > 2,
                             SEGMENT B AS last(x) > first(A.x) AND count(*) = 2"""
    assert answer(clause, table(5, 3, 1, 4), planner) == [(1, 3, 3, 4)]
    assert answer(clause, table(5, 3, 1, 6), planner) == [(0, 3, 5, 6), (1, 3, 3, 6)]


@pytest.mark.parametrize("planner", PLANNERS)
def test_not_of_a_fall_and_anything(planner: str) -> None:
    """PLANNERS have both Nots: materialised, and probed (`_pnot`)."""
    define = "SEGMENT FALL AS last(x) / first(x) < 0.8, SEGMENT W AS true"
    rows = table(10, 7, 20, 21, 40)
    never = [(0, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 2), (2, 3), (2, 4), (3, 3), (3, 4), (4, 4)]
    assert answer(f"{WHERE} PATTERN (~(FALL W)) DEFINE {define}", rows, planner) == never
    rise = "SEGMENT RISE AS last(x) / first(x) >= 2, SEGMENT SHORT AS window(1, 4)"
    limit_sell = f"{WHERE} PATTERN (RISE & SHORT & ~(FALL W)) DEFINE {define}, {rise}"
    assert answer(limit_sell, rows, planner) == [(1, 2), (1, 3), (1, 4), (2, 4)]


@pytest.mark.parametrize("planner", PLANNERS)
@pytest.mark.parametrize("plus", ["+", ""])
def test_opencep_q2_with_and_without_its_plus(plus: str, planner: str) -> None:
    clause = f"""{WHERE} PATTERN (((A1 W A2) & FALL){plus} & SHORT)
        DEFINE SEGMENT W AS true, A1 AS ticker = 'g', A2 AS ticker = 'g', SEGMENT FALL AS last(x) < first(x),
               SEGMENT SHORT AS window(t, 0, 5)"""
    rows = table(9, 7, 8, 6, 5, tickers="gmggg", times=(0, 1, 2, 4, 7))
    assert answer(clause, rows, planner) == [(0, 2), (0, 3), (2, 3), (2, 4), (3, 4)]


@pytest.mark.parametrize("planner", PLANNERS)
def test_repeated_anything_of_fifty_rows_is_linear(planner: str) -> None:
    """`(W)+ & window(50)` with W true; naively every row starts 50 segments, and every one of them closes over 50."""
    query = f"SELECT * FROM t MATCH_RECOGNIZE ({WHERE} PATTERN ((W)+ & FIFTY) DEFINE SEGMENT W AS true," \
        " SEGMENT FIFTY AS window(50))"

    def run(n_rows: int) -> tuple[float, int]:
        rows = pa.table({"t": np.arange(n_rows)})
        tracemalloc.start()
        begun = time.perf_counter()
        found = rex.sql(query, t=rows, planner=planner)
        seconds, (_, peak) = time.perf_counter() - begun, tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert found.column("i").to_numpy().tolist() == list(range(n_rows - 49))
        assert (found.column("j").to_numpy() - found.column("i").to_numpy() == 49).all()
        return seconds, peak

    run(1000)
    (short, less), (long, more) = run(10_000), run(100_000)
    assert more < 30 * less
    assert more < 100_000 * 50 * 8  # not even one array of all candidates
    assert long < 40 * max(short, 0.02)


@pytest.mark.parametrize("planner", ["optimizer", "pr_left", "sm_right"])
def test_repeated_segments_that_only_a_test_knows_to_be_all(planner: str) -> None:
    """The same with a condition that nothing but its evaluation shows to be true: memory follows the window."""
    query = f"SELECT count(*) AS n FROM t MATCH_RECOGNIZE ({WHERE} PATTERN ((V)+ & TEN) DEFINE" \
        " SEGMENT V AS count(*) > 0, SEGMENT TEN AS window(10))"
    for n_rows in (1000, 100_000):
        found = rex.sql(query, t=pa.table({"t": np.arange(n_rows)}), planner=planner)
        assert found.column("n")[0].as_py() == n_rows - 9
