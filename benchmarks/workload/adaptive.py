"""Figure 13: rates that change while events flow, under a plan that stays and under one that is searched anew.

Every x events, 5 types are drawn and permuted among themselves: from there on, an event of one of them has the next
one's name. Unlike the paper's, a change stays until others change it again, else most types would always be what they
were at first. Generated events have the values of their new type, so that rates change and nothing else; real ones keep
theirs. Any type may come to be a frequent one, so there is no Kleene.

A run is fed two windows of events at a time, and the first feed, with which the plan is found, is not counted. Seconds
are of the processor, without those of searches, which are shown beside them: a search may be given any time, or another
core.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, replace
from time import process_time
from typing import TYPE_CHECKING, Any
from unittest import mock

import pyarrow as pa

from benchmarks.workload.answers import answers_of, difference
from benchmarks.workload.drawing import draw
from benchmarks.workload.engine import BASE, workload_of
from sparkrex.modes.workload import choose
from sparkrex.modes.workload.planner.optimizer import improve, optimize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.workload.answers import Answers
    from benchmarks.workload.domain import Domain
    from benchmarks.workload.drawing import Rules
    from benchmarks.workload.stream import Stream

CHUNK = 2
"""Windows."""
STATIC, ADAPTIVE = "static", "adaptive"
RUNS = {BASE: (BASE, False), STATIC: ("sa-edge", False), ADAPTIVE: ("sa-edge", True)}
"""The method of each run, and whether it searches anew."""


@dataclass(frozen=True, eq=False, slots=True)
class Adapted:
    """One workload at one rate of changes: seconds by run. Of the adaptive one, what every switch gained in plan cost,
    as things were then, and the seconds of its searches.
    """

    n_between: int
    n_events: int
    seconds: dict[str, float]
    switches: list[float]
    searching: float
    wrong: list[str]

    def gain(self, run: str) -> float:
        """How many times as many events per second as the base."""
        return self.seconds[BASE] / self.seconds[run]


def measure_adapted(
    domain: Domain, rules: Rules, n_patterns: int, stream: Stream, n_between: int, seconds: float, seed: int
) -> Adapted:
    """The base, the plan of the beginning, and plans that follow the rates, over a stream that changes so often."""
    patterns = draw(domain, n_patterns, replace(rules, special=0.0), seed)
    n_chunk = max(1, round(CHUNK * rules.window.size * stream.n_events / stream.minutes))
    took: dict[str, float] = {}
    answers: dict[str, Answers] = {}
    gained: list[float] = []
    searching = 0.0
    for name, (method, is_adaptive) in RUNS.items():
        options = {"method": method, "seconds": seconds, "max_steps": None, "seed": seed}
        with workload_of(patterns, stream, **options).open(adaptive=is_adaptive) as run, searches() as spent:
            tables = [run.feed(stream.table.slice(0, n_chunk)).table]
            spent[0], begin = 0.0, process_time()
            tables += [
                run.feed(stream.table.slice(first, n_chunk)).table
                for first in range(n_chunk, stream.n_events, n_chunk)
            ]
            tables.append(run.finish().table)
            took[name] = process_time() - begin - spent[0]
            if is_adaptive:
                gained, searching = [one.cost_before / one.cost for one in run.switches], spent[0]
        answers[name] = answers_of(pa.concat_tables(tables), patterns)
    different = {name: difference(answers[BASE], answer) for name, answer in answers.items()}
    wrong = [f"{BASE} and {name}: {text}" for name, text in different.items() if text is not None]
    return Adapted(n_between, stream.n_events - n_chunk, took, gained, searching, wrong)


@contextmanager
def searches() -> Iterator[list[float]]:
    """Inside, the processor seconds of all searches of plans are summed up."""
    spent = [0.0]

    def timed(search: Callable[..., Any]) -> Callable[..., Any]:
        def searched(*given: Any, **named: Any) -> Any:
            begin = process_time()
            try:
                return search(*given, **named)
            finally:
                spent[0] += process_time() - begin

        return searched

    with mock.patch.multiple(choose, optimize=timed(optimize), improve=timed(improve)):
        yield spent
