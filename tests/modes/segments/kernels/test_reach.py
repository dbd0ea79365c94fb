"""Closures by sets of ends find what closures end by end find."""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
import pytest

import sparkrex as rex
from sparkrex.modes.segments.kernels.closures import close
from sparkrex.modes.segments.kernels.reach import close_by_sets
from sparkrex.modes.segments.kernels.segments import SPENT, TOO_MANY, Limits, Triples
from sparkrex.modes.segments.operators import unary

Lines = list[tuple[int, int, int]]


def arrays(lines: Lines) -> Triples:
    """Space, start, end."""
    return Triples(*(np.array([line[k] for line in lines], np.int64) for k in range(3)))


def drawn(seed: int) -> tuple[Lines, Lines, np.ndarray, tuple[object, ...], int]:
    """Base segments, segments to go on from, last rows of the spaces, a window, and its longest segment."""
    generator = np.random.default_rng(seed)
    sizes = generator.integers(1, 90, generator.integers(1, 4))
    ends = np.cumsum(sizes)
    n_rows = int(ends[-1])
    nothing = np.empty(0, np.int64)
    longest = int(generator.integers(1, 140))
    last_end = np.minimum(np.arange(n_rows) + longest - 1, np.repeat(ends, sizes) - 1)
    frame: tuple[object, ...] = (1, longest, nothing, nothing, nothing, nothing)
    if seed % 2:  # the window of a column that does not grow evenly
        values = np.cumsum(generator.integers(0, 4, n_rows))
        reach = np.searchsorted(values, values + longest, side="right") - 1
        last_end = np.minimum(reach, np.repeat(ends, sizes) - 1)
        longest = int((last_end - np.arange(n_rows)).max()) + 1
        frame = (1, n_rows, np.arange(n_rows), last_end, nothing, nothing)
    chance = generator.choice([0.02, 0.1, 0.5, 1.0], 2)
    lines = [
        [
            (space, start, end)
            for space, (stop, size) in enumerate(zip(ends, sizes, strict=True))
            for start in range(stop - size, stop) for end in range(start, last_end[start] + 1)
            if generator.random() < part
        ]
        for part in chance
    ]
    return lines[0], lines[1], ends - 1, frame, longest


@pytest.mark.parametrize("gap", [0, 1])
@pytest.mark.parametrize("seed", range(12))
def test_sets_find_what_is_found_end_by_end(seed: int, gap: int) -> None:
    base, begun, end_high, frame, longest = drawn(seed)
    budget = np.array([1 << 60, 0])
    given = (arrays(begun), arrays(base), gap, end_high, frame)
    limits = Limits(longest, 1 << 40, budget)
    expected = close(*given, -1, limits)
    found = close_by_sets(*given, limits)
    n = int(expected[0])
    assert int(found[0]) == n
    for ours, theirs in zip(found[1:], expected[1:], strict=True):
        assert ours[:n].tolist() == theirs[:n].tolist()


def test_limits() -> None:
    base, begun, end_high, frame, longest = drawn(2)
    given = (arrays(begun), arrays(base), 0, end_high, frame)
    assert close_by_sets(*given, Limits(longest, 3, np.array([1 << 60, 0])))[0] == TOO_MANY
    assert close_by_sets(*given, Limits(longest, 1 << 40, np.array([3, 0])))[0] == SPENT
    assert close_by_sets(*given, Limits(longest, 1 << 40, np.array([1 << 60, 1])))[0] == SPENT


@pytest.mark.parametrize("pattern", ["(UP & ~(W FALL W))+ & ALLW", "(W FALL W)+ & ALLW", "(UP){2,} & ALLW", "(P UP)+"])
def test_whole_queries(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    used = ", ".join(text for name, text in {
        "W": "SEGMENT W AS true", "ALLW": "SEGMENT ALLW AS window(1, 70)", "UP": "SEGMENT UP AS last(x) > first(x)",
        "FALL": "SEGMENT FALL AS last(x) < first(x) - 3", "P": "P AS x > 0",
    }.items() if re.search(rf"\b{name}\b", pattern))
    query = f"SELECT * FROM t MATCH_RECOGNIZE (ORDER BY t MEASURES START_INDEX() AS i, END_INDEX() AS j " \
        f"PATTERN ({pattern}) DEFINE {used})"
    table = pa.table({"t": np.arange(200), "x": np.cumsum(np.random.default_rng(3).integers(-2, 3, 200))})
    found = rex.sql(query, t=table)
    assert found.num_rows > 0
    monkeypatch.setattr(unary, "_MOST_WORDS", 0)  # end by end
    assert found == rex.sql(query, t=table)
