"""Which side of a split must be evaluated first (footnote 7 of the paper).

A side whose conditions refer to segments of the other can only be probed, once per segment found there, so the other
comes first. If each refers to the other, no operator can join the two.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.errors import UnsupportedError
from sparkrex.modes.segments.planner.logical import Both, Concat, Leaf, parts
from sparkrex.scalar.expression import Aggregate, ColumnAt, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sparkrex.modes.segments.planner.logical import Logical
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
        names = frozenset(name for part in parts(found) for name in part.needs & _given_variables(found))
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


def _given_variables(node: Logical) -> frozenset[str]:
    return frozenset[str]().union(*(part.gives for part in parts(node)))


def _chain_has_order(chain: tuple[Logical, ...]) -> bool:
    """Joins are of neighbouring stretches of the chain, so some references that form no circle have no order, too.

    Parts without references are joined to a neighbour first, whatever the others do. If all references go one way, one
    part after the other is joined. Else all stretches are looked at, short ones first.
    """
    givers: dict[str, list[int]] = {}
    for place, part in enumerate(chain):
        for name in part.gives:
            givers.setdefault(name, []).append(place)
    pairs = [
        (place, other) for place, part in enumerate(chain) for name in part.needs
        for other in givers.get(name, ()) if other != place
    ]
    if all(place > other for place, other in pairs) or all(place < other for place, other in pairs):
        return True
    places = sorted({place for pair in pairs for place in pair})
    number = {place: k for k, place in enumerate(places)}
    return _has_joins(len(places), [(number[place], number[other]) for place, other in pairs])


def _has_joins(n: int, pairs: list[tuple[int, int]]) -> bool:
    """Whether n parts in a row can be joined, `pairs` being who refers to whom."""
    # How many references go from parts before `place` to parts before `other`: sums of rectangles are differences.
    before = np.zeros((n + 1, n + 1), np.int64)
    for place, other in pairs:
        before[place + 1, other + 1] += 1
    before = before.cumsum(axis=0).cumsum(axis=1)
    can_be_joined = np.eye(n + 1, k=1, dtype=np.bool_)
    for length in range(2, n + 1):
        for begin in range(n + 1 - length):
            end = begin + length
            cut = np.arange(begin + 1, end)
            left_waits = before[cut, end] - before[begin, end] - before[cut, cut] + before[begin, cut]
            right_waits = before[end, cut] - before[end, begin] - before[cut, cut] + before[cut, begin]
            is_possible = (left_waits == 0) | (right_waits == 0)
            can_be_joined[begin, end] = (is_possible & can_be_joined[begin, cut] & can_be_joined[cut, end]).any()
    return bool(can_be_joined[0, n])


def _set_has_order(inside: tuple[Logical, ...]) -> bool:
    """Parts that form no circle can be joined one after the other."""
    giving = Counter(name for part in inside for name in part.gives)
    waiting = list(inside)
    while waiting:
        still = [part for part in waiting if any(giving[name] > (name in part.gives) for name in part.needs)]
        if len(still) == len(waiting):
            return False
        giving.subtract(name for part in waiting for name in part.gives)
        giving.update(name for part in still for name in part.gives)
        waiting = still
    return True


def is_wildcard(node: Logical) -> bool:
    """Whether this is any segment that its windows allow, and nobody refers to it."""
    return isinstance(node, Leaf) and node.condition is None and not node.gives
