"""One example through the engine, by each search and in threads, and through the oracle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pyarrow as pa
from tests.answers import render_table, row_differences, rows_of
from tests.modes.windows.oracle import CannotEvaluate, OracleError, answer

import sparkrex as rex
from sparkrex import threads
from sparkrex.errors import ExecutionError, RexError
from sparkrex.kernels import lazy
from sparkrex.modes.windows import automaton, backtrack, forest

if TYPE_CHECKING:
    from tests.modes.windows.property.examples import Example

# Errors of rows, by what the oracle calls them.
_CODES = {"REX401": "REX401", "REX402": "REX402", "REX422": "END"}


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the oracle found, and where the engine does not agree."""

    n_filled: int = 0
    n_rows: int = 0
    error: str | None = None
    is_unknown: str = ""
    differences: tuple[str, ...] = ()


# What an example is asked with, by turns: the forest of matches that overlap, each search, threads.
_WAYS: tuple[dict[str, Any], ...] = (
    {}, {"matcher": "backtrack"}, {"matcher": "interpreter"}, {"threads": 3}, {"threads": 1}
)
_FOREST = 0


def check(example: Example) -> Outcome:
    """Asks both."""
    try:
        expected: pa.Table | str = answer(example.query, {"data": example.table}, example.dialect)
    except OracleError as error:
        expected = error.code
    except CannotEvaluate as reason:
        return Outcome(is_unknown=str(reason))
    # Half of the examples go through compiled kernels, the other half through the same code in Python.
    with (
        patch.object(lazy, "FEW_ROWS", 0 if example.way % 2 else lazy.FEW_ROWS), patch.object(threads, "LEAST", 2),
        patch.object(backtrack, "LEAST_ROWS", 1), patch.object(forest, "_BLOCK_ROWS", 20),
        patch.object(automaton, "LONG", -1 if example.way == _FOREST else automaton.LONG),
    ):
        given = _ask(example, _WAYS[example.way])
    n_filled = 0
    if isinstance(expected, pa.Table):
        n_filled = sum(any(value not in (None, 0) for value in row[1:]) for row in rows_of(expected))
    return Outcome(
        n_filled, len(example.rows), None if isinstance(expected, pa.Table) else expected, "",
        _differences(expected, given),
    )


def _ask(example: Example, settings: dict[str, Any]) -> pa.Table | str:
    try:
        return rex.sql(
            example.query, tables={"data": example.table}, dialect=example.dialect, settings=settings or None
        )
    except ExecutionError as error:
        if error.code not in _CODES:
            raise
        return _CODES[error.code]


def _differences(expected: pa.Table | str, given: pa.Table | str) -> tuple[str, ...]:
    if isinstance(expected, str) or isinstance(given, str):
        if isinstance(expected, str) and isinstance(given, str) and expected == given:
            return ()
        return (f"expected {_told(expected)}, got {_told(given)}",)
    if expected.column_names != given.column_names:
        return (f"expected columns {expected.column_names}, got {given.column_names}",)
    return tuple(row_differences(expected.column_names, rows_of(expected), rows_of(given)))


def _told(outcome: pa.Table | str) -> str:
    return outcome if isinstance(outcome, str) else f"rows\n{render_table(outcome)}\n"


def told(example: Example, outcome: Outcome) -> str:
    """A difference as a report: what differs, and the example to run again."""
    lines = ["the engine does not agree with the oracle:", *outcome.differences, "", example.as_case()]
    try:
        lines += ["the oracle:", render_table(answer(example.query, {"data": example.table}, example.dialect))]
    except OracleError as error:
        lines += ["the oracle's error:", str(error)]
    try:
        given = rex.sql(example.query, tables={"data": example.table}, dialect=example.dialect)
        lines += ["the engine:", render_table(given)]
    except RexError as error:
        lines += ["the engine's error:", str(error)]
    return "\n".join(lines)
