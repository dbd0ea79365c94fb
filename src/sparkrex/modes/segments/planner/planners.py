"""The planners of segment search by name, as `planner=` takes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.modes.segments.planner.alternatives import Alternatives
from sparkrex.modes.segments.planner.cost import CostModel, Estimate
from sparkrex.modes.segments.planner.optimizer import optimize
from sparkrex.modes.segments.planner.rule_planners import RULE_PLANNERS, distinct_rules, plan_by_rule
from sparkrex.modes.segments.planner.weights import shipped_weights

if TYPE_CHECKING:
    from sparkrex.modes.segments.planner.logical import Logical
    from sparkrex.modes.segments.planner.physical_plan import Physical
    from sparkrex.modes.segments.planner.statistics import Statistics
    from sparkrex.modes.segments.planner.weights import Weights

PLANNERS = ("optimizer", *RULE_PLANNERS)


@dataclass(frozen=True, slots=True)
class Plan:
    """A physical plan and the estimates of its operators, a tree of the same shape."""

    physical: Physical
    estimate: Estimate
    planner: str


def make_plan(
    logical: Logical, statistics: Statistics, planner: str = "optimizer", weights: Weights | None = None
) -> Plan:
    """The plan that a planner of `PLANNERS` makes."""
    model = CostModel(logical, statistics, weights or shipped_weights())
    if planner != "optimizer":
        physical = plan_by_rule(logical, planner)
        return Plan(physical, model.estimate(physical), planner)
    alternatives = Alternatives()
    physical = optimize(model, alternatives=alternatives)
    estimate = model.estimate(physical)
    # The optimizer leaves out what is seldom better, and of large patterns much; no rule may be cheaper all the same.
    for rule in distinct_rules(logical) if physical.children else ():
        other = plan_by_rule(logical, rule, alternatives)
        if not model.is_dearer(other, estimate.total):
            found = model.estimate(other)
            if found.total < estimate.total:
                physical, estimate = other, found
    return Plan(physical, estimate, planner)
