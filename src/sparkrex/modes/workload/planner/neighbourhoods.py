"""Neighbours of a solution: what one step of a local search may change.

N_edge takes two clauses that have something in common and a part of that, and gives both new local plans around a
shared plan for it; N_vertex^k does so for up to k clauses that have the part. Of the sub-plans that these clauses
shared before, each may be kept or dropped, by chance.

Beyond the paper, three things, by chance as well. The shared plan itself may be built around sub-plans that exist:
without that, an optimum such as (AB)C shared by two clauses and AB by four may be out of reach. A clause may take what
adds least to all that exists, once another one has the shared plan. And sometimes a single clause is planned anew,
which is the empty common sub-pattern, or around a sub-pattern that it has twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.modes.workload.planner.tree import items_of, mask_of, renamed, subtrees

if TYPE_CHECKING:
    from random import Random

    from sparkrex.modes.workload.planner.search_state import Holders, SearchState, Undo
    from sparkrex.modes.workload.planner.subplans import Plan
    from sparkrex.modes.workload.planner.tree import Tree


@dataclass(frozen=True, slots=True)
class Neighbourhood:
    """N_vertex^k; N_edge is the one with k = 2."""

    n_clauses: int = 2
    alone: float = 0.15
    """How often a single clause is planned anew."""

    def step(self, state: SearchState, random: Random) -> Undo:
        """Go to a random neighbour. Gives what leads back; nothing if this is no other solution."""
        numbers = state.numbers
        number = numbers[int(random.random() * len(numbers))]
        edges = state.edges_of(number)
        if not edges or random.random() < self.alone:
            return _anew(state, number, random)
        pattern, items = edges[int(random.random() * len(edges))]
        places = _random_part((1 << len(items)) - 1, random)
        part = _mask(items, places)
        if self.n_clauses == 2:
            other, other_items = _peer(state.holders_of(pattern), number, random)
            group = {number: part, other: _mask(other_items, places)}
        else:
            holders = state.graph.holders(number, part)
            others = [other for other in holders if other != number]
            chosen = random.sample(others, min(self.n_clauses - 1, len(others)))
            group = {member: holders[member] for member in (number, *chosen)}
        return _share(state, group, random)


NEIGHBOURHOODS = {"edge": Neighbourhood(), "vertex4": Neighbourhood(4), "vertex8": Neighbourhood(8)}


def _peer(holders: Holders, number: int, random: Random) -> tuple[int, tuple[int, ...]]:
    """Another one of those that have a sub-pattern."""
    while True:
        peer = holders[int(random.random() * len(holders))]
        if peer[0] != number:
            return peer


def _mask(items: tuple[int, ...], places: int) -> int:
    """The items at some places."""
    return sum(1 << items[place] for place in items_of(places))


def _random_part(mask: int, random: Random) -> int:
    """Two items or more of a set, all such parts being equally likely."""
    if mask.bit_count() == 2:
        return mask
    while True:
        part = mask & random.getrandbits(mask.bit_length())
        if part & (part - 1):
            return part


def _anew(state: SearchState, number: int, random: Random) -> Undo:
    """Plan one clause: as if it were alone, around what it has twice, or as it adds least to the others."""
    multitree, plans = state.multitree, state.local_plans[number]
    twins = [] if state.is_left_deep else state.twins_of(number)
    chance = random.random()
    if chance < 0.25:
        new = multitree.subplans.plan(plans.shape, plans.best(is_left_deep=state.is_left_deep))
        old = multitree.replace(number, new)
    elif twins and chance < 0.6:
        old = multitree.lift(number)
        state.settle(number, plans.best(_twin_trees(state, number, random.choice(twins), random)))
    else:
        old = state.replan(number)
    return [] if multitree.plans[number].root == old.root else [(number, old)]


def _twin_trees(state: SearchState, number: int, twins: tuple[int, int], random: Random) -> tuple[Tree, ...]:
    """One plan for a sub-pattern that a clause has twice, over the items of both places."""
    shape, placed = state.local_plans[number].shape, state.multitree.subplans.patterns.placed
    (_, items), (_, others) = (placed(shape, mask) for mask in twins)
    first = _shared_plan(state, number, twins[0], random)
    return first, renamed(first, dict(zip(items, others, strict=True)))


def _share(state: SearchState, group: dict[int, int], random: Random) -> Undo:
    """Give some clauses, each with its items of a common sub-pattern, one plan for it."""
    multitree, subplans = state.multitree, state.multitree.subplans
    undo: Undo = [(number, multitree.lift(number)) for number in group]
    places: Tree | None = None
    for (number, part), (_, old) in zip(group.items(), undo, strict=True):
        plans = state.local_plans[number]
        _, items = subplans.patterns.placed(plans.shape, part)
        if places is None:
            shared = _shared_plan(state, number, part, random)
            places = renamed(shared, {item: place for place, item in enumerate(items)})
        elif random.random() < 0.3:
            state.settle(number, plans.cheapest_addition(multitree, is_left_deep=state.is_left_deep))
            continue
        else:
            shared = renamed(places, items)
        state.settle(number, _around(state, number, part, shared, old, random))
    return [] if all(multitree.plans[number].root == old.root for number, old in undo) else undo


def _shared_plan(state: SearchState, number: int, part: int, random: Random) -> Tree:
    """A plan for a common sub-pattern: the best one, or the one that adds least to what exists."""
    plans = state.local_plans[number]
    if part.bit_count() == 2:
        first, second = items_of(part)
        return first, second
    if random.random() < 0.5:
        return plans.best_of(part, is_left_deep=state.is_left_deep)
    return plans.cheapest_addition(state.multitree, mask=part, is_left_deep=state.is_left_deep)


def _around(state: SearchState, number: int, part: int, shared: Tree, old: Plan, random: Random) -> Tree:
    """A plan for a clause that has the shared one: the rest as is best, or around what it shared before."""
    plans = state.local_plans[number]
    if state.is_left_deep:
        return plans.best((shared,), is_left_deep=True)
    chance = random.random()
    if chance < 0.35:
        return plans.best((shared,))
    if chance < 0.65:
        return plans.cheapest_addition(state.multitree, (shared,))
    return plans.best((shared, *_kept(state, old, part, random)))


def _kept(state: SearchState, old: Plan, part: int, random: Random) -> list[Tree]:
    """Some of the subtrees that a lifted clause has in common with others, apart from given items and each other."""
    multitree = state.multitree
    kept: list[Tree] = []
    taken = part
    for node, mask in zip(reversed(old.joins), reversed(old.masks), strict=True):
        if not mask & taken and node in multitree.window_of and random.random() < 0.5:
            kept.append(next(tree for tree in subtrees(old.tree) if mask_of(tree) == mask))
            taken |= mask
    return sorted(kept, key=mask_of)
