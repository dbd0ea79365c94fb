"""One example through the engine, whole and in chunks, and through the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from tests.answers import render_table, row_differences, rows_of
from tests.differential.relations import watched
from tests.oracle import CannotEvaluate, OracleError, evaluate, find_matches
from tests.property.examples import SCHEMA

import sparkrex as rex
from sparkrex.errors import ExecutionError

if TYPE_CHECKING:
    import pyarrow as pa
    from tests.property.examples import Example

    from sparkrex.ir.plan import MatchRecognize

# The only errors that legal queries over these tables may end in.
_RUN_TIME_CODES = ("REX401", "REX402")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the oracle found, and where the engine does not agree."""

    n_matches: int = 0
    has_empty_match: bool = False
    error: str | None = None
    is_unknown: bool = False
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows, or the code of a run-time error."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    error: str | None = None

    def differences(self, other: Answer, what: str) -> tuple[str, ...]:
        """Where `other` departs from this answer."""
        if self.error != other.error:
            return (f"{what}: expected {self.error or 'rows'}, got {other.error or 'rows'}",)
        if self.columns != other.columns:
            return (f"{what}: expected columns {self.columns}, got {other.columns}",)
        return tuple(f"{what}: {text}" for text in row_differences(self.columns, self.rows, other.rows))


def check(example: Example, *, in_chunks: bool = True) -> Outcome:
    """Asks the engine and the oracle."""
    table = example.table
    with watched() as plans:
        whole = _engine_answer(example, table, {})
    if not plans:
        raise AssertionError(f"no relation was evaluated\n{example!r}")
    chunked = _engine_answer(example, table, {"chunk_rows": example.chunk_rows}) if in_chunks else whole
    differences = whole.differences(chunked, f"in chunks of {example.chunk_rows}")
    return _against_oracle(example, plans[0], whole, differences)


def _engine_answer(example: Example, table: pa.Table, settings: dict[str, Any]) -> Answer:
    try:
        answer = rex.sql(example.query, tables={"data": table}, dialect=example.dialect, settings=settings or None)
    except ExecutionError as error:
        if error.code not in _RUN_TIME_CODES:
            raise
        return Answer(error=error.code)
    return Answer(tuple(answer.column_names), tuple(rows_of(answer)))


def _against_oracle(example: Example, plan: MatchRecognize, engine: Answer, differences: tuple[str, ...]) -> Outcome:
    rows = [dict(zip(SCHEMA.names, row, strict=True)) for row in example.rows]
    try:
        columns, answer = evaluate(plan, rows, dialect=example.dialect)
        matches = find_matches(plan, rows, dialect=example.dialect)
    except CannotEvaluate:
        return Outcome(is_unknown=True, differences=differences)
    except OracleError as error:
        found = Answer(error=error.code).differences(engine, "engine")
        # Skipping failed after a match, so there is at least one.
        return Outcome(n_matches=1, error=error.code, differences=differences + found)
    found = Answer(tuple(columns), tuple(answer)).differences(engine, "engine")
    return Outcome(
        n_matches=len(matches),
        has_empty_match=any(not match.rows for match in matches),
        differences=differences + found,
    )


def told(example: Example, outcome: Outcome) -> str:
    """A difference as a report: what differs, and the example to run again."""
    lines = ["the engine does not agree with the oracle (or with itself):", *outcome.differences, "", example.as_case()]
    try:
        answer = rex.sql(example.query, tables={"data": example.table}, dialect=example.dialect)
        lines += ["the engine's answer:", render_table(answer)]
    except ExecutionError as error:
        lines += ["the engine's error:", str(error)]
    return "\n".join(lines)
