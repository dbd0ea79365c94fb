"""Random valid physical plans of a logical tree: any order of joins, any operator that can serve it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Leaf, Logical, Neither, Repeat
from sparkrex.modes.segments.planner.physical_plan import Op, Physical
from sparkrex.modes.segments.planner.references import bound
from sparkrex.modes.segments.planner.validate import Order, evaluation_order, is_wildcard

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

NOTHING: frozenset[str] = frozenset()


class NoOrderError(Exception):
    """The draw came to two parts that refer to each other."""


def random_plan(node: Logical, random: Random) -> Physical:
    """A plan; `NoOrderError` if the orders drawn lead nowhere."""
    match node:
        case Leaf():
            return Physical(random.choice([Op.SCAN, Op.INDEX]) if node.condition is not None else Op.WINDOW, node)
        case Repeat(part=part):
            return Physical(Op.MATERIALIZE_KLEENE, node, (random_plan(part, random),))
        case Neither(part=part):
            return Physical(random.choice([Op.MATERIALIZE_NOT, Op.PROBE_NOT]), node, (random_plan(part, random),))
        case Concat():
            return _concat(node, random)
        case Both():
            return _both(node, random)
        case Either(parts=parts):
            if len(parts) == 1:
                return random_plan(parts[0], random)
            left = _either(node, parts[:-1])
            return Physical(Op.SORT_MERGE_OR, node, (random_plan(left, random), random_plan(parts[-1], random)))


def _concat(node: Concat, random: Random) -> Physical:
    parts, shares = node.parts, node.shares
    outer = evaluation_order(parts[:1], parts[-1:])
    if len(parts) == 3 and is_wildcard(parts[1]) and outer is Order.ANY and random.random() < 0.5:
        sides = (random_plan(parts[0], random), random_plan(parts[2], random))
        return Physical(Op.WILDCARD_CONCAT, node, sides)
    cut = random.randrange(1, len(parts))
    left = _stretch(parts[:cut], shares[: cut - 1])
    right = _stretch(parts[cut:], shares[cut:])
    joined = Concat(
        (left, right), (shares[cut - 1],), windows=node.windows, needs=node.needs, gives=node.gives
    )
    op = _choice(
        (left,), (right,), random, (Op.SORT_MERGE_CONCAT, Op.LEFT_PROBE_CONCAT, Op.RIGHT_PROBE_CONCAT)
    )
    return Physical(op, joined, (random_plan(left, random), random_plan(right, random)))


def _both(node: Both, random: Random) -> Physical:
    parts = list(node.parts)
    random.shuffle(parts)
    cut = random.randrange(1, len(parts))
    left, right = _all(parts[:cut]), _all(parts[cut:])
    joined = Both((left, right), windows=node.windows, needs=node.needs, gives=node.gives)
    order = evaluation_order((left,), (right,))
    if (
        isinstance(right, Leaf) and order in (Order.ANY, Order.LEFT_FIRST) and left != right and random.random() < 0.5
    ):
        return Physical(Op.FILTER, joined, (random_plan(left, random),))
    op = _choice((left,), (right,), random, (Op.SORT_MERGE_AND, Op.LEFT_PROBE_AND, Op.RIGHT_PROBE_AND))
    return Physical(op, joined, (random_plan(left, random), random_plan(right, random)))


def _choice(left: Sequence[Logical], right: Sequence[Logical], random: Random, ops: tuple[Op, Op, Op]) -> Op:
    """Sort-merge, the left side probed, the right side probed: one that the references allow."""
    match evaluation_order(left, right):
        case Order.ANY:
            return random.choice(ops)
        case Order.LEFT_FIRST:
            return ops[2]
        case Order.RIGHT_FIRST:
            return ops[1]
        case Order.IMPOSSIBLE:
            raise NoOrderError


def _stretch(parts: tuple[Logical, ...], shares: tuple[bool, ...]) -> Logical:
    return parts[0] if len(parts) == 1 else Concat(parts, shares, needs=_needs(parts), gives=_gives(parts))


def _all(parts: Sequence[Logical]) -> Logical:
    return parts[0] if len(parts) == 1 else Both(tuple(parts), needs=_needs(parts), gives=_gives(parts))


def _either(node: Either, parts: tuple[Logical, ...]) -> Logical:
    return Either(parts, windows=node.windows, needs=node.needs, gives=node.gives)


def _needs(parts: Sequence[Logical]) -> frozenset[str]:
    return NOTHING.union(*(part.needs for part in parts)) - NOTHING.union(*map(bound, parts))


def _gives(parts: Sequence[Logical]) -> frozenset[str]:
    return NOTHING.union(*(part.gives for part in parts))
