"""The ways to answer a logical node: an operator and the logical nodes of its children.

Concat, And and Or of many parts are split in two, Concat between any two of its parts, And into any two sets of them;
so plans are bushy. References decide which side must be evaluated first (`validate`), and so which operators can: only
a probe, or a filter, hands segments from one side to the other.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from sparkrex.modes.segments.planner.condition_cost import can_index, must_index
from sparkrex.modes.segments.planner.contains import containment_of
from sparkrex.modes.segments.planner.lengths import lengths, lowered, raised
from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Leaf, Logical, Neither, Repeat
from sparkrex.modes.segments.planner.physical_plan import Op
from sparkrex.modes.segments.planner.validate import Order, evaluation_order, is_wildcard

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sparkrex.modes.segments.pattern import Window

EXACT_CONCAT = 7
EXACT_AND = 6
"""Parts of one Concat or And up to which every split is tried: n^3 and 3^n of them."""
_LONG_CONCAT, _VERY_LONG_CONCAT = 24, 64
_EXACT_IN_VERY_LONG = 4
_FEW_OPTIONS = 16


class Alternative(NamedTuple):
    """An operator over a node (for a split one, over just its two or three parts) and the nodes of its children."""

    op: Op
    logical: Logical
    children: tuple[Logical, ...]


class Alternatives:
    """Alternatives of the nodes of one query. Nodes made by splitting are made once, however they are come by."""

    def __init__(self) -> None:
        self._parts: dict[tuple[int, tuple[int, ...]], Logical] = {}
        self._origin: dict[int, tuple[Logical, tuple[int, ...]]] = {}
        self._known: dict[int, tuple[Logical, list[Alternative]]] = {}
        self._contained: dict[int, tuple[Logical, tuple[Logical, ...]]] = {}
        self._shortest: dict[tuple[int, str | None], float] = {}

    def of(self, node: Logical) -> list[Alternative]:
        """All alternatives that references allow. None if there is no way to answer the node."""
        if id(node) not in self._known:
            self._known[id(node)] = (node, list(self._new(node)))
        return self._known[id(node)][1]

    def _new(self, node: Logical) -> Iterator[Alternative]:
        match node:
            case Leaf(condition=None):
                yield Alternative(Op.WINDOW, node, ())
            case Leaf(condition=condition):
                assert condition is not None
                if not must_index(condition):
                    yield Alternative(Op.SCAN, node, ())
                if can_index(condition):
                    yield Alternative(Op.INDEX, node, ())
            case Neither(part=part):
                yield from self._containing_plan(node)
                yield Alternative(Op.MATERIALIZE_NOT, node, (part,))
                yield Alternative(Op.PROBE_NOT, node, (part,))
            case Repeat(part=part):
                yield Alternative(Op.MATERIALIZE_KLEENE, node, (part,))
            case Either(parts=parts):
                n = len(parts)
                cut = n - 1 if n <= _FEW_OPTIONS else n // 2  # options by the hundred must not nest as deep
                left, right = self.taken(node, range(cut)), self.taken(node, range(cut, n))
                yield Alternative(Op.SORT_MERGE_OR, _of_parts(node, (left, right)), (left, right))
            case Concat():
                yield from self._containing_plan(node)
                yield from self._concat(node)
            case Both(parts=parts):
                yield from self._both(node)

    def _containing_plan(self, node: Logical) -> Iterator[Alternative]:
        contained = self.contained(node)
        if contained:
            yield Alternative(Op.CONTAINS, node, contained)

    def contained(self, node: Logical) -> tuple[Logical, ...]:
        """X, or X, Y and so on, where the node says no more than that a segment contains them, or does not."""
        if id(node) not in self._contained:
            found = containment_of(node)
            pieces = () if found is None else tuple(self.taken(found.chain, range(*piece)) for piece in found.pieces)
            self._contained[id(node)] = (node, pieces)
        return self._contained[id(node)][1]

    def _concat(self, node: Concat) -> Iterator[Alternative]:
        n = len(node.parts)
        exact = self.exact_concat(node)
        for cut in _cuts(n, exact):
            left, right = self.taken(node, range(cut)), self.taken(node, range(cut, n))
            logical = _of_parts(node, (left, right), (node.shares[cut - 1],))
            order = evaluation_order((left,), (right,))
            for op in _allowed_joins(order, Op.SORT_MERGE_CONCAT, Op.RIGHT_PROBE_CONCAT, Op.LEFT_PROBE_CONCAT):
                yield Alternative(op, logical, (left, right))
        for place in range(1, n - 1):
            between = node.parts[place]
            if n <= exact and is_wildcard(between):
                left, right = self.taken(node, range(place)), self.taken(node, range(place + 1, n))
                if evaluation_order((left,), (right,)) is Order.ANY:
                    logical = _of_parts(node, (left, between, right), node.shares[place - 1 : place + 1])
                    yield Alternative(Op.WILDCARD_CONCAT, logical, (left, right))

    def _both(self, node: Both) -> Iterator[Alternative]:
        n = len(node.parts)
        splits: list[tuple[tuple[int, ...], tuple[int, ...]]]
        if n > EXACT_AND:
            splits = [(tuple([k for k in range(n) if k != last]), (last,)) for last in _last_parts(node.parts)]
        else:
            # Either side may be probed, so each pair of sets is looked at once: part 0 is on the left.
            splits = []
            for marks in range((1 << (n - 1)) - 1):
                chosen = (0, *(k for k in range(1, n) if marks >> (k - 1) & 1))
                splits.append((chosen, tuple(k for k in range(n) if k not in chosen)))
        for chosen, rest in splits:
            yield from self.join(node, self.taken(node, chosen), self.taken(node, rest))

    def join(self, node: Both, left: Logical, right: Logical) -> Iterator[Alternative]:
        """Two sides of an And: the operators that join them."""
        logical = _of_parts(node, (left, right))
        order = evaluation_order((left,), (right,))
        if left != right:
            if isinstance(right, Leaf) and order in (Order.ANY, Order.LEFT_FIRST):
                yield Alternative(Op.FILTER, logical, (left,))
            if isinstance(left, Leaf) and order in (Order.ANY, Order.RIGHT_FIRST):
                yield Alternative(Op.FILTER, logical, (right,))
        for other, range_ in ((left, right), (right, left)):
            contained = self.contained(range_) if other is not range_ else ()
            if contained:
                yield Alternative(Op.CONTAINS, replace(logical, parts=(other, range_)), (other, *contained))
        for op in _allowed_joins(order, Op.SORT_MERGE_AND, Op.RIGHT_PROBE_AND, Op.LEFT_PROBE_AND):
            yield Alternative(op, logical, (left, right))

    def exact_concat(self, node: Concat) -> int:
        """Up to how many of its parts every split of a chain is tried: fewer where there are very many such pieces."""
        whole = self._origin[id(node)][0] if id(node) in self._origin else node
        assert isinstance(whole, Concat)
        return EXACT_CONCAT if len(whole.parts) <= _VERY_LONG_CONCAT else _EXACT_IN_VERY_LONG

    def n_parts(self, node: Logical) -> int:
        """How many parts of a split node this one stands for."""
        return len(self._origin[id(node)][1]) if id(node) in self._origin else 1

    def taken(self, node: Concat | Both | Either, places: Sequence[int]) -> Logical:
        """A node over just these parts, with the windows that hold for them; the part itself if it is one."""
        wanted = tuple(places)
        if len(wanted) == len(node.parts):
            return node
        if len(wanted) == 1:
            return node.parts[wanted[0]]
        whole, inside = self._origin.get(id(node), (node, tuple(range(len(node.parts)))))
        assert isinstance(whole, Concat | Both | Either)
        wanted = tuple(inside[place] for place in wanted)
        key = (id(whole), wanted)
        if key not in self._parts:
            self._parts[key] = self._some_parts(whole, wanted)
            self._origin[id(self._parts[key])] = (whole, wanted)
        return self._parts[key]

    def _some_parts(self, node: Concat | Both | Either, places: tuple[int, ...]) -> Concat | Both | Either:
        chosen = tuple([node.parts[place] for place in places])
        inside = set(places)
        others = [part for place, part in enumerate(node.parts) if place not in inside]
        bound = frozenset().union(*[part.gives for part in chosen])
        asked = node.gives.union(*[part.needs for part in others])
        gives = bound & asked
        needs = frozenset().union(*[part.needs for part in chosen]) - bound
        if not isinstance(node, Concat):
            return replace(node, parts=chosen, gives=gives, needs=needs)
        shares = node.shares[places[0] : places[-1]]
        n_shared = sum(node.shares) - sum(shares)
        left_over = [self._left_over(others, n_shared, window) for window in node.windows if window.high is not None]
        return replace(node, parts=chosen, shares=shares, windows=tuple(left_over), gives=gives, needs=needs)

    def _left_over(self, others: list[Logical], n_shared: int, window: Window) -> Window:
        """What a chain's window leaves for some of its parts: no more than the others, at their shortest, leave.

        `n_shared` rows are shared with the others or among them. Of a lower bound nothing remains.
        """
        assert window.high is not None
        taken = sum([self._least(part, window.column) for part in others])
        if window.column is None:
            return replace(window, low=None, high=window.high + n_shared - taken)
        return replace(window, low=None, high=raised(window.high) - lowered(taken) if taken else window.high)

    def _least(self, part: Logical, column: str | None) -> float:
        """How long segments of a part of the query are at least. Parts outlive the query's alternatives."""
        key = (id(part), column)
        if key not in self._shortest:
            self._shortest[key] = lengths(part, column).low
        return self._shortest[key]


