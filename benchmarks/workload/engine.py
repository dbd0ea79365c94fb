"""Workloads on the engine: a plan that is searched once, and passes with it of which only the matching is timed.

A pass goes from a table to a table. Not timed are what a workload pays once, however long the stream: patterns are
parsed and analysed, rates and selectivities are estimated, the plan is searched and made ready.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from time import process_time
from typing import TYPE_CHECKING, Any

import pyarrow as pa

import sparkrex as rex
from benchmarks.workload.drawing import UNSELECTIVE, draw
from sparkrex.matching.feeding import feeds_of
from sparkrex.modes.events.engine import arrange_events
from sparkrex.modes.workload.combined import WorkloadRunner
from sparkrex.modes.workload.output import build_workload
from sparkrex.modes.workload.taking_part import taking_part
from sparkrex.pipeline import INPUT, open_relation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.workload.drawing import Workload
    from benchmarks.workload.generate import Generator
    from benchmarks.workload.stream import Stream
    from sparkrex.modes.workload.planner.optimizer import Optimized
    from sparkrex.workloads.workload import Workload as RexWorkload

BASE, REORDERED = "none", "re"
SETTINGS = {"threads": 1, "max_event_memory": 8 << 30}
"""The base needs room: it keeps all partial matches of a window, pattern by pattern."""


@dataclass(frozen=True, eq=False, slots=True)
class Search:
    """How a plan is looked for: seconds at most, and the seed."""

    seconds: float
    seed: int = 0


@dataclass(frozen=True, eq=False, slots=True)
class Planned:
    """A workload and the plan that a method found for it, under the rates and selectivities of a stream."""

    workload: RexWorkload
    optimized: Optimized

    @property
    def cost(self) -> float:
        """Partial matches that are expected in a window."""
        return self.optimized.cost

    @property
    def costs(self) -> Mapping[str, float]:
        """The same of `none`, `re` and `sh`."""
        return self.optimized.costs


@dataclass(frozen=True, eq=False, slots=True)
class Pass:
    """Processor seconds of matching and of making the table, and the table."""

    matching: float
    emitting: float
    found: pa.Table

    @property
    def seconds(self) -> float:
        """Both."""
        return self.matching + self.emitting


def workload_of(patterns: Workload, stream: Stream, **options: Any) -> RexWorkload:
    """The patterns through the public face."""
    texts = {name: pattern.text() for name, pattern in patterns.items()}
    options = {"time": "ts", "type": "kind", "settings": SETTINGS, **stream.reading, **options}
    return rex.workload(texts, strict=True, **options)


def plan(patterns: Workload, stream: Stream, method: str, search: Search) -> Planned:
    """Search a plan."""
    found = workload_of(
        patterns, stream, method=method, seed=search.seed, seconds=search.seconds, max_steps=None
    )
    (optimized,) = found.plan(stream.table)
    return Planned(found, optimized)


def run(planned: Planned, stream: Stream) -> Pass:
    """All matches in a stream. Patterns have the same keys, so they are one group."""
    workload = planned.workload
    trees = tuple(tree for _, tree in sorted(planned.optimized.multitree.trees().items()))
    (query,) = workload.groups().values()
    matching = emitting = 0.0
    tables = []
    with open_relation(query, {INPUT: stream.table}, workload.settings) as (analysed, rows, evaluator):
        given: Any = replace(analysed, trees=trees)  # type: ignore[call-arg]
        runner = WorkloadRunner(given, evaluator, workload.settings)
        state = runner.open()
        begin = process_time()
        rows = taking_part(given, rows, evaluator, workload.settings)
        arrangement = arrange_events(given.queries[0], rows, workload.settings)
        for feed in feeds_of(rows, arrangement, workload.settings.chunk_rows):
            matching += process_time() - begin
            runner.chosen(state, feed)
            begin = process_time()
            detected = runner.decide(state, feed)
            decided = process_time()
            tables.append(build_workload(given, detected))
            matching += decided - begin
            begin = process_time()
            emitting += begin - decided
    return Pass(matching, emitting, pa.concat_tables(tables))


def warm_up(generator: Generator) -> None:
    """Have every kernel compiled: a Kleene, or something that rejects matches, in many places."""
    stream = generator.stream(10)
    patterns = draw(generator.domain, 40, replace(UNSELECTIVE, size=4, special=0.8, most_matches=100.0))
    for method in (BASE, "sa-edge"):
        run(plan(patterns, stream, method, Search(0.5)), stream)
