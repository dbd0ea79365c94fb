"""Why a start begins no match, by definition: all its viable prefixes, one by one.

What is left of a pattern is a tuple of parts that have to come, the first one next; `Round` closes an iteration of a
quantifier. `options` reads it aloud: which variables may come next, in order of preferment, with what is left then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import permutations
from typing import TYPE_CHECKING, Any, assert_never

from tests.modes.rows.oracle.errors import CannotEvaluate
from tests.modes.rows.oracle.expressions import View, value

from sparkrex.languages.match_recognize.row_pattern import (
    Alternation,
    Anchor,
    AnchorKind,
    Concatenation,
    Conjunction,
    Empty,
    Exclusion,
    Negation,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
)
from sparkrex.scalar.expression import Call, Expression
from sparkrex.scalar.guards import can_fail

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sparkrex.modes.rows.plan import MatchRecognize

MOST_PREFIXES = 3_000
NEVER = 1 << 30


@dataclass(frozen=True, slots=True)
class Round:
    """The end of an iteration: how many are done with it, and whether it has mapped a row."""

    of: Quantified
    n_done: int
    has_row: bool = False


Left = tuple[RowPattern | Round, ...]


@dataclass(frozen=True, slots=True)
class Option:
    """A variable that may come next, None at the pattern's end; what is left behind it; the anchors on the way."""

    variable: str | None
    left: Left
    anchors: frozenset[AnchorKind]


def options(left: Left, anchors: frozenset[AnchorKind] = frozenset()) -> Iterator[Option]:
    """What may come next, best first; anchors are noted, not tested."""
    if not left:
        yield Option(None, (), anchors)
        return
    head, rest = left[0], left[1:]
    match head:
        case Variable(name):
            behind = tuple(replace(one, has_row=True) if isinstance(one, Round) else one for one in rest)
            yield Option(name, behind, anchors)
        case Concatenation(items):
            yield from options((*items, *rest), anchors)
        case Alternation(several):
            for one in several:
                yield from options((one, *rest), anchors)
        case Permutation(items):
            for order in permutations(items):
                yield from options((*order, *rest), anchors)
        case Exclusion(body):
            yield from options((body, *rest), anchors)
        case Empty():
            yield from options(rest, anchors)
        case Anchor(kind):
            yield from options(rest, anchors | {kind})
        case Quantified():
            yield from _rounds(head, 0, rest, anchors)
        case Round(of, n_done, has_row):
            if not has_row and n_done >= of.minimum:
                yield from options(rest, anchors)
            else:
                yield from _rounds(of, n_done, rest, anchors)
        case Conjunction() | Negation():
            raise CannotEvaluate("a segment pattern")
        case _:
            assert_never(head)


def _rounds(of: Quantified, n_done: int, rest: Left, anchors: frozenset[AnchorKind]) -> Iterator[Option]:
    may_stop = n_done >= of.minimum
    if may_stop and not of.is_greedy:
        yield from options(rest, anchors)
    if of.maximum is None or n_done < of.maximum:
        counted = n_done + 1 if of.maximum is not None else min(n_done + 1, of.minimum)
        yield from options((of.body, Round(of, counted), *rest), anchors)
    if may_stop and of.is_greedy:
        yield from options(rest, anchors)


def need(left: Left) -> int:
    """The least number of rows that have to come, level by level; no row stands behind `$`, and no `^` behind a row."""
    return _need({left}, False)


def need_of_pattern(pattern: RowPattern) -> int:
    """The same where no row is mapped yet."""
    return _need({(pattern,)}, True)


def _need(level: set[Left], is_start: bool) -> int:
    seen: set[Left] = set()
    n_rows = 0
    while level:
        following: set[Left] = set()
        for left in level:
            for option in options(left):
                if AnchorKind.START in option.anchors and not is_start:
                    continue
                if option.variable is None:
                    return n_rows
                if AnchorKind.END not in option.anchors:
                    following.add(option.left)
        level = following - seen
        seen |= following
        n_rows, is_start = n_rows + 1, False
    return NEVER


@dataclass(frozen=True, slots=True)
class OracleBlocker:
    """Under the preferred prefix: its labels, whether the condition itself is not TRUE, and how far it was missed."""

    labels: tuple[str, ...]
    is_condition: bool
    missed_by: float | None


