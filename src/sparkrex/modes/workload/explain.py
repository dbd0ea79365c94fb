"""EXPLAIN of a workload: which patterns share, the plan as a graph, its cost beside those of simpler plans."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparkrex.modes.events.engine import arrange_kept
from sparkrex.modes.workload.choose import search_plan, unseen
from sparkrex.modes.workload.compiled import compile_plan
from sparkrex.modes.workload.describe import Description, listed
from sparkrex.modes.workload.engine import detect
from sparkrex.modes.workload.estimate import estimate
from sparkrex.modes.workload.taking_part import rows_taking_part
from sparkrex.modes.workload.wording import Wording
from sparkrex.stopwatch import Stopwatch
from sparkrex.tree_text import Branch, stages, time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.workload.compiled import Compiled
    from sparkrex.modes.workload.normal_form import Absence
    from sparkrex.modes.workload.plan import WorkloadPlan
    from sparkrex.modes.workload.planner.optimizer import Optimized
    from sparkrex.settings import Settings

_OTHERS = {
    "none": "each pattern alone, as it is written", "re": "each alone, reordered", "sh": "maximal sharing, as written",
}


@dataclass(frozen=True, slots=True)
class WorkloadExplained:
    """Patterns with the same keys and, unless workers find it by their own rows, their plan; stages if it was run.

    `rates` says where rates and selectivities are from.
    """

    plan: WorkloadPlan
    compiled: Compiled
    optimized: Optimized | None
    rates: str
    laps: Sequence[tuple[str, float, str]] = ()

    def description(self) -> Description | None:
        """The nodes of the plan."""
        if self.optimized is None:
            return None
        names = [form.name for form in self.compiled.forms for _ in form.clauses]
        wording = Wording(self.compiled.symbols)
        absent = {
            form.name: list(dict.fromkeys(
                f"{wording.leaf(absence.label)} {_where(absence)}"
                for clause in form.clauses for absence in clause.absences
            ))
            for form in self.compiled.forms
        }
        return Description(self.optimized.multitree, names, wording, absent)

    def lines(self, host: str, n_all: int | None = None) -> list[str]:
        """The text, as a tree. `n_all` is how many patterns there are, if others have other keys."""
        keys = ", ".join(key.name for key in self.plan.partition_by) or "none: one partition"
        time, *tie_break = (str(key.column) for key in self.plan.order_by)
        order = f"order by {time}" + (f", ties by {', '.join(tie_break)}" if tie_break else "")
        found = [Branch(f"partition by {keys}"), *map(Branch, self.plan.gap_lines()), Branch(order)]
        if self.compiled.shared:
            names = [form.name for form in self.compiled.forms]
            found.append(Branch(f"{len(names):,} patterns share a plan: {listed(names)}"))
        own = [
            Branch(f"{self.plan.patterns[number].name}: {reason}") for number, reason in self.compiled.own.items()
        ]
        if own:
            found.append(Branch("by the event matcher, unshared", tuple(own)))
        found += self._plan()
        if self.laps:
            found.append(stages(self.laps))
        n_patterns = len(self.plan.patterns)
        of_all = "" if n_all in (None, n_patterns) else f" of {n_all:,}"
        word = "pattern" if n_patterns == 1 and not of_all else "patterns"
        return Branch(f"Workload of {n_patterns:,}{of_all} {word}", tuple(found)).lines()

    def _plan(self) -> list[Branch]:
        optimized, description = self.optimized, self.description()
        if not self.compiled.shared:
            return []
        if optimized is None or description is None:
            return [Branch(self.rates)]
        costs = [
            Branch(f"{name}, {what}: {optimized.costs[name]:,.4g}" + _times(optimized.costs[name], optimized.cost))
            for name, what in _OTHERS.items()
        ]
        search = f"plan by {optimized.method}, {optimized.steps:,} steps in {time_text(optimized.seconds)}"
        return [
            Branch(self.rates), Branch(f"{search}, cost {optimized.cost:,.4g}", tuple(costs)),
            description.shared_lines(), Branch("plans", tuple(description.plans())), description.dispatch(),
        ]


def _where(absence: Absence) -> str:
    """Where a negated component is looked for."""
    if absence.is_inside:
        return "between the first and the last event"
    if absence.is_trailing:
        return "after the last event, inside the window of the first"
    return "between its neighbours" if absence.before else "before the first event, inside the window of the last"


def _times(cost: float, own: float) -> str:
    return f", {cost / own:,.1f} times as much" if own > 0 else ""


def explain_workload(
    plan: WorkloadPlan, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool,
    on_progress: Callable[[int, float], None] | None = None,
) -> WorkloadExplained:
    """The plan that the rows of a table lead to; with `analyze`, after running it."""
    watch = Stopwatch()
    if analyze:
        for _ in detect(plan, table, evaluator, settings, watch):
            pass
    compiled = compile_plan(plan)
    optimized, rates = None, ""
    if compiled.shared:
        keep = rows_taking_part(plan, table, evaluator, settings)
        rows, arrangement = arrange_kept(plan.queries[0], table, keep, settings)
        statistics = estimate(compiled, rows, arrangement, evaluator, settings, plan.options.seed)
        optimized = search_plan(compiled, plan.options, statistics, on_progress)
        rates = f"rates and selectivities from {table.num_rows:,} rows"
    return WorkloadExplained(plan, compiled, optimized, rates, watch.laps if analyze else ())


def explain_unseen(plan: WorkloadPlan) -> WorkloadExplained:
    """The plan without a stream: a few events of every kind in a window, conditions that hold for half of the pairs."""
    compiled = compile_plan(plan)
    optimized = None
    if compiled.shared:
        optimized = search_plan(compiled, plan.options, unseen(compiled))
    text = "no stream is given: 5 events of every type in the largest window, conditions hold for half of the pairs"
    return WorkloadExplained(plan, compiled, optimized, text)


def explain_for_workers(written: WorkloadPlan, worker: WorkloadPlan) -> WorkloadExplained:
    """Which patterns share on Spark, where fewer may than in memory. Nothing is known of the rows yet."""
    text = "every task of Spark's finds a plan by its own rows"
    if worker.trees is not None:
        text = "of a stream nothing is known: 5 events of every type in a window, conditions hold for half of the pairs"
    patterns = tuple(
        replace(one, own=other.own) for one, other in zip(written.patterns, worker.patterns, strict=True)
    )
    plan = replace(written, patterns=patterns)
    if worker.trees is not None:
        return replace(explain_unseen(plan), rates=text)
    return WorkloadExplained(plan, compile_plan(plan), None, text)

