"""Whether one partition can be searched in slices of time, by tasks that do not know of each other, and what they need.

A match that starts at time t is decided by the rows up to t + length, if no match is longer (`extent`): a mapping of
rows to the pattern is a match if all its rows meet their conditions, every match ends by then, and which of the matches
is preferred depends on the matches alone. So a search that sees no later row finds the same one.
"""

from __future__ import annotations

import math
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.languages.match_recognize import traverse
from sparkrex.matching.slices import SliceNeeds
from sparkrex.modes.plan import RowsPerMatch, SkipTo
from sparkrex.modes.rows.choose import choose_matcher
from sparkrex.modes.rows.extent import most_rows, time_extent
from sparkrex.modes.rows.interpreter import Interpreter
from sparkrex.modes.rows.program import Op, compile_pattern
from sparkrex.modes.rows.unread import targets_behind
from sparkrex.scalar.expression import Call, ColumnAt, Literal, MatchNumber, walk
from sparkrex.scalar.guards import fails_itself
from sparkrex.scalar.intervals import fixed_interval

if TYPE_CHECKING:
    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.scalar.expression import Expression
    from sparkrex.settings import Settings

_DAY, _SHIFT = 86_400_000_000, 26 * 3_600_000_000
"""Microseconds of a day, and by how much more two instants may be apart whose local times are some days apart."""
_NULL_FOR_NULL = {"add", "subtract", "multiply", "divide", "negate"}
_FEW_ROWS = 1 << 14
"""A bound in rows is used up to here; above, one in time is if there is any."""


def slice_needs(
    written: MatchRecognize, plan: MatchRecognize, sample: pa.Table, evaluator: Evaluator, settings: Settings
) -> SliceNeeds | str:
    """What slices of a partition need, or why it must be searched as a whole; see `matching.slices.Slicing`."""
    choice = choose_matcher(plan, sample, evaluator, settings)
    problem = choice.problem
    if choice.matcher.name == Interpreter.name:
        return "a condition is tested by the interpreter"  # which stops at the first error, true or not
    if settings.reports:
        return "on_error goes on after errors"
    if (why := why_whole(plan)) is not None:
        return why
    if any(_may_fail_at_an_edge(condition.row) for condition in problem.conditions if condition.row is not None):
        return "a condition that reads other rows might fail only because they are in another slice"
    expression = plan.order_by[0].expression
    if not isinstance(expression, ColumnAt):
        return "it is ordered by an expression"
    column = expression.column
    kind = sample.schema.field(column).type
    if not (pa.types.is_timestamp(kind) or pa.types.is_date32(kind) or pa.types.is_integer(kind)):
        return f"the first column of ORDER BY is of type {kind}"
    n_rows = most_rows(problem.program)
    scans = plan.skip.to is SkipTo.PAST_LAST_ROW
    if n_rows is not None and n_rows <= _FEW_ROWS:
        return SliceNeeds(column, None, n_rows, problem.reach_back, problem.lookahead, scans)
    length = _length(written, kind)
    if isinstance(length, str):
        return length
    return SliceNeeds(column, length, 0, problem.reach_back, problem.lookahead, scans)


def why_whole(plan: MatchRecognize) -> str | None:
    """Why a partition must be searched as a whole, whatever bounds a match, if it must."""
    expressions = [*plan.tested(), *(measure.expression for measure in plan.measures)]
    if any(isinstance(node, MatchNumber) for expression in expressions for node in walk(expression)):
        return "MATCH_NUMBER() counts the matches before"
    if plan.skip.to not in (SkipTo.NEXT_ROW, SkipTo.PAST_LAST_ROW):
        return f"{plan.skip} is not searched in slices"
    if plan.rows_per_match is RowsPerMatch.ALL_WITH_UNMATCHED:
        return "unmatched rows are asked for"
    if plan.timeout is not None:
        return "timeouts are asked for"
    if plan.partition_gap is not None:
        return "partition_gap is set"
    program = compile_pattern(plan.pattern, plan.source, traverse.variables(plan.pattern))
    if np.isin(program.operation, (Op.START, Op.END)).any():
        return "the pattern has an anchor"
    targets, inside = targets_behind(plan)
    if targets or inside:
        return "measures read rows behind the match"
    return "the first column of ORDER BY descends" if plan.order_by[0].is_descending else None


def _may_fail_at_an_edge(condition: Expression) -> bool:
    """Whether a row condition might fail where the rows that it reads around its own are missing, and only there.

    Row conditions are evaluated on all rows of a slice, those at its edges too, which no match depends on. There what
    is read of other rows is NULL; a part of the condition that is NULL then does not fail. Any other part that can fail
    may have a guard that lets it, since NULL is not what the guard would have read.
    """
    shifts = {node.target.shift for node in walk(condition) if isinstance(node, ColumnAt)} - {0}
    failing = (node for node in walk(condition) if isinstance(node, Call) and fails_itself(node))
    return any(not shifts <= _makes_null(node) for node in failing)


def _makes_null(expression: Expression) -> set[int]:
    """The distances of rows without which an expression is NULL."""
    match expression:
        case ColumnAt(target):
            return {target.shift}
        case Call(function, operands) if function in _NULL_FOR_NULL:
            return {shift for operand in operands for shift in _makes_null(operand)}
        case _:
            return set()


def _length(written: MatchRecognize, kind: pa.DataType) -> int | str:
    """How long the longest match is at most, as an integer of the order column's type; or why that is not known."""
    program = compile_pattern(written.pattern, written.source, traverse.variables(written.pattern))
    extent = time_extent(written, program)
    if extent is None:
        return "nothing bounds how far a match may reach; WITHIN would"
    lengths = [_whole(length, kind) for length in extent.lengths]
    known = [length for length in lengths if length is not None]
    if len(known) < len(lengths):
        return "how long a match may take is not of a fixed length"
    return max(0, *known)  # a bound below zero is met by no row, so a match behind it has one row


def _whole(length: Expression, kind: pa.DataType) -> int | None:
    """A length, rounded up; of days in a time zone at most."""
    if (microseconds := fixed_interval(length)) is not None:
        if microseconds >= _DAY:
            microseconds += _SHIFT  # Spark moves by whole days in the session's zone
        if pa.types.is_date32(kind):
            return -(-microseconds // _DAY)
        return microseconds if pa.types.is_timestamp(kind) and kind.unit == "us" else None
    match length:
        case Literal(int() | float() | Decimal() as number) if not isinstance(number, bool):
            is_number = not pa.types.is_timestamp(kind) and math.isfinite(number) and number >= 0
            return math.ceil(number) if is_number else None
        case _:
            return None
