"""The planner against its oracle on random workloads. A check gives what is wrong for a seed, None if nothing is.

Tests of the modules run them, and the seeded faults are held against all of them.
"""

from __future__ import annotations

from itertools import combinations
from math import inf, isclose
from random import Random
from typing import TYPE_CHECKING

from tests.modes.workload.planner import oracle
from tests.modes.workload.planner.workloads import random_clause, random_statistics, random_workload

from sparkrex.modes.workload.clause import Clause, Joint, Link
from sparkrex.modes.workload.planner.common import maximal_common
from sparkrex.modes.workload.planner.local_plans import LocalPlans
from sparkrex.modes.workload.planner.multitree import Multitree
from sparkrex.modes.workload.planner.optimizer import add_clause, optimize, remove_clause
from sparkrex.modes.workload.planner.pattern_graph import PatternGraph
from sparkrex.modes.workload.planner.subpattern import SubPatterns
from sparkrex.modes.workload.planner.tree import items_of, left_deep, order_of, renamed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.modes.workload.planner.statistics import Statistics
    from sparkrex.modes.workload.planner.tree import Tree

WINDOWS = (5.0, 10.0, 20.0)


def is_same(one: float, other: float) -> bool:
    """Costs that differ by rounding only."""
    return isclose(one, other, rel_tol=1e-9)


def random_tree(random: Random, n_items: int) -> Tree:
    """Any tree."""
    parts: list[Tree] = list(range(n_items))
    while len(parts) > 1:
        random.shuffle(parts)
        parts.append((parts.pop(), parts.pop()))
    return parts[0]


def subpatterns(seed: int) -> str | None:
    """Sub-patterns have one number exactly if one can be laid over the other."""
    clauses, _ = random_workload(seed, 3, 4, "ABC", can_repeat=True, kleene=0.2, joint=0.4)
    patterns = SubPatterns()
    numbers: dict[oracle.Form, set[int]] = {}
    forms: dict[int, set[oracle.Form]] = {}
    for clause in clauses:
        shape = patterns.shape(clause)
        for mask in range(1, shape.full + 1):
            number, order = patterns.placed(shape, mask)
            form = oracle.subpattern(clause, items_of(mask))
            numbers.setdefault(form, set()).add(number)
            forms.setdefault(number, set()).add(form)
            if sorted(order) != list(items_of(mask)):
                return f"the items of {mask:b} are placed as {order}"
    if any(len(found) > 1 for found in numbers.values()):
        return "one sub-pattern has two numbers"
    return "two sub-patterns have one number" if any(len(found) > 1 for found in forms.values()) else None


def common(seed: int) -> str | None:
    """Maximal common sub-patterns are those of the definition."""
    labels = "ABCD" if seed % 2 else "ABC"
    (one, other), _ = random_workload(seed, 2, 4, labels, can_repeat=seed % 4 != 1, kleene=0.1, joint=0.5)
    patterns = SubPatterns()
    found = maximal_common(patterns.shape(one), patterns.shape(other))
    sets = {(frozenset(items_of(mask)), frozenset(items_of(other_mask))) for mask, other_mask in found}
    expected = oracle.common(one, other)
    if patterns.shape(one) is patterns.shape(other):
        whole = frozenset(range(len(one.items)))
        expected = {(whole, whole)}
    return None if sets == expected and len(found) == len(sets) else f"{sets} for {expected}"


def graph(seed: int) -> str | None:
    """The two tables of the graph, after clauses have come and gone, are those of all pairs of clauses."""
    clauses, _ = random_workload(seed, 8, 4, "ABCDE", can_repeat=seed % 2 > 0, joint=0.3)
    random, patterns = Random(seed), SubPatterns()
    made, present = PatternGraph(patterns), list[int]()
    for number in random.sample(range(8), 8):
        made.add(number, patterns.shape(clauses[number]))
        present.append(number)
        if random.random() < 0.4:
            leaving = present.pop(random.randrange(len(present)))
            made.remove(leaving)
    expected: set[tuple[int, int, int]] = set()
    for one, other in combinations(present, 2):
        shape, other_shape = patterns.shape(clauses[one]), patterns.shape(clauses[other])
        for mask, other_mask in maximal_common(shape, other_shape):
            pattern = patterns.number(shape, mask)
            expected |= {(pattern, one, mask), (pattern, other, other_mask)}
    by_pattern = {(pattern, *found) for pattern, holders in made.clauses_of.items() for found in holders}
    by_clause = {
        (pattern, number, mask) for number, found in made.subpatterns_of.items() for pattern, mask in found
    }
    if not by_pattern == by_clause == expected:
        return f"{by_pattern} and {by_clause} for {expected}"
    for number, mask in {(number, mask) for _, number, mask in expected}:
        items = items_of(mask)[:2]
        form = oracle.subpattern(clauses[number], items)
        holders = {
            other for other in present
            if any(oracle.subpattern(clauses[other], pair) == form for pair in combinations(range(4), 2))
        }
        found = made.holders(number, sum(1 << item for item in items))
        if found.keys() != holders:
            return f"{set(found)} have {form}, not {holders}"
        if any(oracle.subpattern(clauses[other], items_of(at)) != form for other, at in found.items()):
            return f"{found} are not the items of {form}"
    return None


