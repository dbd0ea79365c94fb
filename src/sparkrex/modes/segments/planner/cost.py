"""What an operator costs over one search space, and what it asks of its children: Table 1's plan costs.

Differences from the table, because operators here answer for many search spaces in one call:

- a cost has two parts: `once` for the batch, whatever the number of spaces (calls, indexes over whole series), and
  `each` for every space. A probe's spaces are one batch, so probing costs its child `once` once;
- a join's `output` are the pairs that it looks at, which may be many more than the segments that it finds;
- where one end of the space is fixed, a concatenation's parts lie inside its window, not anywhere in the series.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import log2
from typing import TYPE_CHECKING, NamedTuple

from sparkrex.modes.segments.planner.cardinality import Cardinalities, expected_distinct, joined_pairs
from sparkrex.modes.segments.planner.condition_cost import ConditionCost, condition_cost
from sparkrex.modes.segments.planner.logical import Both, Concat, Leaf, Logical, Neither, Repeat
from sparkrex.modes.segments.planner.physical_plan import Op, Physical
from sparkrex.modes.segments.planner.statistics import leaves_of
from sparkrex.modes.segments.planner.windows_selectivity import Lengths, Ranges, mean_length
from sparkrex.scalar.expression import Aggregate, ColumnAt, aggregates

if TYPE_CHECKING:
    from sparkrex.modes.segments.planner.statistics import Statistics
    from sparkrex.modes.segments.planner.weights import Weights


_SORT_MERGE, _WILDCARD, _RIGHT_PROBE = Op.SORT_MERGE_CONCAT, Op.WILDCARD_CONCAT, Op.RIGHT_PROBE_CONCAT
_CONCATS = frozenset({_SORT_MERGE, _WILDCARD, _RIGHT_PROBE, Op.LEFT_PROBE_CONCAT})
_TEST = 3.0
"""Nanoseconds of comparing the values at both ends of a given segment."""
_ROUNDS = 4
"""How often, about, the child of a Kleene is called for iterations from given starts."""
_ROUND = 80_000.0
"""Nanoseconds of one round in which a Contains looks for first ends, twice as far as in the last, however few."""
_ROUNDING = 1e-9
"""By how much sums of the same costs in another order may differ."""


class Step(NamedTuple):
    """One operator's own cost, and for each child the space that it is asked for and how often per space of ours."""

    once: float
    each: float
    asked: tuple[tuple[Ranges, float], ...]


@dataclass(frozen=True, slots=True)
class Estimate:
    """What EXPLAIN shows of an operator: spaces asked for, segments found, nanoseconds by itself and with children."""

    spaces: float
    found: float
    own: float
    total: float
    children: tuple[Estimate, ...] = ()


