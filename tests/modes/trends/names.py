"""What a query can call its variables by, so that every reading of the text means the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from tests.modes.trends.query import absences, leaves, positive_leaves
from tests.modes.trends.words import follows

if TYPE_CHECKING:
    from tests.modes.trends.query import Pattern

Names: TypeAlias = dict[str, frozenset[str]]
"""Names, and the variables that each means."""


def positive_names(patterns: tuple[Pattern, ...]) -> Names:
    """Names of positive variables, and types, which stand for all their positive variables."""
    positive = [leaf for pattern in patterns for leaf in positive_leaves(pattern)]
    found = {leaf.variable: frozenset({leaf.variable}) for leaf in positive if leaf.is_named}
    for name in {leaf.type for leaf in positive}:
        found[name] = frozenset(leaf.variable for leaf in positive if leaf.type == name)
    return dict(sorted(found.items()))


def negated_names(patterns: tuple[Pattern, ...]) -> Names:
    """Names of negated variables; one without a variable has the name of its type, if nothing else is of the type."""
    types = [leaf.type for pattern in patterns for leaf in leaves(pattern)]
    inside = [leaf for pattern in patterns for absent in absences(pattern) for leaf in leaves(absent)]
    return {
        leaf.variable: frozenset({leaf.variable}) for leaf in inside if leaf.is_named or types.count(leaf.type) == 1
    }


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

