"""One example through the engine, whole and in chunks, by each matcher, in threads, and through the oracle."""

from __future__ import annotations

import random
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pyarrow as pa
from tests.answers import render_table, row_differences, rows_of
from tests.differential.relations import MANY_OPEN, watched
from tests.modes.rows.oracle import CannotEvaluate, OracleError, evaluate, find_matches
from tests.modes.rows.property.examples import SCHEMA

import sparkrex as rex
from sparkrex import threads
from sparkrex.errors import ExecutionError, RexError
from sparkrex.kernels import lazy
from sparkrex.modes.plan import SkipTo
from sparkrex.modes.rows import extent, pieces
from sparkrex.modes.rows.automaton import chunks
from sparkrex.scalar.expression import MatchNumber, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.modes.rows.property.examples import Example

    from sparkrex.modes.rows.plan import MatchRecognize

# The only errors that legal queries over these tables may end in.
_RUN_TIME_CODES = ("REX401", "REX402")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the oracle found, and where the engine does not agree."""

    n_matches: int = 0
    n_timeouts: int = 0
    has_empty_match: bool = False
    error: str | None = None
    is_unknown: bool = False
    matcher: str = ""
    variants: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Rows, or the code of a run-time error."""

    columns: tuple[str, ...] = ()
    rows: tuple[tuple[Any, ...], ...] = ()
    error: str | None = None

    @classmethod
    def of(cls, given: pa.Table | RexError) -> Answer:
        if isinstance(given, pa.Table):
            return cls(tuple(given.column_names), tuple(rows_of(given)))
        if not isinstance(given, ExecutionError) or given.code not in _RUN_TIME_CODES:
            raise given
        return cls(error=given.code)

    def by_partition(self, n_keys: int | None) -> Answer:
        """The same rows, those of each partition together in their order; None: in no order of their own."""
        return replace(self, rows=tuple(sorted(self.rows, key=lambda row: repr(row[:n_keys]))))

    def differences(self, other: Answer, what: str) -> tuple[str, ...]:
        """Where `other` departs from this answer."""
        if self.error != other.error:
            return (f"{what}: expected {self.error or 'rows'}, got {other.error or 'rows'}",)
        if self.columns != other.columns:
            return (f"{what}: expected columns {self.columns}, got {other.columns}",)
        return tuple(f"{what}: {text}" for text in row_differences(self.columns, self.rows, other.rows))


def check(example: Example, *, in_chunks: bool = True) -> Outcome:
    """Asks the engine and the oracle."""
    variants: dict[str, dict[str, Any]] = {}
    if in_chunks:
        variants[f"chunks of {example.chunk_rows}"] = {"chunk_rows": example.chunk_rows}
    if example.asks_interpreter:
        variants["interpreter"] = {"matcher": "interpreter"}
    variants["backtrack"] = {"matcher": "backtrack"}
    variants["threads"] = {"threads": 3}
    variants["pieces"] = {"threads": 6, "matcher": "backtrack" if example.chunk_rows % 3 == 0 else None}
    # Half of the examples go through compiled kernels, the other half through the same code in Python.
    few_rows = 0 if example.chunk_rows % 2 else lazy.FEW_ROWS
    scatter = _scatter(example) if in_chunks else None
    with (
        patch.object(threads, "LEAST", 2), patch.object(lazy, "FEW_ROWS", few_rows), in_tiny_pieces(),
        watched(variants, scatter) as watch,
    ):
        try:
            given: pa.Table | RexError = rex.sql(
                example.query, tables={"data": example.table}, dialect=example.dialect, settings={"threads": 1}
            )
        except RexError as error:
            given = error
    whole = Answer.of(given)
    if not watch.plans:
        raise AssertionError("no relation was evaluated")
    plan = watch.plans[0]
    differences: tuple[str, ...] = ()
    for name, variant in watch.variants:
        answer = Answer.of(variant)
        if name != MANY_OPEN:
            differences += whole.differences(answer, f"in {name}")
        elif not (whole.error and answer.error):  # of several errors, which is met first depends on the feeds
            n_keys = None if _may_overtake(plan) else len(plan.partition_by)
            differences += whole.by_partition(n_keys).differences(answer.by_partition(n_keys), f"in {name}")
    return _against_oracle(
        example, plan, whole, differences, watch.matchers[0], tuple(dict(watch.variants))
    )


@contextmanager
def in_tiny_pieces() -> Iterator[None]:
    """Inside, threads cut partitions of a few rows, also where nothing bounds how far a match may reach."""
    with (
        patch.object(pieces, "LEAST_ROWS", 1), patch.object(pieces, "_FIRST_ROWS", 1),
        patch.object(chunks, "_FIRST_ROWS", 1), patch.object(extent, "is_bounded", lambda _: True),
    ):
        yield


def _may_overtake(plan: MatchRecognize) -> bool:
    """Whether with a horizon a match may come before those of earlier starts."""
    expressions = [*plan.tested(), *(measure.expression for measure in plan.measures)]
    return plan.skip.to is SkipTo.NEXT_ROW and not any(
        isinstance(node, MatchNumber) for expression in expressions for node in walk(expression)
    )


def _scatter(example: Example) -> random.Random:
    return random.Random(f"{example.query} {example.rows}")


def _against_oracle(
    example: Example, plan: MatchRecognize, engine: Answer, differences: tuple[str, ...], matcher: str,
    variants: tuple[str, ...],
) -> Outcome:
    rows = [dict(zip(SCHEMA.names, row, strict=True)) for row in example.rows]
    n_matches, has_empty_match, is_unknown = 0, False, False
    expected: Answer | None = None
    try:
        columns, answer = evaluate(plan, rows, dialect=example.dialect)
        expected = Answer(tuple(columns), tuple(answer))
        matches = find_matches(plan, rows, dialect=example.dialect)
        n_matches = len(matches)
        has_empty_match = any(not match.rows for match in matches)
    except CannotEvaluate:
        is_unknown = True
    except OracleError as error:
        expected = Answer(error=error.code)
        # Skipping failed after a match, so there is at least one.
        n_matches = 1
    if expected is not None:
        differences = expected.differences(engine, "engine") + differences
    return Outcome(
        n_matches=n_matches,
        n_timeouts=sum("TIMEOUT" in row for row in engine.rows),
        has_empty_match=has_empty_match,
        error=None if expected is None else expected.error,
        is_unknown=is_unknown,
        matcher=matcher,
        variants=tuple("chunks" if name.startswith("chunks") else name for name in variants),
        differences=differences,
    )


def told(example: Example, outcome: Outcome) -> str:
    """A difference as a report: what differs, and the example to run again."""
    lines = [
        "the engine does not agree with the oracle, or with itself:", *outcome.differences, "", example.as_case()
    ]
    try:
        answer = rex.sql(example.query, tables={"data": example.table}, dialect=example.dialect)
        lines += ["the engine's answer:", render_table(answer)]
    except RexError as error:
        lines += ["the engine's error:", str(error)]
    return "\n".join(lines)
