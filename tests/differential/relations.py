"""The one place where the engine evaluates a MATCH_RECOGNIZE relation, opened for tests.

`watched` notes what passes there and asks the engine again under other settings; `answered_by_oracle` puts the oracle
in the engine's place, so that a whole statement (CTEs, joins, several relations) runs with the host's SQL around the
oracle's answers.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cache
from typing import TYPE_CHECKING, Any
from unittest import mock

import duckdb
import pyarrow as pa
from tests.answers import rows_of
from tests.matching.schedules import many_open
from tests.modes.rows.oracle import OracleError, evaluate

from sparkrex import pipeline
from sparkrex.errors import ExecutionError, RexError
from sparkrex.modes.rows import engine, runner
from sparkrex.modes.rows.choose import choose_matcher
from sparkrex.modes.rows.runner import RowRunner

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Mapping

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.rows.choose import Choice
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.settings import Settings


@dataclass(slots=True)
class Watch:
    """Plan and matcher of every relation that was evaluated, and its answers under the other settings."""

    plans: list[MatchRecognize] = field(default_factory=list)
    matchers: list[str] = field(default_factory=list)
    variants: list[tuple[str, pa.Table | RexError]] = field(default_factory=list)


MANY_OPEN = "many open"


def _followed(plan: MatchRecognize, table: pa.Table) -> str | None:
    """The column by which rows are ordered, if a horizon can be told by it."""
    key = plan.order_by[0] if plan.order_by else None
    if key is None or key.column is None or key.is_descending or table.column(key.column).null_count:
        return None
    return key.column if pa.types.is_integer(table.column(key.column).type) else None


@contextmanager
def watched(variants: Mapping[str, Mapping[str, Any]], scatter: random.Random | None = None) -> Iterator[Watch]:
    """Notes every relation evaluated inside, also one that raises; `variants` are settings to ask again with.

    With `scatter` it is also asked again, as the variant `MANY_OPEN`, with all partitions open at once.
    """
    watch = Watch()
    run_relation = pipeline.run_relation

    def noting(plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings) -> pa.Table:
        watch.plans.append(plan)
        for name, changes in variants.items():
            try:
                answer: pa.Table | RexError = run_relation(plan, table, evaluator, replace(settings, **changes))
            except RexError as error:
                answer = error
            watch.variants.append((name, answer))
        if scatter is not None:
            with many_open(engine, RowRunner, scatter, _followed(plan, table)):
                try:
                    answer = run_relation(plan, table, evaluator, settings)
                except RexError as error:
                    answer = error
            watch.variants.append((MANY_OPEN, answer))
        watch.matchers.clear()
        return run_relation(plan, table, evaluator, settings)

    def choosing(*arguments: Any) -> Choice:
        choice = choose_matcher(*arguments)
        watch.matchers.append(choice.matcher.name)
        return choice

    with (
        mock.patch.object(pipeline, "run_relation", noting), mock.patch.object(runner, "choose_matcher", choosing)
    ):
        yield watch


@contextmanager
def answered_by_oracle(dialect: str) -> Iterator[None]:
    """Inside, the oracle evaluates every relation; its run-time errors are raised as the engine's."""
    run_relation = pipeline.run_relation

    def asking(plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings) -> pa.Table:
        # The table has the columns that the plan uses; their names are the input's.
        rows = [dict(zip(table.column_names, row, strict=True)) for row in rows_of(table)]
        try:
            columns, answer = evaluate(plan, rows, dialect=dialect)
        except OracleError as error:
            raise ExecutionError(error.code, error.message, plan.source, plan.skip.span) from error
        # Plain Python values do not tell int from bigint: the types are those of the engine's own answer.
        try:
            schema = run_relation(plan, table, evaluator, settings).schema
        except RexError:
            schema = None
        return _as_table(columns, answer, schema)

    with mock.patch.object(pipeline, "run_relation", asking):
        yield


def _as_table(columns: tuple[str, ...], rows: list[tuple[Any, ...]], schema: pa.Schema | None) -> pa.Table:
    arrays = []
    for index, name in enumerate(columns):
        values = [row[index] for row in rows]
        arrow_type = None if schema is None or len(schema) != len(columns) else schema.field(index).type
        try:
            arrays.append(pa.array(values, arrow_type))
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            raise AssertionError(f"column {name}: the oracle's values {values} do not fit {arrow_type}") from error
    return pa.Table.from_arrays(arrays, names=list(columns))


@contextmanager
def one_database() -> Iterator[None]:
    """Inside, statements share one DuckDB database, each with a connection of its own.

    Opening a database costs more than a small query; a run of many thousands cannot pay that each time.
    """
    database = _database()
    with mock.patch.object(duckdb, "connect", lambda *_, **__: database.cursor()):
        yield


@cache
def _database() -> Any:
    return duckdb.connect(
        ":memory:",
        config={
            "python_enable_replacements": False,
            "autoload_known_extensions": False,
            "autoinstall_known_extensions": False,
            "threads": 1,
        },
    )
