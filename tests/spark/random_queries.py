"""Random queries of every mode, asked in memory and on Spark; both must answer alike.

In memory the engine is compared with the oracles by the random tests of each mode, so Spark need only agree with it. A
column that numbers the input rows breaks ties on Spark, where rows have no order of their own.
"""

from __future__ import annotations

import math
import random
import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

import hypothesis
import pyarrow as pa
from hypothesis import HealthCheck, Phase, given
from hypothesis import strategies as st
from pyspark.errors import PySparkException
from tests.answers import rows_of
from tests.modes.events import draws as event_draws
from tests.modes.events.any_order_draws import generate_any_order
from tests.modes.events.engine_runs import table_of
from tests.modes.events.texts import ANY_EVENT, can_be_said, text_of
from tests.modes.rows.property import examples as row_examples
from tests.modes.rows.property.draws import RandomDraw
from tests.modes.segments.texts import SCHEMA, clauses, tables
from tests.modes.trends import draws as trend_draws
from tests.modes.trends.engine_runs import draw_way
from tests.modes.trends.streams import table_of as trend_table_of
from tests.modes.trends.texts import call_of
from tests.modes.windows.property import examples as window_examples

import sparkrex as rex
from sparkrex.errors import RexError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

MODES = ("rows", "windows", "segments", "events", "trends")


@dataclass(frozen=True, slots=True)
class Question:
    """A query with its table; `settings` are for Spark alone."""

    name: str
    text: str
    table: pa.Table
    ask: Callable[[SparkSession | None, dict[str, Any]], Any] = field(repr=False)
    settings: dict[str, Any]

    def difference(self, spark: SparkSession) -> str | None:
        """What Spark answers otherwise; None if it answers as the engine in memory does."""
        expected, found = self.answer(None), self.answer(spark)
        if _same(expected, found):
            return None
        asked = f"{self.name}, {self.settings}\n{self.text}\n{self.table.to_pylist()}"
        return f"{asked}\nin memory {expected}\nSpark {found}"

    def answer(self, spark: SparkSession | None) -> str | list[tuple[Any, ...]]:
        """The rows in an order of their own, or the code of the error that ends the query."""
        try:
            answer = self.ask(spark, self.settings if spark is not None else {})
            table = answer if isinstance(answer, pa.Table) else answer.toArrow()
        except RexError as error:
            return error.code
        except PySparkException as error:
            code = re.search(r"error\[(REX\d+)\]", str(error))
            if code is None:
                raise
            return code[1]
        rows = [tuple(table.column_names), *(tuple(map(_plain, row)) for row in rows_of(table))]
        return rows[:1] + sorted(rows[1:], key=repr)


def questions(mode: str, seed: str, count: int) -> Iterator[Question]:
    """The questions of a seed, always the same ones."""
    match mode:
        case "rows":
            yield from (_of_rows(f"{seed}/{number}", number) for number in range(count))
        case "windows":
            yield from (_of_windows(f"{seed}/{number}", number) for number in range(count))
        case "segments":
            yield from _of_segments(seed, count)
        case "events":
            yield from _of_events(seed, count)
        case "trends":
            yield from (_of_trends(f"{seed}/{number}", number) for number in range(count))


def _of_rows(name: str, number: int) -> Question:
    example = row_examples.generate(RandomDraw(random.Random(name)))
    table = example.table.append_column("seq", pa.array(range(example.table.num_rows), pa.int64()))

    def ask(spark: SparkSession | None, settings: dict[str, Any]) -> Any:
        return rex.sql(
            example.query, {"data": table}, dialect=example.dialect, spark=spark,
            settings={"tie_break": ("seq",), **settings},
        )

    # Every third through the external sort, in chunks.
    settings = {"sort_memory": 1, "chunk_rows": example.chunk_rows} if number % 3 == 0 else {}
    return Question(f"rows {name}", example.query, table, ask, settings)


def _of_windows(name: str, number: int) -> Question:
    example = window_examples.generate(RandomDraw(random.Random(name)), is_for_spark=True)

    def ask(spark: SparkSession | None, settings: dict[str, Any]) -> Any:
        return rex.sql(example.query, {"data": example.table}, dialect=example.dialect, spark=spark, settings=settings)

    settings = {"sort_memory": 1} if number % 3 == 0 else {}  # every third through the external sort
    return Question(f"windows {name}", example.query, example.table, ask, settings)


