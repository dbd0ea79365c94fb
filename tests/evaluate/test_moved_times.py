"""Times moved by an interval without the host are those that the host gives."""

from __future__ import annotations

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from tests.evaluate.test_vectorised import analysed

from sparkrex.evaluate.context import _renamed_by_number, _text
from sparkrex.evaluate.moved_times import moved_times
from sparkrex.scalar.expression import Call, ColumnAt, Literal, Target

DAY = 86_400_000_000
SHIFT_OF_BERLIN = int(datetime(2026, 3, 28, 12, tzinfo=UTC).timestamp()) * 1_000_000
NUMBERS = [0, -1, 1, SHIFT_OF_BERLIN, SHIFT_OF_BERLIN + DAY, -62_135_596_800_000_000, 253_402_300_799_999_999, None]
INTERVALS = [("1", "HOUR"), ("90", "minutes"), ("3", "DAY"), ("2", "WEEKS"), ("1", "MONTH"), ("7", "MICROSECONDS")]


def _times(zone: str | None, numbers: list[int | None]) -> pa.Table:
    return pa.table({"t": pa.array(numbers, pa.int64()).view(pa.timestamp("us", zone))})


def _moved(function: str, number: str, unit: str) -> Call:
    return Call(function, (ColumnAt(Target(), "t"), Call("interval", (Literal(number), Literal(unit)))))


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
def test_they_are_those_of_the_host(zone: str | None) -> None:
    table = _times(zone, NUMBERS).slice(1)
    conditions = [f"t {sign} INTERVAL '{number}' {unit} <= t" for number, unit in INTERVALS for sign in "+-"]
    n_found = 0
    with analysed(conditions, "spark", table) as (analysed_conditions, evaluator, _source):
        for condition in analysed_conditions:
            assert isinstance(condition.row, Call)
            expression = condition.row.operands[0]
            found = moved_times(expression, table)
            if found is not None:
                n_found += 1
                (told,) = evaluator.evaluate([_text(expression, table)], _renamed_by_number(table), [None])
                assert found.view(pa.int64()).to_pylist() == told.combine_chunks().view(pa.int64()).to_pylist()
    assert n_found == (10 if zone is None else 6)


@pytest.mark.parametrize("number", [2**63 - 1, -(2**63) + 1, 2**63 - 2, 2**62])
def test_the_end_of_all_time_is_the_hosts(number: int) -> None:
    assert moved_times(_moved("add", "1", "HOUR"), _times(None, [0, number])) is None


def test_nothing_but_times_in_microseconds() -> None:
    table = pa.table({"t": pa.array([0], pa.timestamp("ns"))})
    assert moved_times(_moved("add", "1", "HOUR"), table) is None
    assert moved_times(ColumnAt(Target(), "t"), table) is None
    assert moved_times(_moved("add", "1", "HOUR"), _times("UTC", [])) is not None
