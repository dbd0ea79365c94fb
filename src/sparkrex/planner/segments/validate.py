"""Which side of a split must be evaluated first (footnote 7 of the paper).

A side whose conditions refer to segments of the other can only be probed, once per segment found there, so the other
comes first. If each refers to the other, no operator can join the two.
"""

from __future__ import annotations

from enum import Enum
from functools import cache
from typing import TYPE_CHECKING

from sparkrex.errors import UnsupportedError
from sparkrex.ir.scalar import Aggregate, ColumnAt, walk
from sparkrex.planner.segments.logical import Both, Concat, Leaf, parts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sparkrex.planner.segments.logical import Logical
    from sparkrex.source import Source, Span


class Order(Enum):
    """In which order the two sides of a split can be evaluated."""

    ANY = "either side first, or both once"
    LEFT_FIRST = "the right side refers to the left one"
    RIGHT_FIRST = "the left side refers to the right one"
    IMPOSSIBLE = "each side refers to the other"


def evaluation_order(left: Sequence[Logical], right: Sequence[Logical]) -> Order:
    """The order for two groups of parts of one Concat or Both; `needs` and `gives` must be set."""
    left_waits = any(part.needs & other.gives for part in left for other in right)
    right_waits = any(part.needs & other.gives for part in right for other in left)
    if left_waits and right_waits:
        return Order.IMPOSSIBLE
    if left_waits:
        return Order.RIGHT_FIRST
    return Order.LEFT_FIRST if right_waits else Order.ANY


def has_order(node: Logical) -> bool:
    """Whether this node alone can be split into joins of two, each with an order. Its parts are not looked into."""
    match node:
        case Concat(parts=inside):
            return _chain_has_order(inside)
        case Both(parts=inside):
            return _set_has_order(inside)
        case _:
            return True


def tangled(node: Logical) -> Logical | None:
    """The first node, from the top, that no order of evaluation serves; None if there is none."""
    if not has_order(node):
        return node
    return next((found for part in parts(node) if (found := tangled(part)) is not None), None)


def check_order(node: Logical, source: Source, span: Span | None) -> None:
    """Fail if some node has no order of evaluation."""
    found = tangled(node)
    if found is not None:
        names = frozenset(name for part in parts(found) for name in part.needs & _given(found))
        places = sorted(_references(found, names), key=lambda place: place.start)
        raise UnsupportedError(
            "REX301", f"no order of evaluation serves the references to {', '.join(sorted(names))}", source,
            places[-1] if places else span,
            hint="let conditions refer in one direction, or move one to a variable around the whole: (A B) & S",
        )


def _references(node: Logical, names: frozenset[str]) -> Iterator[Span]:
    """Where conditions below the node refer to one of these variables of another leaf."""
    if isinstance(node, Leaf) and node.condition is not None:
        for part in walk(node.condition):
            if isinstance(part, ColumnAt | Aggregate) and part.span is not None:
                read = part.target.variables if isinstance(part, ColumnAt) else part.variables
                if read is not None and read & names - set(node.variables):
                    yield part.span
    for inner in parts(node):
        yield from _references(inner, names)


def _given(node: Logical) -> frozenset[str]:
    return frozenset[str]().union(*(part.gives for part in parts(node)))


def _chain_has_order(chain: tuple[Logical, ...]) -> bool:
    """Joins are of neighbouring stretches of the chain, so some references that form no circle have no order, too."""

    @cache
    def can_be_joined(begin: int, end: int) -> bool:
        return end - begin == 1 or any(
            can_be_joined(begin, cut)
            and can_be_joined(cut, end)
            and evaluation_order(chain[begin:cut], chain[cut:end]) is not Order.IMPOSSIBLE
            for cut in range(begin + 1, end)
        )

    return can_be_joined(0, len(chain))


def _set_has_order(inside: tuple[Logical, ...]) -> bool:
    """Parts that form no circle can be joined one after the other."""
    waiting = list(inside)
    while waiting:
        ready = [
            part for part in waiting if not any(part.needs & other.gives for other in waiting if other is not part)
        ]
        if not ready:
            return False
        waiting = [part for part in waiting if not any(part is one for one in ready)]
    return True


def is_wildcard(node: Logical) -> bool:
    """Whether this is any segment that its windows allow, and nobody refers to it."""
    return isinstance(node, Leaf) and node.condition is None and not node.gives