def _allowed_joins(order: Order, merge: Op, right_probe: Op, left_probe: Op) -> tuple[Op, ...]:
    match order:
        case Order.ANY:
            return merge, right_probe, left_probe
        case Order.LEFT_FIRST:
            return (right_probe,)
        case Order.RIGHT_FIRST:
            return (left_probe,)
        case Order.IMPOSSIBLE:
            return ()


def _cuts(n_parts: int, exact: int) -> list[int]:
    """Where a Concat is split: anywhere, or, if that would be too many plans, near the middle and at the ends.

    In a long chain one cut near the middle must do: two are 2^k stretches after k of them.
    """
    if n_parts <= exact:
        return list(range(1, n_parts))
    half = n_parts // 2
    is_long = n_parts > _LONG_CONCAT or exact < EXACT_CONCAT
    return sorted({1, half, n_parts - 1} if is_long else {1, half, half + 1, n_parts - 1})


def _last_parts(parts: tuple[Logical, ...]) -> list[int]:
    """Which part of a large And may be split off: for every order of evaluation the last one that has it.

    Every part would be n^2 splits for the whole And, and those of the same order differ only in which part it is.
    """
    if not any(part.needs for part in parts):
        return [len(parts) - 1]
    giving = Counter(name for part in parts for name in part.gives)
    needing = Counter(name for part in parts for name in part.needs)
    found: dict[tuple[bool, bool], int] = {}
    for place in reversed(range(len(parts))):
        part = parts[place]
        waits = any(giving[name] > (name in part.gives) for name in part.needs)
        is_awaited = any(needing[name] > (name in part.needs) for name in part.gives)
        found.setdefault((waits, is_awaited), place)
    return list(found.values())


def _of_parts(
    node: Concat | Both | Either, parts: tuple[Logical, ...], shares: tuple[bool, ...] = ()
) -> Concat | Both | Either:
    """The node over parts that are together all of its parts."""
    if len(parts) == len(node.parts):
        return node
    return replace(node, parts=parts, shares=shares) if isinstance(node, Concat) else replace(node, parts=parts)
