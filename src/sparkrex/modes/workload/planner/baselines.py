"""Plans that others would make, by name: to compare with, and to begin a search at.

- `none`: every clause alone, in the order in which it is written. Nothing is shared: the cost is the sum over clauses.
- `re` (reordering): every clause alone, its order chosen greedily: the next item is the one with which there are the
  fewest partial matches. Nothing is shared.
- `sh` (maximal sharing): common sub-patterns are taken from the largest to the smallest, of equal size the one that
  more clauses have first. Each is shared by all clauses in which its items are still free, if these are two or more.
  Within it, and around it, items are put together in the order in which they are written.
- `sh-rr` (after SPASS, by redundancy ratio): candidates are runs of items that stand side by side in the clauses. The
  score of one is the work that sharing saves, (n - 1) times its cost for n clauses, per item of these clauses that it
  covers. Clauses are covered greedily by the best scores, without overlap; orders are as written.
- `sh-mdt` (after MOTTO, by merging and decomposing): any common sub-pattern may be made a node from which clauses are
  put together. As in a greedy approximation of the Steiner tree, candidates are tried by what they would save on their
  own, and one is taken if the whole plan gets cheaper by it; clauses for which it does not stay as they are. Orders are
  as written.

All but `none` and `re` share whatever turns out to be equal, as multitrees do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.workload.planner.pattern_graph import parts_of
from sparkrex.modes.workload.planner.search_state import TOLERANCE
from sparkrex.modes.workload.planner.tree import Tree, items_of, left_deep, mask_of, renamed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sparkrex.modes.workload.planner.search_state import SearchState

Trees = dict[int, Tree]
Kept = dict[int, list[tuple[int, Tree]]]

UNSHARED = frozenset({"none", "re"})
MAX_PART_ITEMS = 12
"""A common sub-pattern of more items is a candidate as a whole; its parts are not all tried."""


def as_written(state: SearchState) -> Trees:
    """`none`: the order in which clauses are written."""
    return {number: left_deep(range(len(plans.shape.leaves))) for number, plans in state.local_plans.items()}


def reordered(state: SearchState) -> Trees:
    """`re`: greedy orders."""
    return {number: plans.greedy(is_left_deep=True) for number, plans in state.local_plans.items()}


def locally_best(state: SearchState) -> Trees:
    """The paper's first solution of a search: the best plan of every clause."""
    return {number: plans.best(is_left_deep=state.is_left_deep) for number, plans in state.local_plans.items()}


def shared_maximally(state: SearchState) -> Trees:
    """`sh`: the largest common sub-patterns."""
    candidates = sorted(_candidates(state), key=lambda group: (-_size(group), -len(group), sorted(group.items())))
    return _covered(state, candidates)


def shared_by_redundancy(state: SearchState) -> Trees:
    """`sh-rr`: runs of items by the work that sharing them saves."""

    def score(group: dict[int, int]) -> float:
        number, mask = min(group.items())
        cost = _cost_as_written(state, number, mask)
        return (len(group) - 1) * cost / (len(group) * mask.bit_count())

    runs = [
        group
        for candidate in _candidates(state)
        if len(group := {number: mask for number, mask in candidate.items() if _is_run(mask)}) > 1
    ]
    return _covered(state, sorted(runs, key=lambda group: (-score(group), sorted(group.items()))))


