"""What a query can call its variables by, so that every reading of the text means the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tests.modes.trends.query import Leaf, absences, leaves, positive_leaves
from tests.modes.trends.words import follows

if TYPE_CHECKING:
    from tests.modes.trends.query import Pattern

Names: TypeAlias = dict[str, frozenset[str]]
"""Names, and the variables that each means."""


def positive_names(patterns: tuple[Pattern, ...]) -> Names:
    """Names of positive variables, and of types that stand for all their variables."""
    positive = _by_variable([leaf for pattern in patterns for leaf in positive_leaves(pattern)])
    found = _variable_names(positive, patterns)
    for name in {leaf.type for leaf in positive.values()} - _default_names(patterns):
        found[name] = frozenset(variable for variable, leaf in positive.items() if leaf.type == name)
    return dict(sorted(found.items()))


def negated_names(patterns: tuple[Pattern, ...]) -> Names:
    """Names of negated variables."""
    inside = [leaf for pattern in patterns for absent in absences(pattern) for leaf in leaves(absent)]
    return _variable_names(_by_variable(inside), patterns)


def types_of_negated(patterns: tuple[Pattern, ...]) -> set[str]:
    """The types of negated components: what they stand for is not obvious."""
    return {leaf.type for pattern in patterns for absent in absences(pattern) for leaf in leaves(absent)}


def adjacent_names(patterns: tuple[Pattern, ...]) -> list[tuple[str, str]]:
    """Pairs of names such that an event of the one can be directly after one of the other."""
    pairs = edges(patterns)
    found = []
    for names in (positive_names(patterns), negated_names(patterns)):
        found += [
            (before, after) for before, earlier in names.items() for after, later in names.items()
            if any((one, two) in pairs for one in earlier for two in later)
        ]
    return found


def edges(patterns: tuple[Pattern, ...]) -> frozenset[tuple[str, str]]:
    """The pairs of variables that can be adjacent, of all patterns."""
    return frozenset(pair for pattern in patterns for pair in follows(pattern))


def _by_variable(found: list[Leaf]) -> dict[str, Leaf]:
    return {leaf.variable: leaf for leaf in found}


def _variable_names(of: dict[str, Leaf], patterns: tuple[Pattern, ...]) -> Names:
    """A component that is called by its type has that name only if no other is of the type."""
    everything = _by_variable([leaf for pattern in patterns for leaf in leaves(pattern)])
    return {
        variable: frozenset({variable}) for variable, leaf in of.items()
        if leaf.is_named or [other.type for other in everything.values()].count(leaf.type) == 1
    }


def _default_names(patterns: tuple[Pattern, ...]) -> set[str]:
    return {leaf.type for pattern in patterns for leaf in leaves(pattern) if not leaf.is_named}
