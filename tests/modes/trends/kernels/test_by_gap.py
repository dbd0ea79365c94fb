"""Trends by gap: compiled as interpreted, as by event, and as a plain loop."""

from __future__ import annotations

import numpy as np
import pytest
from tests.modes.trends.kernels.answers import count, is_count, table
from tests.modes.trends.kernels.long_streams import check_compiled, check_equals_by_event
from tests.modes.trends.query import ANY, CONTIGUOUS, NEXT

SEED = 18


@pytest.mark.parametrize(("counts", "n_small", "n_long"), [
    ("exact", 12, 5),
    pytest.param("exact", 150, 50, marks=pytest.mark.slow), pytest.param("log", 150, 50, marks=pytest.mark.slow),
])
def test_compiled_equals_interpreted(counts: str, n_small: int, n_long: int) -> None:
    check_compiled("by_gap", counts, SEED, n_small, n_long)


@pytest.mark.parametrize("n_examples", [5, pytest.param(60, marks=pytest.mark.slow)])
def test_by_gap_equals_by_event(n_examples: int) -> None:
    check_equals_by_event("by_gap", SEED + 1, n_examples)


def drawn_kinds(seed: int, n_rows: int, shares: dict[str, float]) -> str:
    """Letters of which some are more frequent."""
    return "".join(np.random.default_rng(seed).choice([*shares], n_rows, p=[*shares.values()]))


def has_between(kinds: str, first: int, last: int, negated: str) -> bool:
    """Whether events between two have the letters of a negated sequence in this order."""
    rest = iter(kinds[first + 1 : last])
    return all(letter in rest for letter in negated)


@pytest.mark.parametrize("negated", ["C", "CD", "CC", "CDC", "A", "AB"])
@pytest.mark.parametrize("seed", range(3))
def test_a_negated_sequence_between_two_events(negated: str, seed: int) -> None:
    """Under skip-till-any-match, A+ may pass over it, and the B behind it may not."""
    kinds = drawn_kinds(seed, 90, {"A": 0.5, "B": 0.3, "C": 0.1, "D": 0.1})
    written = ", ".join(f"{letter} n{place}" for place, letter in enumerate(negated))
    found = count(table(kinds), f"SEQ(A+ a, ~SEQ({written}), B b)", ANY, "by_gap")
    expected, n_before = 0, 0
    for row, kind in enumerate(kinds):
        if kind != "A":
            continue
        ending, n_before = 1 + n_before, 1 + 2 * n_before
        expected += sum(
            ending for last in range(row + 1, len(kinds))
            if kinds[last] == "B" and not has_between(kinds, row, last, negated)
        )
    assert is_count(found, expected, "exact")


@pytest.mark.parametrize("negated", ["C", "CD"])
def test_a_negated_sequence_at_both_ends(negated: str) -> None:
    written = ", ".join(f"{letter} {{0}}{place}" for place, letter in enumerate(negated))
    pattern = f"SEQ(~SEQ({written.format('n')}), A a, B b, ~SEQ({written.format('m')}))"
    for seed in range(5):
        kinds = drawn_kinds(seed, 40, {"A": 0.6, "B": 0.3, "C": 0.05, "D": 0.05})
        expected = sum(
            kinds[first] == "A" and kinds[last] == "B" and not has_between(kinds, -1, first, negated)
            and not has_between(kinds, last, len(kinds), negated)
            for first in range(40) for last in range(first + 1, 40)
        )
        assert count(table(kinds), pattern, ANY, "by_gap") == expected


@pytest.mark.parametrize("semantics", [NEXT, CONTIGUOUS])
def test_pairs_without_a_negated_event_between_them(semantics: str) -> None:
    """Under next an a goes to the first b; a contiguous pair has nothing between, of its partition."""
    for seed in range(5):
        kinds = drawn_kinds(seed, 200, {"A": 0.4, "B": 0.4, "C": 0.2})
        expected = 0
        for row, kind in enumerate(kinds):
            last = kinds.find("B", row)
            if semantics == CONTIGUOUS:
                last = row + 1 if kinds[row + 1 : row + 2] == "B" else -1
            expected += kind == "A" and last > row and not has_between(kinds, row, last, "C")
        assert count(table(kinds), "SEQ(A a, ~C c, B b)", semantics, "by_gap") == expected
