"""What a stream shows and how it is stopped, without Spark: rows, batches, signals."""

from __future__ import annotations

import io
import os
import signal
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from sparkrex.cli.batches import Batches
from sparkrex.cli.printed_rows import PrintedRows
from sparkrex.cli.stops import Stop
from sparkrex.spark.streaming.metrics import COUNTED, OLDEST

if TYPE_CHECKING:
    from collections.abc import Sequence

_TIME = datetime(2026, 3, 1, 10, tzinfo=UTC)


def _batch(names: Sequence[str], low: Sequence[float | None]) -> Any:
    times = pa.array([_TIME] * len(names), pa.timestamp("us", "UTC"))
    table = pa.table({"symbol": list(names), "low": pa.array(low, pa.float64()), "at": times})
    return SimpleNamespace(toArrow=lambda: table)


def test_rows_in_columns(capsys: pytest.CaptureFixture[str]) -> None:
    rows = PrintedRows("text")
    rows(_batch(["a", "b"], [7.5, None]), 0)
    rows(_batch([], []), 1)
    rows(_batch(["c\n"], [10.25]), 2)
    rows(_batch(["a long name"], [1.0]), 3)
    assert capsys.readouterr().out.splitlines() == [
        "symbol   low  at",
        "a        7.5  2026-03-01 10:00:00",
        "b       NULL  2026-03-01 10:00:00",
        "symbol    low  at",  # a wider value has come
        "c\\n     10.25  2026-03-01 10:00:00",
        "symbol         low  at",
        "a long name    1.0  2026-03-01 10:00:00",
    ]
    assert rows.n_rows == 4


def test_rows_for_programs(capsys: pytest.CaptureFixture[str]) -> None:
    for kind in ("csv", "json"):
        rows = PrintedRows(kind)
        rows(_batch(["a"], [7.5]), 0)
        rows(_batch(["b"], [None]), 1)
    assert capsys.readouterr().out.splitlines() == [
        '"symbol","low","at"',
        '"a",7.5,2026-03-01 10:00:00.000000Z',
        '"b",,2026-03-01 10:00:00.000000Z',
        '{"symbol":"a","low":7.5,"at":"2026-03-01T10:00:00+00:00"}',
        '{"symbol":"b","at":"2026-03-01T10:00:00+00:00"}',
    ]


def _event(number: int, *, has_run: bool = True, **metrics: int) -> Any:
    """What Spark tells of a batch with two relations, of which one has these metrics."""
    nothing: dict[str, int | None] = {**dict.fromkeys(COUNTED, 0), OLDEST: None}
    durations = {"triggerExecution": 1500} | ({"addBatch": 1000} if has_run else {})
    return SimpleNamespace(
        progress={
            "batchId": number, "durationMs": durations, "eventTime": {"watermark": "2026-03-01T10:00:00.000Z"},
            "observedMetrics": {"rex_1": nothing | metrics, "rex_2": nothing},
        }
    )


def test_a_line_for_each_batch() -> None:
    stream = io.StringIO()
    batches = Batches(stream)
    assert batches.newest() == ""
    batches.onQueryProgress(_event(7, rows_in=1234, late=3, rows_held=12, oldest=1_000_000))
    batches.onQueryProgress(_event(8, has_run=False))
    batches.onQueryProgress(_event(8, rows_in=6, rows_out=5, open_keys=2, state_bytes=20_000))
    heading, first, second = stream.getvalue().splitlines()
    names = "batch watermark seconds rows in late errors released rows out open keys rows held state MB oldest"
    assert heading.split() == names.split()
    assert first.split() == [
        "7", "2026-03-01T10:00:00", "1.5", "1,234", "3", "0", "0", "0", "0", "12", "0.00", "1970-01-01T00:00:01",
    ]
    assert len(first) == len(second) == len(heading)
    assert batches.newest() == "batch 8: 6 in, 0 late, 0 released, 5 out, 2 keys open, 0 rows held, 0.02 MB"
    assert (batches.n_batches, batches.totals) == (2, {"rows_in": 1240, "late": 3, "errors": 0, "rows_out": 5})
    assert "\r" not in stream.getvalue()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_asks_the_second_is_urgent_the_third_interrupts(number: signal.Signals) -> None:
    before = [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)]
    with Stop() as stop:
        os.kill(os.getpid(), number)
        assert (stop.signal, stop.is_urgent) == (number, False)
        os.kill(os.getpid(), signal.SIGINT)
        assert (stop.signal, stop.is_urgent) == (number, True)
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), number)
    assert [signal.getsignal(each) for each in (signal.SIGINT, signal.SIGTERM)] == before
