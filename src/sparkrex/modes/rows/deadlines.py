"""Bounds in time that the next row of an open partition breaks, whatever it is, because the horizon lies behind them.

Such a bound is a conjunct `ts <= y + constant` of a variable's condition, where ts is the ORDER BY column at the row
under test, and y is read at a row that mapping this one does not change: WITHIN, or `C.ts - A.ts <= INTERVAL '1' HOUR`.
All rows to come have a later ts than the horizon, so once that breaks the bound none of them can be mapped. That holds
for the next row and for all behind it, so a bound also counts where its variable is not the next one but has to come,
if no row to come changes y.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import ints_of, plain
from sparkrex.kernels import path as p
from sparkrex.matching.waking import Moment
from sparkrex.modes.rows.ahead import Ahead
from sparkrex.modes.rows.kernels.arguments import Deadlines
from sparkrex.modes.rows.runs import find_bounds
from sparkrex.scalar.expression import Call, ColumnAt
from sparkrex.scalar.intervals import fixed_interval
from sparkrex.scalar.split import is_constant

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.evaluate.bytecode import Bytecode
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.modes.rows.problem import Problem
    from sparkrex.modes.rows.runs import Bound
    from sparkrex.scalar.expression import Expression

_LARGEST = 2**63 - 1


def order_bounds(plan: MatchRecognize, variables: tuple[str, ...], code: Bytecode) -> list[list[Bound]]:
    """By variable the bounds on the first ORDER BY column, if it ascends."""
    key = plan.order_by[0] if plan.order_by else None
    if key is None or key.is_descending:
        return [[] for _ in variables]
    found = find_bounds(code)
    return [
        [
            bound for bound in found.get(variable, ())
            if code.int_columns[bound.column] == key.expression
            and (bound.variables is None or variable not in bound.variables)
        ]
        for variable in variables
    ]


def find_deadlines(
    plan: MatchRecognize, variables: tuple[str, ...], code: Bytecode, horizon: pa.Scalar | None,
    ahead: Ahead | None = None,
) -> Deadlines:
    """The bounds of every variable that the horizon decides; none without one. `ahead` is of the search's places."""
    lines: list[list[int]] = []
    begin = [0]
    earliest = 0
    if horizon is not None and horizon.is_valid:
        found = order_bounds(plan, variables, code)
        for bounds in found:
            lines += [[bound.column, bound.target, bound.limit, bound.constant] for bound in bounds]
            begin.append(len(lines))
        if lines:
            last = int(ints_of(plain(pa.chunked_array([pa.repeat(horizon, 1)])))[0])
            earliest = min(last, _LARGEST - 1) + 1
    else:
        found = []
        begin += [0] * len(variables)
    return Deadlines(
        np.array(begin, np.int64), np.array(lines, np.int64).reshape(-1, 4), earliest,
        *_lines_ahead(ahead or Ahead((), ()), variables, code, found),
    )


def _lines_ahead(
    ahead: Ahead, variables: tuple[str, ...], code: Bytecode, found: Sequence[Sequence[Bound]]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """By place the bounds of variables that have to come, by their numbers; see `Deadlines`."""
    targets = list(code.targets)
    numbered = [(number, bound) for number, bounds in enumerate(found) for bound in bounds]
    lines: list[tuple[int, int]] = []
    begin = [0]
    for needed, met in zip(ahead.all, ahead.some, strict=True):
        if needed and numbered:
            to_come = frozenset(name for number, name in enumerate(variables) if met >> number & 1)
            for line, (number, bound) in enumerate(numbered):
                kind, _, shift, _ = targets[bound.target]
                if needed >> number & 1:
                    settled = ReadAt(bound.variables, shift, kind != p.LAST_OF_SET).is_settled(to_come)
                    if settled is not None:
                        lines.append((line, int(settled)))
        begin.append(len(lines))
    return np.array(begin, np.int64), np.array(lines, np.int64).reshape(-1, 2)


@dataclass(frozen=True, slots=True)
class ReadAt:
    """Where a bound is read: `shift` rows from the first or the last row that is mapped to `variables`, or, where these
    are None, from the first row of the match."""

    variables: frozenset[str] | None
    shift: int
    is_first: bool

    def is_settled(self, to_come: frozenset[str]) -> bool | None:
        """Whether rows that are mapped to some variables leave the bound as it is; False if only a bound that is there
        already, None if they may change it."""
        if self.variables is None or not self.variables & to_come:
            return self.shift <= 0
        return False if self.is_first else None


def limits_of(problem: Problem, code: Bytecode) -> dict[str, list[ReadAt]]:
    """By variable, where its bounds are read."""
    variables, targets = problem.program.variables, list(code.targets)
    return {
        name: [ReadAt(one.variables, targets[one.target][2], targets[one.target][0] != p.LAST_OF_SET) for one in bounds]
        for name, bounds in zip(variables, order_bounds(problem.plan, variables, code), strict=True) if bounds
    }


def moments(problem: Problem, code: Bytecode) -> set[Moment]:
    """When each bound is broken by whatever comes, for those that are a moment behind a column."""
    bounds = chain.from_iterable(order_bounds(problem.plan, problem.program.variables, code))
    found = (moment_behind(code.int_columns[bound.limit], bound.constant, problem.sample) for bound in bounds)
    return {moment for moment in found if moment is not None}


def moment_behind(limit: Expression, constant: int, sample: pa.Table) -> Moment | None:
    """The moment that lies a constant behind a column, or behind a column and an interval: `ts + INTERVAL '1' HOUR`.

    An interval counts microseconds, so the column must, too. None for any other limit.
    """
    match limit:
        case ColumnAt(column=column):
            return Moment(column, constant)
        case Call("add" | "subtract" as operator, (ColumnAt(column=column), interval)):
            length = fixed_interval(interval)
            kind = sample.schema.field(column).type
            if not pa.types.is_timestamp(kind) or kind.unit != "us":
                return None
            if length is None and is_constant(interval):
                return Moment(column, constant, limit)  # months, and sums of intervals
            if length is None:
                return None
            return Moment(column, constant + (length if operator == "add" else -length))
        case _:
            return None
