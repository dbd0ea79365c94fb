"""The `interpreter`: the same search in plain Python, for conditions that kernels cannot hold.

Slow and complete: a context condition is evaluated as a measure would be, over the rows mapped so far, by the host. So
every function, type and aggregate that the host knows works in DEFINE. Results are remembered by the mapping they were
computed for.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.arrange import Arrangement
from sparkrex.errors import AnalysisError, ExecutionError
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.matching.matches import Matches
from sparkrex.matching.reading import MatchReader, Viewpoints
from sparkrex.modes.plan import SkipTo
from sparkrex.modes.rows.interpreted_bounds import WINDOW, LateRows, TimeBounds
from sparkrex.modes.rows.kernels import backtrack as kernel
from sparkrex.modes.rows.matcher import Matcher
from sparkrex.modes.rows.memo import find_memo
from sparkrex.modes.rows.program import Op
from sparkrex.scalar.split import Condition, conjuncts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns
    from sparkrex.matching.waking import Moment
    from sparkrex.modes.rows.deadlines import ReadAt
    from sparkrex.modes.rows.matcher import Partitions
    from sparkrex.modes.rows.problem import Problem
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Source, Span


class Interpreter(Matcher):
    """Runs the program without kernels."""

    name = "interpreter"
    takes_asked = True

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem)
        self.remembers = find_memo(problem.program, problem.conditions).slot >= 0
        self.bounds = TimeBounds(problem)

    @property
    def refusal(self) -> None:
        """It supports everything."""

    @property
    def reason(self) -> str:
        """Why it is chosen."""
        return "it evaluates everything"

    def describe(self) -> list[str]:
        """How it runs."""
        return ["conditions run in plain Python"]

    @cached_property
    def limits(self) -> dict[str, list[ReadAt]]:
        """See `modes.rows.matcher`."""
        return {name: [bound.read_at for bound in bounds] for name, bounds in self.bounds.by_variable.items()}

    def moments(self) -> set[Moment]:
        """See `modes.rows.matcher`."""
        return super().moments().union(self.bounds.moments())

    def check(self) -> None:
        """Evaluate every context condition over no match, to meet its errors before any row is read."""
        problem = self.problem
        none = np.zeros(0, np.int64)
        reader = MatchReader(
            problem.sample, Arrangement(None, np.zeros(1, np.int64), 0), Matches.none(), problem.program.variables,
            problem.plan.dialect, problem.evaluator,
        )
        views = Viewpoints(none, none, at_end=True)
        for condition in problem.conditions:
            # One by one: the host would take a number for a truth value inside AND.
            for part in [] if condition.context is None else conjuncts(condition.context):
                (result,) = reader.evaluate([part], views, [part.span])
                _require_boolean(result, condition, part.span, problem.plan.source)

    def find(self, frame: Columns, partitions: Partitions) -> Matches:
        """See `modes.rows.matcher`."""
        search = Search(self, frame, partitions)
        barred = self.barred(frame, partitions)
        for place in range(len(partitions.ends)):
            search.barred = barred[place]
            search.run(partitions, place)
        return search.found()


class _UndecidedError(Exception):
    """The open partition's end was reached."""


