"""Lifting a condition: where parts of a Concat or And refer to each other and no order of evaluation serves them all.

`A B` in which each part has a variable that refers to one of the other cannot be joined. The condition of one such
variable X is taken out of its leaf and tested of the whole: `A B & (condition)`, with X any segment in its windows.

Proof. If only Concat and And stand between X's leaf and the node, then every match of the node has exactly one segment
of X, which the lifted condition sees, along with all segments that the leaf saw: the bindings of one and the same
match. So it holds above iff it held below. Under a Kleene it would be tested on the last iteration alone, under an
option also where that is not taken, and under a Not nothing is bound: there it stays.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.modes.segments.planner.logical import Both, Concat, Leaf, parts
from sparkrex.modes.segments.planner.references import annotated, variables_read, with_parts
from sparkrex.modes.segments.planner.validate import has_order

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.segments.planner.logical import Logical


def lift_conditions(node: Logical) -> Logical | None:
    """Test a condition of the whole where no order of evaluation serves it in its leaf; no more than needed.

        ((A & D) = (B & C)), A reads B, C reads D
        -> (((A & D) = (B & C)) & ((x[A final last] > x[B final last])))
        (A = B), B reads A
        -> stays
    """
    lifted = _lift(node)
    return None if lifted is node else lifted


def _lift(node: Logical) -> Logical:
    if not has_order(node):
        for leaf in _movable(node):
            found = _with_lifted(node, leaf)
            if all(map(has_order, (found, *parts(found)))):
                return found
        movable = next(_movable(node), None)
        if movable is not None:
            return _with_lifted(node, movable)
    return with_parts(node, _lift)


def _movable(node: Logical) -> Iterator[Leaf]:
    """Leaves of this node with a condition that refers to segments of other parts of the node."""
    for part in parts(node):
        given = frozenset[str]().union(*(other.gives for other in parts(node) if other is not part))
        for leaf in _leaves(part):
            if leaf.needs & given:
                yield leaf


def _leaves(node: Logical) -> Iterator[Leaf]:
    if isinstance(node, Leaf):
        yield node
    elif isinstance(node, Concat | Both):
        for part in node.parts:
            yield from _leaves(part)


def _with_lifted(node: Logical, leaf: Leaf) -> Logical:
    def change(part: Logical) -> Logical:
        if part is leaf:
            return replace(leaf, condition=None)
        return with_parts(part, change) if isinstance(part, Concat | Both) else part

    whole = Both((change(node), Leaf((), leaf.condition, False)), windows=node.windows)
    wanted = node.gives | variables_read(leaf.condition)
    found = annotated(whole, wanted)
    return replace(found, gives=node.gives)
