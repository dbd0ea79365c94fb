"""Random patterns whose conditions read the match: letter sets, and for some elements a comparison with other rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.modes.rows.ops.matrices import Matrices, U, make_matrices
from sparkrex.modes.rows.plan import PossessiveElement
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, End, Expression, Literal, Semantics, Target

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from tests.modes.rows.ops.naive import Holds

FORMS = ("first", "last", "sum", "count", "start", "second")


@dataclass(frozen=True)
class Comparison:
    """`v > FIRST(e.v)`, `v < LAST(e.v)`, `sum(e.v) < 9`, `count(e.*) < 3`, `v > FIRST(v)` or `v > LAST(e.v, 1)`."""

    form: str
    element: int


@dataclass(frozen=True)
class ContextElement:
    """An element: whether it is a star, its letters, and what it compares with."""

    is_star: bool
    letters: frozenset[str]
    comparison: Comparison | None


def draw_elements(draw: Random, alphabet: str, longest: int = 5) -> list[ContextElement]:
    """A random pattern; comparisons are with elements up to the element itself."""
    elements = []
    for number in range(1, draw.randint(1, longest) + 1):
        letters = frozenset(letter for letter in alphabet if draw.random() < draw.choice((0.4, 0.7)))
        comparison = Comparison(draw.choice(FORMS), draw.randint(1, number)) if draw.random() < 0.35 else None
        elements.append(ContextElement(draw.random() < 0.5, letters or frozenset(draw.choice(alphabet)), comparison))
    return elements


def as_plan(elements: Sequence[ContextElement], variables: Sequence[tuple[str, str]]) -> list[PossessiveElement]:
    """The elements as expressions, over columns `e` and `v`."""
    value = ColumnAt(Target(), "v")

    def compared(number: int, comparison: Comparison) -> Expression:
        names = frozenset(variables[comparison.element - 1])
        is_own = comparison.element == number
        match comparison.form:
            case "first":
                return Call("gt", (value, ColumnAt(Target(names, end=End.FIRST), "v")))
            case "last":
                return Call("lt", (value, ColumnAt(Target() if is_own else Target(names), "v")))
            case "sum":
                total = Aggregate("sum", (value,), names, Semantics.RUNNING)
                return Call("lt", (total, Literal(9)))
            case "count":
                return Call("lt", (Aggregate("count", (), names, Semantics.RUNNING), Literal(3)))
            case "start":
                return Call("gt", (value, ColumnAt(Target(end=End.FIRST), "v")))
            case _:
                return Call("gt", (value, ColumnAt(Target(names, offset=1), "v")))

    result = []
    for number, element in enumerate(elements, 1):
        letters = Call("in", (ColumnAt(Target(), "e"), *(Literal(letter) for letter in sorted(element.letters))))
        condition: Expression = letters
        if element.comparison is not None:
            condition = Call("and", (letters, compared(number, element.comparison)))
        result.append(PossessiveElement(variables[number - 1], element.is_star, condition))
    return result


def elements_hold(elements: Sequence[ContextElement], text: str, values: Sequence[int]) -> Holds:
    """The conditions; a comparison with a row that is not there does not hold."""

    def holds(number: int, row: int, begins: Sequence[int]) -> bool:
        element = elements[number - 1]
        if text[row] not in element.letters:
            return False
        if element.comparison is None:
            return True
        other = element.comparison.element
        rows = range(begins[other], row + 1 if other == number else begins[other + 1])
        match element.comparison.form:
            case "first":
                return values[row] > values[rows[0]]
            case "last":
                return values[row] < values[rows[-1]]
            case "sum":
                return sum(values[one] for one in rows) < 9
            case "count":
                return len(rows) < 3
            case "start":
                return values[row] > values[begins[1]]
            case _:
                return len(rows) > 1 and values[row] > values[rows[-2]]

    return holds


def element_matrices(elements: Sequence[ContextElement], alphabet: str) -> Matrices:
    """What the letters alone prove."""
    sets = [frozenset[str](), *(element.letters for element in elements)]
    reads = [False, *(element.comparison is not None for element in elements)]

    def after_success(j: int, k: int) -> int:
        if not sets[j] & sets[k]:
            return 0
        return 1 if sets[j] <= sets[k] and not reads[k] else U

    def after_failure(j: int, k: int) -> int:
        rest = frozenset(alphabet) - sets[j]
        if reads[j]:
            return U
        if not rest & sets[k]:
            return 0
        return 1 if rest <= sets[k] and not reads[k] else U

    return make_matrices(len(elements), after_success, after_failure)
