"""Choose the row pattern matcher: the first in rank that supports the query over columns of these types."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.ordered import Columns
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.modes.rows.automaton.matcher import AutomatonMatcher
from sparkrex.modes.rows.backtrack.matcher import BacktrackMatcher
from sparkrex.modes.rows.interpreter import Interpreter
from sparkrex.modes.rows.nothing import NothingMatcher
from sparkrex.modes.rows.ops.matcher import OpsMatcher
from sparkrex.modes.rows.problem import Problem

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.modes.rows.matcher import Matcher
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.scalar.prove import Facts
    from sparkrex.scalar.split import Condition
    from sparkrex.settings import Settings


MATCHERS: list[type[Matcher]] = [OpsMatcher, AutomatonMatcher, BacktrackMatcher, Interpreter]
"""By rank: what costs least a row first. The last one supports everything.

The first one takes what is possessive, by the language or because a condition that reads the match would be searched by
backtracking; other patterns only if it is asked for.
"""


@dataclass(frozen=True, slots=True)
class Choice:
    """The matcher, why it was chosen, and the other matchers with the reason each was not."""

    problem: Problem
    matcher: Matcher
    refusals: tuple[tuple[str, str], ...]

    @property
    def reason(self) -> str:
        """Why it was chosen."""
        return self.matcher.reason

    @property
    def conditions(self) -> tuple[Condition, ...]:
        """The conditions as matchers see them."""
        return self.problem.conditions

    @property
    def variables(self) -> tuple[str, ...]:
        """The pattern variables by number."""
        return self.problem.program.variables


def check_conditions(choice: Choice) -> None:
    """Evaluate the conditions over no rows: a type or a function that does not fit shows before any row is read."""
    problem = choice.problem
    none = Columns(problem.sample, np.zeros(1, np.int64))
    evaluate_bitmaps(problem.conditions, none, problem.evaluator, problem.plan.source)


def choose_matcher(
    plan: MatchRecognize, sample: pa.Table, evaluator: Evaluator, settings: Settings, facts: Facts | None = None
) -> Choice:
    """The matcher for a plan over columns of the sample's types; the sample has no rows."""
    return choose_from(Problem.of(plan, sample, evaluator, settings, facts), settings.matcher)


def choose_from(problem: Problem, wanted: str | None) -> Choice:
    """The first matcher in rank that supports the problem, from the one that is wanted on.

    Another mode of the statement may have the one that is wanted, and this one not.
    """
    if problem.is_impossible and wanted is None:
        return Choice(problem, NothingMatcher(problem), ())
    first = next((n for n, kind in enumerate(MATCHERS) if wanted in (kind.name, *kind.other_names)), 0)
    refusals: list[tuple[str, str]] = []
    for place, kind in enumerate(MATCHERS):
        matcher = kind(problem)
        refusal = matcher.refusal
        if refusal is None and place < first:
            refusal = f"the setting matcher asks for {wanted}"
        if refusal is None:
            matcher.check()
            others = [(other.name, other.slower) for other in MATCHERS[place + 1 :]]
            return Choice(problem, matcher, (*refusals, *others))
        refusals.append((kind.name, refusal))
    raise AssertionError("the last matcher supports everything")


def next_choice(choice: Choice) -> Choice:
    """The matcher behind the one that gave up."""
    names = [kind.name for kind in MATCHERS]
    return choose_from(choice.problem, names[names.index(choice.matcher.name) + 1])
