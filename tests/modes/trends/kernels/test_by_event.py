"""Trends by event: compiled as interpreted, and as a plain loop; other algorithms are held against it."""

from __future__ import annotations

import numpy as np
import pytest
from tests.modes.trends.kernels.answers import OPERATORS, count, drawn_values, holds, table
from tests.modes.trends.kernels.long_streams import check_compiled
from tests.modes.trends.query import ANY, CONTIGUOUS, NEXT

SEED = 17


@pytest.mark.parametrize(("counts", "n_small", "n_long"), [
    ("exact", 12, 5),
    pytest.param("exact", 150, 50, marks=pytest.mark.slow), pytest.param("log", 150, 50, marks=pytest.mark.slow),
])
def test_compiled_equals_interpreted(counts: str, n_small: int, n_long: int) -> None:
    check_compiled("by_event", counts, SEED, n_small, n_long)


def trends_by_loop(values: list[int | None], signs: tuple[str, ...], semantics: str) -> int:
    """Of A+ with comparisons that must all hold; no two events at one time."""
    def follows(before: int, after: int) -> bool:
        return all(holds(sign, values[before], values[after]) for sign in signs)

    rows = range(len(values))
    ending = [1] * len(values)
    for row in rows:
        match semantics:
            case "contiguous":
                followers = [row + 1] if row + 1 < len(values) and follows(row, row + 1) else []
            case "skip-till-next-match":
                followers = [next((after for after in rows[row + 1 :] if follows(row, after)), -1)]
            case _:
                followers = [after for after in rows[row + 1 :] if follows(row, after)]
        for after in followers:
            if after >= 0:
                ending[after] += ending[row]
    return sum(ending)


@pytest.mark.parametrize("semantics", [ANY, NEXT, CONTIGUOUS])
@pytest.mark.parametrize("signs", [*((sign,) for sign in OPERATORS), ("<", "<>"), ("<=", ">="), (">=", "<>")])
def test_comparisons(signs: tuple[str, ...], semantics: str) -> None:
    values = drawn_values(np.random.default_rng(len(signs)), 110, 9)
    where = " AND ".join(f"a.x {sign} NEXT(a).x" for sign in signs)
    found = count(table("A" * 110, values), "A+ a", semantics, "by_event", where)
    assert found == trends_by_loop(values, signs, semantics)
