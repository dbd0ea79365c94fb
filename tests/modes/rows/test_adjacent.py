"""References at fixed distances: which are found, and which must not be."""

from __future__ import annotations

import pytest
from tests.modes.rows.oracle.building import first, last

from sparkrex.languages.match_recognize.row_pattern import (
    RowPattern,
    alternation,
    concatenation,
    optional,
    plus,
    star,
    variable,
)
from sparkrex.modes.rows.adjacent import name_adjacent_rows
from sparkrex.scalar.expression import ColumnAt, Target

A, B, C, D = map(variable, "ABCD")


@pytest.mark.parametrize(
    ("pattern", "tested", "read", "distance"),
    [
        (concatenation(A, B), "B", last("x", "A"), 1),
        (concatenation(A, B, C), "C", last("x", "A"), 2),
        (concatenation(plus(A), B), "B", last("x", "A"), 1),
        (concatenation(A, plus(B), C), "C", last("x", "B"), 1),
        (concatenation(A, plus(B), C), "C", last("x", "A"), None),
        # Only the first row of B stands behind A.
        (concatenation(A, plus(B), C), "B", last("x", "A"), None),
        (concatenation(A, B, star(C)), "C", last("x", "B"), None),
        (concatenation(A, star(B), C), "C", last("x", "A"), None),
        (concatenation(A, star(B), C), "C", last("x", "A", "B"), 1),
        (concatenation(A, optional(B), C), "C", last("x", "A"), None),
        (concatenation(A, alternation(B, C), D), "D", last("x", "A"), 2),
        (concatenation(A, alternation(B, concatenation(B, C)), D), "D", last("x", "A"), None),
        (concatenation(A, alternation(B, C), D), "D", last("x", "B"), None),
        (plus(concatenation(A, B)), "B", last("x", "A"), 1),
        (plus(concatenation(A, B)), "A", last("x", "B"), None),
        (concatenation(B, plus(concatenation(A, B))), "A", last("x", "B"), 1),
        # A variable that does not come before is no row at all.
        (concatenation(A, B), "A", last("x", "B"), None),
        (concatenation(A, B, C), "C", first("x", "B"), 1),
        (concatenation(A, plus(B), C), "C", first("x", "B"), None),
        (concatenation(plus(A), B, C), "B", first("x", "B"), 0),
        (concatenation(A, plus(B)), "B", first("x", "B"), None),
        (concatenation(A, B), "B", last("x", "A", offset=1), None),
        (concatenation(A, B, C), "C", first("x"), 2),
        (concatenation(plus(A), C), "C", first("x"), None),
    ],
)
def test_distances(pattern: RowPattern, tested: str, read: ColumnAt, distance: int | None) -> None:
    found = name_adjacent_rows(pattern, (tested,), read)
    assert found == (read if distance is None else ColumnAt(Target(shift=-distance), "x"))


def test_a_shift_counts_from_the_row() -> None:
    read = last("x", "A", shift=-1)
    assert name_adjacent_rows(concatenation(A, B), ("B",), read) == ColumnAt(Target(shift=-2), "x")


def test_several_variables_of_one_condition_must_agree() -> None:
    pattern = concatenation(A, B, star(C))
    read = last("x", "A")
    assert name_adjacent_rows(pattern, ("B",), read) == ColumnAt(Target(shift=-1), "x")
    assert name_adjacent_rows(pattern, ("B", "C"), read) == read