class CostModel:
    """Costs of the operators of one query."""

    def __init__(self, logical: Logical, statistics: Statistics, weights: Weights) -> None:
        self.logical = logical
        self.statistics = statistics
        self.weights = weights
        self.cards = Cardinalities(statistics)
        self._sharing = Counter(
            (self._index_of(call), self.cards.lengths(leaf).high)
            for leaf in {id(leaf): leaf for leaf in leaves_of(logical)}.values() if leaf.condition is not None
            for call in aggregates(leaf.condition)
        )
        self._conditions: dict[tuple[int, bool], tuple[Leaf, ConditionCost]] = {}
        self._ends: dict[int, tuple[Leaf, bool]] = {}
        self._known_between: dict[tuple[int, Ranges], float] = {}

    @staticmethod
    def _index_of(call: Aggregate) -> str:
        """What two calls have in common if they read the same index: not the variable."""
        names = [one.column if isinstance(one, ColumnAt) else str(one) for one in call.arguments]
        return f"{call.function} {', '.join(names)}"

    def total(self, once: float, each: float) -> float:
        """The cost of a plan over all series."""
        return once + self.statistics.n_series * each

    def estimate(self, plan: Physical) -> Estimate:
        """The estimates of a whole plan."""
        return self._estimate(plan, self.cards.whole(), self.statistics.n_series)

    def is_dearer(self, plan: Physical, cost: float) -> bool:
        """Whether a plan costs more, for certain: it is looked at only as far as it takes to say so."""
        most = cost * (1 + _ROUNDING)
        total = 0.0
        pending = [(plan, self.cards.whole(), self.statistics.n_series)]
        while pending and total <= most:
            one, ranges, spaces = pending.pop()
            once, each, asked = self.step(one.op, one.logical, tuple([child.logical for child in one.children]), ranges)
            total += once + spaces * each
            for child, (space, times) in zip(one.children, asked, strict=True):
                pending.append((child, space, spaces * times))
        return total > most

    def _estimate(self, plan: Physical, ranges: Ranges, spaces: float) -> Estimate:
        step = self.step(plan.op, plan.logical, tuple(child.logical for child in plan.children), ranges)
        children = []
        for child, (asked, times) in zip(plan.children, step.asked, strict=True):
            children.append(self._estimate(child, asked, spaces * times))  # one frame a level: plans may be deep
        own = step.once + spaces * step.each
        found = spaces * self.cards.found(plan.logical, ranges)
        return Estimate(spaces, found, own, own + sum(child.total for child in children), tuple(children))

    def step(
        self, op: Op, logical: Logical, children: tuple[Logical, ...], ranges: Ranges, node: Logical | None = None
    ) -> Step:
        """An operator over a node whose children answer for these nodes.

        `node` has the same segments as `logical`, split or not: if known, its estimates need not be made again.
        """
        once, each, asked = self._of(op, logical, children, ranges, logical if node is None else node)
        if asked:
            asked = tuple([
                (self._widen_ranges(child, space), times) for child, (space, times) in zip(children, asked, strict=True)
            ])
        return Step(once, each, asked)

    def _widen_ranges(self, node: Logical, ranges: Ranges) -> Ranges:
        """Where one end is fixed, how far the other may be matters only up to the window: then it is not told apart."""
        starts, ends, _ = ranges
        if starts > 1 and ends > 1:
            return ranges
        longest = max(starts, ends)
        if longest > 1 and longest >= self.cards.lengths(node).high:
            return Ranges(1, self.cards.n_rows) if ranges.starts <= 1 else Ranges(self.cards.n_rows, 1)
        return ranges

    def _of(self, op: Op, logical: Logical, children: tuple[Logical, ...], ranges: Ranges, node: Logical) -> Step:
        if op in _CONCATS:  # most of them are, and finding a case takes time
            assert isinstance(logical, Concat)
            return self._concat(op, logical, children[0], children[1], ranges, node)
        match op:
            case Op.WINDOW | Op.SCAN | Op.INDEX:
                assert isinstance(logical, Leaf)
                tested = self.cards.tested(logical, ranges)
                if op is Op.SCAN and self._tests_ends(logical):
                    ends = self.weights.ends
                    found = self.cards.found(logical, ranges)
                    return Step(ends.call, ends.input * (1 + tested) + ends.output * found, ())
                step = self._step(op, tested, self.cards.found(logical, ranges))
                return self._with_condition(step, logical, tested, uses_index=op is Op.INDEX)
            case Op.FILTER:
                assert isinstance(logical, Both)
                tested = self.cards.found(children[0], ranges)
                step = self._step(op, tested, self.cards.found(node, ranges), ((ranges, 1.0),))
                leaf = next(part for part in logical.parts if isinstance(part, Leaf) and part is not children[0])
                return self._with_condition(step, leaf, tested, uses_index=False)
            case Op.SORT_MERGE_AND | Op.SORT_MERGE_OR:
                both = sum(self.cards.found(child, ranges) for child in children)
                step = self._step(op, both, self.cards.found(node, ranges), ((ranges, 1.0), (ranges, 1.0)))
                return self._with_bindings(step, logical, self.cards.found(node, ranges))
            case Op.CONTAINS:
                return self._contains(logical, children, ranges, node)
            case Op.RIGHT_PROBE_AND | Op.LEFT_PROBE_AND:
                return self._probe_and(op, node, children, ranges)
            case Op.MATERIALIZE_NOT:
                tested = self.cards.tested(node, ranges) + self.cards.found(children[0], ranges)
                return self._step(op, tested, self.cards.found(node, ranges), ((ranges, 1.0),))
            case Op.PROBE_NOT:
                assert isinstance(logical, Neither)
                tested = self.cards.tested(node, ranges)
                asked = ((self._one(node), tested),)
                return self._step(op, tested, self.cards.found(node, ranges), asked)
            case Op.MATERIALIZE_KLEENE:
                assert isinstance(logical, Repeat)
                between = self._span_of_space(node, ranges)
                found = self.cards.found(node, ranges)
                if ranges.starts <= 1 and not logical.gives and not logical.needs:
                    # From one start the child is asked only where iterations end, as a probe would.
                    weight = self.weights.operators[Op.RIGHT_PROBE_CONCAT]
                    each = weight.input + weight.output * (1 + found)
                    return Step(_ROUNDS * weight.call, each, ((Ranges(1, between), 1 + found),))
                found_once = self.cards.found(children[0], Ranges(between, between))
                # Every segment found is extended once by what starts at its end.
                pairs = joined_pairs(found, found_once, between)
                if logical.maximum is None and not logical.gives:
                    # Or sets of ends are added up, one for each row and hardly more, of 64 ends in a word.
                    pairs = min(pairs, found_once + between * (self.cards.lengths(node).high / 64 + 1))
                step = self._step(op, found_once, found + pairs, ((Ranges(between, between), 1.0),))
                return self._with_bindings(step, logical, found)
        raise AssertionError(op)

    def _concat(
        self, op: Op, logical: Concat, left: Logical, right: Logical, ranges: Ranges, node: Logical
    ) -> Step:
        between = self._span_of_space(node, ranges)
        middle = Ranges(between, between)
        starts_anywhere, ends_anywhere = ranges.starts > 1, ranges.ends > 1
        left_ranges = middle if starts_anywhere else Ranges(1, between)
        right_ranges = middle if ends_anywhere else Ranges(between, 1)
        if op is _SORT_MERGE or op is _WILDCARD:
            n_left, n_right = self.cards.found(left, left_ranges), self.cards.found(right, right_ranges)
            pairs = joined_pairs(n_left, n_right, between)
            if op is _WILDCARD:
                pairs *= self.cards.tested(logical.parts[1], Ranges(1, between))
            step = self._step(op, n_left + n_right, pairs, ((left_ranges, 1.0), (right_ranges, 1.0)))
            return self._with_bindings(step, logical, self.cards.found(node, ranges))
        # Behind a probe the row where the parts meet is given, and the other end is as open as ours.
        given = Ranges(1, 1, Lengths(1, int(between)))
        if op is _RIGHT_PROBE:
            base, base_ranges, probed = left, left_ranges, right
            probe = Ranges(1, ranges.ends) if ends_anywhere else given
        else:
            base, base_ranges, probed = right, right_ranges, left
            probe = Ranges(ranges.starts, 1) if starts_anywhere else given
        n_base = self.cards.found(base, base_ranges)
        # What was probed is kept by row and by the segments that it refers to.
        times = n_base if probed.needs & base.gives else expected_distinct(n_base, between)
        pairs = n_base * self.cards.found(probed, probe)
        asked = ((base_ranges, 1.0), (probe, times))
        asked = asked if op is _RIGHT_PROBE else asked[::-1]
        return self._step(op, n_base, pairs, asked)

    def _probe_and(self, op: Op, node: Logical, children: tuple[Logical, ...], ranges: Ranges) -> Step:
        is_right = op is Op.RIGHT_PROBE_AND
        base = children[0] if is_right else children[1]
        n_base = self.cards.found(base, ranges)
        probe = (self._one(node), n_base)
        asked = ((ranges, 1.0), probe) if is_right else (probe, (ranges, 1.0))
        return self._step(op, n_base, self.cards.found(node, ranges), asked)

    def _contains(self, logical: Logical, children: tuple[Logical, ...], ranges: Ranges, node: Logical) -> Step:
        """From every start each X is looked for up to its first end, and then one range of ends is asked for.

        Starts of several spaces share the first ends, so that where spaces overlap this is too much.
        """
        has_other = isinstance(logical, Both)
        starts = max(ranges.starts, 1.0)
        asked: list[tuple[Ranges, float]] = [(ranges, 1.0)] if has_other else []
        n_calls = 0.0
        for contained in children[has_other:]:
            between = self._span_of_space(contained, Ranges(1, self.cards.n_rows))
            from_one = self.cards.found(contained, Ranges(1, between))
            near = min(between, max(2.0, 2 * between / (1 + from_one)))
            asked.append((Ranges(1, near), starts))
            n_calls += log2(between) + 1
        weight = self.weights.operators[Op.SORT_MERGE_AND]
        made = 0.0 if has_other else self.cards.found(node, ranges)
        n_contained = len(children) - has_other
        each = weight.input * (1 + 4 * starts * n_contained) + weight.output * made
        return Step(n_calls * (weight.call + _ROUND), each, tuple(asked))

    def _span_of_space(self, logical: Logical, ranges: Ranges) -> float:
        """l_se, where an end of the space is fixed no more than the window.

        Then it is rounded, to a power of the square root of 2: sizes that hardly differ are planned for once.
        """
        key = (id(logical), ranges)
        known = self._known_between.get(key)
        if known is None:
            lengths = self.cards.lengths(logical)  # keeps the node
            between = self.cards.between(ranges, lengths)
            if ranges.starts <= 1 or ranges.ends <= 1:
                between = float(round(2 ** (round(2 * log2(max(2.0, min(between, lengths.high)))) / 2)))
            known = self._known_between[key] = max(2.0, between)
        return known

    def _one(self, logical: Logical) -> Ranges:
        return Ranges(1, 1, self.cards.lengths(logical))

    def _step(
        self, op: Op, inputs: float, outputs: float, asked: tuple[tuple[Ranges, float], ...] = ()
    ) -> Step:
        """Equation 1. The space itself counts as one more input."""
        weight = self.weights.operators[op]
        return Step(weight.call, weight.input * (1 + inputs) + weight.output * outputs, asked)

    def _with_bindings(self, step: Step, logical: Logical, found: float) -> Step:
        """Segments that carry bindings must be put in order."""
        return step._replace(each=step.each + self.weights.ordering * found) if logical.gives else step

    def test_cost(self, leaf: Leaf) -> float:
        """Nanoseconds of testing a leaf's condition on one more segment."""
        return self._with_condition(Step(0.0, 0.0, ()), leaf, 1.0, uses_index=False).each

    def _with_condition(self, step: Step, leaf: Leaf, tested: float, *, uses_index: bool) -> Step:
        if leaf.condition is None:
            return step
        if self._tests_ends(leaf):
            return step._replace(once=step.once + self.weights.ends.call, each=step.each + tested * _TEST)
        cost = self._condition_cost(leaf, uses_index)
        return step._replace(once=step.once + cost.once, each=step.each + tested * cost.each)

    def _tests_ends(self, leaf: Leaf) -> bool:
        known = self._ends.get(id(leaf))
        if known is None:
            known = self._ends[id(leaf)] = (leaf, self.statistics.tests_ends(leaf))
        return known[1]

    def _condition_cost(self, leaf: Leaf, uses_index: bool) -> ConditionCost:
        key = (id(leaf), uses_index)
        if key not in self._conditions:
            assert leaf.condition is not None
            lengths = self.cards.lengths(leaf)
            length = self.statistics.length(leaf)
            sharing = max(
                (self._sharing[self._index_of(call), lengths.high] for call in aggregates(leaf.condition)), default=1
            )
            cost = condition_cost(
                leaf.condition, self.weights, self.statistics,
                mean_length(lengths, self.statistics.n_rows) if length is None else length,
                lengths.high, uses_index=uses_index, shared_by=max(1, sharing),
            )
            self._conditions[key] = (leaf, cost)
        return self._conditions[key][1]
