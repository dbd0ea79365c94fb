"""The `backtrack` matcher: prioritised search in Numba over columns. Row conditions are bitmaps, others bytecode."""

from __future__ import annotations

from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.columns.ordered import Columns, partition_ranges
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.evaluate.bytecode import CannotCompileError
from sparkrex.evaluate.context import Context
from sparkrex.matching.matches import Matches
from sparkrex.modes.rows.deadlines import ReadAt, find_deadlines, limits_of, moments
from sparkrex.modes.rows.extent import why_uncut
from sparkrex.modes.rows.kernels import backtrack as kernel
from sparkrex.modes.rows.kernels.arguments import Bounds, Instructions, Limits, Tests
from sparkrex.modes.rows.matcher import Matcher
from sparkrex.modes.rows.memo import find_memo
from sparkrex.modes.rows.pieces import (
    CutNotes,
    Outcome,
    Piece,
    cut_partitions,
    each_piece,
    is_cut,
    put_together,
    row_cuts,
    whole_piece,
    why_whole,
)
from sparkrex.modes.rows.program import Op
from sparkrex.modes.rows.runs import find_runs, run_tables

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from sparkrex.matching.waking import Moment
    from sparkrex.modes.rows.matcher import Partitions
    from sparkrex.modes.rows.problem import Problem

LEAST_ROWS = 1 << 15
"""Fewer rows than this are not worth a thread of their own."""


