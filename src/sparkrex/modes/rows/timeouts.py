"""SHOW TIMEOUT MATCHES: starts that the end of their window cut off, put among the matches.

Whatever the matcher, its matches and AFTER MATCH SKIP tell at which rows a search was made in vain. From each of them
the beginnings of the pattern are searched once more (`kernels.timeouts`, or in plain Python as the interpreter does).

In an open partition a start may be undecided here although the matcher is done with it: it looks no further than to
where no match can come, a timeout waits for the end of its window. Result rows have one order, that of starts. So the
search then stands at that start again, as if it had got no further, and later matches are found again by the next feed.
Where starts are on their own, only that start is asked for again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.columns.ordered import Columns, partition_ranges
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.evaluate.bytecode import CannotCompileError
from sparkrex.evaluate.context import Context
from sparkrex.matching.matches import Matches
from sparkrex.modes.plan import SkipTo
from sparkrex.modes.rows.deadlines import find_deadlines
from sparkrex.modes.rows.interpreted_bounds import WINDOW
from sparkrex.modes.rows.interpreter import Beginnings
from sparkrex.modes.rows.kernels import backtrack as kernel
from sparkrex.modes.rows.kernels.arguments import Bounds, Instructions, Limits, Memo, Tests
from sparkrex.modes.rows.kernels.timeouts import search_timeouts
from sparkrex.modes.rows.memo import find_memo
from sparkrex.scalar.split import Condition
from sparkrex.threads import spread

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.rows.matcher import Partitions
    from sparkrex.modes.rows.problem import Problem

LEAST_ROWS = 1 << 15
"""Fewer rows than this are not worth a thread of their own."""


def add_timeouts(
    problem: Problem, frame: Columns, partitions: Partitions, before: Partitions, matches: Matches
) -> Matches:
    """The matches with timeouts among them, in order of their starts.

    `before` is where the search stood before it found these matches, `partitions` where it stands now. That changes
    where a timeout is undecided.
    """
    starts, numbers = _searched_in_vain(problem, frame, partitions, before, matches)
    failed = [row for row, _ in partitions.failures or ()]
    if failed or partitions.given_up:
        is_kept = ~np.isin(starts, [*failed, *partitions.given_up])
        starts, numbers = starts[is_kept], numbers[is_kept]
    undecided, timeouts = _search(problem, frame, before, partitions, starts, numbers)
    is_undecided = undecided >= 0
    if is_undecided.any():
        place = np.searchsorted(frame.offsets, matches.start, side="right") - 1
        is_kept = ~is_undecided[place] | (matches.start < undecided[place])
        partitions.number[is_undecided] = numbers[np.searchsorted(starts, undecided[is_undecided])]
        partitions.start[is_undecided] = undecided[is_undecided]
        matches = matches.take(np.flatnonzero(is_kept))
    if not len(timeouts):
        return matches
    both = Matches.joined([matches, timeouts])
    order = np.argsort(both.start, kind="stable")
    is_timeout = np.arange(len(both)) >= len(matches)
    return replace(both.take(order), is_timeout=is_timeout[order])


def describe_timeouts(problem: Problem) -> str | None:
    """How they are searched, for EXPLAIN; None where they are not asked for."""
    if problem.plan.timeout is None:
        return None
    context = _context(problem, Columns(problem.sample, np.zeros(1, np.int64)))
    how = "in plain Python " if context is None else ""
    return f"beginnings are searched {how}from every start without a match, up to the end of its window"


def _searched_in_vain(
    problem: Problem, frame: Columns, partitions: Partitions, before: Partitions, matches: Matches
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The rows at which the matcher looked for a match and found none, and the number that it would have had."""
    if partitions.asked is not None and before.asked is not None:
        is_one = before.asked > partitions.asked
        is_one[matches.start] = False
        own = np.flatnonzero(is_one)
        return own, np.zeros(len(own), np.int64)
    # +1 where a range of rows begins in which searches were made, -1 behind its end.
    changes = np.zeros(frame.n_rows + 1, np.int64)
    np.add.at(changes, before.start, 1)
    np.add.at(changes, partitions.start, -1)
    np.add.at(changes, matches.start, -1)
    # Where the search went on lies in the partition, or where it ends.
    np.add.at(changes, _next_starts(problem, matches), 1)
    starts = np.flatnonzero(np.cumsum(changes[:-1]) > 0)
    place = np.searchsorted(frame.offsets, starts, side="right") - 1
    first = np.searchsorted(matches.start, frame.offsets[place])
    numbers = before.number[place] + np.searchsorted(matches.start, starts) - first
    return starts, numbers.astype(np.int64)


