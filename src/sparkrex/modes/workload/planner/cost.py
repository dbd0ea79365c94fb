"""The cost of plans: how many partial matches they are expected to hold, as in the paper.

A sub-pattern within a window W has W r partial matches for each of its items, multiplied, times all selectivities
inside it; a Kleene item has 2^(W r) - 1 in the place of W r. Cost_ord sums this over the prefixes of an order,
Cost_tree over the nodes of a tree, leaves included; of many patterns, a shared state or node counts once, within the
largest window of the patterns that it serves.

Numbers of arrays soon leave the floats, so large products are taken as sums of logarithms. Above e^LOG_LIMIT a cost
grows with its logarithm only: it stays finite, and more is still more.
"""

from __future__ import annotations

from math import exp, expm1, inf, log, prod
from typing import TYPE_CHECKING

from sparkrex.modes.workload.planner.tree import Tree, leaves, subtrees

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sparkrex.modes.workload.clause import Clause
    from sparkrex.modes.workload.planner.statistics import Statistics
    from sparkrex.modes.workload.planner.subpattern import SubPatterns

LOG_LIMIT = 460.0
"""About 1e200: sums of thousands of such costs are floats still."""

LOG_2 = log(2.0)


def product_of(counts: Iterable[tuple[float, bool]], selectivities: Sequence[float]) -> float:
    """The expected number of partial matches: of events for each item (True: of their arrays), and of conditions."""
    factors = [*counts]
    total = sum(_log_count(*factor) for factor in factors) + sum(map(_log, selectivities))
    if total > LOG_LIMIT:
        return exp(LOG_LIMIT) * (1.0 + total - LOG_LIMIT)
    if any(is_kleene for _, is_kleene in factors):
        return exp(total)
    return prod(count for count, _ in factors) * prod(selectivities)


def _log_count(count: float, is_kleene: bool) -> float:
    if not is_kleene:
        return _log(count)
    exponent = count * LOG_2
    return _log(expm1(exponent)) if exponent < 30.0 else exponent


def window_size(window: float | None) -> float:
    """A window as a number that can be compared: no bound is the largest."""
    return inf if window is None else window


def n_partial_matches(
    clause: Clause, items: Collection[int], statistics: Statistics, window: float | None = None
) -> float:
    """How many partial matches some items of a clause have, within its window or another one."""
    size = window_size(clause.window if window is None else window)
    size = statistics.span if size == inf else size
    counts = [
        (statistics.rate(clause.items[item].label) * size, clause.items[item].is_kleene) for item in items
    ]
    inside = set(items)
    conditions = [link.key for link in dict.fromkeys(clause.links) if {link.first, link.second} <= inside]
    conditions += [joint.key for joint in dict.fromkeys(clause.joints) if set(joint.items) <= inside]
    return product_of(counts, [statistics.selectivity(key) for key in conditions])


def cost_order(order: Sequence[int], clause: Clause, statistics: Statistics) -> float:
    """Cost_ord: the partial matches of every prefix."""
    return sum(n_partial_matches(clause, order[:length], statistics) for length in range(1, len(order) + 1))


def cost_tree(tree: Tree, clause: Clause, statistics: Statistics) -> float:
    """Cost_tree: the partial matches of every node. An item stands at one leaf, so no leaf counts twice."""
    return sum(n_partial_matches(clause, leaves(node), statistics) for node in subtrees(tree))


class Costs:
    """C(N) by sub-pattern and window, each computed once."""

    def __init__(self, statistics: Statistics, patterns: SubPatterns) -> None:
        self.statistics = statistics
        self._patterns = patterns
        self._known: dict[float, dict[int, float]] = {}

    def of(self, pattern: int, window: float) -> float:
        """The partial matches of a sub-pattern within a window."""
        try:
            return self._known[window][pattern]
        except KeyError:
            cost = self._known.setdefault(window, {})[pattern] = self._compute(pattern, window)
            return cost

    def _compute(self, pattern: int, window: float) -> float:
        described, statistics = self._patterns.known[pattern], self.statistics
        size = statistics.span if window == inf else window
        found = [self._patterns.leaves[number] for number in described.leaves]
        keys = [key for between in described.between for key, _ in between] + [key for _, key in described.joints]
        return product_of(
            [(statistics.rate(leaf.label) * size, leaf.is_kleene) for leaf in found],
            [statistics.selectivity(self._patterns.keys[key]) for key in keys],
        )


def _log(value: float) -> float:
    return log(value) if value > 0.0 else -inf
