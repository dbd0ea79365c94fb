"""theta, phi, S, shift and next: examples of the paper, its errata, random patterns against the naive search."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.modes.rows.ops.letters import (
    Element,
    draw_pattern,
    draw_text,
    letter_matrices,
    letters_hold,
    read_pattern,
    write_pattern,
)
from tests.modes.rows.ops.naive import naive_search, ops_search

from sparkrex.modes.rows.ops.matrices import Matrices, U, make_matrices, whole_patterns
from sparkrex.modes.rows.ops.shifts import Shifts, find_shifts, implication_values, successors

if TYPE_CHECKING:
    from collections.abc import Sequence

Values = list[list[int]]


def _enumerated(conditions: Sequence[tuple[float, float, int]]) -> Matrices:
    """Matrices of conditions (low < price < high, and how it compares with the row before: -1, 0 (either), 1).

    Prices and the row before take every value of a grid which has all bounds and values between them.
    """
    rows = [(price, before) for price in range(20, 70) for before in range(20, 70)]

    def truth(number: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        low, high, direction = conditions[number - 1]
        return np.array([
            low < price < high and (direction == 0 or (price - before) * direction > 0) for price, before in rows
        ])

    def answer(premise: np.ndarray[tuple[int], np.dtype[np.bool_]], k: int) -> int:
        holds = truth(k)[premise]
        return 1 if holds.all() else U if holds.any() else 0

    return make_matrices(len(conditions), lambda j, k: answer(truth(j), k), lambda j, k: answer(~truth(j), k))


INFINITE = float("inf")
FOUR = [(-INFINITE, INFINITE, -1), (40, 50, -1), (-INFINITE, 52, 1), (-INFINITE, INFINITE, 1)]
"""p1 to p4 of Example 4."""
PRICES = [55, 50, 45, 57, 54, 50, 47, 49, 45, 42, 55, 57, 59, 60, 57]
"""The sequence of Figure 5."""
SEVEN = [
    (-INFINITE, INFINITE, 1), (30, 40, 0), (-INFINITE, INFINITE, -1), (-INFINITE, INFINITE, 1), (35, 40, 0),
    (-INFINITE, INFINITE, -1), (-INFINITE, 30, 0),
]
"""p1 to p7 of Example 9."""
SEVEN_STARS = [True, False, True, True, False, True, False]


def _lower(matrix: np.ndarray[tuple[int, int], np.dtype[np.int8]]) -> Values:
    return [matrix[j, 1 : j + 1].tolist() for j in range(1, len(matrix))]


def test_example_5_has_these_matrices() -> None:
    matrices = _enumerated(FOUR)
    assert _lower(matrices.theta) == [[1], [1, 1], [0, 0, 1], [0, 0, U, 1]]
    assert _lower(matrices.phi) == [[0], [U, 0], [U, U, 0], [U, U, 0, 0]]


def test_example_6_has_this_s() -> None:
    whole = whole_patterns(_enumerated(FOUR))
    assert [whole[j, 1:j].tolist() for j in (2, 3, 4)] == [[U], [U, U], [0, 0, U]]


def test_example_7_has_these_arrays() -> None:
    shifts = find_shifts(_enumerated(FOUR), [False] * 4)
    assert shifts.shift[1:].tolist() == [1, 1, 1, 3]
    assert shifts.next[1:].tolist() == [0, 1, 2, 1]


def _price_holds(conditions: Sequence[tuple[float, float, int]], prices: Sequence[int], element: int, row: int) -> bool:
    low, high, direction = conditions[element - 1]
    if not low < prices[row] < high:
        return False
    return direction == 0 or (row > 0 and (prices[row] - prices[row - 1]) * direction > 0)


def test_figure_5_takes_26_tests_naively_and_21_by_ops() -> None:
    stars = [False] * 4
    naive = naive_search(stars, len(PRICES), lambda j, row, _: _price_holds(FOUR, PRICES, j, row))
    ops = ops_search(
        stars, len(PRICES), lambda j, row, _: _price_holds(FOUR, PRICES, j, row), find_shifts(_enumerated(FOUR), stars)
    )
    assert naive.matches == ops.matches == []
    assert (naive.n_tests, ops.n_tests) == (26, 21)


def test_section_5_counts_three_rows_for_the_first_star() -> None:
    """The first row has no previous one, so it does not rise: count(1) is 3, not 4."""
    prices = [20, 21, 23, 24, 22, 20, 18, 15, 14, 18, 21]
    rising_falling_rising = [(-INFINITE, INFINITE, 1), (-INFINITE, INFINITE, -1), (-INFINITE, INFINITE, 1)]
    found = naive_search([True] * 3, len(prices), lambda j, row, _: _price_holds(rising_falling_rising, prices, j, row))
    ((start, second, third, end),) = found.matches
    assert (start, second - start, third - start, end - start) == (1, 3, 8, 10)


def test_example_9_has_these_matrices() -> None:
    matrices = _enumerated(SEVEN)
    assert _lower(matrices.theta) == [
        [1], [U, 1], [0, U, 1], [1, U, 0, 1], [U, 1, U, U, 1], [0, U, 1, 0, U, 1], [U, 0, U, U, 0, U, 1],
    ]
    # The paper's phi is garbled. Every row of p4 is one of p1, p6 is p3, and outside p1 or p3 everything else may hold.
    assert _lower(matrices.phi) == [
        [0], [U, 0], [U, U, 0], [0, U, U, 0], [U, U, U, U, 0], [U, U, 0, U, U, 0], [U, U, U, U, U, U, 0],
    ]


def test_example_9_shifts_by_three() -> None:
    shifts = find_shifts(_enumerated(SEVEN), SEVEN_STARS)
    assert (shifts.shift[6], shifts.next[6]) == (3, 1)


def test_example_9_has_no_path_from_the_nodes_that_the_paper_names() -> None:
    values = implication_values(_enumerated(SEVEN), 6)
    star = [False, *SEVEN_STARS]
    assert values[3, 1] == 0  # a shift by 2
    assert successors(values, star, 2, 1) == [(3, 2)]  # a shift by 1
    assert successors(values, star, 3, 2) == [(3, 3)]
    assert set(successors(values, star, 4, 1)) == {(5, 1), (5, 2)}


def _searched(pattern: str, text: str, alphabet: str = "abcd") -> list[tuple[int, int]]:
    """First and last row, from 1, of the matches by OPS; they are those of the naive search."""
    elements = read_pattern(pattern)
    stars = [star for star, _ in elements]
    holds = letters_hold(elements, text)
    found = ops_search(stars, len(text), holds, find_shifts(letter_matrices(elements, alphabet), stars))
    assert found.matches == naive_search(stars, len(text), holds).matches
    return [(match[0] + 1, match[-1]) for match in found.matches]


def _printed(pattern: str, text: str, without: str, alphabet: str = "abcd") -> list[tuple[int, int]]:
    """The same with one erratum left in: `next` as printed there, the other errata mended."""
    elements = read_pattern(pattern)
    stars = [star for star, _ in elements]
    matrices = letter_matrices(elements, alphabet)
    shifts = find_shifts(matrices, stars)
    star = [False, *stars]
    next = shifts.next.copy()
    for j in range(2, len(elements) + 1):
        if shifts.shift[j] < j:
            next[j] = _printed_next(implication_values(matrices, j), star, j, int(shifts.shift[j]), without)
    printed = Shifts(shifts.shift, next, shifts.inside)
    found = ops_search(stars, len(text), letters_hold(elements, text), printed)
    return [(match[0] + 1, match[-1]) for match in found.matches]


def _printed_next(values: np.ndarray[tuple[int, int], np.dtype[np.int8]], star: list[bool], j: int, s: int,
                  without: str) -> int:
    r, c = s + 1, 1
    if without != "a" and values[r, c] != 1:
        return 1
    while r < j:
        following = [node for node in successors(values, star, r, c) if node[0] != node[1]]
        if len(following) != 1 or values[following[0]] != 1:
            return c
        if without != "b" and following[0] != (r + 1, c + 1):
            return c
        if without != "c" and star[r] and not star[c]:
            return c
        r, c = following[0]
    return j - s


ERRATA = [
    ("a", "b [abc] [abd]", "dbdabccdbadaaa"),
    ("b", "*[ab] c a b c d", "acabcabcd"),
    ("c", "[abc] [cd] c *d [abd]", "cccaacccccddddcddb"),
]


def test_erratum_a_the_start_node_must_be_1() -> None:
    assert (6, 8) not in _searched("b [abc] [abd]", "dbdabccdbadaaa")


def test_erratum_b_only_diagonal_steps_are_followed() -> None:
    assert _searched("*[ab] c a b c d", "acabcabcd") == [(3, 9)]


def test_erratum_c_a_star_row_is_not_passed_by_an_element_that_is_none() -> None:
    assert _searched("[abc] [cd] c *d [abd]", "cccaacccccddddcddb") == []


@pytest.mark.parametrize(("erratum", "pattern", "text"), ERRATA)
def test_with_an_erratum_left_in_the_answer_is_wrong(erratum: str, pattern: str, text: str) -> None:
    assert _printed(pattern, text, without=erratum) != _searched(pattern, text)


def test_erratum_d_where_elements_begin_moves_with_the_pattern() -> None:
    """Elements are taken over twice; with the second one's row as it was, the match would begin on row 3."""
    assert _searched("[abc] [ac] *b", "bbcaacb", "abc") == [(5, 7)]


