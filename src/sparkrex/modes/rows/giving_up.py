"""A slot in which a search fails, with the setting `on_error="report"`: the starts that it fails at are given up.

What a search meets at one start row its matcher notes itself (`Partitions.failures`). Here is what concerns all rows of
a feed: a condition that the host computes for every row, measures of a match, too many open rows. The slot is fed again
and again, without one more start each time. Where conditions fail for rows that no search may ever come to, they are
tested as the search does come to them, by the interpreter.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from sparkrex.errors import ExecutionError
from sparkrex.matching.reporting import REPORTED, undoing
from sparkrex.modes.rows.choose import Choice, choose_from
from sparkrex.modes.rows.interpreter import Interpreter
from sparkrex.scalar.split import Condition

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.matching.feed import Feed
    from sparkrex.matching.state import State
    from sparkrex.modes.rows.problem import Problem
    from sparkrex.modes.rows.runner import RowRunner


def feed_giving_up(runner: RowRunner, state: State, feed: Feed) -> pa.Table:
    """Feed the only slot of a feed, without the starts at which that fails."""
    problem = runner.choice.problem
    choice, lazy = choose_from(problem, "backtrack"), _one_by_one(problem)
    given_up: dict[int, ExecutionError] = {}
    while True:
        try:
            return undoing(state, feed, partial(runner.feed_once, choice=choice, given_up=given_up))
        except ExecutionError as error:
            if error.code not in REPORTED:
                raise
            if error.row is None and choice is not lazy:
                choice = lazy
                continue
            if error.row is None or error.row in given_up:
                raise  # giving the row up does not help
            given_up[error.row] = error


def _one_by_one(problem: Problem) -> Choice:
    """The interpreter over conditions that are tested only where the search comes to them."""
    conditions = tuple(
        Condition(definition.variable, None, definition.condition) for definition in problem.plan.definitions
    )
    problem = replace(problem, conditions=conditions)
    return Choice(problem, Interpreter(problem), ())
