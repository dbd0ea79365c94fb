"""Clauses for tests, made from short texts, and random workloads."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from math import exp, factorial, log
from random import Random
from typing import TYPE_CHECKING

from sparkrex.modes.workload.clause import BEFORE, DIFFERENT, Clause, Item, Joint, Link
from sparkrex.modes.workload.planner.cost import n_partial_matches
from sparkrex.modes.workload.planner.statistics import Statistics
from sparkrex.modes.workload.planner.tree import leaves, subtrees

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable

    from sparkrex.modes.workload.planner.multitree import Multitree


def seq(
    labels: str, *conditions: tuple[int, int, Hashable], window: float | None = 10.0, kleene: str = ""
) -> Clause:
    """SEQ over one-letter labels: each item comes before all later ones."""
    links = [Link(first, second, BEFORE) for first, second in combinations(range(len(labels)), 2)]
    links += [Link(*condition) for condition in conditions]
    items = tuple(Item(f"v{at}", label, label in kleene) for at, label in enumerate(labels))
    return Clause(f"SEQ({labels})", items, tuple(links), (), window)


def conjunction(
    labels: str, *conditions: tuple[int, int, Hashable], window: float | None = 10.0, joints: Iterable[Joint] = ()
) -> Clause:
    """AND over one-letter labels: items of the same label are different events."""
    pairs = combinations(range(len(labels)), 2)
    links = [Link(first, second, DIFFERENT) for first, second in pairs if labels[first] == labels[second]]
    links += [Link(*condition) for condition in conditions]
    items = tuple(Item(f"v{at}", label) for at, label in enumerate(labels))
    return Clause(f"AND({labels})", items, tuple(links), tuple(joints), window)


def random_statistics(random: Random, labels: str, *, span: float = 20.0) -> Statistics:
    """Rates and selectivities over two orders of magnitude."""
    rates: dict[Hashable, float] = {label: round(10 ** random.uniform(-1.5, 0.7), 3) for label in labels}
    keys: dict[Hashable, float] = {
        key_of(one, other): round(10 ** random.uniform(-2, 0), 3) for one in labels for other in labels
    }
    return Statistics(rates, keys | {"sum": 0.3}, span)


def key_of(one: str, other: str) -> tuple[str, str, str]:
    """The one condition that there is between two labels."""
    return ("less", one, other)


def random_clause(
    random: Random, labels: str, size: int, *, can_repeat: bool = False, windows: tuple[float | None, ...] = (10.0,),
    kleene: float = 0.0, joint: float = 0.0,
) -> Clause:
    """SEQ or AND of some labels; between about half as many pairs as it has items there is a condition.

    `kleene` is the chance of each item to be one, `joint` that of a condition on three items.
    """
    chosen = "".join(random.choices(labels, k=size) if can_repeat else random.sample(labels, size))
    conditions = []
    for first, second in combinations(range(size), 2):
        if random.random() < 1 / max(size - 1, 1):
            one, other = (first, second) if chosen[first] <= chosen[second] else (second, first)
            conditions.append((one, other, key_of(chosen[one], chosen[other])))
    make = seq if random.random() < 0.5 else conjunction
    clause = make(chosen, *conditions, window=random.choice(windows))
    items = clause.items
    if kleene:
        items = tuple(replace(item, is_kleene=random.random() < kleene) for item in items)
    joints: tuple[Joint, ...] = ()
    if size > 2 and random.random() < joint:
        joints = (Joint(tuple(random.sample(range(size), 3)), "sum"),)
    return replace(clause, items=items, joints=joints)


def random_workload(
    seed: int, n_clauses: int, size: int, labels: str = "ABCDEF", *, can_repeat: bool = False,
    windows: tuple[float | None, ...] = (10.0,), kleene: float = 0.0, joint: float = 0.0,
) -> tuple[list[Clause], Statistics]:
    """Some random clauses, and statistics of their labels and conditions."""
    random = Random(seed)
    statistics = random_statistics(random, labels)
    clauses = [
        random_clause(random, labels, size, can_repeat=can_repeat, windows=windows, kleene=kleene, joint=joint)
        for _ in range(n_clauses)
    ]
    return clauses, statistics


def related_workload(
    seed: int, n_clauses: int, size: int, labels: str = "ABCDE", *, can_repeat: bool = False,
    windows: tuple[float, ...] = (10.0,), kleene: float = 0.0,
) -> tuple[list[Clause], Statistics]:
    """Clauses that have much in common and few matches, so that it matters what is shared.

    Labels stand in the order of the alphabet, and between two of them there is mostly the condition that there is.
    """
    random = Random(seed)
    rates: dict[Hashable, float] = {label: log_uniform(random, 10.0, 14.0) / 10.0 for label in labels}
    keys: dict[Hashable, float] = {
        key_of(one, other): log_uniform(random, 0.05, 0.1) for one in labels for other in labels
    }
    clauses = []
    for _ in range(n_clauses):
        chosen = "".join(sorted(random.choices(labels, k=size) if can_repeat else random.sample(labels, size)))
        pairs = [pair for pair in combinations(range(size), 2) if random.random() < 0.8]
        conditions = [(first, second, key_of(chosen[first], chosen[second])) for first, second in pairs]
        make = seq if random.random() < 0.5 else conjunction
        clause = make(chosen, *conditions, window=random.choice(windows))
        rarest = min(chosen, key=rates.__getitem__)
        is_kleene = random.random() < kleene
        items = tuple(replace(item, is_kleene=is_kleene and item.label == rarest) for item in clause.items)
        clauses.append(replace(clause, items=items))
    return clauses, Statistics(rates, keys)


def described(multitree: Multitree) -> dict[frozenset[tuple[int, tuple[int, ...]]], float | None]:
    """A multitree without the numbers of its nodes: where each node stands in which clause, and its window."""
    places: dict[int, set[tuple[int, tuple[int, ...]]]] = {}
    for number, plan in multitree.plans.items():
        for subtree in subtrees(plan.tree):
            node = multitree.subplans.find(plan.shape, subtree)
            places.setdefault(node, set()).add((number, tuple(sorted(leaves(subtree)))))
    windows = {node.number: node.window for node in multitree.nodes()}
    assert windows.keys() == places.keys()
    return {frozenset(found): windows[node] for node, found in places.items()}



def paper_workload(
    seed: int, n_patterns: int, n_labels: int = 30, *, windows: tuple[float, ...] = (15.0,)
) -> tuple[list[Clause], Statistics]:
    """Patterns on the paper's rules: about 5 types, half as many conditions out of a pool that all patterns share.

    There are 2 to 47 events of a type in a window of 15, selectivities are 0.003 to 0.92, and a pattern is kept if at
    most one match of it is expected in a window. One in ten has a Kleene, of a rare type; a negated type, which another
    tenth would have, is no item.
    """
    random = Random(seed)
    labels = [f"T{at:02}" for at in range(n_labels)]
    rates: dict[Hashable, float] = {label: log_uniform(random, 2.0, 47.0) / 15.0 for label in labels}
    pool = random.sample(list(combinations(labels, 2)), 2 * n_labels)
    statistics = Statistics(rates, {("less", *pair): log_uniform(random, 0.003, 0.92) for pair in pool})
    clauses: list[Clause] = []
    while len(clauses) < n_patterns:
        size = random.choice((4, 5, 5, 5, 6))
        conditions = random.sample(pool, random.choice((size // 2, (size + 1) // 2)))
        chosen = list(dict.fromkeys(label for pair in conditions for label in pair))[:size]
        chosen += random.sample([label for label in labels if label not in chosen], size - len(chosen))
        random.shuffle(chosen)
        links = [
            Link(chosen.index(one), chosen.index(other), ("less", one, other))
            for one, other in conditions if one in chosen and other in chosen
        ]
        is_sequence = random.random() < 0.5
        if is_sequence:
            links += [Link(first, second, BEFORE) for first, second in combinations(range(size), 2)]
        rarest = min(chosen, key=rates.__getitem__)
        kleene = rarest if random.random() < 0.1 and rates[rarest] * 15.0 < 12 else None
        items = tuple(Item(f"v{at}", label, label == kleene) for at, label in enumerate(chosen))
        clause = Clause(f"p{len(clauses)}", items, tuple(links), (), random.choice(windows))
        n_expected = n_partial_matches(clause, range(size), statistics) / (factorial(size) if is_sequence else 1)
        if n_expected <= 1.0:
            clauses.append(clause)
    return clauses, statistics


def log_uniform(random: Random, low: float, high: float) -> float:
    """A number between two, all orders of magnitude being equally likely."""
    return exp(random.uniform(log(low), log(high)))