def shared_by_merging(state: SearchState) -> Trees:
    """`sh-mdt`: whatever makes the whole plan cheaper, by what it saves on its own."""
    multitree, subplans = state.multitree, state.multitree.subplans

    def saved(group: dict[int, int]) -> float:
        number, mask = min(group.items())
        return (len(group) - 1) * _cost_as_written(state, number, mask)

    candidates = sorted(_candidates(state), key=lambda group: (-saved(group), sorted(group.items())))
    kept: Kept = {number: [] for number in state.local_plans}
    present = multitree.plans.copy()
    for number, tree in as_written(state).items():
        multitree.replace(number, subplans.plan(state.local_plans[number].shape, tree))
    for group in candidates:
        free = _free(group, kept)
        if len(free) < 2:
            continue
        before = multitree.cost
        undo = []
        shared = _shared_trees(state, free)
        for number, tree in shared.items():
            parts = [*kept[number], (free[number], tree)]
            plan = subplans.plan(state.local_plans[number].shape, _in_written_order(state, number, parts))
            undo.append((number, multitree.replace(number, plan)))
        if multitree.cost < before * (1.0 - TOLERANCE):
            for number, tree in shared.items():
                kept[number].append((free[number], tree))
        else:
            state.undo(undo, before)
    trees = multitree.trees()
    state.adopt(present)
    return trees


def _candidates(state: SearchState) -> Iterator[dict[int, int]]:
    """All common sub-patterns: the clauses that have each, with their items."""
    graph, patterns = state.graph, state.multitree.subplans.patterns
    seen: set[int] = set()
    for number, plans in state.local_plans.items():
        for _, mask in graph.subpatterns_of[number]:
            for part in parts_of(mask) if mask.bit_count() <= MAX_PART_ITEMS else (mask,):
                pattern = patterns.number(plans.shape, part)
                if pattern not in seen:
                    seen.add(pattern)
                    yield graph.holders(number, part)


def _size(group: dict[int, int]) -> int:
    return next(iter(group.values())).bit_count()


def _is_run(mask: int) -> bool:
    low = mask & -mask
    return not (mask + low) & mask


def _cost_as_written(state: SearchState, number: int, mask: int) -> float:
    """What the joins of a sub-pattern cost if its items are put together as they are written."""
    items, plans = items_of(mask), state.local_plans[number]
    return sum(plans.cost_of(sum(1 << item for item in items[:length])) for length in range(2, len(items) + 1))


def _free(group: dict[int, int], kept: Kept) -> dict[int, int]:
    return {
        number: mask for number, mask in group.items() if not any(mask & taken for taken, _ in kept[number])
    }


def _shared_trees(state: SearchState, group: dict[int, int]) -> Trees:
    """One tree for a sub-pattern, in the order of the first clause, over the items of each clause that has it."""
    placed = state.multitree.subplans.patterns.placed
    first = min(group)
    _, items = placed(state.local_plans[first].shape, group[first])
    at = {item: place for place, item in enumerate(items)}
    places = left_deep([at[item] for item in items_of(group[first])])
    return {
        number: renamed(places, placed(state.local_plans[number].shape, mask)[1]) for number, mask in group.items()
    }


def _covered(state: SearchState, candidates: list[dict[int, int]]) -> Trees:
    """Share each candidate between the clauses where its items are free; of orders, the first one is the prefix."""
    kept: Kept = {number: [] for number in state.local_plans}
    for group in candidates:
        free = _free(group, kept)
        if state.is_left_deep:
            free = {number: mask for number, mask in free.items() if not kept[number]}
        if len(free) > 1:
            for number, tree in _shared_trees(state, free).items():
                kept[number].append((free[number], tree))
    return {number: _in_written_order(state, number, parts) for number, parts in kept.items()}


def _in_written_order(state: SearchState, number: int, parts: list[tuple[int, Tree]]) -> Tree:
    """Shared parts and the other items, one after the other: parts by their first item, of orders the part first."""
    taken = sum(mask for mask, _ in parts)
    alone: list[Tree] = [item for item in range(len(state.local_plans[number].shape.leaves)) if not taken >> item & 1]
    trees = [*(tree for _, tree in parts), *alone]
    if not state.is_left_deep:
        trees.sort(key=lambda tree: mask_of(tree) & -mask_of(tree))
    whole = trees[0]
    for tree in trees[1:]:
        whole = (whole, tree)
    return whole


BASELINES: dict[str, Callable[[SearchState], Trees]] = {
    "none": as_written,
    "re": reordered,
    "sh": shared_maximally,
    "sh-rr": shared_by_redundancy,
    "sh-mdt": shared_by_merging,
}
