"""Applies rules until none fires, and keeps every step for EXPLAIN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sparkrex.modes.segments.planner.references import annotated
from sparkrex.modes.segments.rewrite import (
    common_subpatterns,
    embed_windows,
    flatten,
    lift_conditions,
    push_down_windows,
    wildcards,
)
from sparkrex.modes.segments.rewrite.text import logical_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sparkrex.modes.segments.planner.logical import Logical

Thing = TypeVar("Thing")

MOST_STEPS = 60
"""Narrowing windows against each other may go on for long, to little use; whatever has been reached is right."""


@dataclass(frozen=True, slots=True)
class Step:
    """One rule applied: its name, what it was applied to and what came out, written as text when EXPLAIN asks."""

    rule: str
    _before: Any
    _after: Any
    _shown: Callable[[Any], str]

    @property
    def before(self) -> str:
        """What the rule was applied to."""
        return self._shown(self._before)

    @property
    def after(self) -> str:
        """What came out."""
        return self._shown(self._after)

    def __str__(self) -> str:
        return f"{self.rule}:\n  {self.before}\n  -> {self.after}"


def to_fixpoint(
    thing: Thing, rules: Sequence[tuple[str, Callable[[Thing], Thing | None]]], shown: Callable[[Thing], str]
) -> tuple[Thing, list[Step]]:
    """Apply the first rule that fires, again and again. A rule returns None if it does not fire."""
    steps: list[Step] = []
    fired = True
    while fired and len(steps) < MOST_STEPS:
        fired = False
        for name, rule in rules:
            changed = rule(thing)
            if changed is not None:
                steps.append(Step(name, thing, changed, shown))
                thing, fired = changed, True
                break
    return thing, steps


_LOGICAL_RULES = (
    (flatten.NAME, flatten.flatten),
    (wildcards.NAME, wildcards.simplify_wildcards),
    (lift_conditions.NAME, lift_conditions.lift_conditions),
    (embed_windows.NAME, embed_windows.embed_windows),
    (push_down_windows.NAME, push_down_windows.push_down_windows),
)
_LAST_RULE = (common_subpatterns.NAME, common_subpatterns.share_common_subpatterns)
"""Sharing changes nothing that another rule would look at."""


def rewrite_logical(tree: Logical) -> tuple[Logical, list[Step]]:
    """The tree that the planner gets, and how it came about."""
    wanted = tree.gives
    rules = [(name, _annotating(rule, wanted)) for name, rule in _LOGICAL_RULES]
    tree, steps = to_fixpoint(tree, rules, logical_text)
    tree, last = to_fixpoint(tree, [_LAST_RULE], logical_text)
    return tree, steps + last


def _annotating(
    rule: Callable[[Logical], Logical | None], wanted: frozenset[str]
) -> Callable[[Logical], Logical | None]:
    """The rule, followed by a new look at who refers to whom."""

    def apply(tree: Logical) -> Logical | None:
        changed = rule(tree)
        return None if changed is None else annotated(changed, wanted)

    return apply
