"""The `ops` matcher: patterns of possessive elements, by Optimized Pattern Search.

Sadri, Zaniolo, Zarkesh and Adibi, "Optimization of Sequence Queries in Database Systems" (2001). What the conditions
say of each other, proven once per query, tells after a failure how far the pattern may move on and which of its
elements need no test there (`shifts`). Rows are tested one at a time: a row condition's bitmap is evaluated for a block
of rows when the search first needs one of them, a condition that reads the match where the search comes to it.
"""

from __future__ import annotations

import itertools
from functools import cached_property, partial
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.ordered import Columns, partition_ranges
from sparkrex.evaluate.bytecode import CannotCompileError
from sparkrex.evaluate.context import Context
from sparkrex.matching.matches import Matches
from sparkrex.modes.plan import SkipTo
from sparkrex.modes.rows.ahead import Ahead, ahead_in_elements
from sparkrex.modes.rows.deadlines import ReadAt, find_deadlines, limits_of, moments
from sparkrex.modes.rows.extent import why_uncut
from sparkrex.modes.rows.kernels import ops as kernel
from sparkrex.modes.rows.kernels.arguments import Bounds, Limits
from sparkrex.modes.rows.kernels.backtrack import DONE
from sparkrex.modes.rows.matcher import GivesUpError, Matcher
from sparkrex.modes.rows.ops.blocks import BlockBitmaps
from sparkrex.modes.rows.ops.derive import NotPossessiveError, derive_elements
from sparkrex.modes.rows.ops.elements import Element, find_differences, find_final, sort_elements
from sparkrex.modes.rows.ops.proofs import Proofs
from sparkrex.modes.rows.ops.reverse import Reverse, estimated_shift
from sparkrex.modes.rows.ops.search import ForwardSearch, ReverseSearch, Search
from sparkrex.modes.rows.ops.shifts import Shifts, find_shifts
from sparkrex.modes.rows.ops.tables import element_tables
from sparkrex.modes.rows.pieces import (
    CutNotes,
    Outcome,
    Piece,
    cut_partitions,
    is_cut,
    put_together,
    row_cuts,
    whole_piece,
    why_whole,
)
from sparkrex.scalar.split import Condition
from sparkrex.threads import spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sparkrex.matching.waking import Moment
    from sparkrex.modes.rows.matcher import Partitions
    from sparkrex.modes.rows.problem import Problem

LEAST_ROWS = 1 << 15
"""Fewer rows than this are not worth a thread of their own."""

FORWARD, REVERSE = "ops_forward", "ops_reverse"
"""What the setting `matcher` may ask for beside `ops`, which leaves the direction to us."""


