"""Bounds in time for the interpreter: those of `deadlines`, found conjunct by conjunct and looked up in plain Python.

A condition that kernels cannot hold may still have a conjunct that they can, and WITHIN is one of every condition. Such
a conjunct says how late a row may come, so the interpreter need not wait for rows that can only come later.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.ordered import Columns
from sparkrex.columns.values import ints_of, plain
from sparkrex.evaluate.bytecode import CannotCompileError
from sparkrex.evaluate.context import Context, values_in_rows
from sparkrex.kernels import path as p
from sparkrex.matching.waking import horizon_number
from sparkrex.modes.rows.deadlines import ReadAt, moment_behind, order_bounds
from sparkrex.scalar.split import Condition, conjuncts

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.matching.waking import Moment
    from sparkrex.modes.rows.problem import Problem
    from sparkrex.scalar.expression import Expression

WINDOW = "\0within"
"""Stands for a variable whose condition is WITHIN alone. No variable has this name."""


@dataclass(frozen=True, slots=True)
class TimeBound:
    """A row's time must not exceed `limit` at another row plus `constant`; that is `offset` rows from the first or last
    one that `read_at` means."""

    limit: Expression
    constant: int
    read_at: ReadAt
    offset: int

    def row(self, start: int, names: Sequence[str]) -> int | None:
        """Where the limit is read, in a match from `start` whose rows are mapped to `names` so far."""
        variables, shift = self.read_at.variables, self.read_at.shift
        if variables is None:
            return start + shift
        rows = [place for place, name in enumerate(names) if name in variables]
        place = self.offset if self.read_at.is_first else -1 - self.offset
        return start + rows[place] + shift if self.offset < len(rows) else None


@dataclass(frozen=True, eq=False)
class TimeBounds:
    """The bounds of a problem's conditions, and of WITHIN alone."""

    problem: Problem

    @cached_property
    def by_variable(self) -> dict[str, list[TimeBound]]:
        """Those of every variable that has some."""
        contexts = [(one.variable, one.context) for one in self.problem.conditions]
        if self.problem.plan.timeout is not None:
            contexts.append((WINDOW, self.problem.plan.timeout))
        found = {
            variable: [bound for part in conjuncts(context) for bound in self._bounds(variable, part)]
            for variable, context in contexts if context is not None
        }
        return {variable: bounds for variable, bounds in found.items() if bounds}

    def moments(self) -> Iterator[Moment]:
        """When each bound is broken by whatever comes."""
        for bound in (bound for bounds in self.by_variable.values() for bound in bounds):
            moment = moment_behind(bound.limit, bound.constant, self.problem.sample)
            if moment is not None:
                yield moment

    def _bounds(self, variable: str, conjunct: Expression) -> Iterator[TimeBound]:
        names = (*self.problem.program.variables, WINDOW)
        none = Columns(self.problem.sample, np.zeros(1, np.int64))
        try:
            code = Context((Condition(variable, None, conjunct),), names, none, self.problem.evaluator, 1).bytecode
        except CannotCompileError:
            return
        targets = list(code.targets)
        for bound in order_bounds(self.problem.plan, names, code)[names.index(variable)]:
            kind, offset, shift, _ = targets[bound.target]
            limit = code.int_columns[bound.limit]
            if shift <= 0 and moment_behind(limit, bound.constant, self.problem.sample) is not None:
                yield TimeBound(limit, bound.constant, ReadAt(bound.variables, shift, kind != p.LAST_OF_SET), offset)


@dataclass(frozen=True, eq=False)
class LateRows:
    """Whether rows behind the horizon come too late, by the rows of a frame."""

    bounds: TimeBounds
    frame: Columns
    horizon: pa.Scalar | None

    def come_too_late(self, variable: str, low: int, start: int, names: Sequence[str]) -> bool:
        """Whether no row to come can be mapped to a variable, behind rows from `start` that are mapped to `names`."""
        if self._horizon is None or not names:
            return False
        return any(
            limit is None or limit <= self._horizon
            for limit in (self._limit(bound, low, start, names) for bound in self.bounds.by_variable.get(variable, ()))
        )

    def leads_nowhere(
        self, variable: str, to_come: frozenset[str], low: int, start: int, names: Sequence[str]
    ) -> bool:
        """The same of a variable that has to come, where rows to come may be mapped to `to_come`."""
        if self._horizon is None or not names:
            return False
        for bound in self.bounds.by_variable.get(variable, ()):
            settled = bound.read_at.is_settled(to_come)
            if settled is not None:
                limit = self._limit(bound, low, start, names)
                if settled if limit is None else limit <= self._horizon:
                    return True
        return False

    def _limit(self, bound: TimeBound, low: int, start: int, names: Sequence[str]) -> int | None:
        """What a row's time must not exceed; None if there is nothing that it could be compared with."""
        row = bound.row(start, names)
        if row is None or row < low:
            return None
        values, is_known = self._limits(bound.limit)
        return int(values[row]) + bound.constant if is_known[row] else None

    @cached_property
    def _horizon(self) -> int | None:
        return None if self.horizon is None or not self.horizon.is_valid else horizon_number(self.horizon)

    @cached_property
    def _known(self) -> dict[Expression, tuple[NDArray[np.int64], NDArray[np.bool_]]]:
        return {}

    def _limits(self, limit: Expression) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        if limit not in self._known:
            column = plain(values_in_rows(limit, self.frame.ordered, self.bounds.problem.evaluator))
            self._known[limit] = ints_of(column), np.asarray(column.is_valid())
        return self._known[limit]