def multitrees(seed: int) -> str | None:
    """After any changes a multitree costs what its trees cost, and has a node for each part of them."""
    random = Random(seed)
    statistics = random_statistics(random, "ABCD")
    multitree = Multitree(statistics)
    trees: dict[int, Tree] = {}
    clauses: dict[int, Clause] = {}
    for step in range(12):
        if trees and random.random() < 0.3:
            number = random.choice(list(trees))
            multitree.remove(number)
            del trees[number], clauses[number]
        elif trees and random.random() < 0.3:
            number = random.choice(list(trees))
            trees[number] = random_tree(random, len(clauses[number].items))
            multitree.replace(number, multitree.subplans.plan(multitree.plans[number].shape, trees[number]))
        else:
            size = random.randint(1, 4)
            clauses[step] = random_clause(
                random, "ABCD"[: 2 + seed % 3], size, can_repeat=True, windows=(*WINDOWS, None), kleene=0.1, joint=0.3
            )
            trees[step] = random_tree(random, size)
            multitree.add(step, clauses[step], trees[step])
            order = random.sample(range(size), size)
            moved = multitree.subplans.shape(rearranged(clauses[step], order))
            if multitree.subplans.find(moved, renamed(trees[step], order)) != multitree.root(step).node:
                return f"{trees[step]} of {clauses[step]} is another node when it is written as {order}"
        problem = _multitree_problem(multitree, clauses, trees, statistics)
        if problem is not None:
            return problem
    return None


def rearranged(clause: Clause, order: Sequence[int]) -> Clause:
    """The clause with its items in another order: item i in the place order[i]."""
    items = sorted(range(len(order)), key=order.__getitem__)
    return Clause(
        clause.pattern, tuple(clause.items[item] for item in items),
        tuple(Link(order[link.first], order[link.second], link.key) for link in clause.links),
        tuple(Joint(tuple(order[item] for item in joint.items), joint.key) for joint in clause.joints), clause.window,
    )


def _multitree_problem(
    multitree: Multitree, clauses: dict[int, Clause], trees: dict[int, Tree], statistics: Statistics
) -> str | None:
    parts = [oracle.tree_parts(clauses[number], tree, statistics) for number, tree in trees.items()]
    windows: dict[oracle.Form, float] = {}
    for form, window, _ in (part for plan in parts for part in plan):
        windows[form] = max(windows.get(form, 0.0), window)
    cost = oracle.total(parts)
    if not isclose(multitree.cost, cost, rel_tol=1e-9, abs_tol=1e-9):
        return f"a cost of {multitree.cost} for {cost}"
    found = sorted(inf if node.window is None else node.window for node in multitree.nodes())
    return None if found == sorted(windows.values()) else f"nodes of windows {found} for {sorted(windows.values())}"


def local_plans(seed: int) -> str | None:
    """Algorithm A finds the cheapest tree, around given ones too, and the tree that adds least to what exists."""
    clauses, statistics = random_workload(seed, 5, 4, "ABCDE", windows=WINDOWS, joint=0.3)
    new = clauses.pop()
    multitree = Multitree(statistics)
    is_left_deep = seed % 2 > 0
    trees = [left_deep(order) for order in oracle.every_order(4)] if is_left_deep else oracle.every_tree(4)
    for number, clause in enumerate(clauses):
        multitree.add(number, clause, trees[Random(seed + number).randrange(len(trees))])
    present = [oracle.tree_parts(clause, multitree.tree(number), statistics) for number, clause in enumerate(clauses)]

    def alone(tree: Tree) -> float:
        return oracle.total([oracle.tree_parts(new, tree, statistics)])

    def together(tree: Tree) -> float:
        return oracle.total([*present, oracle.tree_parts(new, tree, statistics)])

    plans = LocalPlans.of(new, multitree)
    pair = random_pair(seed)
    kept = [tree for tree in trees if any(set(oracle.items_in(node)) == set(pair) for node in oracle.nodes_in(tree))]
    found = [
        ("best", alone, plans.best(is_left_deep=is_left_deep), trees),
        ("around", alone, plans.best((pair,), is_left_deep=is_left_deep), kept),
        ("addition", together, plans.cheapest_addition(multitree, is_left_deep=is_left_deep), trees),
    ]
    for name, cost, tree, options in found:
        if not is_same(cost(tree), min(map(cost, options))):
            return f"{name}: {tree} costs {cost(tree)}, the cheapest {min(map(cost, options))}"
        if is_left_deep and order_of(tree) is None:
            return f"{name}: {tree} is no order"
    return None


def random_pair(seed: int) -> tuple[int, int]:
    """Two of four items."""
    first, second = sorted(Random(seed).sample(range(4), 2))
    return first, second


def in_use(seed: int) -> str | None:
    """A clause that is added takes what adds least; others keep their trees, then and when one is removed."""
    clauses, statistics = random_workload(seed, 6, 4, "ABCDE", windows=WINDOWS)
    multitree = optimize(clauses[:4], statistics, seed=seed, max_steps=50).multitree
    before = multitree.trees()
    for number in (4, 5):
        present = [oracle.tree_parts(clauses[at], tree, statistics) for at, tree in multitree.trees().items()]
        options = [
            oracle.total([*present, oracle.tree_parts(clauses[number], tree, statistics)])
            for tree in oracle.every_tree(4)
        ]
        add_clause(multitree, number, clauses[number])
        if not is_same(multitree.cost, min(options)):
            return f"{multitree.cost} after adding {number}, not {min(options)}"
    leaving = Random(seed).sample(range(6), 3)
    for number in leaving:
        remove_clause(multitree, number)
    trees = multitree.trees()
    if any(trees[at] != tree for at, tree in before.items() if at not in leaving):
        return "a clause that stays has another tree"
    cost = oracle.total([oracle.tree_parts(clauses[at], tree, statistics) for at, tree in trees.items()])
    return None if is_same(multitree.cost, cost) else f"{multitree.cost} after removing, not {cost}"
