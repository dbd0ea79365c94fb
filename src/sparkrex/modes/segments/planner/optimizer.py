"""The cheapest plan by dynamic programming over nodes and range sizes of search spaces (section 5).

A node's best plan depends on its search space, and on how many spaces it will be asked for at once: an index pays when
there are many. So of each node and space not one plan is kept, but all that are best for some number of spaces: those
on the lower convex hull of (cost once, cost for each space). Costs above are linear in both, so nothing is lost.
"""

from __future__ import annotations

from functools import partial
from itertools import product
from typing import TYPE_CHECKING, NamedTuple

from sparkrex.modes.segments.planner.alternatives import EXACT_AND, Alternative, Alternatives
from sparkrex.modes.segments.planner.condition_cost import can_index
from sparkrex.modes.segments.planner.large_and import NextParts
from sparkrex.modes.segments.planner.logical import Both, Concat, Leaf, Logical
from sparkrex.modes.segments.planner.physical_plan import Op, Physical

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sparkrex.modes.segments.planner.cost import CostModel, Step
    from sparkrex.modes.segments.planner.windows_selectivity import Ranges


class NoPlanError(Exception):
    """References go both ways however the pattern is split, or the operators allowed cannot serve them."""


class Choice(NamedTuple):
    """The cost of a plan, and the plan: an operator over the choices of its children."""

    once: float
    each: float
    op: Op
    logical: Logical
    below: tuple[Choice, ...] = ()


def plan_of(choice: Choice, known: dict[int, Physical]) -> Physical:
    """The plan of a choice. Parts that are chosen more than once become one; `known` has those made so far."""
    plan = known.get(id(choice))
    if plan is None:
        children = []
        for one in choice.below:  # a comprehension has a frame of its own: plans are as deep as an And is long
            children.append(plan_of(one, known))  # noqa: PERF401
        plan = known[id(choice)] = Physical(choice.op, choice.logical, tuple(children))
    return plan


def optimize(
    model: CostModel, without: frozenset[Op] = frozenset(), alternatives: Alternatives | None = None, *,
    tries_all: bool = False,
) -> Physical:
    """The plan of least cost for the model's query, of all that do without certain operators.

    Unless it `tries_all`, it does not look at alternatives that are not `worthwhile`. Nodes that it makes by splitting
    others are in `alternatives`.
    """
    optimizer = Optimizer(model, without, alternatives or Alternatives(), tries_all=tries_all)
    choices = optimizer.choices(model.logical, model.cards.whole())
    if not choices:
        raise NoPlanError
    return plan_of(min(choices, key=lambda choice: model.total(choice.once, choice.each)), {})


