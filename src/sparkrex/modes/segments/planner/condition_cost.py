"""What testing a leaf's condition costs: f_delta by scanning, f_ind and f_delta' with an index (section 5.1)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sparkrex.modes.segments.aggregates.contract import CostClass
from sparkrex.modes.segments.aggregates.registry import find
from sparkrex.scalar.expression import Aggregate, Expression, aggregates, parts

if TYPE_CHECKING:
    from sparkrex.modes.segments.planner.statistics import Statistics
    from sparkrex.modes.segments.planner.weights import Weights

_LARGEST_INDEX, _LARGEST_WINDOW = 1 << 23, 1 << 10
"""Entries beyond which a quadratic index is made in blocks, and rows of a segment for which it is (`mann_kendall`)."""


class ConditionCost(NamedTuple):
    """In nanoseconds: `once` for the batch (calls, building of indexes), `each` for every segment tested."""

    once: float
    each: float


def can_index(condition: Expression) -> bool:
    """Whether one of its aggregates has an index."""
    return any(_cost_of(node)[1] is not None for node in aggregates(condition))


def must_index(condition: Expression) -> bool:
    """Whether one of its aggregates is answered by lookups only."""
    return any(_cost_of(node)[3] for node in aggregates(condition))


def condition_cost(
    condition: Expression, weights: Weights, statistics: Statistics, length: float, longest: int | None, *,
    uses_index: bool, shared_by: int = 1,
) -> ConditionCost:
    """Of a condition over segments of `length` rows on average and `longest` at most.

    An index is over whole series, whatever the search space, and is built once for all leaves that ask for the same one
    (`shared_by` of them): each bears its part.
    """
    called = list(aggregates(condition))
    n = n_nodes(condition)
    once, each = n * weights.conditions.call, n * weights.conditions.input
    all_rows = statistics.n_series * statistics.n_rows
    reach = min(longest or statistics.n_rows, statistics.n_rows)
    for node in called:
        scan, index, lookup, needs_index = _cost_of(node)
        found = find(node.function)
        weight = weights.aggregate(node.function.lower() if found is None else found.name)
        can = index is not None and lookup is not None and weight.index is not None and weight.lookup is not None
        if can and index is CostClass.QUADRATIC and all_rows * reach > _LARGEST_INDEX and reach > _LARGEST_WINDOW:
            can = needs_index
        if can and (uses_index or needs_index):
            assert index is not None and lookup is not None and weight.index is not None and weight.lookup is not None
            once += weight.index * index.units(all_rows, reach) / shared_by
            each += weight.lookup * lookup.units(length)
        else:
            each += weight.scan * scan.units(length)
    return ConditionCost(once, each)


def _cost_of(node: Aggregate) -> tuple[CostClass, CostClass | None, CostClass | None, bool]:
    found = find(node.function)
    if found is None:
        return CostClass.LINEAR, None, None, False
    return found.cost.scan, found.cost.index, found.cost.lookup, found.needs_index


def n_nodes(expression: Expression) -> int:
    """Nodes that are evaluated: an aggregate's arguments are not."""
    if isinstance(expression, Aggregate):
        return 1
    return 1 + sum(n_nodes(part) for part in parts(expression))
