"""Row conditions that are conjunctions of comparisons of numbers: described as data, and evaluated by one kernel.

Most conditions of patterns are such: `price < 0.9 * PREV(price) AND volume > 100`. What is described here is what the
nodes of `vectorised` compute; they compute it themselves where there are few rows, NULLs or numbers of other widths.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.columns.keys import FEW_ROWS, read_only
from sparkrex.threads import ranges, spread

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sparkrex.evaluate.leaves import Leaf

_NUMBERS = (np.dtype(np.float64), np.dtype(np.int64))


@dataclass(frozen=True, slots=True)
class Term:
    """A leaf's value `shift` rows further, times `factor`; the factor itself if there is no leaf."""

    leaf: int | None
    shift: int
    factor: Any

    @property
    def is_plain(self) -> bool:
        """Whether it is a leaf's value as it is."""
        return self.leaf is not None and bool(self.factor == 1)

    def times(self, other: Term) -> Term | None:
        """The product, if it is a term: of a constant and a value, in whichever order."""
        for constant, value in ((self, other), (other, self)):
            if constant.leaf is None and value.is_plain:
                return Term(value.leaf, value.shift, constant.factor)
        return None


@dataclass(frozen=True, slots=True)
class Comparison:
    """A comparison by its canonical name; both terms are doubles, or both are integers."""

    function: str
    left: Term
    right: Term

    @property
    def terms(self) -> tuple[Term, Term]:
        """Both sides."""
        return self.left, self.right


@dataclass(frozen=True, eq=False, slots=True)
class _Group:
    """Conditions over columns of one type, by their lines."""

    leaves: dict[int, None]
    conditions: dict[int, Sequence[Comparison]]


def hold_all(
    conditions: Mapping[int, Sequence[Comparison]], leaves: Sequence[Leaf], leaving: dict[int, NDArray[np.int64]],
    bitmaps: NDArray[np.uint8], threads: int,
) -> set[int]:
    """Fill the bitmaps of those conditions that can be evaluated here, given by their lines; which these are."""
    if bitmaps.shape[1] <= FEW_ROWS:
        return set()
    for group in (groups := _grouped(conditions, leaves)):
        _hold(group, leaves, bitmaps, threads)
        for line, comparisons in group.conditions.items():
            for shift in {term.shift for each in comparisons for term in each.terms if term.shift}:
                # What is read outside of the partition is NULL, and a comparison with it is not true.
                bitmaps[line, leaving[shift]] = 0
    return {line for group in groups for line in group.conditions}


def _grouped(conditions: Mapping[int, Sequence[Comparison]], leaves: Sequence[Leaf]) -> list[_Group]:
    """Conditions that one call can evaluate, for each type of numbers."""
    from sparkrex.kernels.compare import MOST_COLUMNS

    groups: dict[Any, _Group] = {}
    for line, comparisons in conditions.items():
        own = {term.leaf: None for each in comparisons for term in each.terms if term.leaf is not None}
        types = {leaves[number].data.dtype for number in own}
        if len(types) != 1 or types.isdisjoint(_NUMBERS) or not all(_is_plain(leaves[number]) for number in own):
            continue
        group = groups.setdefault(types.pop(), _Group({}, {}))
        if len(group.leaves | own) <= MOST_COLUMNS:
            group.leaves.update(own)
            group.conditions[line] = comparisons
    return [group for group in groups.values() if group.conditions]


def _is_plain(leaf: Leaf) -> bool:
    return leaf.nulls is None and leaf.outside is None and leaf.matching is None


def _hold(group: _Group, leaves: Sequence[Leaf], bitmaps: NDArray[np.uint8], threads: int) -> None:
    """Evaluate a group for rows whose terms are in their partition."""
    from sparkrex.kernels.compare import EQUAL, LESS, MOST_COLUMNS, hold_comparisons

    # By name: the kernel's comparison, whether its sides are exchanged, and whether it must not hold.
    forms = {
        "lt": (LESS, False, 0), "gt": (LESS, True, 0), "ge": (LESS, False, 1), "le": (LESS, True, 1),
        "eq": (EQUAL, False, 0), "ne": (EQUAL, False, 1),
    }
    numbers = list(group.leaves)
    columns = [read_only(leaves[number].data) for number in numbers]
    columns += [columns[0]] * (MOST_COLUMNS - len(columns))
    terms: dict[Term, int] = {}
    rows = []
    for place, comparisons in enumerate(group.conditions.values()):
        for each in comparisons:
            kind, is_exchanged, is_denied = forms[each.function]
            sides = [terms.setdefault(term, len(terms)) for term in each.terms]
            rows.append([place, kind, is_denied, *(sides[::-1] if is_exchanged else sides)])
    places = [[-1 if term.leaf is None else numbers.index(term.leaf), term.shift] for term in terms]
    arguments = (
        *columns, np.array(places, np.int64), np.array([term.factor for term in terms], columns[0].dtype),
        np.array(rows, np.int64),
    )
    lines = np.array(list(group.conditions), np.int64)
    spread(
        lambda begin, end: hold_comparisons(*arguments, begin, end, lines, bitmaps), ranges(bitmaps.shape[1], threads)
    )
