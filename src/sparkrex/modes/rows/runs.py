"""Runs of a program: repetitions of one variable, which the search keeps as one entry of its stack.

Here is decided what `kernels.backtrack` may pass over in a run: rows where the bitmap of the variable behind it is not
set, and rows above a bound. A bound is a conjunct `x <= y + constant` of the variable behind the run, where x is a
column at the row under test that only rises within partitions, as the rows show if no more come, and y is read at a row
that the run does not change. Once it fails it fails for all later rows: `C.ts - A.ts <= INTERVAL '1' HOUR`, or WITHIN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.kernels import machine as m
from sparkrex.kernels import path as p
from sparkrex.modes.rows.kernels import backtrack as kernel
from sparkrex.modes.rows.kernels.arguments import RunTables
from sparkrex.modes.rows.program import Op, Program

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sparkrex.evaluate.bytecode import Bytecode
    from sparkrex.evaluate.context import Context
    from sparkrex.scalar.expression import Expression

_SMALLEST = -(2**63)


@dataclass(frozen=True, slots=True)
class Runs:
    """Per instruction: the operation with runs told apart, and for runs their body and their exit."""

    operation: NDArray[np.int8]
    body: NDArray[np.int32]
    exit: NDArray[np.int32]

    @property
    def is_run(self) -> NDArray[np.bool_]:
        """Which instructions are runs."""
        found: NDArray[np.bool_] = self.operation >= kernel.GREEDY
        return found


@dataclass(frozen=True, slots=True)
class Bound:
    """`column` at the row under test must not exceed `limit` at `target` plus `constant`.

    The target row is one of those mapped to `variables`, or, with None, the first row of the match.
    """

    column: int
    target: int
    limit: int
    constant: int
    variables: frozenset[str] | None


def find_runs(program: Program) -> Runs:
    """The splits that repeat a single variable."""
    here = np.arange(len(program))
    operation, first, second = program.operation, program.first, program.second
    is_split = operation == Op.SPLIT
    is_greedy = is_split & (operation[first] == Op.MATCH) & (first[first] == here)
    is_reluctant = is_split & ~is_greedy & (operation[second] == Op.MATCH) & (first[second] == here)
    marked = np.where(is_greedy, kernel.GREEDY, np.where(is_reluctant, kernel.RELUCTANT, operation)).astype(np.int8)
    return Runs(marked, np.where(is_greedy, first, second), np.where(is_greedy, second, first))


def first_variables(program: Program) -> set[int] | None:
    """The variables that the first row of a match may be mapped to; None if a match may be empty."""
    found: set[int] = set()
    seen: set[int] = set()
    pending = [program.entry]
    while pending:
        at = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        operation = program.operation[at]
        if operation == Op.ACCEPT:
            return None
        if operation == Op.MATCH:
            found.add(int(program.variable[at]))
            continue
        pending.append(int(program.first[at]))
        if operation == Op.SPLIT:
            pending.append(int(program.second[at]))
    return found


@dataclass(frozen=True, slots=True)
class Difference:
    """`column` at the row under test must not exceed `limit` at `target` plus `constant`."""

    column: int
    target: int
    limit: int
    constant: int


def find_differences(code: Bytecode, variable: str) -> Iterator[Difference]:
    """The conjuncts of a variable's condition that bound a column by one at another row."""
    begin, end = code.ranges.get(variable, (0, 0))
    for at in range(begin, end):
        operation, to, a_mode, a, _, b_mode, b, b_target, _ = code.code[at]
        if operation not in (m.LE_I, m.LT_I) or to != m.TEST:
            continue
        constant = 0
        if a_mode == m.REGISTER and b_mode == m.CONSTANT and at > begin and b not in code.string_constants:
            # A difference compared with a constant.
            earlier, register, *difference = code.code[at - 1]
            if earlier != m.SUB_I or register != a:
                continue
            constant = code.int_constants[b]
            a_mode, a, _, b_mode, b, b_target, _ = difference
        elif a_mode == m.COLUMN and b_mode == m.REGISTER and at > begin:
            # A column compared with a sum, which may fail above all times: there the bound leaves nothing out.
            earlier, register, *added = code.code[at - 1]
            if earlier != m.ADD_I or register != b:
                continue
            b_mode, b, b_target, c_mode, c, _, _ = added
            if c_mode != m.CONSTANT or code.int_constants[c] < 0:
                continue
            constant = code.int_constants[c]
        if a_mode == m.COLUMN and b_mode == m.TARGET and not (operation == m.LT_I and constant == _SMALLEST):
            yield Difference(a, b_target, b, constant - (operation == m.LT_I))


