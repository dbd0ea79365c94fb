"""Plans by fixed rules, to compare the optimizer with (section 6.2.1), and random ones.

Left-deep plans take Sort-Merge or Right-Probe operators, right-deep ones Sort-Merge or Left-Probe, everywhere; indexes
wherever there are any; `_pnot` means ProbeNot. Where references do not allow that, the nearest that they do allow.
"""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING

from sparkrex.modes.segments.planner.alternatives import Alternative, Alternatives
from sparkrex.modes.segments.planner.logical import Neither, parts
from sparkrex.modes.segments.planner.optimizer import NoPlanError
from sparkrex.modes.segments.planner.physical_plan import Op, Physical

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.modes.segments.planner.logical import Logical

    Ordered = Callable[[list[Alternative], Alternatives], list[Alternative]]

RULE_PLANNERS = (
    "pr_left", "pr_right", "sm_left", "sm_right", "pr_left_pnot", "pr_right_pnot", "sm_left_pnot", "sm_right_pnot",
)

_MERGES = (Op.SORT_MERGE_CONCAT, Op.SORT_MERGE_AND)
_LEFT_PROBES = (Op.LEFT_PROBE_CONCAT, Op.LEFT_PROBE_AND)
_RIGHT_PROBES = (Op.RIGHT_PROBE_CONCAT, Op.RIGHT_PROBE_AND)
_NOT_IN_RULES = (Op.FILTER, Op.WILDCARD_CONCAT, Op.CONTAINS)


def plan_by_rule(logical: Logical, name: str, alternatives: Alternatives | None = None) -> Physical:
    """The plan of one of `RULE_PLANNERS`; with `alternatives`, made of nodes that another planner has made."""
    joins, side, *rest = name.split("_")
    wanted = _MERGES if joins == "sm" else _RIGHT_PROBES if side == "left" else _LEFT_PROBES
    negation = Op.PROBE_NOT if rest else Op.MATERIALIZE_NOT

    def rank(alternative: Alternative, alternatives: Alternatives) -> tuple[bool, int, bool]:
        op, _, children = alternative
        if len(children) == 2:
            # Left-deep is with one part on the right, right-deep with one on the left.
            alone = children[1 if side == "left" else 0]
            return op in _NOT_IN_RULES, alternatives.n_parts(alone), op not in wanted
        return op in _NOT_IN_RULES, 0, op not in (Op.INDEX, negation)

    return _first_plan(
        logical, lambda found, made: sorted(found, key=lambda alternative: rank(alternative, made)), alternatives
    )


def distinct_rules(logical: Logical) -> list[str]:
    """The rule planners whose plans may differ: without a Not there is nothing to be said about ProbeNot."""
    pending = [logical]
    while pending:
        node = pending.pop()
        if isinstance(node, Neither):
            return list(RULE_PLANNERS)
        pending += parts(node)
    return [name for name in RULE_PLANNERS if not name.endswith("_pnot")]


def probing_plan(logical: Logical) -> Physical:
    """A plan for a few given starts: what follows is looked for from there, and no index is made for so few."""
    wanted = (*_RIGHT_PROBES, Op.FILTER, Op.SCAN, Op.PROBE_NOT)
    return _first_plan(logical, lambda found, _: sorted(found, key=lambda one: one.op not in wanted))


def random_plan(logical: Logical, seed: int) -> Physical:
    """A valid plan at random; the same for the same seed."""
    random = Random(seed)
    return _first_plan(logical, lambda found, _: random.sample(found, len(found)))


def every_plan(logical: Logical) -> list[Physical]:
    """All valid plans: for small patterns."""
    alternatives = Alternatives()

    def plans(node: Logical) -> list[Physical]:
        found: list[Physical] = []
        for op, over, children in alternatives.of(node):
            combinations: list[tuple[Physical, ...]] = [()]
            for child in children:
                below = plans(child)
                combinations = [(*before, plan) for before in combinations for plan in below]
            found += [Physical(op, over, combination) for combination in combinations]
        return found

    return plans(logical)


def _first_plan(logical: Logical, ordered: Ordered, known: Alternatives | None = None) -> Physical:
    """Of every node the first alternative whose children have a plan."""
    alternatives = known or Alternatives()
    hopeless: set[int] = set()

    def plan(node: Logical) -> Physical | None:
        if id(node) in hopeless:
            return None
        for op, over, children in ordered(alternatives.of(node), alternatives):
            below = []
            for child in children:
                found = plan(child)
                if found is None:
                    break
                below.append(found)
            else:
                return Physical(op, over, tuple(below))
        hopeless.add(id(node))
        return None

    found = plan(logical)
    if found is None:
        raise NoPlanError
    return found
