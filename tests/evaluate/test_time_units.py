"""Times of every Arrow unit, with a zone and without, in conditions, windows and measures: exact, or refused."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest

import sparkrex as rex

_PER_SECOND = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
_MINUTES = [0, 1, 2, 5, 6]
_START = 1_700_000_000
TYPES = [pa.timestamp(unit, zone) for unit in _PER_SECOND for zone in (None, "UTC", "Europe/Berlin")]

CONDITIONS = {
    "difference": "t - PREV(t) <= INTERVAL '1' MINUTE",
    "moved": "t <= PREV(t) + INTERVAL '1' MINUTE",
    "moved back": "t - INTERVAL '1' MINUTE <= PREV(t)",
    "of the match": "t - LAST(t, 1) <= INTERVAL '1' MINUTE",
    "chosen, then moved": "t <= COALESCE(LAST(A.t, 1), FIRST(S.t)) + INTERVAL '1' MINUTE",
    "a function": "DATE_TRUNC('MINUTE', t) <= DATE_TRUNC('MINUTE', PREV(t)) + INTERVAL '1' MINUTE",
    "a constant": "t <> TIMESTAMP '2023-11-14 22:18:20 UTC'",
}


def _times(type_: pa.DataType, extra: int = 0) -> pa.Table:
    factor = _PER_SECOND[type_.unit]
    numbers = [(_START + 60 * minute) * factor + extra for minute in _MINUTES]
    return pa.table({"t": pa.array(numbers, pa.int64()).view(type_), "k": ["A", "B", "A", "B", "B"]})


def _counts(table: pa.Table, condition: str) -> list[int]:
    query = f"""SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES COUNT(*) AS n AFTER MATCH SKIP PAST LAST ROW
      PATTERN (S A+) DEFINE A AS {condition})"""
    return [row["n"] for row in rex.sql(query, t=table).to_pylist()]


@pytest.mark.parametrize("type_", TYPES, ids=str)
@pytest.mark.parametrize("condition", CONDITIONS.values(), ids=list(CONDITIONS))
def test_conditions(type_: pa.DataType, condition: str) -> None:
    if "UTC'" in condition and type_.tz is None:
        condition = condition.replace(" UTC'", "'").replace("TIMESTAMP", "TIMESTAMP_NTZ")
    assert _counts(_times(type_), condition) == [3, 2]


@pytest.mark.parametrize("type_", TYPES, ids=str)
def test_windows_and_measures(type_: pa.DataType) -> None:
    table = _times(type_)
    row: dict[str, Any]
    query = """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t
      MEASURES FIRST(t) AS first, LAST(t) + INTERVAL '1' HOUR AS later, LAST(t) - FIRST(t) AS lasted, COUNT(*) AS n
      PATTERN (A+) WITHIN INTERVAL '2' MINUTE DEFINE A AS TRUE)"""
    result = rex.sql(query, t=table)
    assert result.schema.field("first").type == type_
    assert result.column("n").to_pylist() == [2, 1, 2]
    assert [part.nanoseconds for part in result.column("lasted").to_pylist()] == [60 * 10**9, 0, 60 * 10**9]
    row = result.select(["later"]).to_pylist()[0]
    naive = datetime.fromtimestamp(_START + 60, UTC) + timedelta(hours=1)
    assert row["later"] == (naive if type_.tz else naive.replace(tzinfo=None))
    segments = rex.sql(
        """SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES FIRST(S.t) AS first, LAST(S.t) AS last ALL MATCHES
        PATTERN (S) DEFINE SEGMENT S AS last(t) - first(t) <= INTERVAL '2' MINUTE AND window(2))""",
        t=table,
    )
    assert segments.num_rows == 3
    events = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) { b.t - a.t > INTERVAL '1' SECOND }"
    found = rex.events(f"{events} WITHIN 2 MINUTES RETURN a.t AS first, b.t AS last", table, time="t", type="k")
    assert found.column("first").cast(pa.int64()).to_pylist() == [_START * _PER_SECOND[type_.unit]]


def test_a_window_over_dates_in_milliseconds() -> None:
    days = pa.array([19_000 * 86_400_000, 19_001 * 86_400_000, 19_004 * 86_400_000], pa.int64()).view(pa.date64())
    table = pa.table({"t": days, "k": ["A", "B", "B"]})
    query = "PATTERN SEQ(A a, B b) WHERE skip_till_any_match(a, b) WITHIN 2 DAYS RETURN b.t AS last"
    assert rex.events(query, table, time="t", type="k").num_rows == 1


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_what_is_finer_than_a_microsecond_is_compared_exactly(zone: str | None) -> None:
    numbers = [_START * 10**9 + extra for extra in (1, 2, 3, 3_000)]
    table = pa.table({"t": pa.array(numbers, pa.int64()).view(pa.timestamp("ns", zone))})
    assert _counts(table, "t > PREV(t)") == [4]
    assert _counts(table, "COALESCE(t, PREV(t)) > FIRST(t) AND t > PREV(t)") == [4]
    constant = f"TIMESTAMP{'' if zone else '_NTZ'} '2023-11-14 22:13:20{' UTC' if zone else ''}'"
    assert _counts(table, f"t > {constant}") == [4]
    query = "PATTERN SEQ(E a, E b) WHERE skip_till_any_match(a, b) WITHIN 1 MICROSECOND RETURN a.t AS x"
    found = rex.events(query, table, time="t", types={"E": "TRUE"})
    assert found.num_rows == 3


@pytest.mark.parametrize("zone", [None, "UTC"])
@pytest.mark.parametrize("condition", ["t - PREV(t) <= INTERVAL '1' SECOND", "t <= FIRST(t) + INTERVAL '1' SECOND"])
def test_what_would_be_rounded_is_refused(zone: str | None, condition: str) -> None:
    with pytest.raises(rex.ExecutionError, match="REX414") as caught:
        _counts(_times(pa.timestamp("ns", zone), extra=1), condition)
    assert caught.value.span is not None


def test_a_window_that_would_be_rounded_is_refused() -> None:
    table = _times(pa.timestamp("ns", "UTC"), extra=1)
    with pytest.raises(rex.ExecutionError, match="REX414"):
        rex.sql("SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t PATTERN (A+) WITHIN INTERVAL '1' MINUTE)", t=table)
    with pytest.raises(rex.ExecutionError, match="REX414"):
        rex.sql(
            "SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t ALL MATCHES PATTERN (S) "
            "DEFINE SEGMENT S AS window(t, 0, 1, MINUTE))", t=table,
        )
