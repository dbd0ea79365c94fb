"""The `backtrack` search of windows: any frame, conditions of rows and of the match."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.columns.ordered import Columns, partition_ranges
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.modes.rows.backtrack.matcher import BacktrackMatcher
from sparkrex.modes.rows.deadlines import find_deadlines
from sparkrex.modes.rows.kernels.arguments import Instructions, Limits, Tests
from sparkrex.modes.rows.kernels.backtrack import DONE
from sparkrex.modes.rows.runs import first_variables, run_tables
from sparkrex.modes.windows.edges import evaluate_edges, find_edges, reach_before
from sparkrex.modes.windows.found import Found
from sparkrex.modes.windows.kernels import search as kernel
from sparkrex.threads import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.evaluate.context import Context
    from sparkrex.modes.rows.kernels.arguments import RunTables

LEAST_ROWS = 1 << 15
"""Fewer rows than this are not worth a thread of their own."""


class BacktrackSearch(BacktrackMatcher):
    """The matcher of row patterns, in frames."""

    def search(self, frame: Columns, ends: NDArray[np.int64] | None, *, is_seek: bool) -> Found:
        """The matches of all rows that are tried. `ends` has the last row of each frame; None: the partition's."""
        problem = self.problem
        threads = problem.settings.thread_count()
        numbers, bitmaps = evaluate_bitmaps(problem.conditions, frame, problem.evaluator, problem.plan.source, threads)
        variables = problem.program.variables
        bitmap_of = np.array([numbers.get(name, -1) for name in variables] or [-1], np.int32)
        edges = self._edges(frame, numbers, is_bounded=ends is not None)
        stop = np.zeros(1, np.uint8)
        pieces = partition_ranges(frame, threads, LEAST_ROWS)
        if not pieces:
            return Found.joined([])
        if len(edges.variants):
            bitmaps = bitmaps.copy()  # they are changed in the search
        context = self._context(frame)
        search = partial(self._search_pieces, frame, ends, is_seek, context, bitmap_of, bitmaps, edges, stop)
        parts = []
        for status, row, n_matches, found, n_labels, labels in spread(search, pieces, partial(stop.fill, 1)):
            if status != DONE:
                raise problem.failure(status, int(row))
            parts.append(Found.of(found[:n_matches], labels[:n_labels]))
        return Found.joined(parts)

    def _edges(self, frame: Columns, numbers: dict[str, int], *, is_bounded: bool) -> kernel.Edges:
        problem = self.problem
        edges = find_edges(problem, frame, is_bounded=is_bounded)
        lines, variants = evaluate_edges(problem, edges, frame)
        back, ahead = np.zeros((2, max(1, len(numbers))), np.int64)
        widest = (
            1 + max((edge.back for edge in edges.values()), default=0),
            1 + max((edge.ahead for edge in edges.values()), default=0),
        )
        variant_of = np.full((max(1, len(numbers)), *widest), -1, np.int32)
        for name, edge in edges.items():
            back[numbers[name]], ahead[numbers[name]] = edge.back, edge.ahead
            own = lines[name]
            variant_of[numbers[name], : own.shape[0], : own.shape[1]] = own
        return kernel.Edges(back, ahead, variant_of, variants, reach_before(problem))

    def _search_pieces(
        self, frame: Columns, ends: NDArray[np.int64] | None, is_seek: bool, context: Context,
        bitmap_of: NDArray[np.int32], bitmaps: NDArray[np.uint8], edges: kernel.Edges, stop: NDArray[np.uint8],
        begin: int, end: int,
    ) -> tuple[Any, ...]:
        """Some partitions, by one thread."""
        problem, runs = self.problem, self.runs
        program, variables = problem.program, problem.program.variables
        label = (2 * program.variable + program.is_excluded).astype(np.int16)
        instructions = Instructions(
            runs.operation, program.variable, label, program.first, program.second, program.entry
        )
        tests = Tests(bitmap_of, bitmaps, context.code_begin, context.code_end)
        key = problem.plan.order_by[0] if problem.plan.order_by else None
        rising = None if key is None or key.is_descending else key.expression
        tables = run_tables(program, runs, context, bitmap_of, bitmaps, rising, is_whole=True)
        tables = tables._replace(possible=self._possible(tables, bitmap_of, edges))
        deadlines = find_deadlines(problem.plan, variables, context.bytecode, None, self.ahead)
        limits = Limits(0, problem.settings.max_steps, stop, False)
        path = context.path(int(np.diff(frame.offsets[begin : end + 1]).max(initial=0)))
        barred = np.zeros(max(1, len(variables)), np.uint8)
        return kernel.search_frames(  # type: ignore[no-any-return]  # compiled
            frame.offsets, begin, end, np.empty(0, np.int64) if ends is None else ends, is_seek, barred, edges,
            instructions, tables, self.memo, tests, deadlines, context.machine(), context.columns, path,
            problem.skip_mode, problem.skip_member, limits,
        )

    def _possible(
        self, tables: RunTables, bitmap_of: NDArray[np.int32], edges: kernel.Edges
    ) -> NDArray[np.uint8]:
        """Where a match may begin, whatever the frame."""
        possible: NDArray[np.uint8] = tables.possible
        if not len(possible):
            return possible
        for variable in first_variables(self.problem.program) or ():
            lines = edges.variant_of[bitmap_of[variable]]
            for line in lines[lines >= 0].tolist():
                possible = possible | edges.variants[line]
        return possible
