"""Workloads drawn at random from a domain, on the rules of the paper and of what it leaves open.

The paper's: a pattern is a sequence or a conjunction of about 5 types, with half as many conditions, and one in five
has a negated type or a Kleene. Ours:

- SEQ and AND are equally likely, and so are sizes of 4, 5 and 6. Whatever is drawn next, these stay: else most of
  what is kept were SEQ of 4, which have the fewest matches.
- Conditions are drawn from the pool first, then types for the rest of the components, then the order in which
  components are written. So two patterns that have a condition in common have a sub-pattern to share, if both are AND
  or have the two types in the same order.
- A pattern is kept if it is expected to have at most 1 match in a window, and not so few that a stream of some hundred
  windows has none. So that this can be told from selectivities, no two conditions of a pattern read the same value:
  `a.x < b.x` and `a.x < c.x` hold together more often than their product says.
- A Kleene is of a type with at most 3 events in a window, of which an array can be chosen in 7 ways; no condition is on
  it. A negated type is the side of one of the conditions, if that leaves at most 3 events in a window which reject a
  match: a type that comes often would reject nearly all.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from math import inf
from random import Random
from typing import TYPE_CHECKING

from benchmarks.workload.pattern import KLEENE, NEGATED, ONCE, Component, Pattern, Window

if TYPE_CHECKING:
    from benchmarks.workload.domain import Domain
    from benchmarks.workload.pattern import Condition

MAX_DRAWS, MAX_FAILED = 20_000, 5
"""Of one form and size; what cannot be had is given up for another one, which is rare."""
N_CANDIDATES = 6
"""Of which one is chosen, where patterns are to share much or little."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What patterns are like. `size` is the mean number of types; `special` the share with a negated type or a Kleene.

    `rare` bounds their events in a window, `max_difference` that of the rates of two types of a pattern. If conditions
    are `independent`, no two of a pattern read the same value.
    """

    size: int = 5
    window: Window = Window(15)  # noqa: RUF009 - it is frozen
    special: float = 0.2
    rare: float = 3.0
    least_matches: float = 0.02
    most_matches: float = 1.0
    max_difference: float = inf
    independent: bool = True
    key: str | None = None
    n_keys: int = 1


SELECTIVE = Rules()
UNSELECTIVE = Rules(least_matches=20.0, most_matches=2_000.0)
"""Here matches are most of what a plan makes."""

Workload = dict[str, Pattern]


def draw(domain: Domain, n_patterns: int, rules: Rules = SELECTIVE, seed: int = 0) -> Workload:
    """So many patterns, by name."""
    random = Random(seed)
    per_window = domain.per_window(rules.window.size, rules.window.unit)
    found: Workload = {}
    n_failed = 0
    while len(found) < n_patterns:
        form = random.choice(("SEQ", "AND"))
        size = random.randint(rules.size - 1, rules.size + 1)
        is_special = random.random() < rules.special
        drawn = (_draw(domain, form, size, is_special, per_window, rules, random) for _ in range(MAX_DRAWS))
        pattern = next((pattern for pattern in drawn if pattern is not None), None)
        if pattern is not None:
            found[f"p{len(found):04}"] = pattern
            continue
        n_failed += 1
        if n_failed > MAX_FAILED + n_patterns // 10:
            raise ValueError(f"{domain.name} has hardly a pattern that is as {rules} say")
    return found


def draw_sharing(domain: Domain, n_patterns: int, rules: Rules, seed: int, share: float) -> Workload:
    """Of several times as many patterns a share that has most in common with others, and the rest that has least.

    Half are SEQ and half AND, which have more in common.
    """
    drawn = list(draw(domain, N_CANDIDATES * n_patterns, rules, seed).values())
    n_holders = Counter(pair for pattern in drawn for pair in set(pattern.pairs()))
    chosen = []
    for form, n_form in (("SEQ", n_patterns // 2), ("AND", n_patterns - n_patterns // 2)):
        own = [pattern for pattern in drawn if pattern.form == form]
        own.sort(key=lambda pattern: sum(n_holders[pair] for pair in pattern.pairs()))
        n_sharing = round(share * n_form)
        chosen += [*own[: n_form - n_sharing], *own[len(own) - n_sharing :]]
    return {f"p{number:04}": pattern for number, pattern in enumerate(chosen)}


def with_window(patterns: Workload, window: Window) -> Workload:
    """The same patterns with another window."""
    return {name: replace(pattern, window=window) for name, pattern in patterns.items()}


def _draw(
    domain: Domain, form: str, size: int, is_special: bool, per_window: dict[str, float], rules: Rules, random: Random
) -> Pattern | None:
    """A pattern, None if it is not as the rules say."""
    n_conditions = (size + random.randint(0, size % 2)) // 2
    conditions = tuple(random.sample(domain.pool, n_conditions))
    read = [(name, one.attribute) for one in conditions for name in (one.left, one.right)]
    if rules.independent and len(set(read)) < len(read):
        return None
    types = list(dict.fromkeys(name for one in conditions for name in (one.left, one.right)))
    kind, special = random.choice((KLEENE, NEGATED)) if is_special else ONCE, ""
    if kind == KLEENE:
        free = [name for name, number in per_window.items() if number <= rules.rare and name not in types]
    elif kind == NEGATED:
        free = _rejecting(conditions, per_window, rules.rare)
    if kind:
        if not free:
            return None
        special = random.choice(free)
        types = list(dict.fromkeys((*types, special)))
    if len(types) > size:
        return None
    types += random.sample([name for name in domain.rates if name not in types], size - len(types))
    numbers = [per_window[name] for name in types]
    if max(numbers) - min(numbers) > rules.max_difference:
        return None
    random.shuffle(types)
    components = tuple(Component(name, kind if name == special else ONCE) for name in types)
    pattern = Pattern(form, components, conditions, rules.window, rules.key)
    n_matches = pattern.expected_matches(per_window, rules.n_keys)
    return pattern if rules.least_matches <= n_matches <= rules.most_matches else None


def _rejecting(conditions: tuple[Condition, ...], per_window: dict[str, float], rare: float) -> list[str]:
    """Types that one of the conditions is on, and no other, so that few events in a window meet it."""
    found = []
    for condition in conditions:
        for name in (condition.left, condition.right):
            n_uses = sum(name in (one.left, one.right) for one in conditions)
            if n_uses == 1 and per_window[name] * condition.selectivity <= rare:
                found.append(name)
    return found