class Search:
    """One search over the rows of a frame."""

    def __init__(self, interpreter: Interpreter, frame: Columns, partitions: Partitions) -> None:
        self.interpreter = interpreter
        self.problem = problem = interpreter.problem
        self.remembers = interpreter.remembers
        self.frame = frame
        self.late = LateRows(interpreter.bounds, frame, partitions.horizon)
        self.numbers, self.bitmaps = evaluate_bitmaps(
            problem.conditions, frame, problem.evaluator, problem.plan.source
        )
        self.contexts = {c.variable: c for c in problem.conditions if c.context is not None}
        self.arrangement = Arrangement(None, frame.offsets, frame.table.num_rows)
        self.matches: list[tuple[int, int, list[int]]] = []
        self.barred: NDArray[np.uint8] = np.zeros(max(len(problem.program.variables), 1), np.uint8)
        self.known: dict[tuple[str, int, int, tuple[int, ...]], bool] = {}

    def found(self) -> Matches:
        """All that was found."""
        lengths = [len(labels) for _, _, labels in self.matches]
        start = np.array([start for start, _, _ in self.matches], np.int64)
        return Matches(
            start, start + np.array(lengths, np.int64), np.array([number for _, number, _ in self.matches], np.int64),
            np.array([label for _, _, labels in self.matches for label in labels], np.int16),
            np.concatenate(([0], np.cumsum(lengths))).astype(np.int64),
        )

    def enter(self, partitions: Partitions, place: int) -> None:
        """The partition that is searched from now on."""
        self.low, self.high = self.frame.offsets[place : place + 2].tolist()
        self.begins_here, self.is_open = bool(partitions.begins[place]), not partitions.ends[place]
        self.limit = self.high - self.problem.lookahead if self.is_open else self.high

    def run(self, partitions: Partitions, place: int) -> None:
        """Search a partition."""
        self.enter(partitions, place)
        start, number, asked = int(partitions.start[place]), int(partitions.number[place]), partitions.asked
        while start < self.high:
            following = start + 1
            if start in partitions.given_up or (asked is not None and not asked[start]):
                if asked is not None:
                    asked[start] = 0
                start = following
                continue
            try:
                labels = self.match(start, number)
                following = start + 1 if labels is None else self.rows_after(start, labels)
            except _UndecidedError:
                if asked is None:
                    break
                start = following
                continue
            except ExecutionError as error:
                error.row = start
                partitions.fail(error)
                labels, following = None, start + 1
            if asked is not None:
                asked[start] = 0
            if labels is not None:
                self.matches.append((start, number, labels))
                number += 1
            start = following
        partitions.start[place], partitions.number[place] = start, number

    def match(self, start: int, number: int, window_end: int | None = None) -> list[int] | None:
        """Labels of the preferred match at a start row.

        With `window_end`, of the preferred beginning of one that maps all rows up to there and needs another.
        """
        program = self.problem.program
        failed: set[tuple[int, int]] = set()
        stack: list[tuple[int, int, bool]] = []
        labels: list[int] = []
        at = program.entry
        n_steps = 0
        while True:
            row = start + len(labels)
            operation = program.operation[at]
            ok = True
            if operation == Op.ACCEPT and window_end is None:
                return labels
            if operation == Op.MATCH and row == window_end:
                return labels
            if operation == Op.MATCH:
                n_steps += 1
                if self.contexts and n_steps > self.problem.settings.max_steps:
                    raise self.problem.failure(kernel.BUDGET, start)
                if row >= self.limit and self.is_open:
                    if row < self.high or not self._is_barred(at, start, labels):
                        raise _UndecidedError
                    ok = False
                label = 2 * int(program.variable[at]) + int(program.is_excluded[at])
                ok = ok and row < self.high and self._holds(start, number, (*labels, label))
                if ok:
                    labels.append(label)
            elif operation == Op.SPLIT:
                ok = (at, row) not in failed
                if ok:
                    stack.append((at, len(labels), False))
            elif operation == Op.START:
                ok = row == self.low and self.begins_here
            elif window_end is not None:
                ok = False
            elif row == self.high and self.is_open:
                raise _UndecidedError
            else:
                ok = row == self.high
            if ok:
                at = int(program.first[at])
                continue
            while stack:
                split, length, is_second = stack.pop()
                if not is_second:
                    stack.append((split, length, True))
                    del labels[length:]
                    at = int(program.second[split])
                    break
                if self.remembers[split]:
                    failed.add((split, start + length))
            else:
                return None

    def _is_barred(self, at: int, start: int, labels: list[int]) -> bool:
        """Whether behind these rows none to come can be mapped here, or to a variable that has to come then."""
        variables, number = self.problem.program.variables, int(self.problem.program.variable[at])
        names = [variables[label // 2] for label in labels]
        if self.barred[number] or self.late.come_too_late(variables[number], self.low, start, names):
            return True
        needed, met = self.interpreter.ahead.all[at], self.interpreter.ahead.some[at]
        to_come = frozenset(name for place, name in enumerate(variables) if met >> place & 1)
        return any(
            self.late.leads_nowhere(name, to_come, self.low, start, names)
            for place, name in enumerate(variables) if needed >> place & 1
        )

    def _holds(self, start: int, number: int, labels: tuple[int, ...]) -> bool:
        variable = self.problem.program.variables[labels[-1] // 2]
        row = start + len(labels) - 1
        if variable in self.numbers and not self.bitmaps[self.numbers[variable], row]:
            return False
        condition = self.contexts.get(variable)
        if condition is None:
            return True
        key = (variable, start, number, labels)
        if key not in self.known:
            self.known[key] = self._evaluate(condition, start, number, labels)
        return self.known[key]

    def is_inside(self, window: Condition, start: int, number: int, row: int) -> bool:
        """Whether WITHIN holds at a row. It reads times only: any labels will do."""
        return self._evaluate(window, start, number, (0,) * (row - start + 1))

    def _evaluate(self, condition: Condition, start: int, number: int, labels: tuple[int, ...]) -> bool:
        problem = self.problem
        length = len(labels)
        tentative = Matches(
            np.array([start], np.int64), np.array([start + length], np.int64), np.array([number], np.int64),
            np.array(labels, np.int16), np.array([0, length], np.int64),
        )
        reader = MatchReader(
            self.frame.ordered, self.arrangement, tentative, problem.program.variables, problem.plan.dialect,
            problem.evaluator,
        )
        context: Expression | None = condition.context
        assert context is not None  # only such conditions get here
        views = Viewpoints(np.zeros(1, np.int64), np.array([length - 1]), at_end=True)
        (result,) = reader.evaluate([context], views, [context.span])
        _require_boolean(result, condition, context.span, problem.plan.source)
        return result[0].as_py() is True

    def rows_after(self, start: int, labels: list[int]) -> int:
        """Where AFTER MATCH SKIP goes on."""
        skip = self.problem.plan.skip
        if not labels or skip.to is SkipTo.NEXT_ROW:
            return start + 1
        if skip.to is SkipTo.PAST_LAST_ROW:
            return start + len(labels)
        names = self.problem.program.variables
        rows = [place for place, label in enumerate(labels) if names[label // 2] in skip.variables]
        if not rows:
            raise self.problem.failure(kernel.SKIP_TO_ABSENT, start)
        place = rows[0] if skip.to is SkipTo.FIRST else rows[-1]
        if place == 0:
            raise self.problem.failure(kernel.SKIP_TO_FIRST_ROW, start)
        return start + place


class Beginnings(Search):
    """Searches for what has timed out; see `modes.rows.timeouts`."""

    def __init__(self, problem: Problem, frame: Columns, partitions: Partitions) -> None:
        super().__init__(Interpreter(problem), frame, partitions)

    def search(
        self, partitions: Partitions, starts: NDArray[np.int64], numbers: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], Matches]:
        """By partition the first start that is undecided, -1 for none; and what has timed out before it."""
        undecided = np.full(len(partitions.ends), -1)
        for start, number in zip(starts.tolist(), numbers.tolist(), strict=True):
            place = int(np.searchsorted(self.frame.offsets, start, side="right")) - 1
            if undecided[place] >= 0:
                continue
            self.enter(partitions, place)
            try:
                labels = self._timed_out(start, number)
            except _UndecidedError:
                if partitions.asked is None:
                    undecided[place] = start
                else:
                    partitions.asked[start] = 1
            else:
                if labels:
                    self.matches.append((start, 0, labels))
        return undecided, self.found()

    def _timed_out(self, start: int, number: int) -> list[int] | None:
        window = Condition("WITHIN", None, self.problem.plan.timeout)
        end = start
        while end < self.high and self.is_inside(window, start, number, end):
            end += 1
        labels = self.match(start, number, end) if end > start else None
        # What is read behind the window's last row has to be there, and that no row of the window comes any more.
        if labels and self.is_open and (not self._is_over(start, end) or end > self.limit):
            raise _UndecidedError
        return labels

    def _is_over(self, start: int, end: int) -> bool:
        """Whether no row of the window comes any more, of which the last one known is before `end`."""
        names = [self.problem.program.variables[0]] * (end - start)  # WITHIN reads times only: any will do
        return end < self.high or self.late.come_too_late(WINDOW, self.low, start, names)


def _require_boolean(
    result: pa.ChunkedArray, condition: Condition, span: Span | None, source: Source
) -> None:
    if not pa.types.is_boolean(result.type) and not pa.types.is_null(result.type):
        raise AnalysisError(
            "REX214", f"the condition of {condition.variable} is not boolean but {result.type}", source, span,
            hint="compare it with something",
        )