def _of_segments(seed: str, count: int) -> Iterator[Question]:
    drawn = _drawn(st.tuples(clauses(decimals=True), tables(decimals=True)), seed, count)
    for number, (clause, data) in enumerate(drawn):
        query = f"SELECT * FROM data MATCH_RECOGNIZE ({clause})"
        table = pa.Table.from_pylist(data, schema=SCHEMA)

        def ask(
            spark: SparkSession | None, settings: dict[str, Any], query: str = query, table: pa.Table = table
        ) -> Any:
            return rex.sql(query, {"data": table}, spark=spark, settings=settings)

        yield Question(f"segments {seed}/{number}", query, table, ask, {})


def _of_events(seed: str, count: int) -> Iterator[Question]:
    number = n_asked = 0
    while n_asked < count:
        draw = RandomDraw(random.Random(f"{seed}/{number}"))
        in_any_order = number % 5 == 4
        example = generate_any_order(draw) if in_any_order else event_draws.generate(draw)
        number += 1
        if not in_any_order and not can_be_said(example.query):
            continue
        n_asked += 1
        query, table = example.query, table_of(example.rows)
        text = query.source.text if in_any_order else text_of(query)
        time, *tie_break = (str(key.column) for key in query.order_by)
        options: dict[str, Any] = {
            "time": time, "type": "kind", "types": ANY_EVENT, "tie_break": tie_break, "dialect": "duckdb",
            "ties": "strict" if query.has_strict_ties else "order",
        }

        def ask(
            spark: SparkSession | None, settings: dict[str, Any], text: str = text, table: pa.Table = table,
            options: dict[str, Any] = options,
            keys: tuple[str, ...] = tuple(key.name for key in query.partition_by),
        ) -> Any:
            answer = rex.events(text, table, spark=spark, settings=settings, **options)
            # On Spark matches come in any order.
            return _by_match(answer if isinstance(answer, pa.Table) else answer.toArrow(), keys)

        yield Question(f"events {seed}/{number - 1}", f"{text}\n{options}", table, ask, {})


def _of_trends(name: str, number: int) -> Question:
    draw = RandomDraw(random.Random(name))
    example, way = trend_draws.generate(draw), draw_way(draw)
    table = trend_table_of(example.rows)
    options: dict[str, Any] = {**call_of(example.query), "counts": way.counts, "dialect": "duckdb"}

    def ask(spark: SparkSession | None, settings: dict[str, Any]) -> Any:
        return rex.trends(example.text, table, spark=spark, settings=settings, **options)

    # Every third through the external sort, in chunks.
    settings = {"sort_memory": 1, "chunk_rows": way.chunk or 4} if number % 3 == 0 else {}
    return Question(f"trends {name}", f"{example.text}\n{options}", table, ask, settings)


def _by_match(events: pa.Table, keys: tuple[str, ...]) -> pa.Table:
    """RETURN EVENTS as one row per match: its number in its partition, variables and rows."""
    matches: dict[Any, list[str]] = {}
    columns = (events.column(name).to_pylist() for name in ("variable", "rex_number", "match_id", *keys))
    for variable, number, *identity in zip(*columns, strict=True):
        matches.setdefault(tuple(identity), [f"{identity[0]}:"]).append(f"{variable} {number}")
    return pa.table({"match": [" ".join(match) for match in matches.values()]}, pa.schema([("match", pa.string())]))


def _drawn(strategy: st.SearchStrategy[Any], seed: str, count: int) -> list[Any]:
    """What a strategy draws, outside a test."""
    drawn: list[Any] = []

    @hypothesis.seed(seed)
    @hypothesis.settings(
        max_examples=count, deadline=None, database=None, phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @given(strategy)
    def collect(one: Any) -> None:
        drawn.append(one)

    collect()
    return drawn


def _plain(value: Any) -> Any:
    # Spark gives timestamps without their zone, which is UTC here.
    return value.replace(tzinfo=None) if isinstance(value, datetime) else value


def _same(expected: Any, found: Any) -> bool:
    """Equal but for the rounding of doubles."""
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        return len(expected) == len(found) and all(map(_same, expected, found))
    if isinstance(expected, float) and isinstance(found, float):
        return math.isclose(expected, found, rel_tol=1e-9, abs_tol=1e-12) or (expected != expected and found != found)
    return bool(expected == found)
