"""How far a match can reach from its first row: so many rows, or less than so long by the column that orders them.

Where that is known, parts of one partition can be searched on their own: a search that begins anywhere looks at no more
rows from one start than the whole search may. It is known where the pattern has no repetition without an upper bound,
or where every variable that a match's last row can be mapped to is bounded by the first row, as WITHIN bounds all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.evaluate.bounds import as_bounds
from sparkrex.modes.rows.program import Op
from sparkrex.scalar.expression import EACH_ROW, Call, ColumnAt, End, Target
from sparkrex.scalar.split import conjuncts, is_constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.modes.rows.plan import MatchRecognize
    from sparkrex.modes.rows.problem import Problem
    from sparkrex.modes.rows.program import Program
    from sparkrex.scalar.expression import Expression


@dataclass(frozen=True, slots=True)
class TimeExtent:
    """The last row of a match is at most `lengths` after its first, whichever is the longest; all are constants."""

    column: str
    lengths: tuple[Expression, ...]


def why_uncut(problem: Problem) -> str | None:
    """Why the rows of a partition cannot be searched in pieces by a search that goes back, if they cannot.

    Where a condition reads the match and nothing bounds a match, a search from within one might take far longer than
    the one that passes over it.
    """
    if problem.tests_number:
        return "a condition reads MATCH_NUMBER()"
    if all(condition.context is None for condition in problem.conditions) or is_bounded(problem):
        return None
    return "nothing bounds how far a match may reach; WITHIN would"


def is_bounded(problem: Problem) -> bool:
    """Whether the rows of a match, or the time that it takes, are bounded."""
    return most_rows(problem.program) is not None or time_extent(problem.plan, problem.program) is not None


def most_rows(program: Program) -> int | None:
    """The rows of the longest match, None if there is no longest. Every loop of a program maps a row."""
    longest: dict[int, int] = {}
    opened: set[int] = set()
    pending = [(program.entry, False)]
    while pending:
        at, is_done = pending.pop()
        following = _successors(program, at)
        if is_done:
            opened.discard(at)
            maps = int(program.operation[at] == Op.MATCH)
            longest[at] = maps + max((longest[to] for to in following), default=0)
        elif at in opened:
            return None
        elif at not in longest:
            opened.add(at)
            pending.append((at, True))
            pending += [(to, False) for to in following if to not in longest]
            if any(to in opened for to in following):
                return None
    return longest[program.entry]


def _successors(program: Program, at: int) -> list[int]:
    match program.operation[at]:
        case Op.ACCEPT:
            return []
        case Op.SPLIT:
            return [int(program.first[at]), int(program.second[at])]
        case _:
            return [int(program.first[at])]


def last_variables(program: Program) -> set[str]:
    """The variables that a match's last row may be mapped to."""
    ends = [int(at) for at in range(len(program)) if program.operation[at] == Op.MATCH and _accepts_behind(program, at)]
    return {program.variables[int(program.variable[at])] for at in ends}


def _accepts_behind(program: Program, match: int) -> bool:
    pending, seen = [int(program.first[match])], set()
    while pending:
        at = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        if program.operation[at] == Op.ACCEPT:
            return True
        if program.operation[at] != Op.MATCH:
            pending += _successors(program, at)
    return False


def only_first(program: Program) -> set[str]:
    """The variables that no row but a match's first can be mapped to."""
    first: set[int] = set()
    pending, seen = [program.entry], set()
    while pending:
        at = pending.pop()
        if at in seen:
            continue
        seen.add(at)
        if program.operation[at] == Op.MATCH:
            first.add(at)
        else:
            pending += _successors(program, at)
    later: set[int] = set()
    pending = [int(program.first[at]) for at in first]
    seen = set()
    while pending:
        at = pending.pop()
        if at not in seen:
            seen.add(at)
            if program.operation[at] == Op.MATCH:
                later.add(at)
            pending += _successors(program, at)
    names = program.variables
    return {names[int(program.variable[at])] for at in first} - {names[int(program.variable[at])] for at in later}


def time_extent(plan: MatchRecognize, program: Program) -> TimeExtent | None:
    """How long a match can take by the first column of ORDER BY, which ascends, if every way of it ends in a bound."""
    key = plan.order_by[0] if plan.order_by else None
    if key is None or key.is_descending or not isinstance(key.expression, ColumnAt):
        return None
    column = key.expression.column
    alone = only_first(program)
    lengths: list[Expression] = []
    for name in sorted(last_variables(program)):
        condition = plan.definition(name)
        found = None if condition is None else next(_lengths(condition, column, name, alone), None)
        if found is None and name not in alone:
            return None
        lengths += [found] if found is not None else []
    return TimeExtent(column, tuple(dict.fromkeys(lengths))) if lengths else None


def _lengths(condition: Expression, column: str, variable: str, alone: set[str]) -> Iterator[Expression]:
    """How long after the match's first row a row is at most that meets a condition."""
    for conjunct in conjuncts(condition):
        for bound in as_bounds(conjunct, lambda _: True):
            match bound:
                case Call("lt" | "le", (smaller, larger)) | Call("gt" | "ge", (larger, smaller)):
                    pass
                case _:
                    continue
            match smaller, larger:
                case ColumnAt() as value, Call("add", (ColumnAt() as limit, length)):
                    pass
                case Call("subtract", (ColumnAt() as value, ColumnAt() as limit)), length:
                    pass
                case _:
                    continue
            if _is_own(value, column, variable) and _is_first(limit, column, alone) and is_constant(length):
                yield length


def _is_own(value: ColumnAt, column: str, variable: str) -> bool:
    """Whether it is the order column of the row under test."""
    return value.column == column and value.target in (EACH_ROW, Target(frozenset({variable})))


def _is_first(value: ColumnAt, column: str, alone: set[str]) -> bool:
    """Whether it is the order column of the match's first row."""
    target = value.target
    if value.column != column or target.shift or target.offset:
        return False
    if target.variables is None:
        return target.end is End.FIRST
    return target.variables <= alone
