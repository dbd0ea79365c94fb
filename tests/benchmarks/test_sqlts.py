"""The benchmark of SQL-TS runs; its naive searches find and count what the definition says."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import pytest
from benchmarks.sqlts import MEASURES, main
from benchmarks.sqlts_search import data, naive, proven
from benchmarks.sqlts_search.comparing import compare, count_readings
from benchmarks.sqlts_search.engine import FORWARD
from benchmarks.sqlts_search.families import FAMILIES
from benchmarks.sqlts_search.patterns import DOUBLE_BOTTOM

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from benchmarks.sqlts_search.patterns import Pattern
    from numpy.typing import NDArray

pytestmark = pytest.mark.slow

TITLES = [
    "Relaxed double bottom in the index: tests", "What naive may mean", "Relaxed double bottom in generated",
    "Gain by length of runs", "Plain MATCH_RECOGNIZE",
]
ABC = "bcab"
"""As which letter each element of a random pattern is written; stars exclude their neighbours."""


def attempt(
    truth: NDArray[np.uint8], is_star: list[bool], start: int
) -> tuple[list[tuple[int, int]], list[int] | None]:
    """The tests of an attempt, by element and row, and where elements begin if it is a match: by the definition."""
    tests: list[tuple[int, int]] = []
    n = truth.shape[1]
    row, begins = start, [start]

    def holds(element: int, at: int) -> bool:
        if at >= n:
            return False
        tests.append((element, at))
        return bool(truth[element, at])

    for element, star in enumerate(is_star):
        if not holds(element, row):
            return tests, None
        row += 1
        while star and holds(element, row):
            row += 1
        begins.append(row)
    return tests, begins


def attempts(
    truth: NDArray[np.uint8], is_star: list[bool]
) -> Iterator[tuple[list[tuple[int, int]], list[int] | None]]:
    start = 0
    while start < truth.shape[1]:
        tests, begins = attempt(truth, is_star, start)
        yield tests, begins
        start = start + 1 if begins is None else begins[-1]


@pytest.mark.parametrize("seed", range(20))
def test_naive_searches_count_what_the_definition_says(seed: int) -> None:
    random = np.random.default_rng(seed)
    letters = random.choice(list("abc"), 60)
    truth = np.array([letters == letter for letter in ABC], np.uint8)
    is_star = [bool(star) for star in random.integers(0, 2, len(ABC) - 1)] + [False]
    made = list(attempts(truth, is_star))
    matches = [begins for _, begins in made if begins is not None]
    stars = np.array(is_star, np.uint8)
    found = np.empty((61, len(ABC) + 1), np.int64)
    n_tests, n_matches = naive.search(truth, stars, found)
    assert n_tests == sum(len(tests) for tests, _ in made)
    assert found[:n_matches].tolist() == matches
    of_all, in_windows, n_far = naive.count_attempts(truth, stars)
    assert of_all == sum(len(ABC) * len({row for _, row in tests}) for tests, _ in made)
    assert in_windows == sum(60 - row for tests, _ in made for _, row in tests)
    assert n_far == sum(any(element == 2 for element, _ in tests) for tests, _ in made)


def test_other_readings_make_more_tests() -> None:
    # a a a, then b is sought: possessive a a a !a b?, giving back tests b on each a, every length anew each a again.
    truth = np.array([[1, 1, 1, 0], [0, 0, 0, 0]], np.uint8)
    stars = np.array([1, 0], np.uint8)
    found = np.empty((5, 3), np.int64)
    by_start = {
        naive.search: [5, 4, 3, 1], naive.search_giving_back: [7, 5, 3, 1], naive.search_every_length: [13, 8, 4, 1],
    }
    for search, counts in by_start.items():
        assert search(truth, stars, found)[0] == sum(counts)


@pytest.mark.parametrize("volatility", [0.01, 0.03])
@pytest.mark.parametrize("pattern", [DOUBLE_BOTTOM, DOUBLE_BOTTOM.with_first_star()], ids=["X", "*X"])
def test_readings_find_what_the_engine_finds(pattern: Pattern, volatility: float) -> None:
    table = data.random_walk(3_000, volatility)
    found = compare("walk", pattern, table, 1)
    assert not found.wrong
    assert found.n_matches
    counts, _, is_same = count_readings(pattern, table, found.begins)
    assert is_same
    assert counts[naive.NAIVE] == found.naive_tests == min(counts.values())


def test_gains_grow_with_runs() -> None:
    teeth = FAMILIES[0]
    one = teeth.measure(20)
    # The first row has no previous one: it is tested once, by no attempt of its run.
    assert one.naive_tests == 40 * (20**2 + 5 * 20 + 2) // 2 - 21
    for family in FAMILIES:
        small, large = family.measure(20), family.measure(40)
        assert not small.wrong
        assert not large.wrong
        assert large.ratio() / small.ratio() == pytest.approx(2, rel=0.1)
    assert teeth.measure(length := teeth.least_length(6)).ratio() >= 6 > teeth.measure(length - 1).ratio()


def test_a_quick_run_on_generated_data(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, page, plot = tmp_path / "figures.json", tmp_path / "figures.md", tmp_path / "sqlts.png"
    code = main([
        "--quick", "--data", str(tmp_path), "--json", str(file), "--markdown", str(page), "--plot", str(plot),
    ])
    printed = capsys.readouterr().out
    assert code == 0, printed
    assert "the index is generated" in printed
    for title in TITLES:
        assert f"\n{title}" in printed
        assert f"**{title}" in page.read_text(encoding="utf-8")
    found = json.loads(file.read_text(encoding="utf-8"))
    assert not found["problems"]
    assert found["compared"][0]["matches"]
    assert [one["name"] for one in found["proofs"]] == list(proven.QUERIES)
    assert all(one["before"] != one["after"] for one in found["proofs"])
    assert plot.stat().st_size > 10_000


def test_another_answer_is_a_problem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    right = naive.search

    def wrong(*given: object) -> tuple[int, int]:
        n_tests, n_matches = right(*given)
        return n_tests, max(n_matches - 1, 0)

    monkeypatch.setattr(naive, "search", wrong)
    options = ["--quick", "--data", str(tmp_path), "--parts", "index", "--plot", str(tmp_path / "sqlts.png")]
    assert main(options) == 1
    assert f"{FORWARD} finds other matches" in capsys.readouterr().out


def test_an_interrupt_prints_what_there_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setitem(MEASURES, "proofs", interrupted)
    file = tmp_path / "figures.json"
    options = ["--quick", "--parts", "families", "proofs", "--json", str(file), "--plot", str(tmp_path / "sqlts.png")]
    assert main(options) == 1
    assert "PROBLEM: interrupted" in capsys.readouterr().out
    assert json.loads(file.read_text(encoding="utf-8"))["families"]
