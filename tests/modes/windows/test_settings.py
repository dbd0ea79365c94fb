"""Settings that mean something else in windows, or nothing."""

from __future__ import annotations

from datetime import datetime, timedelta

import pyarrow as pa
import pytest

import sparkrex as rex

START = datetime(2024, 1, 1)
TABLE = pa.table({"ts": [START + timedelta(minutes=minutes) for minutes in (0, 1, 10, 11, 12)]})
QUERY = """SELECT ts, count(*) OVER w AS n FROM t WINDOW w AS (
    ORDER BY ts ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING AFTER MATCH SKIP TO NEXT ROW PATTERN (A+)
    DEFINE A AS true) ORDER BY ts"""


def test_frames_end_at_gaps() -> None:
    found = rex.sql(QUERY, t=TABLE, settings={"partition_gap": "5 minutes"})
    assert found.column("n").to_pylist() == [2, 1, 3, 2, 1]
    assert rex.sql(QUERY, t=TABLE).column("n").to_pylist() == [5, 4, 3, 2, 1]


@pytest.mark.parametrize(
    ("settings", "told"),
    [({"side_rows": True}, "side_rows is not supported for windows"),
     ({"on_error": "report"}, 'on_error="report" is not supported for searches of windows')],
)
def test_no_row_is_left_aside(settings: dict[str, object], told: str) -> None:
    with pytest.raises(rex.UnsupportedError, match=told) as error:
        rex.sql(QUERY, t=TABLE, settings=settings)
    assert error.value.code == "REX301"