def _next_starts(problem: Problem, matches: Matches) -> NDArray[np.int64]:
    """Where the search went on after each match."""
    skip, start = problem.plan.skip.to, matches.start
    if skip is SkipTo.NEXT_ROW:
        return start + 1
    if skip is SkipTo.PAST_LAST_ROW:
        return np.maximum(matches.end, start + 1)
    is_target = problem.skip_member[matches.labels >> 1]
    targets = np.flatnonzero(is_target)
    bounds = np.searchsorted(targets, matches.label_offsets)
    chosen = bounds[:-1] if skip is SkipTo.FIRST else bounds[1:] - 1
    found = start + 1  # after an empty match
    has_rows = matches.end > start
    found[has_rows] = (start - matches.label_offsets[:-1])[has_rows] + targets[chosen[has_rows]]
    return found


def _search(
    problem: Problem, frame: Columns, before: Partitions, partitions: Partitions, starts: NDArray[np.int64],
    numbers: NDArray[np.int64],
) -> tuple[NDArray[np.int64], Matches]:
    """By partition the first start that is undecided, -1 for none; and what has timed out before it.

    Where starts are on their own, those that are undecided are asked for again instead.
    """
    if not len(starts):
        return np.full(len(before.ends), -1), Matches.none()
    context = _context(problem, frame)
    if context is None:
        return Beginnings(problem, frame, before).search(partitions, starts, numbers)
    return _search_compiled(problem, frame, before, partitions, starts, numbers, context)


def _context(problem: Problem, frame: Columns) -> Context | None:
    """The conditions and that of the window, compiled; None where plain Python has to test them."""
    if problem.settings.matcher == "interpreter":
        return None
    window = Condition(WINDOW, None, problem.plan.timeout)
    variables = (*problem.program.variables, WINDOW)
    threads = problem.settings.thread_count()
    try:
        return Context((*problem.conditions, window), variables, frame, problem.evaluator, threads)
    except CannotCompileError:
        return None


def _search_compiled(
    problem: Problem, frame: Columns, before: Partitions, partitions: Partitions, starts: NDArray[np.int64],
    numbers: NDArray[np.int64], context: Context,
) -> tuple[NDArray[np.int64], Matches]:
    program, variables = problem.program, (*problem.program.variables, WINDOW)
    threads = problem.settings.thread_count()
    known, bitmaps = evaluate_bitmaps(problem.conditions, frame, problem.evaluator, problem.plan.source, threads)
    instructions = Instructions(
        program.operation, program.variable, (2 * program.variable + program.is_excluded).astype(np.int16),
        program.first, program.second, program.entry,
    )
    tests = Tests(
        np.array([known.get(name, -1) for name in variables], np.int32), bitmaps, context.code_begin, context.code_end
    )
    memo = _memo(problem)
    deadlines = find_deadlines(problem.plan, variables, context.bytecode, before.horizon)
    stop = np.zeros(1, np.uint8)
    limits = Limits(problem.lookahead, problem.settings.max_steps, stop)
    asked = partitions.asked_between(0, frame.n_rows)
    offsets, window = before.offsets, len(variables) - 1
    barred = np.zeros((len(before.ends), 1), np.uint8)  # the window alone decides when nothing more can come

    def search(begin: int, end: int) -> tuple[Any, ...]:
        own = slice(*np.searchsorted(starts, [offsets[begin], offsets[end]]))
        bounds = Bounds(
            offsets[begin : end + 1], before.begins[begin:end], before.ends[begin:end], before.start[begin:end],
            before.number[begin:end], barred[begin:end], asked, offsets[begin + 1 : end + 1],
        )
        path = context.path(int(np.diff(bounds.offsets).max(initial=0)))
        return search_timeouts(  # type: ignore[no-any-return]  # compiled
            bounds, starts[own], numbers[own], instructions, window, memo, tests, deadlines, context.machine(),
            context.columns, path, limits,
        )

    pieces = partition_ranges(frame, threads, LEAST_ROWS)
    outcomes = spread(search, pieces, partial(stop.fill, 1))
    for status, row, *_ in outcomes:
        if status != kernel.DONE:
            raise problem.failure(status, int(row))
    return np.concatenate([outcome[2] for outcome in outcomes]), Matches.joined([_timeouts(*o[3:]) for o in outcomes])


def _memo(problem: Problem) -> Memo:
    """What splits remember, all of it for one start: where its window ends decides every search."""
    memo = find_memo(problem.program, problem.conditions)
    remembers = memo.slot >= 0
    slot = np.where(remembers, np.cumsum(remembers) - 1, -1).astype(np.int32)
    return Memo(slot, remembers, 0, int(remembers.sum()))


def _timeouts(
    n_found: int, start: NDArray[np.int64], end: NDArray[np.int64], n_labels: int, labels: NDArray[np.int16]
) -> Matches:
    start, end = start[:n_found], end[:n_found]
    offsets = np.concatenate(([0], np.cumsum(end - start))).astype(np.int64)
    return Matches(start, end, np.zeros(n_found, np.int64), labels[:n_labels], offsets)
