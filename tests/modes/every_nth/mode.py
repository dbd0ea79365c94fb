"""The mode: rows in order, every n-th of a partition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
from tests.modes.every_nth.plan import EveryNth

from sparkrex.matching.feeding import feeds_of
from sparkrex.matching.row_values import arrange_rows
from sparkrex.matching.state import State
from sparkrex.modes.plan import PartitionKey
from sparkrex.scalar.expression import ColumnAt, Target
from sparkrex.spark.lowering import Lowered, Lowering, lower_order
from sparkrex.spark.worker import Carried, WorkerTask

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feed import Feed
    from sparkrex.settings import Settings
    from sparkrex.stopwatch import Stopwatch


@dataclass(frozen=True)
class NthExplained:
    """What EXPLAIN shows."""

    plan: EveryNth

    def lines(self, host: str) -> list[str]:
        """One line."""
        return [f"EveryNth {self.plan.step} of {', '.join(self.plan.output_columns())}"]


@dataclass(frozen=True)
class NthRunner:
    """How many rows of a partition have gone by is all there is to remember; no row is held back."""

    step: int
    settings: Settings
    refusal: str | None = None

    def open(self) -> State:
        """The state before the first feed."""
        return State(np.array((0,), [("n_before", np.int64)]))

    def feed(self, state: State, feed: Feed) -> pa.Table:
        """Every n-th row of each slot, counted from its first."""
        frame = state.open(feed)
        n_before, lengths = state.numbers["n_before"][feed.slots], frame.end - frame.begin
        place = np.arange(frame.offsets[-1]) + np.repeat(n_before - frame.begin, lengths)
        state.numbers["n_before"][feed.slots] += lengths
        state.close(feed, frame, frame.end, self.settings)
        rows = frame.arrangement.input_rows(np.flatnonzero((place + 1) % self.step == 0))
        return frame.table.take(pa.array(rows))


class EveryNthMode:
    """See `sparkrex.modes.protocol.Mode`."""

    matchers: ClassVar[tuple[str, ...]] = ()

    def results(
        self, plan: EveryNth, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
    ) -> Iterator[pa.Table]:
        """Arrange, feed."""
        arrangement, _ = arrange_rows(plan, table, evaluator, settings.thread_count())
        runner = self.runner(plan, table.slice(0, 0), (), evaluator, settings)
        state = runner.open()
        for feed in feeds_of(table, arrangement, settings.chunk_rows):
            yield runner.feed(state, feed)

    def runner(
        self, plan: EveryNth, sample: pa.Table, keys: tuple[str, ...], evaluator: Evaluator, settings: Settings,
        watch: Stopwatch | None = None,
    ) -> NthRunner:
        """It counts."""
        return NthRunner(plan.step, settings)

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
        return WorkerTask(
            mode=self, plan=lowered.worker, carried=carried, settings=settings, key_names=lowered.key_names()
        )

    def explain_for_workers(
        self, written: EveryNth, lowered: Lowered, sample: pa.Table, types: Callable[[Sequence[str]], pa.Schema],
        evaluator: Evaluator, settings: Settings,
    ) -> NthExplained:
        """The plan says it all."""
        return NthExplained(written)


MODE = EveryNthMode()
