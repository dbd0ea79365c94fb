"""What a row pattern keeps of keys whose rows come no more: see `matching.silent`.

Behind the last row that is known, a match may go on with some variables. One whose condition bounds the time of its row
falls away when the watermark has passed the bound; any other keeps the match open, however long no row comes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.languages.match_recognize.row_pattern import AnchorKind
from sparkrex.languages.match_recognize.traverse import span_of
from sparkrex.matching.silent import Lasting
from sparkrex.modes.rows.ahead import ahead_in_program, behind_in_program, least_rows
from sparkrex.modes.rows.automaton.viability import closure
from sparkrex.modes.rows.conditions import least_positions, measured_reach, reach
from sparkrex.modes.rows.program import Op
from sparkrex.modes.rows.unread import targets_behind
from sparkrex.scalar.expression import End, MatchNumber, walk

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sparkrex.modes.rows.choose import Choice
    from sparkrex.modes.rows.matcher import Matcher
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.modes.rows.problem import Problem
    from sparkrex.modes.rows.program import Program
    from sparkrex.scalar.expression import Target
    from sparkrex.source import Span

_WINDOW = "WITHIN"
_GAP = "the setting partition_gap, which ends a partition where no row comes for long"
_NEIGHBOURS = "a bound between neighbours, ts - PREV(ts) <= INTERVAL ..., in the conditions of such variables"


def lasting_of(choice: Choice, record: int) -> list[Lasting]:
    """Everything that a silent key may keep; `record` are the bytes of a slot's numbers."""
    return [*_numbers(choice.problem, record), *_rows_before(choice.problem, record), *_open_rows(choice, record)]


def _numbers(problem: Problem, record: int) -> Iterator[Lasting]:
    if problem.reads_number:
        expressions = [*problem.plan.tested(), *(measure.expression for measure in problem.plan.measures)]
        spans = [node.span for one in expressions for node in walk(one) if isinstance(node, MatchNumber)]
        yield Lasting("a number", "MATCH_NUMBER() counts the matches of a key", (_GAP,), record, span=spans[0])
    if problem.reads_begin:
        span = span_of(problem.plan.pattern, AnchorKind.START)
        yield Lasting("a bit", "^ asks whether a row is the first of its key", (_GAP,), record, span=span)


def _rows_before(problem: Problem, record: int) -> Iterator[Lasting]:
    n_rows, plan = problem.reach_back, problem.plan
    if n_rows:
        least = least_positions(problem.program)
        spans: list[Span | None] = [
            one.condition.span for one in plan.definitions
            if reach(replace(plan, definitions=(one,)), least)[0] == n_rows
        ]
        spans += [one.span for one in plan.measures if measured_reach(replace(plan, measures=(one,)), least) == n_rows]
        rows = "the last row" if n_rows == 1 else f"the last {n_rows} rows"
        far = "1 row" if n_rows == 1 else f"{n_rows} rows"
        yield Lasting(rows, f"PREV or an aggregate reads up to {far} before a match", (_GAP,), record, n_rows, spans[0])


def _open_rows(choice: Choice, record: int) -> Iterator[Lasting]:
    problem, plan = choice.problem, choice.problem.plan
    if problem.is_impossible and not problem.lookahead:
        return
    if problem.lookahead:
        least = least_positions(problem.program)
        spans = [
            one.condition.span for one in plan.definitions
            if reach(replace(plan, definitions=(one,)), least)[1] == problem.lookahead
        ]
        why = "NEXT in DEFINE reads a row that may never come"
        yield Lasting("open rows", why, (_GAP,), record, None, spans[0])
        return
    going_on, waiting, at_end = _undecided(choice.matcher)
    for name in sorted(going_on):
        why = f"a match may go on with {name}, and only a row says that it does not"
        yield Lasting("open rows", why, (_WINDOW, _NEIGHBOURS, _GAP), record, None, span_of(plan.pattern, name))
    for name in sorted(waiting - going_on):
        why = f"a match that has begun waits for {name}"
        yield Lasting("open rows", why, (_WINDOW, _NEIGHBOURS, _GAP), record, None, span_of(plan.pattern, name))
    if at_end:
        why = "$ holds at the end of a partition, and a stream has none"
        yield Lasting("open rows", why, (_GAP,), record, None, span_of(plan.pattern, AnchorKind.END))
    if (span := _reads_behind(plan, problem.program)) is not None:
        why = "NEXT in MEASURES reads behind a match, a row that may never come"
        yield Lasting("open rows", why, (_GAP,), record, None, span)


def _undecided(matcher: Matcher) -> tuple[set[str], set[str], bool]:
    """Variables that rows to come may be mapped to whenever they come: behind what could be a whole match, and behind
    what could not; and whether the end of the partition is asked for."""
    program = matcher.problem.program
    bounded = _bounded(matcher)
    going_on: set[str] = set()
    waiting: set[str] = set()
    at_end = False
    pending = [at for first in (True, False) for at, _ in closure(program, program.entry, is_first=first) if at >= 0]
    seen = set(pending)
    while pending:
        ways = closure(program, int(program.first[pending.pop()]), is_first=False)
        at_end = at_end or (-1, True) in ways
        to = going_on if (-1, False) in ways else waiting
        for at, _ in ways:
            if at < 0:
                continue
            if at not in bounded:
                to.add(program.variables[program.variable[at]])
            if at not in seen:
                seen.add(at)
                pending.append(at)
    return going_on, waiting, at_end


def _bounded(matcher: Matcher) -> set[int]:
    """Instructions that no row is mapped at once the horizon is far enough behind the rows held back: their variables
    have a bound, or a variable does that has to come behind them."""
    program, limits = matcher.problem.program, matcher.limits
    variables = program.variables
    ahead, behind = ahead_in_program(program), behind_in_program(program)
    found = set()
    for at in np.flatnonzero(program.operation == Op.MATCH).tolist():
        name = variables[program.variable[at]]
        if name in limits or name in matcher.silences:
            found.add(at)
            continue
        to_come, mapped = (
            frozenset(one for place, one in enumerate(variables) if bits >> place & 1)
            for bits in (ahead.some[at], behind[at])
        )
        for place, needed in enumerate(variables):
            for limit in limits.get(needed, ()) if ahead.all[at] >> place & 1 else ():
                settled = limit.is_settled(to_come)
                if settled or (settled is False and limit.variables is not None and limit.variables & mapped):
                    found.add(at)
    return found


def _reads_behind(plan: MatchRecognize, program: Program) -> Span | None:
    """A measure that may read a row behind the last one of a match."""
    least = least_rows(program)
    for measure in plan.measures:
        targets, inside = targets_behind(replace(plan, measures=(measure,)))
        if inside or not all(_stays_inside(target, program, least) for target in targets):
            return measure.span
    return None


def _stays_inside(target: Target, program: Program, least: Sequence[int]) -> bool:
    """Whether behind the row that NEXT goes on from there are as many rows of the match in any case."""
    if target.variables is None:
        n_behind = least[program.entry] - 1 - target.offset if target.end is End.FIRST else target.offset
    else:
        own = [
            least[int(program.first[at])] for at in np.flatnonzero(program.operation == Op.MATCH).tolist()
            if program.variables[program.variable[at]] in target.variables
        ]
        n_behind = min(own, default=0)
    return target.shift <= n_behind
