"""What a row pattern keeps of keys whose rows come no more: see `matching.silent`.

Behind the last row that is known, a match may go on with some variables. One whose condition bounds the time of its row
falls away when the watermark has passed the bound; any other keeps the match open, however long no row comes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.languages.match_recognize.row_pattern import AnchorKind
from sparkrex.languages.match_recognize.traverse import span_of
from sparkrex.matching.silent import Lasting
from sparkrex.modes.rows.automaton.viability import closure
from sparkrex.modes.rows.conditions import least_positions, measured_reach, reach
from sparkrex.modes.rows.unread import targets_behind
from sparkrex.scalar.expression import MatchNumber, walk

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.rows.choose import Choice
    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.modes.rows.problem import Problem
    from sparkrex.modes.rows.program import Program
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
    going_on, waiting, at_end = _undecided(problem.program, choice.matcher.bounded_variables())
    for name in sorted(going_on):
        why = f"a match may go on with {name}, and only a row says that it does not"
        yield Lasting("open rows", why, (_WINDOW, _NEIGHBOURS, _GAP), record, None, span_of(plan.pattern, name))
    for name in sorted(waiting - going_on):
        why = f"a match that has begun waits for {name}"
        yield Lasting("open rows", why, (_WINDOW, _NEIGHBOURS, _GAP), record, None, span_of(plan.pattern, name))
    if at_end:
        why = "$ holds at the end of a partition, and a stream has none"
        yield Lasting("open rows", why, (_GAP,), record, None, span_of(plan.pattern, AnchorKind.END))
    if (span := _reads_behind(plan)) is not None:
        why = "NEXT in MEASURES reads behind a match, a row that may never come"
        yield Lasting("open rows", why, (_GAP,), record, None, span)


def _undecided(program: Program, bounded: frozenset[str]) -> tuple[set[str], set[str], bool]:
    """Variables that rows to come may be mapped to whenever they come: behind what could be a whole match, and behind
    what could not; and whether the end of the partition is asked for."""
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
            name = program.variables[program.variable[at]]
            if name not in bounded:
                to.add(name)
            if at not in seen:
                seen.add(at)
                pending.append(at)
    return going_on, waiting, at_end


def _reads_behind(plan: MatchRecognize) -> Span | None:
    """A measure that reads a row behind the match's last one."""
    for measure in plan.measures:
        targets, inside = targets_behind(replace(plan, measures=(measure,)))
        if inside or targets:
            return measure.span
    return None