class Optimizer:
    """The search; remembers what it found for each node and space."""

    def __init__(
        self, model: CostModel, without: frozenset[Op], alternatives: Alternatives, *, tries_all: bool = False
    ) -> None:
        self.model = model
        self.tries_all = tries_all
        self.without = without
        self.alternatives = alternatives
        self._found: dict[tuple[int, Ranges], list[Choice]] = {}
        self._tried: dict[tuple[int, bool, bool], list[Alternative]] = {}

    def choices(self, node: Logical, ranges: Ranges) -> list[Choice]:
        """The plans of a node that are best for some number of such spaces."""
        key = (id(node), ranges)
        found = self._found.get(key)
        if found is None:
            is_large = isinstance(node, Both) and len(node.parts) > EXACT_AND
            found = self._many_parts(node, ranges) if is_large else self._few_parts(node, ranges)  # type: ignore[arg-type]  # a Both
            self._found[key] = found
        return found

    def _few_parts(self, node: Logical, ranges: Ranges) -> list[Choice]:
        alternatives = self._worthwhile(node, ranges)
        if isinstance(node, Concat) and len(node.parts) > self.alternatives.exact_concat(node):
            # A long chain is cut in halves, unless references do not allow it.
            least = len(node.parts) // 3
            halves = [
                one for one in alternatives if min(self.alternatives.n_parts(child) for child in one.children) > least
            ]
            choices = self._best(node, halves, ranges)
            if choices:
                return choices
        return self._best(node, alternatives, ranges)

    def _worthwhile(self, node: Logical, ranges: Ranges) -> list[Alternative]:
        key = (id(node), ranges.starts <= 1, ranges.ends <= 1)
        found = self._tried.get(key)
        if found is None:
            found = self.alternatives.of(node)
            found = self._tried[key] = found if self.tries_all else worthwhile(found, ranges, self.without)
        return found

    def _best(
        self, node: Logical, alternatives: Iterable[Alternative], ranges: Ranges, so_far: Iterable[Choice] = ()
    ) -> list[Choice]:
        found = list(so_far)
        for op, logical, children in alternatives:
            if op in self.without:
                continue
            step = self.model.step(op, logical, children, ranges, node)
            once, each, asked = step
            # Whatever plan is worse in both costs than one we have, before all is added, need not be finished.
            if _is_beaten(once, each, found):
                continue
            if not children:
                found.append(Choice(once, each, op, logical))
                continue
            below: list[list[Choice]] = []
            is_single = True
            for child, (space, times) in zip(children, asked, strict=True):
                choices = self.choices(child, space)
                if not choices:
                    break
                below.append(choices)
                is_single = is_single and len(choices) == 1
                once += choices[-1].once
                each += times * choices[0].each
                if _is_beaten(once, each, found):
                    break
            else:
                if is_single:
                    found.append(Choice(once, each, op, logical, tuple([one[0] for one in below])))
                else:
                    found += _join_steps(op, logical, step, below)
        return _hull(found) if len(found) > 1 else found

    def _many_parts(self, node: Both, ranges: Ranges) -> list[Choice]:
        """An And of very many parts: one part more at a time, from the best few sets of each size."""
        n = len(node.parts)
        following = NextParts(node, partial(self._price, ranges))
        kept = {1 << place: self.choices(node.parts[place], ranges) for place in following.independent()}
        for _ in range(n - 1):
            larger: dict[int, list[Choice]] = {}
            for chosen in kept:
                left = self._take_parts(node, chosen)
                for place in following.behind(chosen):
                    together, right = chosen | 1 << place, node.parts[place]
                    both = self._take_parts(node, together)
                    assert isinstance(both, Both)
                    # The larger side is not probed: that would plan all of its sets again.
                    joins = [
                        join for join in self.alternatives.join(both, left, right)
                        if join.op is not Op.LEFT_PROBE_AND and join.children[0] is left
                    ]
                    larger[together] = self._best(both, joins, ranges, larger.get(together, ()))
            costs = {chosen: self._least(choices) for chosen, choices in larger.items() if choices}
            best = sorted(costs, key=costs.__getitem__)[: following.breadth.sets]
            kept = {chosen: larger[chosen] for chosen in best}
            for chosen, choices in kept.items():
                self._found[id(self._take_parts(node, chosen)), ranges] = choices
        return next(iter(kept.values()), [])

    def _take_parts(self, node: Both, chosen: int) -> Logical:
        return self.alternatives.taken(node, [place for place in range(len(node.parts)) if chosen >> place & 1])

    def _price(self, ranges: Ranges, part: Logical) -> tuple[float, float]:
        """What testing a part of an And costs for each segment, and the part of the segments that it leaves."""
        tested = self.model.cards.tested(part, ranges)
        left = self.model.cards.found(part, ranges) / tested if tested else 0.0
        if isinstance(part, Leaf):
            return self.model.test_cost(part), left
        choices = self.choices(part, ranges)
        return (self._least(choices) / max(1.0, self.model.total(0.0, tested)) if choices else 0.0), left

    def _least(self, choices: list[Choice]) -> float:
        return min(self.model.total(choice.once, choice.each) for choice in choices)


_ANDS = frozenset({Op.SORT_MERGE_AND, Op.LEFT_PROBE_AND, Op.RIGHT_PROBE_AND})


