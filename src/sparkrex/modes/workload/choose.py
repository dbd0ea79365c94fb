"""The plan of the patterns that share: found by a method that is given by name, or as it is given."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkrex.modes.workload.planner.baselines import BASELINES, UNSHARED
from sparkrex.modes.workload.planner.local_plans import LocalPlans
from sparkrex.modes.workload.planner.multitree import Multitree
from sparkrex.modes.workload.planner.optimizer import GIVEN, Optimized, improve, optimize
from sparkrex.modes.workload.planner.statistics import Statistics
from sparkrex.modes.workload.prepared import Prepared
from sparkrex.modes.workload.runner import GroupRunner

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.workload.compiled import Compiled
    from sparkrex.modes.workload.plan import PlanOptions, WorkloadPlan
    from sparkrex.modes.workload.planner.tree import Tree
    from sparkrex.settings import Settings


@dataclass(frozen=True, eq=False, slots=True)
class Chosen:
    """A plan in use: its runner, and what is known of how it was found; None if it was given.

    One that was settled has a number of its own, whatever run it is made in: partial matches of another mean nothing to
    it.
    """

    runner: GroupRunner
    multitree: Multitree
    optimized: Optimized | None = None
    number: int = 0

    def trees(self) -> tuple[Tree, ...]:
        """The local plan of every clause."""
        return tuple(tree for _, tree in sorted(self.multitree.trees().items()))


def search_plan(
    compiled: Compiled, options: PlanOptions, statistics: Statistics,
    on_progress: Callable[[int, float], None] | None = None,
) -> Optimized:
    """The plan that the options ask for."""
    return optimize(
        compiled.clauses(), statistics, options.method, seed=options.seed, max_steps=options.max_steps,
        seconds=options.seconds, on_progress=on_progress,
    )


def improve_plan(
    compiled: Compiled, options: PlanOptions, statistics: Statistics, trees: Sequence[Tree], seconds: float,
    on_progress: Callable[[int, float], None] | None = None,
) -> tuple[float, Optimized]:
    """What a plan in use costs under these statistics, and a better one, found in so many seconds or little more.

    What is no local search has no use for the plan in use.
    """
    if options.method in BASELINES:
        present = extend_plan(compiled, statistics, options, dict(enumerate(trees)))
        return present.cost, search_plan(compiled, options, statistics, on_progress)
    limit = seconds if options.seconds is None else min(seconds, options.seconds)
    found = improve(
        trees, compiled.clauses(), statistics, options.method, seed=options.seed, max_steps=options.max_steps,
        seconds=limit, on_progress=on_progress,
    )
    return found.costs[GIVEN], found


def choose(
    plan: WorkloadPlan, compiled: Compiled, statistics: Statistics, evaluator: Evaluator, settings: Settings,
    on_progress: Callable[[int, float], None] | None = None,
) -> Chosen:
    """The best plan that is found under these statistics."""
    optimized = search_plan(compiled, plan.options, statistics, on_progress)
    return Chosen(run_by(plan, compiled, optimized.multitree, evaluator, settings), optimized.multitree, optimized)


def unseen(compiled: Compiled) -> Statistics:
    """What is supposed of a stream that nobody has seen: a few events of every kind in a window, conditions that hold
    for half of the pairs."""
    windows = [clause.window for clause in compiled.clauses() if clause.window is not None]
    rate = 5.0 / max(windows, default=1.0)
    return Statistics(
        dict.fromkeys(range(len(compiled.symbols.leaves)), rate),
        dict.fromkeys(range(len(compiled.symbols.conditions)), 0.5), 1.0 / rate,
    )


def settle(plan: WorkloadPlan, compiled: Compiled) -> WorkloadPlan:
    """The plan with trees for patterns that share, found without rows: it stays, wherever and however often it runs."""
    if not compiled.shared:
        return replace(plan, trees=())
    multitree = search_plan(compiled, plan.options, unseen(compiled)).multitree
    return replace(plan, trees=tuple(tree for _, tree in sorted(multitree.trees().items())))


def settled_plan(plan: WorkloadPlan, compiled: Compiled, evaluator: Evaluator, settings: Settings) -> Chosen:
    """The plan that was settled. Nothing of it depends on rows."""
    multitree = extend_plan(compiled, unseen(compiled), plan.options, dict(enumerate(plan.trees or ())))
    names = [form.name for form in compiled.forms]
    digest = hashlib.sha256(repr((names, plan.options.method in UNSHARED, plan.trees)).encode()).digest()
    number = int.from_bytes(digest[:8], "little", signed=True) or 1
    return Chosen(run_by(plan, compiled, multitree, evaluator, settings), multitree, number=number)


def extend_plan(
    compiled: Compiled, statistics: Statistics, options: PlanOptions, kept: Mapping[int, Tree]
) -> Multitree:
    """A plan in which some clauses, given by number, have the trees that they had; each other one adds the least."""
    multitree = Multitree(statistics)
    is_private = options.method in UNSHARED
    for number, clause in enumerate(compiled.clauses()):
        if number in kept:
            multitree.add(number, clause, kept[number], is_private=is_private)
    for number, clause in enumerate(compiled.clauses()):
        if number not in kept:
            plans = LocalPlans.of(clause, multitree)
            tree = plans.best() if is_private else plans.cheapest_addition(multitree)
            multitree.add(number, clause, tree, is_private=is_private)
    return multitree


def run_by(
    plan: WorkloadPlan, compiled: Compiled, multitree: Multitree, evaluator: Evaluator, settings: Settings
) -> GroupRunner:
    """The runner of a multitree."""
    prepared = Prepared(compiled.forms, compiled.symbols, multitree)
    return GroupRunner(prepared, evaluator, settings, max_kleene=plan.options.max_kleene)
