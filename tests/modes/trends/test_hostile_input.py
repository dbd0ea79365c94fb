"""Input that nobody wants: an answer or an error with a code, never a fault of ours."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest

import sparkrex as rex

PAIR = "RETURN COUNT(*) AS n PATTERN SEQ(A, B) SEMANTICS skip-till-any-match"
TWO = {"ts": [1, 2], "kind": ["A", "B"]}


def trends(text: str, columns: dict[str, Any], **options: Any) -> list[dict[str, Any]]:
    options = {"time": "ts", "type": "kind", **options}
    found: list[dict[str, Any]] = rex.trends(text, pa.table(columns), **options).to_pylist()
    return found


def test_types_that_are_all_null() -> None:
    with pytest.warns(UserWarning, match="no event has type"):
        assert trends(PAIR, {"ts": [1, 2], "kind": pa.nulls(2)}) == []


def test_a_type_that_holds_never() -> None:
    assert trends(PAIR.replace("SEQ(A, B)", "A+"), {"ts": [1, 2]}, type=None, types={"A": "NULL"}) == []


@pytest.mark.parametrize("within", ["", " WITHIN 5"])
@pytest.mark.parametrize("semantics", ["skip-till-any-match", "skip-till-next-match", "contiguous"])
def test_no_rows(within: str, semantics: str) -> None:
    text = PAIR.replace("skip-till-any-match", semantics) + within
    assert trends(text, {"ts": pa.array([], pa.int64()), "kind": pa.array([], pa.string())}) == []


@pytest.mark.parametrize(
    ("text", "columns", "options", "code"),
    [
        (PAIR + " WITHIN 5", {**TWO, "ts": pa.array([1, 2**63 + 5], pa.uint64())}, {}, "REX405"),
        (PAIR + " WITHIN 5", {**TWO, "ts": [-(2**63), 2**63 - 1]}, {}, "REX405"),
        (PAIR + " WITHIN 2", {**TWO, "ts": [0.0, 1e300]}, {}, "REX405"),
        (PAIR + " WITHIN 1 day", {**TWO, "ts": pa.array([0, 213_503_983], pa.int32()).cast(pa.date32())}, {}, "REX405"),
        (PAIR + " WITHIN 1 day", {**TWO, "ts": pa.array([0, 10**13], pa.timestamp("s"))}, {}, "REX405"),
        (PAIR + " WITHIN 1 hour", {**TWO, "ts": pa.array([0, 1], pa.time64("us"))}, {}, "REX226"),
        (PAIR + " WITHIN 2", {**TWO, "ts": [0.0, 1.0]}, {"origin": float("nan")}, "REX226"),
        (PAIR + " WHERE A.x < NEXT(B).x", {**TWO, "x": [[1], [2]]}, {}, "REX301"),
        (PAIR + " WHERE A.x = NEXT(B).x", {**TWO, "x": [{"y": 1}, {"y": 1}]}, {}, "REX301"),
        (PAIR.replace("COUNT(*)", "SUM(*)"), TWO, {}, "REX210"),
        (PAIR.replace("COUNT(*)", "MAX(*)"), TWO, {}, "REX210"),
    ],
)
def test_errors(text: str, columns: dict[str, Any], options: dict[str, Any], code: str) -> None:
    with pytest.raises(rex.RexError) as caught:
        trends(text, columns, **options)
    assert caught.value.code == code


def test_times_that_are_no_numbers_lie_in_no_window() -> None:
    times = [1.0, 1.5, float("nan"), float("inf"), float("-inf")]
    found = trends("RETURN COUNT(*) AS n PATTERN A+ SEMANTICS contiguous WITHIN 2", {"ts": times}, type=None)
    assert found == [{"window_start": 0.0, "window_end": 2.0, "n": 3}]
