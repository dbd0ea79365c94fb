"""Random queries of every mode over random streams: the draws of the modes' own tests, on a column of timestamps.

Rows come almost in the order of their times, with ties, late ones, and a few without a time.
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

import hypothesis
import pyarrow as pa
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from tests.modes.events import draws as event_draws
from tests.modes.events.any_order_draws import generate_any_order
from tests.modes.events.engine_runs import TYPES as EVENT_TYPES
from tests.modes.events.texts import ANY_EVENT, can_be_said, text_of
from tests.modes.rows.property import examples as row_examples
from tests.modes.rows.property.draws import RandomDraw
from tests.modes.segments import texts as segment_texts
from tests.modes.segments.test_fed_equals_whole import BOUNDS, bounded, partitions
from tests.modes.trends import draws as trend_draws
from tests.modes.trends.streams import TYPES as TREND_TYPES
from tests.modes.trends.texts import call_of
from tests.streams.driving import EPOCH, TICK, TIME, Query
from tests.streams.workloads import TYPES as WORKLOAD_TYPES
from tests.streams.workloads import drawn_stream, query_of

from sparkrex.errors import AnalysisError
from sparkrex.languages.events.syntax import StreamOptions
from sparkrex.modes.events.pattern import has_any_order
from sparkrex.modes.trends.language.syntax import TrendOptions
from sparkrex.modes.trends.plan import Counts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

ROW_TYPES = {
    "id": pa.int64(), "g": pa.int64(), "t": pa.int64(), "k": pa.string(), "x": pa.int64(), "y": pa.float64(),
    TIME: pa.timestamp("us"),
}
_DRAWN_TOGETHER = 100
_START = datetime(1970, 1, 1)


@dataclass(frozen=True, slots=True)
class Example:
    """A query, the rows of its stream as they arrive, and the seed of the way in which they are fed.

    `groups` are the columns that tell one match from another where a match has several rows; their values are names.
    """

    mode: str
    query: Query
    table: pa.Table
    seed: str
    groups: tuple[str, ...] = ()

    def __str__(self) -> str:
        rows = "\n".join(f"  {row}" for row in self.table.to_pylist())
        return f"{self.query.text}\n{self.query.options}\n{self.query.settings}\n{rows}"


def example_of(mode: str, seed: int, number: int) -> Example:
    """Example `number` of a seed."""
    return MODES[mode](seed, number)


def arriving(draw: random.Random, rows: Iterable[dict[str, Any]], time: str) -> list[dict[str, Any]]:
    """The rows almost in the order of their times."""
    found = sorted(rows, key=lambda row: row[time])
    reach = draw.choice([0, 2, 4, 12])
    places = {id(row): place + draw.uniform(0, reach) * (draw.random() < 0.5) for place, row in enumerate(found)}
    return sorted(found, key=lambda row: places[id(row)])


def table_of(rows: Sequence[dict[str, Any]], types: dict[str, pa.DataType]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), pa.schema(list(types.items())))


def moment(draw: random.Random, ticks: int) -> datetime:
    """So many ticks after the beginning, and sometimes a little more."""
    more = draw.choice([0, 0, 0, 0, 1, 999, 1000])
    return _START + timedelta(microseconds=(EPOCH + ticks) * TICK + more)


# Row patterns.

_ORDERS = ("ts", "ts", "ts", "ts ASC", "ts, x", "ts, k DESC NULLS LAST, x")
_STEP = "INTERVAL '{0}' SECOND"
_TIME_BOUNDS = (
    "ts - PREV(ts) <= {0}", "ts <= PREV(ts) + {0}", "ts < PREV(ts) + {0}", "ts - FIRST(ts) <= {0}",
    "ts <= {1}.ts + {0}", "ts - {1}.ts < {0}", "{1}.ts + {0} >= ts", "ts - LAST({1}.ts, 1) <= {0}",
    "ts - PREV(ts, 2) <= {0}",
)


def row_example(seed: int, number: int) -> Example:
    """Conditions have bounds in time more often than those of tables."""
    draw = random.Random(f"rows {seed} {number}")
    drawn = row_examples.generate(RandomDraw(draw))
    body = drawn.query.removeprefix("SELECT * FROM data MATCH_RECOGNIZE (\n").removesuffix(")").strip()
    lines = [line.strip() for line in body.split("\n  ")]
    lines = [line for line in lines if not line.startswith(("ORDER BY", "WITHIN"))]
    lines.insert(next(
        (place for place, line in enumerate(lines) if not line.startswith("PARTITION BY"))
    ), f"ORDER BY {draw.choice(_ORDERS)}")
    if not any("," in line for line in lines if line.startswith("ORDER BY")) and draw.random() < 0.4:
        place = next(place for place, line in enumerate(lines) if line.startswith("PATTERN"))
        lines.insert(place + 1, f"WITHIN {_STEP.format(draw.choice([1, 2, 3, 5, 8]))}")
    if draw.random() < 0.4:
        lines = with_time_bounds(draw, lines)
    rows, ticks = [], 0
    for place in range(draw.choice([1, 3, 6, 10, 16, 30])):
        g, _, k, x, y = row_examples._rows(_ManyRows(draw))[0]
        ticks += draw.choice([0, 0, 1, 1, 1, 2, 9])
        rows.append({"id": place, "g": g, "t": ticks, "k": k, "x": x, "y": y, TIME: moment(draw, ticks)})
    arrived = arriving(draw, rows, TIME)
    for row in arrived:
        if draw.random() < 0.02:
            row[TIME] = None
    query = Query("\n  ".join(lines), settings={"tie_break": "id"})
    return Example("rows", query, table_of(arrived, ROW_TYPES), f"{seed} {number}")


class _ManyRows(RandomDraw):
    """Draws a table that is not empty."""

    def __init__(self, source: random.Random) -> None:
        super().__init__(source)
        self._is_first = True

    def weighted(self, options: Sequence[tuple[int, Any]]) -> Any:
        if self._is_first:
            self._is_first = False
            return 1
        return super().weighted(options)


def with_time_bounds(draw: random.Random, lines: list[str]) -> list[str]:
    """Some variables with a bound on the time of their rows beside their condition."""
    (pattern,) = (line for line in lines if line.startswith("PATTERN"))
    names = sorted(set(re.findall(r"\b[A-E]\b", pattern)))
    defined = next((line for line in lines if line.startswith("DEFINE")), "DEFINE ")
    items = [item for item in re.split(r", (?=[A-E] AS )", defined.removeprefix("DEFINE ")) if item]
    conditions = dict(item.split(" AS ", 1) for item in items)
    for name in names:
        if draw.random() < 0.5:
            size = _STEP.format(draw.choice([1, 2, 3, 5]))
            bound = draw.choice(_TIME_BOUNDS).format(size, draw.choice(names))
            conditions[name] = f"({conditions[name]}) AND {bound}" if name in conditions else bound
    lines = [line for line in lines if not line.startswith("DEFINE")]
    if conditions:
        lines.append(f"DEFINE {', '.join(f'{name} AS {condition}' for name, condition in conditions.items())}")
    return lines


# Event queries.


def event_example(seed: int, number: int) -> Example:
    """Those whose time is a timestamp, and which the language can say."""
    draw = random.Random(f"events {seed} {number}")
    while True:
        drawing = RandomDraw(draw)
        drawn = generate_any_order(drawing) if draw.random() < 0.15 else event_draws.generate(drawing)
        query = drawn.query
        if query.order_by[0].column == TIME and can_be_said(query):
            options = StreamOptions(
                TIME, tuple(str(key.column) for key in query.order_by[1:]), "kind", ANY_EVENT,
                has_strict_ties=query.has_strict_ties,
            )
            asked = Query(text_of(query), "MATCH_EVENTS", options)
            if not has_any_order(query.pattern) or is_legal(asked, {"id": pa.int64(), **EVENT_TYPES}):
                break
    has_ties = len(query.order_by) > 1
    events = event_draws.events(
        drawing, draw.choice([6, 10, 14]), n_keys=3, has_ties=has_ties, parts=bool(query.partition_by)
    )
    for place, row in enumerate(events):
        row["id"] = place
    return Example(
        "events", asked, table_of(arriving(draw, events, TIME), {"id": pa.int64(), **EVENT_TYPES}), f"{seed} {number}",
        (*(key.name for key in query.partition_by), "match_id"),
    )


def is_legal(query: Query, types: dict[str, pa.DataType]) -> bool:
    """Whether the text means something: inside AND that is not known before."""
    try:
        query.batch(table_of([], types))
    except AnalysisError:
        return False
    return True


# Trends.


def trend_example(seed: int, number: int) -> Example:
    """Those whose time is a timestamp."""
    draw = random.Random(f"trends {seed} {number}")
    while True:
        drawn = trend_draws.generate(RandomDraw(draw))
        if drawn.query.time == TIME:
            break
    call = call_of(drawn.query)
    stream = StreamOptions(
        TIME, tuple(call["tie_break"]), call["type"], call["types"], has_strict_ties=call["ties"] == "strict"
    )
    options = TrendOptions(stream, call.get("origin"), draw.choice(list(Counts)))
    rows = [{"id": place, **row} for place, row in enumerate(drawn.rows)]
    query = Query(drawn.text, "MATCH_TRENDS", options)
    return Example(
        "trends", query, table_of(arriving(draw, rows, TIME), {"id": pa.int64(), **TREND_TYPES}), f"{seed} {number}"
    )


# Segments.


def segment_example(seed: int, number: int) -> Example:
    """The whole pattern is bounded: others are refused on streams."""
    block, place = divmod(number, _DRAWN_TOGETHER)
    clause, bound = _clauses(seed, block)[place]
    draw = random.Random(f"segments {seed} {number}")
    text = bounded(clause, bound).replace("ORDER BY t", f"ORDER BY {TIME}")
    if draw.random() < 0.3:  # a row that may not be there yet
        text = text.replace("PREV(x)", "NEXT(x)").replace("MEASURES", "MEASURES NEXT(last(x)) AS later,", 1)
    text = re.sub(r"window\(t, (\w+)\)", r"window(t, \1, NULL)", text)
    text = re.sub(r"window\(t, (\w+), (\w+)\)", rf"window({TIME}, \1, \2, SECOND)", text)
    rows = [row for part in partitions(draw) for row in part]
    for at, row in enumerate(rows):
        row["t"] = row["t"] or 0
        row |= {"id": at, TIME: moment(draw, row["t"])}
    arrived = arriving(draw, rows, TIME)
    for row in arrived:
        if draw.random() < 0.02:
            row[TIME] = None
    types = {"id": pa.int64(), **dict(zip(segment_texts.SCHEMA.names, segment_texts.SCHEMA.types, strict=True))}
    query = Query(text, settings={"tie_break": "id"})
    return Example("segments", query, table_of(arrived, {**types, TIME: pa.timestamp("us")}), f"{seed} {number}")


@cache
def _clauses(seed: int, block: int) -> list[tuple[str, str]]:
    """Clauses are drawn by Hypothesis, so many at a time."""
    found: list[tuple[str, str]] = []

    @hypothesis.seed(seed * 1_000_003 + block)
    @hypothesis.settings(
        max_examples=_DRAWN_TOGETHER, deadline=None, database=None, suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
    @given(
        st.one_of(
            segment_texts.clauses(), segment_texts.clauses(decimals=True), segment_texts.containing_clauses()
        ),
        st.sampled_from(BOUNDS),
    )
    def draw(clause: str, bound: str) -> None:
        found.append((clause, bound))

    draw()
    return found


# Many keys.

_OF_KEYS = (
    "MEASURES MATCH_NUMBER() AS m, PREV(FIRST(id)) AS p, LAST(id) AS b PATTERN (A B) DEFINE A AS x > 1, B AS x > 0",
    "MEASURES FIRST(id) AS a, NEXT(LAST(id)) AS b AFTER MATCH SKIP TO NEXT ROW PATTERN (A B+) DEFINE B AS x > PREV(x)",
    "MEASURES MATCH_NUMBER() AS m, FIRST(id) AS a PATTERN (A B*) WITHIN INTERVAL '4' SECOND DEFINE A AS x > 1",
    "MEASURES FIRST(id) AS a, COUNT(*) AS n PATTERN (^ A B | A{3}) WITHIN INTERVAL '4' SECOND",
    "MEASURES START_INDEX() AS i, LAST(A.id) AS b ALL MATCHES PATTERN (A) "
    "DEFINE SEGMENT A AS sum(x) > 1 AND window(ts, 0, 2, SECOND)",
)


def key_example(seed: int, number: int) -> Example:
    """Plain queries over a dozen keys, which go to several shards and come back from there."""
    draw = random.Random(f"keys {seed} {number}")
    rows, ticks = [], 0
    for place in range(draw.choice([30, 60])):
        ticks += draw.choice([0, 0, 1])
        k, x = draw.choice("abcdefghijkl"), draw.randint(0, 3)
        rows.append({"id": place, "g": 0, "t": ticks, "k": k, "x": x, "y": 0.0, TIME: moment(draw, ticks)})
    query = Query(f"PARTITION BY k ORDER BY ts {draw.choice(_OF_KEYS)}", settings={"tie_break": "id"})
    return Example("keys", query, table_of(arriving(draw, rows, TIME), ROW_TYPES), f"{seed} {number}")


# Workloads.


def workload_example(seed: int, number: int) -> Example:
    """Patterns that share and others, with and without keys; none of them contradicts itself."""
    draw = random.Random(f"workloads {seed} {number}")
    while True:
        texts, options, rows = drawn_stream(draw)
        if is_legal(query_of(texts, **options), WORKLOAD_TYPES):
            break
    keys = ("k",) if any("[k]" in text for text in texts.values()) else ()
    table = table_of(arriving(draw, rows, TIME), WORKLOAD_TYPES)
    query = query_of(texts, **options)
    if draw.random() < 0.15:
        query.settings["partition_gap"] = f"{draw.choice([1, 2, 4])} seconds"
    return Example("workloads", query, table, f"{seed} {number}", ("pattern", *keys, "match_id"))


MODES: dict[str, Callable[[int, int], Example]] = {
    "rows": row_example, "events": event_example, "trends": trend_example, "segments": segment_example,
    "keys": key_example, "workloads": workload_example,
}
