"""Common sub-patterns: equal sub-trees are one object, so that a plan evaluates them once.

Proof. What a sub-tree finds in a space depends on its structure, its windows and its conditions only, if it refers to
nobody outside (`needs` is empty); how its variables are called matters only to those who refer to them, and if
`gives` is empty nobody does. Two such sub-trees that are equal but for the names of their variables find the same.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.modes.segments.planner.logical import Leaf, parts
from sparkrex.modes.segments.planner.references import renamed, with_parts

if TYPE_CHECKING:
    from sparkrex.modes.segments.planner.logical import Logical


def share_common_subpatterns(node: Logical) -> Logical | None:
    """Make equal sub-trees one object, so that the plan evaluates them once. The text stays, but for names.

        ((A | B) = C = (A | B))
        -> ((A | B) = C = (A | B))
        (A = B), B reads A
        -> stays
    """
    known: dict[Logical, Logical] = {}
    shared = _share_nodes(node, known)
    return None if shared is node else shared


def _share_nodes(node: Logical, known: dict[Logical, Logical]) -> Logical:
    node = with_parts(node, lambda part: _share_nodes(part, known))
    if node.needs or node.gives or not _has_condition(node):
        return node
    return known.setdefault(_nameless(node), node)


def _has_condition(node: Logical) -> bool:
    """Whether there is something to save: windows alone cost nothing."""
    return (isinstance(node, Leaf) and node.condition is not None) or any(map(_has_condition, parts(node)))


def _nameless(node: Logical) -> Logical:
    """The tree with variables called by their place, counted from the left."""
    names: dict[str, str] = {}

    def change(part: Logical) -> Logical:
        if not isinstance(part, Leaf):
            return with_parts(part, change)
        for name in part.variables:
            names.setdefault(name, str(len(names)))
        return replace(part, variables=tuple(names[name] for name in part.variables))

    def change_condition(part: Logical) -> Logical:
        if not isinstance(part, Leaf):
            new = with_parts(part, change_condition)
        else:
            new = part if part.condition is None else replace(part, condition=renamed(part.condition, names))
        return replace(
            new, needs=frozenset(names.get(name, name) for name in new.needs),
            gives=frozenset(names.get(name, name) for name in new.gives),
        )

    return change_condition(change(node))