def find_bounds(code: Bytecode) -> dict[str, list[Bound]]:
    """The bounds of every variable, whether or not their columns rise."""
    sets = {slots[0]: update.variables for update, slots in code.records.slots.items()}
    targets = list(code.targets)
    bounds: dict[str, list[Bound]] = {}
    for variable in code.ranges:
        for found in find_differences(code, variable):
            kind, offset, _, slot = targets[found.target]
            if kind == p.FIRST_OF_PATH and offset == 0:
                variables = None
            elif kind in (p.FIRST_OF_SET, p.LAST_OF_SET):
                variables = sets[slot]
            else:
                continue
            bound = Bound(found.column, found.target, found.limit, found.constant, variables)
            bounds.setdefault(variable, []).append(bound)
    return bounds


def run_tables(
    program: Program, runs: Runs, context: Context, bitmap_of: NDArray[np.int32], bitmaps: NDArray[np.uint8],
    rising: Expression | None, *, is_whole: bool,
) -> RunTables:
    """What the search needs to know of runs.

    `rising` is the column that rows are ordered by. Unless partitions end here (`is_whole`), no other is known to rise
    also in rows to come.
    """
    code = context.bytecode
    variables = program.variables
    changes = np.array([code.records.changed_by(name) for name in variables] or [False])
    is_plain = ~changes & (context.code_begin == context.code_end)
    body, behind = program.variable[runs.body], program.variable[runs.exit]
    leaves_to_variable = runs.is_run & (program.operation[runs.exit] == Op.MATCH)
    exit_bitmap = np.where(leaves_to_variable, bitmap_of[behind], -1).astype(np.int32)
    body_bitmap = np.where(runs.is_run & is_plain[body], bitmap_of[body], -2).astype(np.int32)
    n_versions = (runs.is_run & changes[body]).astype(np.int8)

    bound_of = np.full(len(program), -1, np.int32)
    bounds: list[Bound] = []
    rises: dict[int, bool] = {}
    for variable, candidates in find_bounds(code).items():
        number = variables.index(variable)
        for bound in candidates:
            # The run must not change the row that the limit is read at, nor may the tested row be it.
            kept = {n for n, name in enumerate(variables) if bound.variables is None or name not in bound.variables}
            fits = leaves_to_variable & (behind == number) & np.isin(body, list(kept)) & (bound_of < 0)
            if number not in kept or not fits.any():
                continue
            if bound.column not in rises:
                rises[bound.column] = (
                    (is_whole or code.int_columns[bound.column] == rising)
                    and not context.columns[2][bound.column]
                    and bool(kernel.is_ascending(context.columns[0][bound.column], context.frame.offsets))
                )
            if rises[bound.column]:
                bound_of[fits] = len(bounds)
                bounds.append(bound)
    lines = [[bound.column, bound.target, bound.limit, bound.constant] for bound in bounds]
    return RunTables(
        exit_bitmap, body_bitmap, n_versions, bound_of, np.array(lines, np.int64).reshape(-1, 4),
        _possible(program, bitmap_of, bitmaps),
    )


def _possible(program: Program, bitmap_of: NDArray[np.int32], bitmaps: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """For every row whether a match can start there; empty if that cannot be told from bitmaps."""
    firsts = first_variables(program)
    numbers = [] if firsts is None else sorted({int(bitmap_of[variable]) for variable in firsts})
    if not numbers or numbers[0] < 0:
        return np.empty(0, np.uint8)
    possible: NDArray[np.uint8] = bitmaps[numbers[0]]
    for number in numbers[1:]:
        possible = possible | bitmaps[number]
    return possible
