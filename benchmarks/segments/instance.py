"""One instance of a template: all of its plans and automata, timed, their answers compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.segments.automata import NESTED, Automaton
from benchmarks.segments.prepare import Found, Prepared, prepare
from benchmarks.segments.timing import LONG, TimeOutError, once, time_limit, typical
from sparkrex.modes.segments.operators.arrays import TooManySegmentsError
from sparkrex.modes.segments.planner.condition_cost import can_index, must_index
from sparkrex.modes.segments.planner.logical import Neither, parts
from sparkrex.modes.segments.planner.optimizer import NoPlanError, optimize
from sparkrex.modes.segments.planner.physical_plan import Op, Physical
from sparkrex.modes.segments.planner.rule_planners import RULE_PLANNERS, plan_by_rule, random_plan
from sparkrex.modes.segments.planner.statistics import leaves_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from numpy.typing import NDArray

    from benchmarks.segments.templates import Parameters, Template
    from sparkrex.modes.segments.planner.logical import Logical

    Run = Callable[[], Found]

PROBES = frozenset({
    Op.LEFT_PROBE_CONCAT, Op.RIGHT_PROBE_CONCAT, Op.LEFT_PROBE_AND, Op.RIGHT_PROBE_AND, Op.PROBE_NOT, Op.FILTER,
})
"""What T-ReX Batch does without; a Filter hands segments from one side to the other, too."""
NEEDED_PROBES = PROBES - {Op.RIGHT_PROBE_CONCAT, Op.RIGHT_PROBE_AND}
"""Where references leave no other way, as in OpenCEP_Q1, batch mode probes to the right."""
CLOSE = 1.5
"""A random plan is timed properly if one run comes so close to the best."""


@dataclass(eq=False)
class Instance:
    """What is measured of an instance. Times are in seconds, None after a time-out."""

    template: str
    parameters: Parameters
    n_matches: int = 0
    planners: dict[str, float | None] = field(default_factory=dict)
    """By planner, without the planning itself."""
    executors: dict[str, float | None] = field(default_factory=dict)
    """With planning, sampling, and building of indexes."""
    evaluations: dict[str, int] = field(default_factory=dict)
    ranking: dict[int, dict[str, float]] = field(default_factory=dict)
    """By series sampled: NDCG, that of a random order, seconds of sampling, and of sampling and planning."""
    best_random: float | None = None
    regret: float | None = None
    wrong: list[str] = field(default_factory=list)


class Measuring:
    """Measures an instance."""

    def __init__(self, template: Template, parameters: Parameters, table: pa.Table, limit: float) -> None:
        self.prepared: Prepared = prepare(template.clause(parameters), table)
        self.instance = Instance(template.name, parameters)
        self.limit = limit
        self.answer: NDArray[np.int64] | None = None

    def close(self) -> None:
        """Release the host."""
        self.prepared.host.close()

    def timed(self, name: str, run: Run, limit: float | None = None, *, is_repeated: bool = True) -> float | None:
        """Seconds, or None after a time-out; compares the answer and notes conditions tested."""
        try:
            with time_limit(limit or self.limit):
                found, seconds = once(run)
        except (TimeOutError, TooManySegmentsError):
            return None
        if is_repeated and seconds < LONG:
            seconds = typical(run)  # without the first, which may have compiled something
        self.check(name, found)
        self.instance.evaluations[name] = found.n_tested
        return seconds

    def check(self, name: str, answer: Found) -> None:
        """Compare with the answer of whoever came first."""
        found = answer.pairs()
        if self.answer is None:
            self.answer = found
            self.instance.n_matches = len(found)
        elif not np.array_equal(found, self.answer):
            self.instance.wrong.append(f"{name}: {len(found):,} matches, not {len(self.answer):,}")

    def plans(self) -> dict[str, Physical]:
        """The optimizer's plan and those of the rules; of equal plans, all names."""
        rules = [name for name in RULE_PLANNERS if has_not(self.prepared.logical) or not name.endswith("_pnot")]
        by_rules = {name: plan_by_rule(self.prepared.logical, name) for name in rules}
        return {"optimizer": self.prepared.optimized(), **by_rules}

    def measure_plans(self, n_random: int) -> None:
        """Table 4 and regret."""
        instance = self.instance
        plans = self.plans()
        known: dict[Physical, float | None] = {}
        for name, plan in plans.items():
            if plan not in known:
                known[plan] = self.timed(name, partial(self.prepared.run, plan))
            instance.planners[name] = known[plan]
        ours = instance.planners["optimizer"]
        best = min((seconds for seconds in known.values() if seconds is not None), default=self.limit)
        best_plan = min((plan for plan in known), key=lambda plan: _or_much(known[plan]), default=None)
        for seed in range(n_random):
            plan = random_plan(self.prepared.logical, seed)
            if plan in known:
                continue
            run = partial(self.prepared.run, plan)
            name = f"random plan {seed}"
            known[plan] = self.timed(name, run, max(3 * best, 0.05), is_repeated=False)
            instance.evaluations.pop(name, None)
            seconds = known[plan]
            if seconds is not None and seconds < CLOSE * best:
                seconds = typical(run)
                if seconds < best:
                    best, best_plan = seconds, plan
                    instance.best_random = seconds
        if ours is None:
            instance.regret = float("inf")
        elif best_plan is None or best_plan == plans["optimizer"]:
            instance.regret = 1.0
        else:
            # Once more, taking turns: the least of many noisy times is too small.
            again = [
                (typical(lambda: self.prepared.run(plans["optimizer"])), typical(lambda: self.prepared.run(best_plan)))
                for _ in range(3)
            ]
            instance.regret = max(1.0, median(our / other for our, other in again))

    def measure_ranking(self, samples: tuple[int, ...]) -> None:
        """Table 7: how well estimated costs order the plans of `measure_plans`; their times are known."""
        times = self.instance.planners
        plans = self.plans()
        for n_series in samples:
            self.prepared.fresh()
            model, sampling = once(partial(self.prepared.model, n_series))
            _, planning = once(partial(optimize, model))
            costs = {name: model.estimate(plan).total for name, plan in plans.items()}
            gains = [_gain(times, name) for name in sorted(costs, key=costs.__getitem__)]
            self.instance.ranking[n_series] = {
                "ndcg": ndcg(gains), "random": random_ndcg(gains), "sampling": sampling,
                "optimizing": sampling + planning,
            }

    def measure_executors(self) -> None:
        """Figure 22: T-ReX and baselines with planning and indexes, aggregates shared or not."""
        name, parameters = self.instance.template, self.instance.parameters

        def trex(without: frozenset[Op]) -> Run:
            def run() -> Found:
                self.prepared.fresh()
                try:
                    plan = self.prepared.optimized(without=without)
                except NoPlanError:
                    plan = self.prepared.optimized(without=without & NEEDED_PROBES | without & {Op.INDEX})
                return self.prepared.run_on(plan)

            return run

        runs: dict[str, Run] = {"T-ReX": trex(frozenset()), "T-ReX Batch": trex(PROBES)}
        kinds = {"AFA": False, "nested AFA": True} if name in NESTED else {"AFA": False}
        for kind, is_nested in kinds.items():
            runs[kind] = Automaton(name, parameters, self.prepared, is_nested).run
        conditions = [leaf.condition for leaf in leaves_of(self.prepared.logical) if leaf.condition is not None]
        if any(map(can_index, conditions)) and not any(map(must_index, conditions)):
            runs |= {"T-ReX not shared": trex(frozenset({Op.INDEX}))}
            runs |= {"T-ReX Batch not shared": trex(PROBES | {Op.INDEX})}
            for kind, is_nested in kinds.items():
                runs[f"{kind} not shared"] = Automaton(name, parameters, self.prepared, is_nested, shares=False).run
        for kind, run in runs.items():
            self.instance.executors[kind] = self.timed(kind, run)


def has_not(node: Logical) -> bool:
    """Whether there is a Not."""
    return isinstance(node, Neither) or any(map(has_not, parts(node)))


def ndcg(gains: list[float]) -> float:
    """Of gains in the order of a ranking."""
    return _discounted(gains) / _discounted(sorted(gains, reverse=True))


def random_ndcg(gains: list[float]) -> float:
    """What a random order has on average: at every place the average gain."""
    return _discounted([sum(gains) / len(gains)] * len(gains)) / _discounted(sorted(gains, reverse=True))


def _discounted(gains: list[float]) -> float:
    return float(sum(gain / np.log2(place + 2) for place, gain in enumerate(gains)))


def _gain(times: dict[str, float | None], name: str) -> float:
    fastest = min(seconds for seconds in times.values() if seconds is not None)
    seconds = times[name]
    return 0.0 if seconds is None else fastest / seconds


def _or_much(seconds: float | None) -> float:
    return float("inf") if seconds is None else seconds


def as_data(instance: Instance) -> dict[str, Any]:
    """For JSON."""
    return {name: getattr(instance, name) for name in Instance.__dataclass_fields__}
