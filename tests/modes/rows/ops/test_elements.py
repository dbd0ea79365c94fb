"""Conditions that read the match: which shifts stay sound."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

import numpy as np
import pytest
from tests.modes.rows.ops.contexts import (
    Comparison,
    ContextElement,
    as_plan,
    draw_elements,
    element_matrices,
    elements_hold,
)
from tests.modes.rows.ops.naive import Found, naive_search, ops_search

from sparkrex.modes.rows.ops.elements import find_differences, find_final, sort_elements
from sparkrex.modes.rows.ops.matrices import U, make_matrices
from sparkrex.modes.rows.ops.shifts import find_shifts
from sparkrex.modes.rows.plan import PossessiveElement
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, End, Expression, Literal, Semantics, Target

if TYPE_CHECKING:
    from collections.abc import Sequence

V = ColumnAt(Target(), "v")


def _less_than(other: Expression) -> Expression:
    return Call("lt", (V, other))


def _elements(*given: tuple[str, Expression | None]) -> list[PossessiveElement]:
    """`("*X", condition)`; a star's later rows have a variable of their own."""
    return [
        PossessiveElement((name.strip("*"), name[1:] + "2" if name[0] == "*" else name), name[0] == "*", condition)
        for name, condition in given
    ]


def _rows_of(*names: str) -> Target:
    return Target(frozenset(names))


def test_a_reference_to_an_earlier_element_at_a_fixed_distance_is_one_to_a_row() -> None:
    given = _elements(("X", None), ("Y", None), ("Z", _less_than(ColumnAt(_rows_of("X"), "v"))))
    (*_, last) = sort_elements(given)
    assert last.row == last.known == _less_than(ColumnAt(Target(shift=-2), "v"))
    assert last.is_whole
    assert last.context is None


def test_the_last_row_of_a_star_is_the_row_before_the_next_element() -> None:
    star = ("*X", None)
    both = ColumnAt(_rows_of("X", "X2"), "v")
    assert sort_elements(_elements(star, ("Y", _less_than(both))))[1].row == _less_than(ColumnAt(Target(shift=-1), "v"))
    # Not if a star stands between them, nor if only the star's first row has the variable.
    between = _elements(star, ("*Y", None), ("Z", _less_than(both)))
    assert sort_elements(between)[2].context == _less_than(both)
    first = ColumnAt(_rows_of("X"), "v")
    assert sort_elements(_elements(star, ("Y", _less_than(first))))[1].context == _less_than(first)


def test_what_can_fail_is_tested_only_where_the_search_comes() -> None:
    ratio = Call("divide", (ColumnAt(_rows_of("X"), "v"), V), can_fail=True)
    (_, last) = sort_elements(_elements(("X", None), ("Y", _less_than(ratio))))
    assert last.row is None
    assert last.context == _less_than(ratio)
    assert last.is_whole, "proofs may still use it"


def test_a_star_has_no_fixed_distance_to_earlier_elements() -> None:
    condition = _less_than(ColumnAt(_rows_of("X"), "v"))
    assert sort_elements(_elements(("X", None), ("*Y", condition)))[1].context == condition


@pytest.mark.parametrize(
    ("condition", "differing"),
    [
        (Call("lt", (V, ColumnAt(Target(frozenset({"X", "X2"}), end=End.FIRST), "v"))), [1, 2, 3]),
        (Call("lt", (V, ColumnAt(_rows_of("X", "X2"), "v"))), [2, 3]),
        (Call("lt", (Aggregate("sum", (V,), frozenset({"Y", "Y2"}), Semantics.RUNNING), Literal(1))), [2, 3]),
        (Call("lt", (V, ColumnAt(Target(end=End.FIRST), "v"))), [1, 2, 3]),
        (Call("lt", (V, ColumnAt(Target(shift=-1), "v"))), []),
    ],
)
def test_what_is_read_decides_where_attempts_differ(condition: Expression, differing: list[int]) -> None:
    """The condition of Z in (*X, *Y, *Z): whether it may differ after attempts meet inside the run of X, Y or Z."""
    differs = find_differences(sort_elements(_elements(("*X", None), ("*Y", None), ("*Z", condition))))
    assert [r for r in (1, 2, 3) if differs[r, 3]] == differing
    assert not differs[:, :3].any()


