"""The goals, on one thread: events per second, bytes per group and window, and what not looking at every pair gains."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from statistics import median
from time import perf_counter, process_time
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numba import njit

import sparkrex as rex
from benchmarks.data import generator
from benchmarks.trends.answers import CLOSE, answer_of, difference
from benchmarks.trends.approaches import EVENT_GRAINED, Limits, run
from benchmarks.trends.data import one_company, typed_events
from benchmarks.trends.engine import arranged, ask
from benchmarks.trends.prepare import prepare
from benchmarks.trends.workload import ANY, CONTIGUOUS, NEXT, SECOND, SHORT, Comparison, HowCounted, Step, Workload

if TYPE_CHECKING:
    from typing import Any

PATTERN_RATE, TYPE_RATE = 50e6, 30e6
"""Events per second: of one count per pattern, and of one per type."""
STATE_BYTES = 1024
"""Of a group in a window, where adjacent events are not compared."""
GAIN = 100
"""Of comparing by rank over looking at every earlier event."""
PATTERNS = ("A+", "SEQ(A+, B)+")
WARMING = 2_000_000
"""Events of the first call of each query, which is not counted."""
LONGEST = 60.0
"""Seconds that the event-grained aggregator may take; else it gets fewer events."""


@dataclass(eq=False)
class Rate:
    """A query over one window: seconds of the processor and by the clock, of every pass."""

    pattern: str
    semantics: str
    counts: HowCounted
    n_events: int
    goal: float
    cpu: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    wrong: str | None = None

    @property
    def rate(self) -> float:
        """Events per second of processor time."""
        return self.n_events / median(self.cpu)


def measure_rates(n_events: int, repeat: int) -> list[Rate]:
    """Pattern-grained and type-grained counts; queries take turns, so that what else runs meets them alike."""
    table = typed_events(n_events)
    codes = table.column("kind").combine_chunks().indices.to_numpy()
    found, queries = [], []
    wanted: tuple[tuple[str, HowCounted, float], ...] = (
        (CONTIGUOUS, "exact", PATTERN_RATE), (NEXT, "exact", PATTERN_RATE), (ANY, "log", TYPE_RATE),
    )
    for semantics, counts, goal in wanted:
        for pattern in PATTERNS:
            found.append(Rate(pattern, semantics, counts, n_events, goal))
            text = f"RETURN COUNT(*) AS n PATTERN {pattern} SEMANTICS {semantics}"
            query = rex.trends(text, time="ts", type="kind", counts=counts, settings={"threads": 1})
            query(table.slice(0, WARMING))
            queries.append(query)
    for turn in range(repeat):
        for rate, query in zip(found, queries, strict=True):
            begin, begin_cpu = perf_counter(), process_time()
            answer = query(table)
            rate.cpu.append(process_time() - begin_cpu)
            rate.wall.append(perf_counter() - begin)
            if not turn:
                rate.wrong = _wrong(rate, answer.column("n").to_pylist()[0], codes)
    return found


def _wrong(rate: Rate, number: Any, codes: np.ndarray[Any, Any]) -> str | None:
    semantics = (ANY, NEXT, CONTIGUOUS).index(rate.semantics)
    count, exponent = count_by_hand(codes, rate.pattern == PATTERNS[1], semantics)
    if rate.counts == "log":
        expected = math.log10(count) + exponent * math.log10(2)
        is_right = math.isclose(number, expected, rel_tol=CLOSE)
        return None if is_right else f"{rate.pattern} under {rate.semantics}: {number}, by hand {expected}"
    is_right = int(number) == int(count)
    return None if is_right else f"{rate.pattern} under {rate.semantics}: {number}, by hand {int(count)}"


@njit(cache=True)
def count_by_hand(codes: Any, has_b: bool, semantics: int) -> Any:
    """The trends of A+ or SEQ(A+, B)+ by a loop over types A, B, C; as a double, scaled by a power of two.

    `of_a` and `of_b` are trends that end at an a and b that the next event may follow: any earlier, or the last one.
    """
    of_a, of_b, one, found, exponent = 0.0, 0.0, 1.0, 0.0, 0
    for code in codes:
        if code == 0:
            new = of_a + of_b + one
            of_a, of_b = (of_a + new, of_b) if semantics == 0 else (new, 0.0)
            found += 0.0 if has_b else new
        elif code == 1 and has_b and (semantics == 0 or of_a > 0):
            new = of_a
            of_a, of_b = (of_a, of_b + new) if semantics == 0 else (0.0, of_b + new)
            found += new
        elif semantics == 2:
            of_a, of_b = 0.0, 0.0
        if found > 2.0**900 or of_a > 2.0**900:
            of_a, of_b, one, found = of_a * 2.0**-900, of_b * 2.0**-900, one * 2.0**-900, found * 2.0**-900
            exponent += 900
    return found, exponent


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept of a query's open windows."""

    query: str
    n_windows: int
    n_bytes: int

    @property
    def per_window(self) -> float:
        """Bytes of one group in one window."""
        return self.n_bytes / self.n_windows


