"""The `backtrack` matcher: prioritised search in Numba over columns.

Row conditions are bitmaps; context conditions are bytecode. Which splits of the program may remember their failures is
decided here, by what the conditions reachable from them read (see `kernels.backtrack`).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.columns.ordered import Columns, partition_ranges
from sparkrex.errors import ExecutionError
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.evaluate.bytecode import CannotCompileError
from sparkrex.evaluate.context import Context
from sparkrex.matching.contract import Matches, State
from sparkrex.modes.plan import SkipTo
from sparkrex.modes.rows.frame import frame_of, hold_back, release
from sparkrex.modes.rows.kernels import backtrack as kernel
from sparkrex.modes.rows.program import Op, Program
from sparkrex.modes.rows.runs import find_runs, run_tables
from sparkrex.scalar.expression import Call, walk
from sparkrex.scalar.split import Condition, context_level, mapped_variables
from sparkrex.threads import spread

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.settings import Settings
    from sparkrex.source import Span

SKIP_MODES = {
    SkipTo.PAST_LAST_ROW: kernel.PAST_LAST_ROW, SkipTo.NEXT_ROW: kernel.NEXT_ROW, SkipTo.FIRST: kernel.TO_FIRST,
    SkipTo.LAST: kernel.TO_LAST,
}

LEAST_ROWS = 1 << 15
"""Fewer rows than this are not worth a thread of their own."""


class BacktrackMatcher:
    """Immutable: plan, program and split conditions. `sample` is the input's schema as an empty table."""

    name = "backtrack"

    def __init__(
        self, plan: MatchRecognize, program: Program, conditions: tuple[Condition, ...], reach: tuple[int, int],
        evaluator: Evaluator, settings: Settings,
    ) -> None:
        self.plan = plan
        self.program = program
        self.conditions = conditions
        self.reach_back, self.lookahead = reach
        self.evaluator = evaluator
        self.settings = settings
        self.memo = _memo(program, conditions)
        self.runs = find_runs(program)

    def refusal(self, sample: pa.Table) -> str | None:
        """Why the conditions cannot be compiled for columns of these types, None if they can."""
        try:
            self._context(Columns(sample, np.zeros(1, np.int64)))
        except CannotCompileError as error:
            return str(error)
        return None

    def open(self) -> State:
        """The state before the first feed."""
        return State()

    def describe(self) -> list[str]:
        """The program and how failures are remembered."""
        slot, is_per_start, _, _ = self.memo
        splits = self.program.operation == Op.SPLIT
        per_partition = int((splits & (slot >= 0) & ~is_per_start).sum())
        per_start = int((splits & (slot >= 0) & is_per_start).sum())
        total = int(splits.sum())
        memory = (
            f"failures remembered at {per_partition} of {total} splits for the partition, "
            f"at {per_start} for a start row"
        )
        budget = [f"step budget {self.settings.max_steps:,} per start row"] if total > per_partition else []
        return [f"program of {len(self.program)} instructions", memory, *budget]

    def feed(self, state: State, columns: Columns, *, opens: bool, closes: bool) -> Matches:
        """See the contract."""
        frame = frame_of(state, columns, opens=opens)
        threads = self.settings.thread_count()
        numbers, bitmaps = evaluate_bitmaps(self.conditions, frame, self.evaluator, self.plan.source, threads)
        context = self._context(frame)
        stop = np.zeros(1, np.uint8)
        search = self._search(state, frame, context, (numbers, bitmaps), stop, closes=closes)
        pieces = partition_ranges(frame, threads, LEAST_ROWS) or [(0, 0)]
        outcomes = spread(search, pieces, partial(stop.fill, 1))
        for status, row, *_ in outcomes:
            if status != kernel.DONE:
                raise self.failure(status, frame, int(row))
        if closes:
            release(state)
        else:
            next_start, next_number = outcomes[-1][-2:]
            hold_back(state, frame, int(next_start), int(next_number), self.reach_back, self.settings)
        return Matches.joined([_matches(outcome) for outcome in outcomes])

    def _context(self, frame: Columns) -> Context:
        return Context(self.conditions, self.program.variables, frame, self.evaluator, self.settings.thread_count())

    def _search(
        self, state: State, frame: Columns, context: Context, bitmaps: tuple[dict[str, int], NDArray[np.uint8]],
        stop: NDArray[np.uint8], *, closes: bool,
    ) -> Callable[[int, int], tuple[Any, ...]]:
        """The search over a range of partitions, as a function of its bounds. It may run on several threads at once."""
        program, variables, runs = self.program, self.program.variables, self.runs
        bitmap_of = np.array([bitmaps[0].get(name, -1) for name in variables] or [-1], np.int32)
        label = (2 * program.variable + program.is_excluded).astype(np.int16)
        skip_member = np.array([name in self.plan.skip.variables for name in variables] or [False], np.bool_)
        tables = run_tables(program, runs, context, bitmap_of, bitmaps[1])

        def search(begin: int, end: int) -> tuple[Any, ...]:
            offsets = frame.offsets[begin : end + 1]
            goes_on = begin == 0
            longest = int(np.diff(offsets).max(initial=0))
            return kernel.search(  # type: ignore[no-any-return]  # compiled
                offsets, state.begins or not goes_on, closes or end < len(frame.offsets) - 1,
                np.int64(state.next_start) if goes_on else offsets[0],
                np.int64(state.next_number if goes_on else 1),
                (runs.operation, program.variable, label, program.first, program.second, program.entry), tables,
                self.memo, (bitmap_of, bitmaps[1], context.code_begin, context.code_end), context.machine(),
                context.columns, context.path(longest), (SKIP_MODES[self.plan.skip.to], skip_member),
                np.int64(self.lookahead), np.int64(self.settings.max_steps), stop,
            )

        return search

    def failure(self, status: int, frame: Columns, row: int) -> ExecutionError:
        """The error of a search that could not go on, from the start row `row` of the frame."""
        error = self._error(status, frame, row)
        error.row = row
        return error

    def _error(self, status: int, frame: Columns, row: int) -> ExecutionError:
        skip = self.plan.skip
        partition = int(np.searchsorted(frame.offsets, row, side="right")) - 1
        place = row - int(frame.offsets[partition]) + 1
        where = f"the match starts at row {place} of its partition"
        match status:
            case kernel.SKIP_TO_FIRST_ROW:
                return ExecutionError(
                    "REX401", f"AFTER MATCH SKIP {skip.to.value} {skip.name} goes to the first row of the match",
                    self.plan.source, skip.span, notes=(where,),
                    hint="the same match would be found for ever; skip to a later variable, or to the next row",
                )
            case kernel.SKIP_TO_ABSENT:
                return ExecutionError(
                    "REX402",
                    f"AFTER MATCH SKIP {skip.to.value} {skip.name}: no row of the match is mapped to {skip.name}",
                    self.plan.source, skip.span, notes=(where,),
                    hint=f"make {skip.name} mandatory in the pattern, or skip past the last row",
                )
            case kernel.BUDGET:
                return ExecutionError(
                    "REX403", f"the search from one row took more than {self.settings.max_steps:,} steps",
                    self.plan.source, self.plan.span, notes=(where,),
                    hint="bound the quantifiers, add WITHIN, or raise the setting max_steps",
                )
            case kernel.OVERFLOW:
                return ExecutionError(
                    "REX405", "a number in DEFINE is out of the range of 64 bits", self.plan.source, self.plan.span,
                    notes=(where,), hint="cast to double or to a wider decimal",
                )
            case _:
                return ExecutionError(
                    "REX404", "division by zero in DEFINE", self.plan.source, self._division(), notes=(where,),
                    hint="guard it with CASE or NULLIF",
                )

    def _division(self) -> Span:
        """Where the first division in a context condition stands."""
        for condition in self.conditions:
            for node in () if condition.context is None else walk(condition.context):
                if isinstance(node, Call) and node.function in ("divide", "integer_divide", "modulo") and node.span:
                    return node.span
        return self.plan.span


