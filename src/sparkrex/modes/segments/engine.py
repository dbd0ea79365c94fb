"""The pipeline of a segment search in one process: arrange the rows, and feed them to a runner."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from sparkrex.columns.cuts import lap_order
from sparkrex.columns.ordered import Columns
from sparkrex.matching.feed import Feed
from sparkrex.matching.feeding import feeds_of, partition_named
from sparkrex.matching.row_values import arrange_rows
from sparkrex.modes.segments.explain import SearchExplained
from sparkrex.modes.segments.operators.arguments import with_argument_columns
from sparkrex.modes.segments.operators.build import Builder
from sparkrex.modes.segments.operators.measured import MeasuringBuilder
from sparkrex.modes.segments.planning import Mapped, plan_search
from sparkrex.modes.segments.runner import SegmentRunner, naming_slots
from sparkrex.scalar.expression import ColumnAt
from sparkrex.stopwatch import Stopwatch
from sparkrex.threads import run_aside

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from sparkrex.columns.arrange import Arrangement
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.segments.plan import SegmentSearch
    from sparkrex.modes.segments.planning import Planned
    from sparkrex.settings import Settings


@dataclass(frozen=True, eq=False, slots=True)
class Arranged:
    """The input with its partition keys as columns, `keys`, and the order of its rows."""

    search: SegmentSearch
    table: pa.Table
    arrangement: Arrangement
    keys: tuple[str, ...]

    @property
    def key_names(self) -> list[str]:
        """What the user calls the keys."""
        return [key.name for key in self.search.partition_by]

    def runner(
        self, evaluator: Evaluator, settings: Settings, builder: Callable[..., Builder], watch: Stopwatch
    ) -> SegmentRunner:
        """A runner for these rows."""
        return SegmentRunner(self.search, self.table.slice(0, 0), self.keys, evaluator, settings, builder, watch)


def search_results(
    search: SegmentSearch, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
) -> Iterator[pa.Table]:
    """The result of one segment search over its input, as it is decided: in one piece, or chunk by chunk if the search
    can be fed."""
    arranged = arrange_search(search, table, evaluator, settings, watch)
    runner = arranged.runner(evaluator, settings, Builder, watch)
    is_fed = settings.chunk_rows is not None and runner.refusal is None
    state = runner.open()
    for feed in feeds_of(arranged.table, arranged.arrangement, settings.chunk_rows if is_fed else None):
        with partition_named(feed, arranged.key_names, list(arranged.keys)):
            result = runner.feed(state, feed)
        yield result


def explain_search(
    search: SegmentSearch, table: pa.Table, evaluator: Evaluator, settings: Settings, *, analyze: bool
) -> SearchExplained:
    """How it is planned over its input; with `analyze`, after a run, with what happened."""
    watch = Stopwatch()
    arranged = arrange_search(search, table, evaluator, settings, watch)
    feed = Feed.whole(arranged.table, arranged.arrangement)
    with partition_named(feed, arranged.key_names, list(arranged.keys)):
        if analyze:
            return _explain_run(arranged, feed, evaluator, settings, watch)
        planned = run_aside(partial(_plan, arranged, evaluator, settings), lambda: None)
    if isinstance(planned, Mapped):
        return SearchExplained(search, (), None)
    return SearchExplained(search, planned.steps, planned.logical, planned.plan, planned.conditions.by_host)


def _explain_run(
    arranged: Arranged, feed: Feed, evaluator: Evaluator, settings: Settings, watch: Stopwatch
) -> SearchExplained:
    builders: list[MeasuringBuilder] = []

    def builder(*arguments: Any) -> Builder:
        builders.append(MeasuringBuilder(*arguments))
        return builders[-1]

    runner = arranged.runner(evaluator, settings, builder, watch)
    state = runner.open()
    runner.feed(state, feed)
    if not builders:
        return SearchExplained(arranged.search, (), None, laps=watch.laps)
    (made,) = state.plan.values()
    return SearchExplained(
        arranged.search, made.rewritten.steps, made.rewritten.logical, made.plan, builders[0].conditions.by_host,
        builders[0].measured, watch.laps,
    )


def arrange_search(
    search: SegmentSearch, table: pa.Table, evaluator: Evaluator, settings: Settings, watch: Stopwatch
) -> Arranged:
    """The order of the input's rows."""
    arrangement, partition_columns = arrange_rows(search, table, evaluator, settings.thread_count())
    keys = []
    for number, (key, column) in enumerate(zip(search.partition_by, partition_columns, strict=True)):
        if isinstance(key.expression, ColumnAt):
            keys.append(key.expression.column)
        else:
            keys.append(f"rex_key_{number}")
            table = table.append_column(keys[-1], column)
    lap_order(watch, arrangement.offsets)
    return Arranged(search, table, arrangement, tuple(keys))


def _plan(arranged: Arranged, evaluator: Evaluator, settings: Settings) -> Planned | Mapped:
    """Sampling calls aggregates that users wrote."""
    search, table = with_argument_columns(arranged.search, arranged.table, evaluator)
    arrangement = arranged.arrangement
    ordered = Columns(table, arrangement.offsets, arrangement.order).ordered
    with naming_slots(arrangement.offsets):
        return plan_search(search, Columns(ordered, arrangement.offsets), evaluator, settings)