def test_a_match_may_end_on_the_last_row() -> None:
    assert _searched("a *b c", "aabbc") == [(2, 5)]
    assert _searched("a *b", "aabb") == [(2, 4)]


def test_a_star_that_ends_does_not_pass_over_the_row_behind_it() -> None:
    assert _searched("*a *b a", "aabba") == [(1, 5)]


def _compare(pattern: list[Element], text: str, alphabet: str) -> tuple[int, int]:
    stars = [star for star, _ in pattern]
    holds = letters_hold(pattern, text)
    naive = naive_search(stars, len(text), holds)
    ops = ops_search(stars, len(text), holds, find_shifts(letter_matrices(pattern, alphabet), stars))
    assert ops.matches == naive.matches, (write_pattern(pattern), text)
    assert ops.n_tests <= naive.n_tests, (write_pattern(pattern), text)
    return naive.n_tests, ops.n_tests


@pytest.mark.parametrize("seed", range(4))
def test_random_patterns_give_the_naive_answer_with_no_more_tests(seed: int) -> None:
    draw = Random(seed)
    naive = ops = 0
    for _ in range(1_000):
        alphabet = "abcd"[: draw.choice((2, 3, 4))]
        pattern = draw_pattern(draw, alphabet)
        more, fewer = _compare(pattern, draw_text(draw, pattern, alphabet), alphabet)
        naive, ops = naive + more, ops + fewer
    assert ops < 0.6 * naive


def test_patterns_without_stars_have_the_same_arrays_by_both_definitions() -> None:
    """Section 4.2 and section 5.1 agree where there is no star; a last star makes no difference before it."""
    draw = Random(9)
    for _ in range(500):
        pattern = [(False, letters) for _, letters in draw_pattern(draw, "abcd")]
        longer = [*pattern, (True, frozenset("a"))]
        plain = find_shifts(letter_matrices(pattern, "abcd"), [False] * len(pattern))
        by_graph = find_shifts(letter_matrices(longer, "abcd"), [star for star, _ in longer])
        assert by_graph.shift[:-1].tolist() == plain.shift.tolist()
        assert by_graph.next[:-1].tolist() == plain.next.tolist()
