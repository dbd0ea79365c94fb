"""Where a conjunct of an event query is tested: at its last identifier (paper, 3.2 step 2).

An identifier is a mention of a variable's events. `v` and `v[1]` are there when v's first event is met (`begin`),
`v[i]` when a later one is (`take`), `v[v.LEN]` and `agg(v[])` when the match continues after v (`leave`). `v[i-1]` and
`agg(v[..i-1])` refer to what was selected before the `v[i]` of the same conjunct. What is said of a negated component
is tested on events that would break a complete match (`absent`).

Under AND the text does not tell which identifier is settled last. There the placement still says without which
variable's events the conjunct is not tested; when it is tested the matcher finds out (`nfab.any_order`).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import combinations
from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError
from sparkrex.languages.events.rewriting import referred_name
from sparkrex.modes.events.language.syntax import Index, reference_index

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot import exp

    from sparkrex.modes.events.analyze.shape import PatternShape
    from sparkrex.source import Source, Span

_OF_LATER_EVENTS = (Index.CURRENT, Index.PREVIOUS, Index.BEFORE)
_OF_THE_WHOLE = (Index.LAST, Index.ALL)


class Role(Enum):
    """Which condition of a variable a conjunct belongs to."""

    BEGIN = "begin"
    TAKE = "take"
    LEAVE = "leave"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Placement:
    """A condition of a variable."""

    role: Role
    variable: str


@dataclass(frozen=True, slots=True)
class Mention:
    """One identifier. Of a component that binds one event at most, `v[1]` and `v[v.LEN]` are simply `v`."""

    index: Index
    variable: str
    span: Span

    @property
    def is_late(self) -> bool:
        """Whether it is complete only when the match continues after the variable."""
        return self.index in _OF_THE_WHOLE


def find_mentions(
    tree: exp.Expr, span: Callable[[exp.Expr], Span], shape: PatternShape, source: Source
) -> list[Mention]:
    """The identifiers of an expression, each of them fit for its variable."""
    found = []
    for node in tree.walk():
        index = reference_index(node)
        if index is not None:
            found.append(_check_mention(Mention(index, referred_name(node), span(node)), shape, source))
    return found


def _check_mention(mention: Mention, shape: PatternShape, source: Source) -> Mention:
    component = shape.components[mention.variable]
    name, index = mention.variable, mention.index
    if index is Index.SINGLE:
        if component.is_repeated:
            raise AnalysisError(
                "REX224", f"{name} is an array: say which of its events is meant", source, mention.span,
                hint=f"{name}[1], {name}[i] or {name}[{name}.LEN] with the attribute, "
                f"or an aggregate such as max({name}[].x)",
            )
        return mention
    if not component.is_array:
        raise AnalysisError(
            "REX224", f"{name} is a single event, not an array", source, mention.span, hint=f"{name}.attribute"
        )
    if component.is_repeated:
        return mention
    if index in _OF_LATER_EVENTS:
        raise AnalysisError(
            "REX224", f"{name} has one event at most, so there is no {index.of(name)}", source, mention.span,
            hint=f"{name}.attribute",
        )
    return mention if index is Index.ALL else Mention(Index.SINGLE, name, mention.span)


def place_conjunct(mentions: list[Mention], shape: PatternShape, source: Source) -> Placement:
    """The condition that a conjunct with these identifiers, at least one, belongs to."""
    negated = [mention for mention in mentions if shape.components[mention.variable].is_negated]
    if negated:
        return _placed_absent(mentions, negated, source)
    if any(mention.index is Index.CURRENT for mention in mentions):
        return _placed_take(mentions, shape, source)
    for mention in mentions:
        if mention.index in (Index.PREVIOUS, Index.BEFORE):
            name = mention.variable
            whole = f"{name}[{name}.LEN]" if mention.index is Index.PREVIOUS else f"{name}[]"
            raise AnalysisError(
                "REX224", f"{mention.index.of(name)} has no meaning here: the predicate does not refer to {name}[i]",
                source, mention.span,
                hint=f"compare it with {name}[i]; outside predicates of {name}[i] there is {whole}",
            )
    last = mentions[0]
    for one, other in combinations(mentions, 2):
        _check_ordered(one, other, shape, source)
    for mention in mentions[1:]:
        if _is_later(mention, last, shape):
            last = mention
    return Placement(Role.LEAVE if last.is_late else Role.BEGIN, last.variable)


def _placed_absent(mentions: list[Mention], negated: list[Mention], source: Source) -> Placement:
    subject = negated[0].variable
    for mention in mentions:
        if mention in negated and mention.variable != subject:
            raise AnalysisError(
                "REX225", f"a predicate cannot compare the negated {subject} with the negated {mention.variable}",
                source, mention.span, hint="events that are not there are not there together either",
            )
        if mention.index in _OF_LATER_EVENTS:
            name = mention.variable
            raise AnalysisError(
                "REX224", f"a predicate of the negated {subject} sees the whole match, so there is no "
                f"{mention.index.of(name)}", source, mention.span,
                hint=f"{name}[1], {name}[{name}.LEN] or an aggregate",
            )
    return Placement(Role.ABSENT, subject)


def _placed_take(mentions: list[Mention], shape: PatternShape, source: Source) -> Placement:
    current = [mention for mention in mentions if mention.index is Index.CURRENT]
    subject = current[0]
    for mention in current[1:]:
        if mention.variable == subject.variable:
            continue
        if not shape.share_loop(mention.variable, subject.variable):
            raise _not_at_once(mention, subject, shape, source)
        if shape.are_alternatives(mention.variable, subject.variable):
            raise _never_together(mention, subject, source)
        if shape.stands_before(subject.variable, mention.variable):
            subject = mention
    for mention in mentions:
        _check_before_take(mention, subject, shape, source)
    return Placement(Role.TAKE, subject.variable)


def _check_before_take(mention: Mention, subject: Mention, shape: PatternShape, source: Source) -> None:
    """Refuse what is not settled yet when `subject`, a `v[i]`, is met."""
    name, other = mention.variable, subject.variable
    if name == other:
        if mention.is_late:
            before = Index.PREVIOUS if mention.index is Index.LAST else Index.BEFORE
            raise AnalysisError(
                "REX224", f"{mention.index.of(name)} is not known yet when {name}[i] is met", source, mention.span,
                hint=f"{before.of(name)} is what was selected before it",
            )
        return
    if not shape.share_loop(name, other):
        is_before = shape.stands_before(name, other) and not shape.may_mingle(name, other)
        if mention.index in _OF_LATER_EVENTS or not is_before:
            raise _not_at_once(mention, subject, shape, source)
        if shape.are_alternatives(name, other):
            raise _never_together(mention, subject, source)
        return
    if mention.is_late:
        raise AnalysisError(
            "REX224", f"{mention.index.of(name)} is not known yet when {other}[i] is met: both repeat together", source,
            mention.span, hint=f"{name}[1], {name}[i] or {name}[i-1]",
        )
    is_before = shape.stands_before(name, other) and not shape.are_alternatives(name, other)
    if mention.index in (Index.PREVIOUS, Index.BEFORE) and is_before:
        raise AnalysisError(
            "REX224", f"when {other}[i] is met, {name}[i] is already there", source, mention.span,
            hint=f"{name}[i] is the {name} of the same round",
        )


def _not_at_once(mention: Mention, subject: Mention, shape: PatternShape, source: Source) -> AnalysisError:
    """An error about `v[i]` beside something that is met later, or in a Kleene closure of its own."""
    first, other = (mention, subject) if shape.stands_before(mention.variable, subject.variable) else (subject, mention)
    if first.index not in _OF_LATER_EVENTS:
        first, other = other, first
    name = first.variable
    return AnalysisError(
        "REX224", f"{first.index.of(name)} goes through the events of {name} one by one, and {other.variable} is met "
        "at another time", source, first.span,
        hint=f"{name}[{name}.LEN] is the last event, max({name}[].x) and the like refer to all",
    )


def _never_together(one: Mention, other: Mention, source: Source) -> AnalysisError:
    return AnalysisError(
        "REX224", f"{one.variable} and {other.variable} are alternatives: no match has both at once", source, one.span,
        hint="a predicate of one alternative refers to that one and to what is outside",
    )


def _check_ordered(one: Mention, other: Mention, shape: PatternShape, source: Source) -> None:
    if one.variable == other.variable or not shape.are_alternatives(one.variable, other.variable):
        return
    if not shape.share_loop(one.variable, other.variable):
        raise _never_together(other, one, source)
    if not (one.is_late or other.is_late):
        raise AnalysisError(
            "REX224", f"either of {one.variable} and {other.variable} may come first, so nothing tells when to compare "
            "them", source, other.span,
            hint=f"{other.variable}[i] is compared with the {one.variable}[i-1] before it",
        )


def _is_later(one: Mention, other: Mention, shape: PatternShape) -> bool:
    """Whether `one` is settled after `other`."""
    together = one.variable == other.variable or shape.share_loop(one.variable, other.variable)
    if together and one.is_late != other.is_late:
        return one.is_late
    return shape.stands_before(other.variable, one.variable)