def _matches(outcome: tuple[Any, ...]) -> Matches:
    (_, _, n_matches, start, end, number, n_labels, labels, _, _) = outcome
    start, end = start[:n_matches], end[:n_matches]
    offsets = np.concatenate(([0], np.cumsum(end - start))).astype(np.int64)
    return Matches(start, end, number[:n_matches], labels[:n_labels], offsets)


def _memo(program: Program, conditions: tuple[Condition, ...]) -> tuple[NDArray[np.int32], NDArray[np.bool_], int, int]:
    """Slot per instruction (-1: remembers nothing), whether it is forgotten at every start, and how many there are."""
    fixed = _fixed_variables(program)
    levels: dict[str, int] = {}
    for condition in conditions:
        level_of = context_level(condition.context) if condition.context is not None else 0
        if level_of == 2 and condition.context is not None:
            read = mapped_variables(condition.context)
            level_of = 1 if read is not None and read <= fixed else 2
        levels[condition.variable] = level_of
    level = np.zeros(len(program), np.int8)
    is_match = program.operation == Op.MATCH
    level[is_match] = [levels.get(program.variables[v], 0) for v in program.variable[is_match]]
    # What an instruction can still test: the highest level of anything reachable from it.
    while True:
        reached = np.maximum(level, np.where(program.operation == Op.ACCEPT, 0, level[program.first]))
        reached = np.maximum(reached, np.where(program.operation == Op.SPLIT, level[program.second], 0))
        if (reached == level).all():
            break
        level = reached.astype(np.int8)
    slot = np.full(len(program), -1, np.int32)
    is_split = program.operation == Op.SPLIT
    of_partition, of_start = is_split & (level == 0), is_split & (level == 1)
    slot[of_partition] = np.arange(of_partition.sum())
    slot[of_start] = np.arange(of_start.sum())
    return slot, of_start, int(of_partition.sum()), int(of_start.sum())


def _fixed_variables(program: Program) -> frozenset[str]:
    """Variables that only occur before the first choice of the pattern: the start row alone decides their rows."""
    inside = np.zeros(len(program), np.bool_)
    at = program.entry
    while program.operation[at] == Op.MATCH:
        inside[at] = True
        at = int(program.first[at])
    is_match = program.operation == Op.MATCH
    elsewhere = set(program.variable[is_match & ~inside].tolist())
    return frozenset(program.variables[v] for v in program.variable[inside].tolist() if v not in elsewhere)
