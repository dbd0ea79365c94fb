"""The elements of a pattern as OPS sees them, and what each one's condition reads.

A condition has a part that the row and its neighbours at fixed distances decide, which proofs are about, and a rest
that reads the match. A reference to a row that always stands at the same distance is one to that neighbour
(`adjacent`): in (X, Y, Z) `Z.price < Y.price` is `price < PREV(price)`. It is rewritten so, for the proofs always. For
the search it is only where it cannot fail: a row condition is evaluated for rows that no attempt would come to.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.languages.match_recognize.row_pattern import concatenation, star, variable
from sparkrex.modes.rows.adjacent import name_adjacent_rows
from sparkrex.scalar.expression import (
    Aggregate,
    ClassifierAt,
    ColumnAt,
    End,
    Expression,
    Target,
    is_volatile,
    walk,
)
from sparkrex.scalar.guards import can_fail
from sparkrex.scalar.split import conjunction, conjuncts, is_row_condition

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.languages.match_recognize.row_pattern import RowPattern
    from sparkrex.modes.rows.plan import PossessiveElement


@dataclass(frozen=True, slots=True)
class Read:
    """Rows that a condition reads: of these elements, `is_last` if it is the last row of all of them together."""

    elements: frozenset[int]
    is_last: bool


@dataclass(frozen=True, slots=True)
class Element:
    """An element with its condition sorted.

    `row` is evaluated for rows, `context` during the search. `known` is what the row and its neighbours decide, all of
    the condition if `is_whole`; `reads` is what the rest reads of the match.
    """

    variables: tuple[str, str]
    is_star: bool
    row: Expression | None
    context: Expression | None
    known: Expression | None
    is_whole: bool
    reads: tuple[Read, ...]


def sort_elements(given: Sequence[PossessiveElement]) -> tuple[Element, ...]:
    """The elements of a pattern, in order."""
    pattern = _as_pattern(given)
    return tuple(_sort_element(given, element, pattern) for element in given)


def _sort_element(given: Sequence[PossessiveElement], element: PossessiveElement, pattern: RowPattern) -> Element:
    tested = element.variables if element.is_star else element.variables[:1]
    row: list[Expression] = []
    context: list[Expression] = []
    known: list[Expression] = []
    reads: list[Read] = []
    for conjunct in () if element.condition is None else conjuncts(element.condition):
        near = name_adjacent_rows(pattern, tested, conjunct)
        is_known = is_row_condition(near)
        if is_known:
            known.append(near)
        else:
            reads += _reads(conjunct, given)
        # As in `scalar.split`: what can fail stays behind what guards it.
        is_evaluated_as_row = is_row_condition(conjunct) if can_fail(conjunct) else is_known
        if is_evaluated_as_row and (not context or not can_fail(conjunct)):
            row.append(near)
        else:
            context.append(conjunct)
    return Element(
        element.variables, element.is_star, conjunction(row), conjunction(context), conjunction(known),
        len(known) == len(conjuncts(element.condition)) if element.condition is not None else True, tuple(reads),
    )


def _as_pattern(given: Sequence[PossessiveElement]) -> RowPattern:
    """The order in which rows are mapped to variables."""
    items: list[RowPattern] = []
    for element in given:
        first, later = element.variables
        items.append(variable(first))
        if element.is_star:
            items.append(star(variable(later)))
    return concatenation(*items)


def _has_both(target: Target, element: PossessiveElement) -> bool:
    """Whether every row of the element is one of the target's variables."""
    variables = element.variables if element.is_star else element.variables[:1]
    return target.variables is not None and target.variables.issuperset(variables)


def _reads(expression: Expression, given: Sequence[PossessiveElement]) -> list[Read]:
    """What a condition reads of the match, at least."""
    everything = frozenset(range(1, len(given) + 1))
    found = [Read(everything, is_last=False)] if is_volatile(expression) else []
    for node in walk(expression):
        match node:
            case ColumnAt(target) | ClassifierAt(target):
                if replace(target, shift=0) == Target() and isinstance(node, ColumnAt):
                    continue
                is_last = isinstance(node, ColumnAt) and target.end is End.LAST and target.offset == 0
                variables = target.variables
            case Aggregate(variables=variables):
                is_last = False
            case _:
                continue
        named = everything if variables is None else frozenset(
            k for k in everything if not variables.isdisjoint(given[k - 1].variables)
        )
        if is_last and isinstance(node, ColumnAt):
            is_last = variables is not None and all(_has_both(node.target, given[k - 1]) for k in named)
        found.append(Read(named, is_last))
    return found


def find_differences(elements: Sequence[Element]) -> NDArray[np.bool_]:
    """By elements r and k from 1: whether p_k may differ between two attempts that are both inside the run of a star r.

    They have the same rows from there on, and the rows before, the run's first ones included, may be others. So p_k
    differs only if it reads such a row: the first or any number of rows of elements up to r, or the last row of
    elements before r.
    """
    m = len(elements)
    differs = np.zeros((m + 1, m + 1), np.bool_)
    for k, element in enumerate(elements, 1):
        for read in element.reads:
            mapped = [e for e in read.elements if e <= k]
            for r in range(1, k + 1):
                is_other = mapped and (max(mapped) < r if read.is_last else min(mapped) <= r)
                differs[r, k] |= bool(is_other)
    return differs


def find_final(elements: Sequence[Element]) -> NDArray[np.bool_]:
    """By element from 1: whether no later start can match once an attempt has met the partition's end in it.

    Where rows decide every star, an element of a later attempt never begins before that of an earlier one: a star
    that begins later ends no earlier. So an attempt behind one that met the end in element k meets it there, or before.
    """
    result = np.ones(len(elements) + 1, np.bool_)
    for k, element in enumerate(elements, 1):
        result[k] = result[k - 1] and (element.is_whole or not element.is_star)
    return result