def worthwhile(alternatives: list[Alternative], ranges: Ranges, without: frozenset[Op]) -> list[Alternative]:
    """The alternatives without some that are never better than another of them, whatever the data.

    - Where one end of the space is given, a merge of a concatenation: a probe from there asks for less.
    - An And with a condition that no index helps: that condition filters what the rest has. A merge tests it on the
      same segments and more, a probe on the same ones with more ado.
    """
    has_filters = Op.FILTER not in without and any(op is Op.FILTER for op, _, _ in alternatives)
    given = (ranges.starts <= 1 and Op.RIGHT_PROBE_CONCAT not in without) or (
        ranges.ends <= 1 and Op.LEFT_PROBE_CONCAT not in without
    )
    if not has_filters and not given:
        return alternatives
    filtered = {
        id(part) for op, logical, (child,) in (one for one in alternatives if one.op is Op.FILTER)
        for part in logical.parts if part is not child and isinstance(part, Leaf) and not _can_index(part)  # type: ignore[union-attr]  # a Both
    } if has_filters else set()
    found = []
    for one in alternatives:
        op, _, children = one
        if given and op is Op.SORT_MERGE_CONCAT:
            continue
        if op in _ANDS and filtered:
            tested = children if op is Op.SORT_MERGE_AND else children[op is Op.RIGHT_PROBE_AND :][:1]
            if any(id(part) in filtered for part in tested):
                continue
        found.append(one)
    return found


def _can_index(leaf: Leaf) -> bool:
    return leaf.condition is not None and can_index(leaf.condition)


def _join_steps(op: Op, logical: Logical, step: Step, below: list[list[Choice]]) -> Iterator[Choice]:
    times = [number for _, number in step.asked]
    for chosen in _pairings(below, times):
        once, each = step.once, step.each
        for choice, number in zip(chosen, times, strict=True):
            once += choice.once
            each += number * choice.each
        yield Choice(once, each, op, logical, chosen)


def _is_beaten(once: float, each: float, found: list[Choice]) -> bool:
    for known_once, known_each, _, _, _ in found:  # noqa: SIM110  # much faster than `any`, and called very often
        if known_once <= once and known_each <= each:
            return True
    return False


def _hull(choices: Iterable[Choice]) -> list[Choice]:
    """The choices that are best for some number of spaces, the cheapest for many first."""
    hull: list[Choice] = []
    for choice in sorted(choices, key=lambda choice: (choice.each, choice.once)):
        if hull and choice.once >= hull[-1].once:
            continue
        while len(hull) > 1 and _is_above(hull[-1], hull[-2], choice):
            hull.pop()
        hull.append(choice)
    return hull


def _is_above(middle: Choice, left: Choice, right: Choice) -> bool:
    """Whether a choice is on or above the line between its neighbours: never the only best one."""
    return (middle.once - left.once) * (right.each - left.each) >= (right.once - left.once) * (middle.each - left.each)


def _pairings(below: list[list[Choice]], times: list[float]) -> Iterator[tuple[Choice, ...]]:
    """Choices of the children that together may be on the hull: for every number of spaces, the best of each."""
    if sum(map(len, below)) <= len(below) + 1:
        yield from product(*below)
        return
    # From the best for very many spaces to the best for one: at each step, the child for which it pays first.
    places = [0] * len(below)
    while True:
        yield tuple(choices[place] for choices, place in zip(below, places, strict=True))
        steps = [
            (_turn(choices[place], choices[place + 1], number), child)
            for child, (choices, place, number) in enumerate(zip(below, places, times, strict=True))
            if place + 1 < len(choices)
        ]
        if not steps:
            return
        places[max(steps)[1]] += 1


def _turn(more: Choice, less: Choice, times: float) -> float:
    """The number of our spaces below which a choice with less cost once is the better one."""
    growth = times * (less.each - more.each)
    return (more.once - less.once) / growth if growth > 0 else float("inf")
