"""Records of the match so far, against the list of mapped rows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from sparkrex.kernels import path as p

NAN = math.nan
INTS = [3, -1, 4, 1, -5, 9, 2, 6]
INT_NULLS = [0, 0, 1, 0, 0, 1, 0, 0]
FLOATS = [0.5, NAN, -2.0, 3.25, 1e9, 0.0, -0.5, 7.0]
FLOAT_NULLS = [0, 0, 1, 0, 0, 0, 0, 0]
FILTER = [1, 0, 1, 1, 1, 0, 1, 1]
N_ROWS = len(INTS)

# Integer column 0 is INTS, 1 is FILTER, 2 is 0 or 1 for COUNT_IF; double column 0 is FLOATS.
INT_VALUES = np.array([INTS, FILTER, [1, 0, 1, 1, 0, 1, 0, 1]])
ALL_INT_NULLS = np.array([INT_NULLS, [0] * N_ROWS, [0] * N_ROWS], np.uint8)


def columns(int_values: Any = INT_VALUES) -> tuple[Any, ...]:
    """As `extend` takes them."""
    return (
        int_values, ALL_INT_NULLS, np.array([1, 0, 0], np.uint8), np.array([FLOATS]),
        np.array([FLOAT_NULLS], np.uint8), np.array([1], np.uint8),
    )


@dataclass
class Path:
    """A path of which one variable (0) is recorded by some updates; the other (1) is not read by anybody."""

    updates: list[list[int]]
    columns: tuple[Any, ...] = field(default_factory=columns)

    def __post_init__(self) -> None:
        self.ints = np.zeros((N_ROWS + 2, 8), np.int64)
        self.floats = np.zeros((N_ROWS + 2, 4))
        self.version = 0

    def map(self, row: int) -> int:
        """Map a row to variable 0: MAPPED or OVERFLOW."""
        table = np.array(self.updates, np.int64).reshape(-1, 6)
        offsets = np.array([0, len(table), len(table)])
        status = p.extend((table, offsets, self.ints, self.floats), self.columns, 0, row, self.version)
        self.version += 1
        return int(status)


ROWS = [0, 1, 2, 3, 4, 6, 7]


@pytest.mark.parametrize("condition", [-1, 1])
@pytest.mark.parametrize("values", [p.NO_VALUES, p.INTEGERS, p.DOUBLES])
def test_running_aggregates(values: int, condition: int) -> None:
    kinds = [p.COUNT] if values == p.NO_VALUES else [p.COUNT, p.SUM, p.MIN, p.MAX, p.MOMENTS]
    for kind in kinds:
        path = Path([[kind, 0, 0, values, 0, condition]])
        for n, row in enumerate(ROWS, 1):
            assert path.map(row) == p.MAPPED
            taken = [
                at for at in ROWS[:n]
                if (condition < 0 or FILTER[at])
                and not (values == p.INTEGERS and INT_NULLS[at]) and not (values == p.DOUBLES and FLOAT_NULLS[at])
            ]
            assert path.ints[n, 0] == len(taken)
            if kind == p.COUNT or not taken:
                continue
            numbers = [float(FLOATS[at] if values == p.DOUBLES else INTS[at]) for at in taken]
            key = [(math.isnan(number), number) for number in numbers]
            found = path.floats[n, 0] if values == p.DOUBLES or kind == p.MOMENTS else path.ints[n, 1]
            expected = {
                p.SUM: sum(numbers), p.MIN: numbers[key.index(min(key))], p.MAX: numbers[key.index(max(key))],
                p.MOMENTS: sum(numbers) / len(numbers),
            }[kind]
            assert found == pytest.approx(expected, nan_ok=True)
            if kind == p.MOMENTS:
                square = sum((number - expected) ** 2 for number in numbers)
                assert path.floats[n, 1] == pytest.approx(square, nan_ok=True)


def test_count_if_adds_what_is_true() -> None:
    path = Path([[p.COUNT_IF, 0, 0, p.INTEGERS, 2, -1]])
    for row in ROWS:
        path.map(row)
    assert path.ints[: len(ROWS) + 1, 0].tolist() == [0, *np.cumsum(INT_VALUES[2][ROWS]).tolist()]


def test_a_sum_that_leaves_64_bits_is_told() -> None:
    path = Path([[p.SUM, 0, 0, p.INTEGERS, 0, -1]], columns(np.array([[2**62] * N_ROWS] * 3)))
    assert [path.map(row) for row in (0, 1)] == [p.MAPPED, p.OVERFLOW]


def test_rows_are_remembered_and_going_back_is_going_to_a_version() -> None:
    path = Path([
        [p.LAST_ROWS, 0, 0, 0, 0, -1], [p.FIRST_ROW, 2, 0, 0, 0, -1], [p.NTH_ROW, 3, 0, 0, 3, -1],
        [p.LAST_ROW, 5, 0, 0, 0, -1], [p.COPY_INT, 6, 0, 0, 0, -1], [p.COPY_FLOAT, 0, 3, 0, 0, -1],
    ])
    path.ints[0, [0, 2, 3, 5]] = -1
    path.ints[0, 6], path.floats[0, 3] = 42, 0.25
    for row in ROWS:
        path.map(row)
    for n in range(len(ROWS) + 1):
        seen = ROWS[:n]
        assert path.ints[n, 2] == (seen[0] if seen else -1)
        assert path.ints[n, 3] == (seen[2] if n > 2 else -1)
        assert path.ints[n, 5] == (seen[-1] if seen else -1)
        assert (path.ints[n, 6], path.floats[n, 3]) == (42, 0.25)
    # From the third version another row: the fourth is written anew, and what was before it stays.
    path.version = 3
    path.map(7)
    assert path.ints[4, 5] == 7
    assert target(path, p.LAST_OF_SET, offset=1) == ROWS[2]


def target(path: Path, kind: int, offset: int = 0, shift: int = 0, slot: int = 0, row: int = 7, start: int = 0) -> int:
    targets = np.array([[kind, offset, shift, slot]])
    return int(p.target_row(targets, 0, path.ints, path.version, row, start, 0, N_ROWS))


@pytest.mark.parametrize("offset", range(9))
@pytest.mark.parametrize("shift", [-3, 0, 2])
def test_targets(offset: int, shift: int) -> None:
    path = Path([[p.LAST_ROWS, 0, 0, 0, 0, -1], [p.FIRST_ROW, 2, 0, 0, 0, -1]])
    path.ints[0, [0, 2]] = -1
    rows = [2, 3, 5]
    for row in rows:
        path.map(row)

    def shifted(found: int | None) -> int:
        return -1 if found is None or not 0 <= found + shift < N_ROWS else found + shift

    start, row = 1, 6
    assert target(path, p.CURRENT, offset, shift, row=row) == shifted(row)
    assert target(path, p.FIRST_OF_SET, 0, shift, slot=2) == shifted(rows[0])
    assert target(path, p.LAST_OF_SET, offset, shift) == shifted(rows[::-1][offset] if offset < 3 else None)
    first = start + offset if start + offset <= row else None
    last = row - offset if row - offset >= start else None
    assert target(path, p.FIRST_OF_PATH, offset, shift, row=row, start=start) == shifted(first)
    assert target(path, p.LAST_OF_PATH, offset, shift, row=row, start=start) == shifted(last)


@pytest.mark.parametrize("kind", [p.FIRST_OF_SET, p.LAST_OF_SET])
def test_a_set_without_rows_has_no_target(kind: int) -> None:
    path = Path([])
    path.ints[0] = -1
    assert target(path, kind) == -1