@dataclass(frozen=True, slots=True)
class OracleWhy:
    """R(s), and the blockers by row (a position in the partition) and variable."""

    need: int
    blockers: Mapping[tuple[int, str], OracleBlocker]


def why(
    plan: MatchRecognize, rows: Sequence[Mapping[str, Any]], start: int, match_number: int, dialect: str
) -> OracleWhy:
    """What stands in the way of one start of an ordered partition."""
    found: list[tuple[int, int, str, tuple[str, ...], bool, bool]] = []
    seen: set[tuple[tuple[str, ...], Left]] = set()

    def holds_at(anchors: frozenset[AnchorKind], row: int) -> bool:
        return (AnchorKind.START not in anchors or row == 0) and (AnchorKind.END not in anchors or row == len(rows))

    def is_true(labels: tuple[str, ...]) -> bool:
        condition = plan.definition(labels[-1])
        return condition is None or value(condition, View(rows, start, labels, labels, match_number, dialect)) is True

    def explore(labels: tuple[str, ...], left: Left) -> bool:
        """Whether a match was met. Notes every variable that may follow, with its need and whether it is TRUE there."""
        if (labels, left) in seen:
            return False
        seen.add((labels, left))
        if len(seen) > MOST_PREFIXES:
            raise CannotEvaluate("too many prefixes")
        row = start + len(labels)
        for option in options(left):
            if labels and AnchorKind.START in option.anchors:
                continue
            passes = holds_at(option.anchors, row)
            if option.variable is None:
                if passes:
                    return True
                continue
            if AnchorKind.END in option.anchors or (not passes and labels):
                continue
            own = 1 + need(option.left)
            is_inside = row < len(rows)
            is_met = is_inside and is_true((*labels, option.variable))
            found.append((own, row, option.variable, labels, is_inside and not is_met, passes))
            if is_met and passes and explore((*labels, option.variable), option.left):
                return True
        return False

    if explore((), (plan.pattern,)):
        return OracleWhy(0, {})
    least = min((one[0] for one in found), default=NEVER)
    # The pattern's own need counts even where `^` lets nothing pass; other barred ways do not.
    barred = need_of_pattern(plan.pattern)
    usable = [one for one in found if one[5] or one[0] == barred]
    least = min((one[0] for one in usable), default=NEVER)
    blockers: dict[tuple[int, str], OracleBlocker] = {}
    for own, row, name, labels, is_condition, passes in usable:
        if own != least or (row, name) in blockers:
            continue
        own_condition = plan.definition(name)
        miss = None
        if is_condition and passes and own_condition is not None:
            view = View(rows, start, (*labels, name), (*labels, name), match_number, dialect)
            miss = missed_by(own_condition, view)
        blockers[row, name] = OracleBlocker(labels, is_condition, miss)
    return OracleWhy(least, blockers)


_OPPOSITE = {"lt": "ge", "ge": "lt", "gt": "le", "le": "gt", "eq": "ne", "ne": "eq"}


def missed_by(condition: Expression, view: View, is_negated: bool = False) -> float | None:
    """How far a condition that is not TRUE was missed: of AND the most, of OR the least; see docs/semantics.md."""
    if not isinstance(condition, Call):
        return None
    parts, function = condition.operands, condition.function
    if function == "not":
        return missed_by(parts[0], view, not is_negated)
    if function == "between":
        low, high = Call("ge", parts[:2]), Call("le", (parts[0], parts[2]))
        return missed_by(Call("and", (low, high)), view, is_negated)
    if function == "in":
        return missed_by(Call("or", tuple(Call("eq", (parts[0], one)) for one in parts[1:])), view, is_negated)
    if function in ("and", "or"):
        wanted = not is_negated
        is_and = (function == "and") is not is_negated
        failing: list[Expression] = []
        for part in parts:
            # What can fail is looked at only where the parts before it leave it open.
            if is_and and failing and can_fail(part):
                continue
            if value(part, view) is not wanted:
                failing.append(part)
        distances = [missed_by(part, view, is_negated) for part in failing]
        if is_and:
            return None if None in distances else max(one for one in distances if one is not None)
        return min((one for one in distances if one is not None), default=None)
    if function in _OPPOSITE:
        left, right = (value(side, view) for side in parts)
        if any(isinstance(side, bool) or not isinstance(side, int | float | Decimal) for side in (left, right)):
            return None
        distance = abs(float(left) - float(right))
        return distance if math.isfinite(distance) else None
    return None
