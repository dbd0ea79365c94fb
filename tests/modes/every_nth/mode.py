"""The mode: rows in order, every n-th of a partition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from tests.modes.every_nth.plan import EveryNth

from sparkrex.matching.row_values import arrange_rows
from sparkrex.modes.plan import PartitionKey
from sparkrex.scalar.expression import ColumnAt, Target
from sparkrex.spark.lowering import Lowered, Lowering, lower_order
from sparkrex.spark.worker import Carried, WorkerTask
from sparkrex.stopwatch import Stopwatch

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.settings import Settings


@dataclass(frozen=True)
class NthExplained:
    """What EXPLAIN shows."""

    plan: EveryNth

    def lines(self, host: str) -> list[str]:
        """One line."""
        return [f"EveryNth {self.plan.step} of {', '.join(self.plan.output_columns())}"]


def nth_rows(offsets: NDArray[np.int64], step: int, n_before: int = 0) -> NDArray[np.int64]:
    """Positions of every n-th row; of the first partition `n_before` rows have gone by."""
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    place[: offsets[1] if len(offsets) > 1 else 0] += n_before
    return np.flatnonzero((place + 1) % step == 0)


class NthFed:
    """Rows that come in chunks: how many of the open partition have gone by is all there is to remember."""

    def __init__(self, step: int) -> None:
        self.step = step
        self.n_before = 0

    def feed(self, chunk: pa.Table, offsets: NDArray[np.int64], *, opens: bool, closes: bool) -> pa.Table:
        """The n-th rows of a chunk."""
        n_before = 0 if opens else self.n_before
        last = int(offsets[-1] - offsets[-2])
        self.n_before = last if len(offsets) > 2 else n_before + last
        return chunk.take(pa.array(nth_rows(offsets, self.step, n_before)))


@dataclass(frozen=True, slots=True, kw_only=True)
class NthTask(WorkerTask):
    """What runs in a worker."""

    plan: EveryNth

    def _answered(self, table: pa.Table, evaluator: Evaluator) -> pa.Table:
        return MODE.run(self.plan, table, evaluator, self.settings, Stopwatch())

    def _relation(self, sample: pa.Table, evaluator: Evaluator) -> NthFed:
        return NthFed(self.plan.step)


class EveryNthMode:
    """See `sparkrex.modes.protocol.Mode`."""

    matchers = ()

    def run(
        self, plan: EveryNth, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
    ) -> pa.Table:
        """Arrange, take."""
        arrangement, _ = arrange_rows(plan, table, evaluator, settings.thread_count())
        return table.take(pa.array(arrangement.input_rows(nth_rows(arrangement.offsets, plan.step))))

    def explain(
        self, plan: EveryNth, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
    ) -> NthExplained:
        """The plan says it all."""
        return NthExplained(plan)

    def lower(
        self, plan: EveryNth, input_name: str, settings: Settings, wanted: frozenset[str] | None,
        types: Callable[[Lowered, Sequence[str]], pa.Schema],
    ) -> Lowered:
        """Spark projects the columns; the workers count."""
        lowering = Lowering(input_name)
        keys = tuple(lowering.column(key.expression, "k") for key in plan.partition_by)
        order, order_by = lower_order(plan.order_by, lowering)
        passed = {name: lowering.column(ColumnAt(Target(), name), "c") for name in plan.input_columns}
        worker = replace(
            plan, input_columns=tuple(dict.fromkeys(passed.values())), order_by=tuple(order_by),
            partition_by=tuple(PartitionKey(name, ColumnAt(Target(), name)) for name in dict.fromkeys(keys)),
        )
        outputs = dict(zip(plan.output_columns(), passed.values(), strict=True))
        return Lowered(lowering.projections, keys, tuple(order), worker, outputs, {}, {}, lowering.spans)

    def task(
        self, lowered: Lowered, written: EveryNth, sample: pa.Table, carried: Carried, evaluator: Evaluator,
        settings: Settings, pickled: Callable[[object], object],
    ) -> WorkerTask:
        """Nothing can be wrong."""
        assert isinstance(lowered.worker, EveryNth)
        return NthTask(plan=lowered.worker, carried=carried, settings=settings, key_names=lowered.key_names())

    def explain_for_workers(
        self, written: EveryNth, lowered: Lowered, sample: pa.Table, types: Callable[[Sequence[str]], pa.Schema],
        evaluator: Evaluator, settings: Settings,
    ) -> NthExplained:
        """The plan says it all."""
        return NthExplained(written)


MODE = EveryNthMode()