class OpsMatcher(Matcher):
    """Immutable but for its counts of tests and rows, which EXPLAIN ANALYZE shows."""

    name = "ops"
    other_names = (FORWARD, REVERSE)
    slower = "slower where rows decide every condition"

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.n_tests = self.n_rows = 0
        self.elements: tuple[Element, ...] = ()
        self.proofs = Proofs(problem.facts if problem.settings.proofs else None)
        self.exclusions: list[str] = []
        self._refused = self._find_elements() or self._find_conditions()
        if self._refused is None:
            self._make_tables()

    @cached_property
    def uncut(self) -> str | None:
        """Why the rows of a partition cannot be searched in pieces, if they cannot."""
        if self.reverse is not None:
            return "the search goes from its end"
        return why_uncut(self.problem)

    @property
    def refusal(self) -> str | None:
        """Why this matcher cannot run the query, None if it can."""
        return self._refused

    @property
    def reason(self) -> str:
        """Why it is chosen."""
        if self.problem.plan.possessive:
            return "the stars of the pattern give nothing back"
        if not any(element.is_star for element in self.elements):
            return "the pattern is a sequence of single rows"
        return "no star of the pattern can give a row back"

    def _find_elements(self) -> str | None:
        """Find the elements of the pattern; why there are none, or None."""
        plan = self.problem.plan
        if plan.skip.to is not SkipTo.PAST_LAST_ROW:
            return f"AFTER MATCH SKIP {plan.skip.to.value} lets matches overlap"
        if plan.possessive:
            self.elements = sort_elements(plan.possessive)
            return None
        try:
            elements = sort_elements(derive_elements(plan))
        except NotPossessiveError as error:
            return str(error)
        for star, following in itertools.pairwise(elements):
            if star.is_star:
                verdict = self.proofs.exclude(star, following)
                if verdict is None:
                    return f"{star.variables[0]}+ may give rows back: a row may be {following.variables[0]} as well"
                self.exclusions.append(f"{star.variables[0]} excludes {following.variables[0]}: {verdict.why}")
        self.elements = elements
        return None

    def _find_conditions(self) -> str | None:
        """Number the bitmaps; why a condition that reads the match cannot be compiled, or None."""
        rows = dict.fromkeys(element.row for element in self.elements if element.row is not None)
        self.bitmap_of = {row: number for number, row in enumerate(rows)}
        self.row_conditions = [
            Condition(next(e.variables[0] for e in self.elements if e.row == row), row, None) for row in rows
        ]
        try:
            self._context(Columns(self.problem.sample, np.zeros(1, np.int64)))
        except CannotCompileError as error:
            return str(error)
        return None

    def _make_tables(self) -> None:
        elements = self.elements
        self.matrices = self.proofs.matrices(elements)
        self.shifts: Shifts = find_shifts(
            self.matrices, [element.is_star for element in elements], find_differences(elements)
        )
        self.reverse, self.direction = self._choose_direction()

    def _choose_direction(self) -> tuple[Reverse | None, str]:
        """The reversed pattern if it is searched, and the direction with its reason."""
        wanted = self.problem.settings.matcher
        reverse = Reverse.of(self.elements, self.proofs)
        if isinstance(reverse, str):
            return None, f"forward search: reverse search could give other matches, {reverse}"
        forward, backward = estimated_shift(self.shifts.shift), estimated_shift(reverse.shifts.shift[:-1])
        why = f"estimated shift {forward:.2f} forward, {backward:.2f} in reverse"
        is_reverse = backward > forward
        if wanted in self.other_names:
            is_reverse = wanted == REVERSE
            why = f"the setting matcher asks for it; {why}"
        return (reverse, f"reverse search: {why}") if is_reverse else (None, f"forward search: {why}")

    def describe(self) -> list[str]:
        """The elements, shift and next, the direction, and the tests if any were made."""
        shift, following = self.shifts.shift[1:].tolist(), self.shifts.next[1:].tolist()
        text = ", ".join(("*" if element.is_star else "") + element.variables[0] for element in self.elements)
        lines = [f"elements ({text})", f"shift {_listed(shift)}, next {_listed(following)}", self.direction]
        if self.shifts.inside <= len(self.elements):
            lines.append("starts inside the first star are tried: a condition reads more of it than its last row")
        lines += self.exclusions
        if self.n_rows:
            lines.append(f"{self.n_tests:,} tests of {self.n_rows:,} rows")
        return lines

    def _context(self, frame: Columns) -> Context:
        conditions = tuple(Condition(e.variables[0], None, e.context) for e in self.elements)
        problem = self.problem
        return Context(
            conditions, problem.program.variables, frame, problem.evaluator, problem.settings.thread_count()
        )

    @cached_property
    def ahead(self) -> Ahead:
        """What stands ahead of every element."""
        number = {name: place for place, name in enumerate(self.problem.program.variables)}
        first, later = zip(*(element.variables for element in self.elements), strict=True)
        return ahead_in_elements([number[name] for name in first], [number[name] for name in later])

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
        bitmaps = BlockBitmaps(self.row_conditions, frame, problem)
        stop = np.zeros(1, np.uint8)
        search_in = self._searches(frame, partitions, bitmaps, stop)
        self.n_rows += frame.n_rows
        cuts = row_cuts(partitions.offsets, threads)
        if self.uncut is None and why_whole(partitions) is None and is_cut(partitions, cuts):
            found = self._find_in_pieces(partitions, cuts, search_in, bitmaps, stop)
            if found is not None:
                return found
        ranges = partition_ranges(frame, threads, LEAST_ROWS) or [(0, 0)]
        searches = [search_in(whole_piece(partitions, *bounds)) for bounds in ranges]
        self._run(searches, bitmaps, stop)
        for search in searches:
            if search.status != DONE and partitions.failures is not None:
                raise GivesUpError  # it knows one error, and the others go on behind each
            if search.status != DONE:
                raise problem.failure(search.status, search.row)
        return Matches.joined([search.matches() for search in searches])

    def _find_in_pieces(
        self, partitions: Partitions, cuts: list[int], search_in: Callable[[Piece], Search], bitmaps: BlockBitmaps,
        stop: NDArray[np.uint8],
    ) -> Matches | None:
        """Matches of whole partitions that are cut into pieces; see `pieces`. None if a search met an error.

        Which rows are tested depends on where a search begins, so that another one may meet no error or another one.
        """
        failed = False

        def outcome_of(search: Search) -> Outcome:
            nonlocal failed
            failed = failed or search.status != DONE
            return Outcome(DONE, -1, search.matches())

        def search_again(piece: Piece) -> Outcome:
            search = search_in(piece)
            self._run([search], bitmaps, stop)
            return outcome_of(search)

        pieces = cut_partitions(partitions, cuts)
        searches = [search_in(piece) for piece in pieces]
        self._run(searches, bitmaps, stop)
        before = partitions.copy()
        joined = put_together(self.problem, partitions, pieces, list(map(outcome_of, searches)), search_again)
        if failed:
            partitions.go_back(before)
            return None
        self.cut = CutNotes(len(pieces), joined.n_again)
        return joined.matches

    def _run(self, searches: Sequence[Search], bitmaps: BlockBitmaps, stop: NDArray[np.uint8]) -> None:
        """Search to the end."""
        waiting = searches
        # The host is asked by this thread only, so searches come back to it when they lack a block.
        while waiting:
            go_on = partial(_go_on, waiting)
            spread(go_on, [(n, n + 1) for n in range(len(waiting))], partial(stop.fill, 1))
            waiting = [search for search in waiting if search.status == kernel.NEEDS_BLOCK]
            for search in waiting:
                bitmaps.fill(*search.lacks, step=-1 if isinstance(search, ReverseSearch) else 1)
        self.n_tests += sum(search.n_tests for search in searches)

    def _searches(
        self, frame: Columns, partitions: Partitions, bitmaps: BlockBitmaps, stop: NDArray[np.uint8]
    ) -> Callable[[Piece], Search]:
        """What makes the search of a piece."""
        problem = self.problem
        variables = problem.program.variables
        # Rows to come can decide where an open partition's occurrences end.
        reverse = self.reverse if partitions.ends.all() else None
        elements, shifts = (reverse.elements, reverse.shifts) if reverse is not None else (self.elements, self.shifts)
        context = self._context(frame)
        tables = element_tables(elements, shifts, find_final(elements), variables)
        limits = Limits(problem.lookahead, problem.settings.max_steps, stop)
        tests = self._tests(elements, context, bitmaps)
        barred = self.barred(context.frame, partitions)
        deadlines = find_deadlines(problem.plan, variables, context.bytecode, partitions.horizon, self.ahead)

        def search_in(piece: Piece) -> Search:
            own = slice(piece.first, piece.last)
            offsets = partitions.offsets[piece.first : piece.last + 1]
            bounds = Bounds(
                offsets, partitions.begins[own], partitions.ends[own], piece.start, piece.number, barred[own],
                np.empty(0, np.uint8), piece.until,
            )
            if reverse is not None:
                return ReverseSearch(bounds, tables, tests, limits)
            longest = int(np.diff(offsets).max(initial=0))
            reading = deadlines, context.machine(), context.columns, context.path(longest)
            return ForwardSearch(bounds, tables, tests, limits, reading, longest)

        return search_in

    def _tests(self, elements: Sequence[Element], context: Context, bitmaps: BlockBitmaps) -> kernel.ElementTests:
        variables = self.problem.program.variables
        numbers = [variables.index(element.variables[0]) for element in elements]
        return kernel.ElementTests(
            np.array([-1, *(-1 if e.row is None else self.bitmap_of[e.row] for e in elements)], np.int32),
            np.array([0, *context.code_begin[numbers]], np.int64), np.array([0, *context.code_end[numbers]], np.int64),
            bitmaps.bitmaps, bitmaps.is_filled,
        )


def _go_on(searches: Sequence[Search], begin: int, end: int) -> None:
    for search in searches[begin:end]:
        search.go_on()


def _listed(values: list[int]) -> str:
    return f"({', '.join(map(str, values))})"
