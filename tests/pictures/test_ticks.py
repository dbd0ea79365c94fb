"""Ticks are where people count, few enough, and in UTC."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest

from sparkrex.pictures.picture import Axis, Scale
from sparkrex.pictures.ticks import number_ticks, position_text, ticks, time_ticks

DAY = 86_400
MONDAY = int(datetime(2026, 11, 2, tzinfo=UTC).timestamp())


def texts(low: float, high: float, most: int = 8) -> list[str]:
    return [f"{tick.text}|{tick.below}" if tick.below else tick.text for tick in time_ticks(MONDAY, low, high, most)]


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 10, ["0", "2", "4", "6", "8", "10"]),
        (-1, 1, ["-1.0", "-0.5", "0", "0.5", "1.0"]),
        (9_990, 10_010, ["9,990", "9,995", "10,000", "10,005", "10,010"]),
        (0.001, 0.0015, ["0.0010", "0.0011", "0.0012", "0.0013", "0.0014", "0.0015"]),
        (5, 5, ["5"]),
        (0, 4e20, ["0", "1e+20", "2e+20", "3e+20", "4e+20"]),
    ],
)
def test_numbers(low: float, high: float, expected: list[str]) -> None:
    assert [tick.text for tick in number_ticks(low, high, 6)] == expected


def test_numbers_are_never_too_many_and_lie_in_the_range() -> None:
    random = np.random.default_rng(3)
    for _ in range(500):
        low = float(random.normal() * 10.0 ** random.integers(-6, 9))
        high = low + float(random.random() * 10.0 ** random.integers(-3, 9))
        found = number_ticks(low, high, 7)
        room = (high - low) * 1e-6
        assert 0 < len(found) <= 8
        assert all(low - room <= tick.at <= high + room for tick in found)
        assert len({tick.text for tick in found}) == len(found)


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (34_200, 34_220, ["09:30:00|2026-11-02", "09:30:05", "09:30:10", "09:30:15", "09:30:20"]),
        (0, 6 * 3600, ["00:00|2026-11-02", "01:00", "02:00", "03:00", "04:00", "05:00", "06:00"]),
        (80_000, 95_000, ["23:00|2026-11-02", "00:00|2026-11-03", "01:00", "02:00"]),
        (0.25, 0.2505, ["00:00:00.2500|2026-11-02", "00:00:00.2501", "00:00:00.2502", "00:00:00.2503", "00:00:00.2504",
                        "00:00:00.2505"]),
        (0, 5 * DAY, ["2 Nov|2026", "3 Nov", "4 Nov", "5 Nov", "6 Nov", "7 Nov"]),
        (DAY, 40 * DAY, ["9 Nov|2026", "16 Nov", "23 Nov", "30 Nov", "7 Dec"]),
        (0, 150 * DAY, ["Dec|2026", "Jan|2027", "Feb", "Mar", "Apr"]),
        (0, 3000 * DAY, ["2028", "2030", "2032", "2034"]),
    ],
)
def test_times(low: float, high: float, expected: list[str]) -> None:
    assert texts(low, high) == expected


def test_ticks_of_times_are_at_the_times_that_they_show() -> None:
    random = np.random.default_rng(5)
    for _ in range(300):
        low = float(random.integers(-400, 400) * DAY + random.random() * DAY)
        high = low + float(10 ** random.uniform(-4, 9))
        found = time_ticks(MONDAY, low, high, 9)
        assert len(found) <= 10
        assert all(low - 1e-6 <= tick.at <= high + 1e-6 for tick in found)
        for tick in found:
            moment = datetime.fromtimestamp(MONDAY + round(tick.at, 6), UTC)
            if tick.text.isdecimal():
                assert (moment.month, moment.day, moment.hour) == (1, 1, 0)
                assert tick.text == str(moment.year)
            elif ":" in tick.text:
                assert f"{moment:%H:%M}" == tick.text[:5]
            else:
                assert (moment.hour, moment.minute, moment.second) == (0, 0, 0)


def test_times_that_python_does_not_know_are_numbers() -> None:
    assert ticks(Axis("ts", Scale.TIME, 86_400 * 365 * 9_000), 0, 86_400 * 365 * 4_000, 5)


def test_categories_and_whole_values() -> None:
    axis = Axis("kind", Scale.CATEGORY, categories=("a", "b", "c"))
    assert [tick.text for tick in ticks(axis, -0.5, 2.5, 12)] == ["a", "b", "c"]
    assert position_text(axis, 1) == "b"
    assert position_text(Axis("x"), 1234567) == "1,234,567"
    assert position_text(Axis("x"), 0.1) == "0.1"
    assert position_text(Axis("ts", Scale.TIME, MONDAY), 3.25) == "2026-11-02 00:00:03.25"


def test_integers_and_days_have_no_ticks_between_them() -> None:
    assert [tick.text for tick in ticks(Axis("n", grain=1.0), 0.9, 5.1, 9)] == ["1", "2", "3", "4", "5"]
    days = Axis("day", Scale.TIME, MONDAY, grain=float(DAY))
    assert [tick.text for tick in ticks(days, -1000, 3 * DAY, 9)] == ["2 Nov", "3 Nov", "4 Nov", "5 Nov"]