def test_starts_inside_a_star_are_tried_if_its_first_row_is_read() -> None:
    """(*X rising, Y < FIRST(X)) on 1, 3, 6, 7, 4 matches rows 3 to 5."""
    prices = [1, 3, 6, 7, 4]
    rising = Call("gt", (V, ColumnAt(Target(shift=-1), "v")))
    below = _less_than(ColumnAt(Target(frozenset({"X", "X2"}), end=End.FIRST), "v"))
    given = _elements(("*X", rising), ("Y", below))

    def holds(element: int, row: int, begins: Sequence[int]) -> bool:
        if element == 1:
            return row > 0 and prices[row] > prices[row - 1]
        return prices[row] < prices[begins[1]]

    matrices = make_matrices(2, lambda j, k: 1 if j == k else U, lambda j, k: 0 if j == k == 1 else U)
    shifts = find_shifts(matrices, [True, False], find_differences(sort_elements(given)))
    assert shifts.inside == 2
    found = ops_search([True, False], 5, holds, shifts)
    assert found.matches == naive_search([True, False], 5, holds).matches == [(2, 4, 5)]
    assert ops_search([True, False], 5, holds, find_shifts(matrices, [True, False])).matches == []


def test_attempts_that_meet_inside_a_later_star_may_differ() -> None:
    """(X, *Y, *Z above X, W): Z ends on a row that a start one row later would take."""
    text, values = "aaabbc", [5, 2, 2, 6, 4, 0]
    letters = ("a", "a", "b", "c")

    def holds(element: int, row: int, begins: Sequence[int]) -> bool:
        return text[row] == letters[element - 1] and (element != 3 or values[row] > values[begins[1]])

    given = _elements(("X", None), ("*Y", None), ("*Z", Call("gt", (V, ColumnAt(_rows_of("X"), "v")))), ("W", None))
    exact = element_matrices([
        ContextElement(star, frozenset(letter), Comparison("last", 1) if letter == "b" else None)
        for star, letter in zip((False, True, True, False), letters, strict=True)
    ], "abc")
    stars = [False, True, True, False]
    found = ops_search(stars, 6, holds, find_shifts(exact, stars, find_differences(sort_elements(given))))
    assert found.matches == naive_search(stars, 6, holds).matches == [(1, 2, 3, 5, 6)]
    assert ops_search(stars, 6, holds, find_shifts(exact, stars)).matches == []


def compare(draw: Random) -> tuple[Found, Found]:
    """A random pattern on random rows, naively and by OPS."""
    alphabet = "abc"[: draw.choice((2, 3))]
    elements = draw_elements(draw, alphabet)
    text = "".join(draw.choice(alphabet) for _ in range(draw.randint(0, 20)))
    if draw.random() < 0.7:
        # What the elements take, again and again.
        pieces = [element for _ in range(4) for element in elements[: draw.randint(1, len(elements))]]
        text = "".join(draw.choice(sorted(piece.letters)) for piece in pieces for _ in range(draw.randint(1, 3)))[:20]
    values = [draw.randint(0, 5) for _ in text]
    stars = [element.is_star for element in elements]
    sorted_elements = sort_elements(as_plan(elements, [(f"V{k}", f"W{k}") for k in range(len(elements))]))
    shifts = find_shifts(element_matrices(elements, alphabet), stars, find_differences(sorted_elements))
    holds = elements_hold(elements, text, values)
    naive = naive_search(stars, len(text), holds)
    ops = ops_search(stars, len(text), holds, shifts, find_final(sorted_elements).tolist())
    assert ops.matches == naive.matches, (elements, text, values, shifts)
    assert ops.n_tests <= naive.n_tests, (elements, text, values, shifts)
    return naive, ops


@pytest.mark.parametrize("seed", range(3))
def test_random_conditions_that_read_the_match_give_the_naive_answer(seed: int) -> None:
    draw = Random(seed)
    found = [compare(draw) for _ in range(1_000)]
    assert sum(ops.n_tests for _, ops in found) < 0.8 * sum(naive.n_tests for naive, _ in found)
    assert np.mean([len(naive.matches) > 0 for naive, _ in found]) > 0.2
