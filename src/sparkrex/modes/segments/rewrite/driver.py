"""Applies rules until none fires, and keeps every step for EXPLAIN."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeVar

from sparkrex.errors import AnalysisError, nearest
from sparkrex.modes.segments.planner.make_logical import untranslated
from sparkrex.modes.segments.planner.references import annotated
from sparkrex.modes.segments.rewrite import rules
from sparkrex.modes.segments.rewrite.searches import search_text
from sparkrex.modes.segments.rewrite.text import logical_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.planner.logical import Logical
    from sparkrex.modes.segments.rewrite.sizes import Units

Thing = TypeVar("Thing")
AnyRule = TypeVar("AnyRule", rules.SearchRule, rules.PlanRule)

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


def rewrite_plain(
    search: SegmentSearch, units: Units, without: Collection[str] = ()
) -> tuple[SegmentSearch, list[Step]]:
    """The segment search that means the same as a plain query under ALL MATCHES, and how it came about.

    Other searches stay as they are. If references remain that no segment stands for, the search is still `is_plain`,
    and no logical plan means the same. `without` names rules that are turned off.
    """
    kept = _rules(rules.SearchRule, without)
    if not search.is_plain:
        return search, []
    appliers = [(rule.name, _with_units(rule, units)) for rule in kept]
    search, steps = to_fixpoint(search, appliers, search_text)
    if next(untranslated(search), None) is None:
        search = replace(search, is_plain=False, subsets=())
    return search, steps


def rewrite_logical(tree: Logical, without: Collection[str] = ()) -> tuple[Logical, list[Step]]:
    """The tree that the planner gets, and how it came about. `without` names rules that are turned off."""
    kept = _rules(rules.PlanRule, without)
    wanted = tree.gives
    repeated = [(rule.name, _annotate_after(rule, wanted)) for rule in kept if not rule.comes_last]
    tree, steps = to_fixpoint(tree, repeated, logical_text)
    tree, last = to_fixpoint(tree, [(rule.name, rule.apply) for rule in kept if rule.comes_last], logical_text)
    return tree, steps + last


def to_fixpoint(
    thing: Thing, appliers: Sequence[tuple[str, Callable[[Thing], Thing | None]]], shown: Callable[[Thing], str]
) -> tuple[Thing, list[Step]]:
    """Apply the first rule that fires, again and again. A rule returns None if it does not fire."""
    steps: list[Step] = []
    fired = True
    while fired and len(steps) < MOST_STEPS:
        fired = False
        for name, apply in appliers:
            changed = apply(thing)
            if changed is not None:
                steps.append(Step(name, thing, changed, shown))
                thing, fired = changed, True
                break
    return thing, steps


def _rules(kind: type[AnyRule], without: Collection[str]) -> list[AnyRule]:
    """The rules of a kind that are not turned off."""
    names = [rule.name for rule in rules.RULES]
    for name in without:
        if name not in names:
            close = nearest(str(name), names)
            raise AnalysisError(
                "REX217", f"unknown rule {name!r} in the setting without_rules", None, None,
                hint=f"{close + ' ' if close else ''}The rules are {', '.join(names)}",
            )
    return [rule for rule in rules.RULES if isinstance(rule, kind) and rule.name not in without]


def _with_units(rule: rules.SearchRule, units: Units) -> Callable[[SegmentSearch], SegmentSearch | None]:
    return lambda search: rule.apply(search, units)


def _annotate_after(rule: rules.PlanRule, wanted: frozenset[str]) -> Callable[[Logical], Logical | None]:
    """The rule, followed by a new look at who refers to whom."""

    def apply(tree: Logical) -> Logical | None:
        changed = rule.apply(tree)
        return None if changed is None else annotated(changed, wanted)

    return apply
