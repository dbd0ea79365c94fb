"""The one place where the engine evaluates a MATCH_RECOGNIZE relation, opened for tests.

`watched` notes the plans that pass there; `answered_by_oracle` puts the oracle in the engine's place, so that a whole
statement (CTEs, joins, several relations) runs with the host's SQL around the oracle's answers.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

import pyarrow as pa
from tests.answers import rows_of
from tests.oracle import OracleError, evaluate

from sparkrex import engine
from sparkrex.errors import ExecutionError, RexError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.config import Settings
    from sparkrex.hosts.host import Evaluator
    from sparkrex.ir.plan import MatchRecognize

_run_relation = engine.run_relation


@contextmanager
def watched() -> Iterator[list[MatchRecognize]]:
    """Collects the plan of every relation that the engine evaluates inside, also of one that raises."""
    plans: list[MatchRecognize] = []

    def noting(plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings) -> pa.Table:
        plans.append(plan)
        return _run_relation(plan, table, evaluator, settings)

    with mock.patch.object(engine, "run_relation", noting):
        yield plans


@contextmanager
def answered_by_oracle(dialect: str) -> Iterator[None]:
    """Inside, the oracle evaluates every relation; its run-time errors are raised as the engine's."""

    def asking(plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings) -> pa.Table:
        # The table has the columns that the plan uses; their names are the input's.
        rows = [dict(zip(table.column_names, row, strict=True)) for row in rows_of(table)]
        try:
            columns, answer = evaluate(plan, rows, dialect=dialect)
        except OracleError as error:
            raise ExecutionError(error.code, error.message, plan.source, plan.skip.span) from error
        return _as_table(columns, answer, _engine_schema(plan, table, evaluator, settings))

    with mock.patch.object(engine, "run_relation", asking):
        yield


def _engine_schema(
    plan: MatchRecognize, table: pa.Table, evaluator: Evaluator, settings: Settings
) -> pa.Schema | None:
    """The types of the engine's own answer: plain Python values do not tell int from bigint."""
    try:
        return _run_relation(plan, table, evaluator, settings).schema
    except RexError:
        return None


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