COUNT = "COUNT(*) AS n"
SIX = f"{COUNT}, COUNT(A) AS a, SUM(A.x) AS s, AVG(B.x) AS v, MIN(A.x) AS l, MAX(B.x) AS h"
STATES = (
    ("A+", COUNT, CONTIGUOUS, "exact"), ("SEQ(A+, B)+", COUNT, CONTIGUOUS, "exact"),
    ("SEQ(A+, B)+", COUNT, NEXT, "exact"), ("SEQ(A+, B)+", COUNT, ANY, "exact"), ("SEQ(A+, B)+", COUNT, ANY, "log"),
    ("SEQ(A, B+, C)", COUNT, ANY, "log"), ("SEQ(A, ~C, B+)", COUNT, ANY, "log"), ("SEQ(A+, B)+", SIX, ANY, "log"),
    ("SEQ(A, B+, C)", SIX, ANY, "log"), ("SEQ(A, ~C, B+)", SIX, ANY, "log"),
)
"""Pattern, what is returned, semantics, counts."""


def measure_states(n_groups: int, events_of_group: int) -> list[Kept]:
    """Bytes of many open windows: 60 of each group."""
    n_events = n_groups * events_of_group
    random = generator(17)
    codes = random.integers(0, 3, n_events, dtype=np.int32)
    ticks = np.repeat(np.arange(events_of_group) * (7_200 * SECOND // events_of_group), n_groups)
    table = pa.table({
        "ts": pa.array(ticks, pa.timestamp("us")), "k": np.tile(np.arange(n_groups), events_of_group),
        "kind": pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(["A", "B", "C"])),
        "x": random.integers(0, 1_000, n_events),
    })
    found = []
    for pattern, returned, semantics, counts in STATES:
        text = (
            f"RETURN k, {returned} PATTERN {pattern} SEMANTICS {semantics} WHERE [k] GROUP-BY k "
            "WITHIN 1 hour SLIDE 1 minute"
        )
        with arranged(text, table, counts, time="ts", type="kind", keys=("k",)) as opened:
            n_bytes, n_windows = opened.kept()
        n_returned = returned.count(" AS ")
        name = f"{pattern} under {SHORT[semantics]}, {counts}, {n_returned} aggregate{'s' if n_returned > 1 else ''}"
        found.append(Kept(name, n_windows, n_bytes))
    return found


@dataclass(eq=False)
class Gain:
    """q3 of one company: seconds of the engine over all events, of event-grained aggregators over fewer."""

    n_events: int
    seconds: float
    algorithm: str
    others: list[tuple[str, int, float]] = field(default_factory=list)
    """Who, over how many events, in how many seconds."""
    wrong: list[str] = field(default_factory=list)

    def extrapolated(self, n_events: int, seconds: float) -> float:
        """Seconds over all events: every event looks at all earlier ones."""
        return seconds * (self.n_events / n_events) ** 2


ONE_COMPANY = Workload(
    steps=(Step("Stock", "S", is_repeated=True),), semantics=ANY,
    comparison=Comparison("S", "{0}close", ">", "{0}close"),
)


def measure_gain(n_events: int, n_fewer: int, repeat: int) -> Gain:
    """The engine by rank, a plain loop over earlier events, and the engine by event."""
    table = one_company(n_events)
    asked = ask(ONE_COMPANY, table, "log", repeat)
    found = Gain(n_events, asked.seconds, asked.algorithm)
    tenth = table.slice(0, n_fewer // 10)
    by_rank = ask(ONE_COMPANY, tenth, "log", 1)
    for name, time in (("plain loop over events", _time_loop), ("SparkRex by_event", _time_by_event)):
        seconds, problem = time(tenth, by_rank.answer)
        n_rows = tenth.num_rows
        if problem is not None:
            found.wrong.append(f"{name}: {problem}")
        while n_rows < n_fewer and seconds * 4 < LONGEST:
            n_rows = min(n_fewer, 2 * n_rows)
            seconds, _ = time(table.slice(0, n_rows), None)
        found.others.append((name, n_rows, seconds))
    return found


def _time_loop(table: pa.Table, expected: Any) -> tuple[float, str | None]:
    prepared = prepare(ONE_COMPANY, table)
    outcome = run(EVENT_GRAINED, prepared, Limits(10 * LONGEST, 1 << 34))
    problem = None if expected is None else difference(expected, answer_of(prepared, outcome.tally))
    return outcome.seconds, problem


def _time_by_event(table: pa.Table, expected: Any) -> tuple[float, str | None]:
    asked = ask(ONE_COMPANY, table, "log", 1, matcher="by_event", is_warm=expected is None)
    return asked.seconds, None if expected is None else difference(expected, asked.answer)
