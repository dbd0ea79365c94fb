"""Workloads as a mode: many event queries over one stream, one plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from sparkrex.modes.workload.choose import settle
from sparkrex.modes.workload.combined import WorkloadRunner
from sparkrex.modes.workload.compiled import compile_plan
from sparkrex.modes.workload.engine import check_workload, workload_results
from sparkrex.modes.workload.explain import WorkloadExplained, explain_for_workers, explain_workload
from sparkrex.modes.workload.plan import WorkloadPlan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.plan import Plan
    from sparkrex.settings import Settings
    from sparkrex.spark.lowering import Lowered
    from sparkrex.spark.worker import Carried, WorkerTask
    from sparkrex.stopwatch import Stopwatch


class WorkloadMode:
    """See `modes.protocol.Mode`."""

    matchers: ClassVar[tuple[str, ...]] = ()

    def results(
        self, plan: WorkloadPlan, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        """Drop what cannot take part, arrange, plan, match."""
        return workload_results(plan, table, evaluator, settings, watch)

    def runner(
        self, plan: WorkloadPlan, sample: pa.Table, keys: tuple[str, ...], evaluator: Evaluator, settings: Settings,
        watch: Stopwatch | None = None,
    ) -> WorkloadRunner:
        """Keys are read by the caller alone."""
        return WorkloadRunner(plan, evaluator, settings)

    def explain(
        self, plan: WorkloadPlan, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
    ) -> WorkloadExplained:
        """The shared plan, as a graph."""
        return explain_workload(plan, table, evaluator, settings, analyze=analyze)

    def lower(
        self, plan: WorkloadPlan, input_name: str, settings: Settings, wanted: frozenset[str] | None,
        types: Callable[[Lowered, Sequence[str]], pa.Schema],
    ) -> Lowered:
        """Cut so that kernels can hold what conditions read, as event queries are."""
        from sparkrex.modes.events.lower import tested_projections, unheld_projections
        from sparkrex.modes.workload.lower import lower_workload

        unheld: frozenset[str] = frozenset()
        while True:
            lowered = lower_workload(plan, input_name, unheld)
            found = unheld_projections(lowered, types(lowered, tested_projections(lowered)))
            if found <= unheld:
                return lowered
            unheld |= found

    def settled(self, plan: Plan) -> WorkloadPlan:
        """The patterns that share get a plan."""
        assert isinstance(plan, WorkloadPlan)  # this mode lowered it
        return settle(plan, compile_plan(plan))

    def task(
        self, lowered: Lowered, written: WorkloadPlan, sample: pa.Table, carried: Carried, evaluator: Evaluator,
        settings: Settings, pickled: Callable[[object], object],
    ) -> WorkerTask:
        """Conditions must be ones that workers can test."""
        from sparkrex.spark.worker import WorkerTask

        plan: WorkloadPlan = lowered.worker  # type: ignore[assignment]  # this mode lowered it
        check_workload(plan, sample, evaluator, settings)
        names = tuple(zip(lowered.keys, (key.name for key in written.partition_by), strict=True))
        return WorkerTask(mode=self, plan=plan, carried=carried, settings=settings, key_names=names)

    def explain_for_workers(
        self, written: WorkloadPlan, lowered: Lowered, sample: pa.Table, types: Callable[[Sequence[str]], pa.Schema],
        evaluator: Evaluator, settings: Settings,
    ) -> WorkloadExplained:
        """Which patterns share, and by which keys Spark partitions. Every worker finds a plan by its own rows."""
        return explain_for_workers(written, lowered.worker)  # type: ignore[arg-type]  # this mode lowered it


MODE = WorkloadMode()
