"""Choose the row pattern matcher from the query and the types of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.columns.ordered import Columns
from sparkrex.evaluate.bitmaps import evaluate_bitmaps
from sparkrex.modes.rows.automaton.matcher import AutomatonMatcher
from sparkrex.modes.rows.backtrack.matcher import BacktrackMatcher
from sparkrex.modes.rows.conditions import reach, split_conditions
from sparkrex.modes.rows.interpreter import Interpreter
from sparkrex.modes.rows.labels import needs_labels
from sparkrex.modes.rows.program import compile_pattern

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.contract import Matcher
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.scalar.split import Condition
    from sparkrex.settings import Settings


@dataclass(frozen=True, slots=True)
class Choice:
    """The matcher, why it was chosen, and the other matchers with the reason each was not."""

    matcher: Matcher
    reason: str
    refusals: tuple[tuple[str, str], ...]
    conditions: tuple[Condition, ...]
    variables: tuple[str, ...]


def check_conditions(choice: Choice, plan: MatchRecognize, sample: pa.Table, evaluator: Evaluator) -> None:
    """Evaluate the conditions over no rows: a type or a function that does not fit shows before any row is read."""
    offsets = np.zeros(1, np.int64)
    evaluate_bitmaps(choice.conditions, Columns(sample, offsets), evaluator, plan.source)


def choose_matcher(
    plan: MatchRecognize, sample: pa.Table, evaluator: Evaluator, settings: Settings, held: tuple[int, int] = (0, 0)
) -> Choice:
    """The matcher for a plan over columns of the sample's types; the sample has no rows.

    `held` are rows that must stay available before and behind a match beside those that its conditions read.
    """
    program = compile_pattern(plan.pattern, plan.source)
    conditions = split_conditions(plan)
    before, behind = reach(plan)
    available = (max(before, held[0]), max(behind, held[1]))
    backtrack = BacktrackMatcher(plan, program, conditions, available, evaluator, settings)
    refusal = backtrack.refusal(sample)
    if settings.matcher == "interpreter":
        refusal = refusal or "the setting matcher asks for it"
    if refusal is not None:
        matcher = Interpreter(backtrack, refusal)
        matcher.check(sample)  # a condition that is not boolean shows although no row may ever reach it
        return Choice(matcher, "it evaluates everything", (("backtrack", refusal),), conditions, program.variables)
    automaton = AutomatonMatcher(backtrack, wants_labels=needs_labels(plan))
    refusal = automaton.refusal()
    if settings.matcher == "backtrack":
        refusal = refusal or "the setting matcher asks for backtrack"
    if refusal is None:
        refusals = (("backtrack", "slower where no condition reads the match"), ("interpreter", "slower"))
        return Choice(automaton, "every condition is decided by rows alone", refusals, conditions, program.variables)
    reason = "every condition that reads the match is in the engine's language"
    if all(condition.context is None for condition in conditions):
        reason = "every condition is decided by rows alone"
    refusals = (("automaton", refusal), ("interpreter", "slower"))
    return Choice(backtrack, reason, refusals, conditions, program.variables)