class BacktrackMatcher(Matcher):
    """Immutable: a problem, and what is remembered at its splits."""

    name = "backtrack"
    takes_asked = True
    slower = "slower: it may go back over rows"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.memo = find_memo(problem.program, problem.conditions)
        self.runs = find_runs(problem.program)

    @property
    def refusal(self) -> str | None:
        """Why the conditions cannot be compiled for columns of these types, None if they can."""
        try:
            self._context(Columns(self.problem.sample, np.zeros(1, np.int64)))
        except CannotCompileError as error:
            return str(error)
        return None

    @property
    def reason(self) -> str:
        """Why it is chosen."""
        if all(condition.context is None for condition in self.problem.conditions):
            return "every condition is decided by rows alone"
        return "every condition that reads the match is in the engine's language"

    @cached_property
    def uncut(self) -> str | None:
        """See `extent.why_uncut`."""
        return why_uncut(self.problem)

    def describe(self) -> list[str]:
        """The program and how failures are remembered."""
        slot, is_per_start = self.memo.slot, self.memo.is_per_start
        splits = self.problem.program.operation == Op.SPLIT
        per_partition = int((splits & (slot >= 0) & ~is_per_start).sum())
        per_start = int((splits & (slot >= 0) & is_per_start).sum())
        total = int(splits.sum())
        memory = (
            f"failures remembered at {per_partition} of {total} splits for the partition, "
            f"at {per_start} for a start row"
        )
        budget = [f"step budget {self.problem.settings.max_steps:,} per start row"] if total > per_partition else []
        return [f"program of {len(self.problem.program)} instructions", memory, *budget]

    @cached_property
    def limits(self) -> dict[str, list[ReadAt]]:
        """See `modes.rows.matcher`."""
        return limits_of(self.problem, self._context(Columns(self.problem.sample, np.zeros(1, np.int64))).bytecode)

    def moments(self) -> set[Moment]:
        """See `modes.rows.matcher`."""
        code = self._context(Columns(self.problem.sample, np.zeros(1, np.int64))).bytecode
        return super().moments() | moments(self.problem, code)

    def find(self, frame: Columns, partitions: Partitions) -> Matches:
        """See `modes.rows.matcher`."""
        problem = self.problem
        threads = problem.settings.thread_count()
        numbers, bitmaps = evaluate_bitmaps(
            problem.conditions, frame, problem.evaluator, problem.plan.source, threads
        )
        stop = np.zeros(1, np.uint8)
        search = self._search(partitions, self._context(frame), numbers, bitmaps, stop)
        cuts = row_cuts(partitions.offsets, threads)
        if self.uncut is None and why_whole(partitions) is None and is_cut(partitions, cuts):
            return self._find_in_pieces(partitions, cuts, search, partial(stop.fill, 1))
        pieces = [
            whole_piece(partitions, begin, end)
            for begin, end in partition_ranges(frame, threads, LEAST_ROWS) or [(0, 0)]
        ]
        outcomes = each_piece(search, pieces, partial(stop.fill, 1))
        for status, row, *_ in outcomes:
            if status != kernel.DONE:
                raise problem.failure(status, int(row))
        for *_, n_failed, failed in outcomes:
            for row, status in failed[:n_failed].tolist():
                partitions.fail(problem.failure(status, row))
        return Matches.joined([_matches(outcome) for outcome in outcomes])

    def _find_in_pieces(
        self, partitions: Partitions, cuts: list[int], search: Callable[[Piece], tuple[Any, ...]],
        stop: Callable[[], None],
    ) -> Matches:
        """Matches of whole partitions that are cut into pieces; see `pieces`."""

        def outcome_of(piece: Piece) -> Outcome:
            found = search(piece)
            return Outcome(int(found[0]), int(found[1]), _matches(found))

        pieces = cut_partitions(partitions, cuts)
        outcomes = each_piece(outcome_of, pieces, stop)
        joined = put_together(self.problem, partitions, pieces, outcomes, outcome_of)
        self.cut = CutNotes(len(pieces), joined.n_again)
        return joined.matches

    def _context(self, frame: Columns) -> Context:
        problem = self.problem
        return Context(
            problem.conditions, problem.program.variables, frame, problem.evaluator, problem.settings.thread_count()
        )

    def _search(
        self, partitions: Partitions, context: Context, numbers: dict[str, int], bitmaps: NDArray[np.uint8],
        stop: NDArray[np.uint8],
    ) -> Callable[[Piece], tuple[Any, ...]]:
        """The search over a piece, as a function of it. It may run on several threads at once."""
        problem, runs = self.problem, self.runs
        program, variables = problem.program, problem.program.variables
        bitmap_of = np.array([numbers.get(name, -1) for name in variables] or [-1], np.int32)
        label = (2 * program.variable + program.is_excluded).astype(np.int16)
        instructions = Instructions(
            runs.operation, program.variable, label, program.first, program.second, program.entry
        )
        tests = Tests(bitmap_of, bitmaps, context.code_begin, context.code_end)
        key = problem.plan.order_by[0] if problem.plan.order_by else None
        rising = None if key is None or key.is_descending else key.expression
        is_whole = bool(partitions.ends.all())
        tables = run_tables(program, runs, context, bitmap_of, bitmaps, rising, is_whole=is_whole)
        if partitions.given_up:
            tables = tables._replace(possible=_without(tables.possible, context.frame.n_rows, partitions.given_up))
        barred = self.barred(context.frame, partitions)
        deadlines = find_deadlines(problem.plan, variables, context.bytecode, partitions.horizon, self.ahead)
        limits = Limits(problem.lookahead, problem.settings.max_steps, stop, partitions.failures is not None)
        asked = partitions.asked_between(0, context.frame.n_rows)

        def search(piece: Piece) -> tuple[Any, ...]:
            own = slice(piece.first, piece.last)
            offsets = partitions.offsets[piece.first : piece.last + 1]
            bounds = Bounds(
                offsets, partitions.begins[own], partitions.ends[own], piece.start, piece.number, barred[own], asked,
                piece.until,
            )
            path = context.path(int(np.diff(offsets).max(initial=0)))
            return kernel.search(  # type: ignore[no-any-return]  # compiled
                bounds, instructions, tables, self.memo, tests, deadlines, context.machine(), context.columns, path,
                problem.skip_mode, problem.skip_member, limits,
            )

        return search


def _without(possible: NDArray[np.uint8], n_rows: int, given_up: frozenset[int]) -> NDArray[np.uint8]:
    """Where a match can start, without some rows."""
    found = possible.copy() if len(possible) else np.ones(n_rows, np.uint8)
    found[sorted(given_up)] = kernel.GIVEN_UP
    return found


def _matches(outcome: tuple[Any, ...]) -> Matches:
    (_, _, n_matches, start, end, number, n_labels, labels, *_) = outcome
    start, end = start[:n_matches], end[:n_matches]
    offsets = np.concatenate(([0], np.cumsum(end - start))).astype(np.int64)
    return Matches(start, end, number[:n_matches], labels[:n_labels], offsets)
