"""Closures over segments of two rows: `((FALL & W)+ (RISE & W)+)+` with a W of two rows.

Each of its segments is a step from a row to the next, so that from a given start the pattern is a small automaton whose
states are the places of its variables (Glushkov's), all of them in one number. It needs no segment of its inner parts.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.kernels.steps import Starts, StepPattern, StepTests, step_ends
from sparkrex.modes.segments.operators.arrays import TooManySegmentsError, check_number, roomier
from sparkrex.modes.segments.operators.joins import (
    LeftProbeConcat,
    RightProbeConcat,
    SortMergeConcat,
    SortMergeOr,
    WildcardConcat,
)
from sparkrex.modes.segments.operators.leaves import Generator

if TYPE_CHECKING:
    from sparkrex.modes.segments.operators.contract import Operator, Rows
    from sparkrex.modes.segments.operators.end_tests import EndTest
    from sparkrex.modes.segments.operators.series import Frame

MOST_PLACES = 62
"""So many fit into one number."""
_ROOM = 1 << 14


@dataclass(eq=False)
class Steps:
    """A pattern of steps: sets of places, as bits, that it begins and ends with and that follow each place."""

    generators: list[Generator] = field(default_factory=list)
    """One for each place."""
    follows: list[int] = field(default_factory=list)
    begins: int = 0
    finishes: int = 0

    def ends(
        self, start: Rows, nearest: Rows, furthest: Rows, limit: int, budget: Rows
    ) -> tuple[Rows, Rows]:
        """Places of starts, and the rows from `nearest` to `furthest` at which the pattern ends from them, in order."""
        numbers: dict[int, int] = {}
        for generator in self.generators:
            numbers.setdefault(id(generator), len(numbers))
        distinct = {id(generator): generator for generator in self.generators}
        tests = [_test_of(generator) for generator in distinct.values()]
        tested_by = np.zeros(len(tests), np.int64)
        for place, generator in enumerate(self.generators):
            tested_by[numbers[id(generator)]] |= 1 << place
        pattern = StepPattern(self.begins, self.finishes, np.array(self.follows, np.int64), tested_by)
        asked = furthest > start
        if not asked.any():
            return start[:0], start[:0]
        first_row = int(start[asked].min())
        truth = np.zeros((len(tests), int(furthest.max()) - first_row + 1), np.uint8)
        longest = int((furthest - start).max())
        counts = np.zeros(len(tests), np.int64)
        conditions = StepTests(
            np.array([test.form.form for test in tests]), np.array([test.form.comparison for test in tests]),
            np.array([test.form.threshold for test in tests]), tests[0].firsts, tests[0].lasts, first_row, truth,
            counts,
        )
        room = [np.empty(max(_ROOM, 2 * longest), np.int64) for _ in range(2)]
        n, place = 0, 0
        while True:
            n, place = step_ends(
                Starts(start, nearest, furthest), pattern, conditions, place, n, *room, budget
            )
            check_number(n)
            if n > limit:
                raise TooManySegmentsError
            if place >= len(start):
                break
            room = roomier(room, n)
        for generator, count in zip(distinct.values(), counts.tolist(), strict=True):
            generator.n_tested += count
        return room[0][:n], room[1][:n]


def steps_of(child: Operator, minimum: int, maximum: int | None, frame: Frame) -> Steps | None:
    """The steps of a closure over a child inside a window; None if not everything below is steps of two rows.

    Windows of inner parts must say no more than the outer one does: they are not looked at any more.
    """
    try:
        steps = Steps()
        steps.begins, steps.finishes = _add_repetition(steps, child, minimum, maximum, frame)
    except _OtherError:
        return None
    tests = [_test_of(generator) for generator in steps.generators]
    is_one_column = all(test.firsts is tests[0].firsts and test.lasts is tests[0].lasts for test in tests)
    return steps if is_one_column else None


class _OtherError(Exception):
    """Something is not made of steps."""


def _test_of(generator: Generator) -> EndTest:
    assert generator.condition is not None and generator.condition.end_test is not None  # `steps_by_two`
    return generator.condition.end_test


def _inside(operator: Operator) -> Operator:
    """The operator behind EXPLAIN's counters."""
    found: Operator = getattr(operator, "operator", operator)
    return found


def _add_repetition(steps: Steps, child: Operator, minimum: int, maximum: int | None, frame: Frame) -> tuple[int, int]:
    if len(frame.first_end):
        raise _OtherError
    rows = frame.high - (minimum - 1) * (_fewest(child) - 1)
    copies = [_add_places(steps, child, rows) for _ in range(minimum if maximum is None else maximum)]
    for (_, before), (after, _) in pairwise(copies):
        _follow(steps, before, after)
    if maximum is None:
        _follow(steps, copies[-1][1], copies[-1][0])
    finishes = 0
    for _, last in copies[minimum - 1 :]:
        finishes |= last
    return copies[0][0], finishes


def _add_places(steps: Steps, given: Operator, rows: int) -> tuple[int, int]:
    """Add the places of an operator whose segments have at most so many rows; those it begins and ends with."""
    from sparkrex.modes.segments.operators.unary import MaterializeKleene

    operator = _inside(given)
    if isinstance(operator, Generator):
        if not operator.steps_by_two or operator.gives:
            raise _OtherError
        steps.generators.append(operator)
        steps.follows.append(0)
        if len(steps.generators) > MOST_PLACES:
            raise _OtherError
        return (1 << (len(steps.generators) - 1),) * 2
    if not isinstance(operator, MaterializeKleene | SortMergeConcat | RightProbeConcat | LeftProbeConcat | SortMergeOr):
        raise _OtherError
    frame = operator.frame
    says_more = len(frame.first_end) or frame.low > _fewest(operator) or frame.high < rows
    if isinstance(operator, WildcardConcat) or operator.gives or operator.gap or says_more:
        raise _OtherError
    if isinstance(operator, MaterializeKleene):
        (child,) = operator.children
        return _add_repetition(steps, child, operator.minimum, operator.maximum, frame._replace(high=rows))
    left, right = operator.children
    if isinstance(operator, SortMergeOr):
        one, other = _add_places(steps, left, rows), _add_places(steps, right, rows)
        return one[0] | other[0], one[1] | other[1]
    one = _add_places(steps, left, rows - _fewest(right) + 1)
    other = _add_places(steps, right, rows - _fewest(left) + 1)
    _follow(steps, one[1], other[0])
    return one[0], other[1]


def _follow(steps: Steps, before: int, after: int) -> None:
    for place in range(len(steps.follows)):
        if before >> place & 1:
            steps.follows[place] |= after


def _fewest(given: Operator) -> int:
    """The fewest rows that segments have by how they are made."""
    from sparkrex.modes.segments.operators.unary import MaterializeKleene

    operator = _inside(given)
    if isinstance(operator, MaterializeKleene):
        return operator.minimum * (_fewest(operator.children[0]) - 1) + 1
    if isinstance(operator, SortMergeOr):
        return min(map(_fewest, operator.children))
    if isinstance(operator, SortMergeConcat | RightProbeConcat | LeftProbeConcat):
        return _fewest(operator.children[0]) + _fewest(operator.children[1]) - 1
    return 2
