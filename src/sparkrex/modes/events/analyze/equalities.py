"""Equalities between variables that cut the stream of an event query into partitions.

`a.x = b.x AND a.x = c.x` says of every match what `[x]` says: its events agree in x. Where that can be shown, the
events of each value are matched apart. The equalities themselves are tested all the same; the partition only keeps
events from each other that could never meet.

A *key* is an expression of one row, deterministic, that a conjunct compares with itself at another event: `here.K =
other.K`. By key, the equalities make a graph over the variables. With K held to be equal where its values are:

(a) The variables of every match (mandatory ones) are connected, without passing through others, and every optional or
    alternative variable has an equality with a mandatory one. (b) A repeated variable has its first event connected so,
    and a later one is equal to the one before it, to the first, or to an event that is connected. (c) Every negated
    variable has an equality with a positive one.

**Why that is enough under skip_till_any_match.** Every event of a match met `begin` of its variable if it was that
variable's first, else `take`; an equality there held, so the event it names was there (a key is NULL of an event that
is not), and both values are one, not NULL. By (a) the first events of all variables have one value, by (b) all events
have. `v[v.LEN]` counts as v's first event only where all of v's are known to be equal to it by other equalities. So a
match lies in one partition. The other way round, a match of a partition is one of the stream: this strategy may pass
over every event; conditions and windows of time read the match alone; and by (c) an event that makes a negated
condition true has the value of the match, thus is in the partition, where the same events are before and after it. A
match of one event may have any value, NULL too: a row whose key does not equal itself is a partition of its own, and
any union of partitions gives the same matches.

**Skip till next match** also forbids to pass over an event that fits, for runs that will never be complete too. So
every event that can follow another must be compared, on the edge that selects it, with one selected earlier: then by
induction all events of any run have one value, and no edge holds for an event of another value. Equality by way of a
third event that comes later is not enough: with `a.x = c.x AND b.x = c.x` over A1 B2 B1 C1 a run commits to B2.

**AND** changes nothing of this under skip_till_any_match: a conjunct whose last variable is bound held somewhere on the
way, wherever that was. Under skip_till_next_match an event may come before all that it is compared with.

**Never** under contiguity, where events of other values end runs; with WITHIN n EVENTS, which counts them; with
NON-OVERLAPPING, where a match keeps out later ones of other values.

Who asks checks the type of the key: of collated strings and of nested types equality is not that of the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from sparkrex.modes.events.pattern import (
    Absent,
    AllOf,
    AnyOf,
    Event,
    Kleene,
    Sequence,
    absences,
    children,
    has_any_order,
    positive_variables,
)
from sparkrex.modes.events.plan import Strategy
from sparkrex.scalar.expression import Call, ColumnAt, End, Literal, Target, walk
from sparkrex.scalar.forms import written
from sparkrex.scalar.split import CURRENT, at_current_row, conjuncts
from sparkrex.scalar.targets import with_targets
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.modes.events.plan import Conjunct, EventQuery
    from sparkrex.scalar.expression import Expression

_BEGIN, _TAKE, _ABSENT = "begin", "take", "absent"
# NULL if any operand is. Of others an equality might hold with an event that is not there: coalesce(a.x, 0).
_NULL_OF_NULL = {
    "add", "subtract", "multiply", "divide", "integer_divide", "modulo", "negate", "abs", "round", "floor", "ceil",
    "sign", "cast", "try_cast", "in_nanoseconds", "in_zoned_nanoseconds", "struct_field", "lower", "upper", "trim",
    "length", "substring", "reverse", "dpipe", "year", "month", "day", "hour", "minute", "second", "datetrunc",
    "timestamptrunc", "tsordstodate",
}


@dataclass(frozen=True, slots=True)
class Equality:
    """A conjunct of a variable's condition: the key of the event under test is that of an event of `other`."""

    key: Expression
    role: str
    variable: str
    other: str
    end: End
    is_swapped: bool


@dataclass(frozen=True, slots=True)
class EqualityPartition:
    """The keys that partition the stream, for each the equalities that say so, and why other keys do not."""

    keys: tuple[Expression, ...] = ()
    used: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()


def find_partition(query: EventQuery) -> EqualityPartition:
    """By which keys the events of a query can be matched apart."""
    found = _equalities(query)
    if not found:
        return EqualityPartition()
    everywhere = _refused_everywhere(query)
    if everywhere is not None:
        return EqualityPartition(refusals=(everywhere,))
    keys: list[Expression] = []
    used: list[str] = []
    refusals: list[str] = []
    places = _places(query.pattern)
    for key in dict.fromkeys(equality.key for equality in found):
        if any(one.expression == key for one in query.partition_by):
            continue
        graph = _Graph(query, places, [equality for equality in found if equality.key == key])
        refusal = graph.refusal() if _is_null_of_null(key) else "it may have a value where there is no event"
        if refusal is not None:
            refusals.append(f"{key_text(key)}: {refusal}")
            continue
        keys.append(key)
        used.append(", ".join(_text(equality, places) for equality in graph.equalities))
    return EqualityPartition(tuple(keys), tuple(used), tuple(refusals))


def _refused_everywhere(query: EventQuery) -> str | None:
    if query.strategy in (Strategy.STRICT, Strategy.PARTITION):
        return f"under {query.strategy.value} events of other values end runs"
    if query.is_non_overlapping:
        return "with NON-OVERLAPPING a match keeps out matches of other values"
    if query.window is not None and query.window.unit is WindowUnit.EVENTS:
        return "WITHIN EVENTS counts events of other values"
    if query.strategy is Strategy.NEXT and has_any_order(query.pattern):
        return "with AND, skip_till_next_match may select an event before all that it is compared with"
    return None


# -- equalities --------------------------------------------------------------------------------------------------------


def _equalities(query: EventQuery) -> list[Equality]:
    found = []
    for role, definitions in ((_BEGIN, query.begin), (_TAKE, query.take), (_ABSENT, query.absent)):
        for definition in definitions:
            for conjunct in conjuncts(definition.condition):
                equality = _equality(conjunct, role, definition.variable)
                if equality is not None:
                    found.append(equality)
    for open_conjunct in query.open_conjuncts():
        last = open_conjunct.last
        if last is not None and last not in open_conjunct.of_whole:
            equality = _equality(_at_first_of(last, open_conjunct), _BEGIN, last)
            if equality is not None:
                found.append(equality)
    return found


def _at_first_of(variable: str, conjunct: Conjunct) -> Expression:
    """A conjunct of a pattern with AND as if a variable's first event were under test, when all others are there."""
    own = frozenset((variable,))
    return with_targets(
        conjunct.expression,
        lambda target, _: CURRENT if target.variables == own else Target(target.variables, end=target.end),
    )


def _equality(conjunct: Expression, role: str, variable: str) -> Equality | None:
    if not isinstance(conjunct, Call) or conjunct.function != "eq" or len(conjunct.operands) != 2:
        return None
    left, right = conjunct.operands
    is_swapped = _row_of(left) != CURRENT
    if is_swapped:
        left, right = right, left
    target = _row_of(right)
    if _row_of(left) != CURRENT or target is None or target.variables is None or len(target.variables) != 1:
        return None
    if at_current_row(left) != at_current_row(right):
        return None
    (other,) = target.variables
    return Equality(at_current_row(left), role, variable, other, target.end, is_swapped)


def _row_of(side: Expression) -> Target | None:
    """The one row that an expression reads, None if it reads several or may differ each time it is asked."""
    found: set[Target] = set()
    for node in walk(side):
        match node:
            case ColumnAt():
                found.add(node.target)
            case Call():
                # A collation makes equal what is not the same value.
                if not node.is_deterministic or node.reads_relation or node.function == "collate":
                    return None
            case Literal():
                pass
            case _:
                return None
    return next(iter(found)) if len(found) == 1 else None


def _is_null_of_null(key: Expression) -> bool:
    if isinstance(key, Call):
        return key.function in _NULL_OF_NULL and any(map(_is_null_of_null, key.operands))
    return isinstance(key, ColumnAt)


# -- the variables of a pattern ----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Place:
    """Of a variable: whether every match has it, it may have several events, its first may come after others."""

    is_mandatory: bool = True
    is_repeated: bool = False
    can_follow: bool = False


def _places(pattern: EventPattern) -> dict[str, _Place]:
    """The positive variables, in order of appearance."""
    match pattern:
        case Event():
            return {pattern.variable: _Place()}
        case Sequence():
            found: dict[str, _Place] = {}
            for item in pattern.items:
                if not isinstance(item, Absent):
                    comes_later = bool(found)
                    found |= {
                        name: _Place(place.is_mandatory, place.is_repeated, place.can_follow or comes_later)
                        for name, place in _places(item).items()
                    }
            return found
        case AllOf():
            parts = [_places(item) for item in pattern.items if not isinstance(item, Absent)]
            return {
                name: _Place(place.is_mandatory, place.is_repeated, place.can_follow or len(parts) > 1)
                for part in parts for name, place in part.items()
            }
        case AnyOf():
            return {
                name: _Place(False, place.is_repeated, place.can_follow)
                for option in pattern.options for name, place in _places(option).items()
            }
        case Kleene():
            body = _places(pattern.body)
            repeats = pattern.maximum != 1
            return {
                name: _Place(
                    place.is_mandatory and pattern.minimum > 0, place.is_repeated or repeats,
                    # An iteration without it may be the first.
                    place.can_follow or (repeats and not place.is_mandatory and len(body) > 1),
                )
                for name, place in body.items()
            }
        case _:
            return dict(chain.from_iterable(_places(part).items() for part in children(pattern)))


# -- the graph ---------------------------------------------------------------------------------------------------------


class _Graph:
    """The equalities of one key. `first` are the variables whose first event has the value of the match, `whole` those
    all of whose events have."""

    def __init__(self, query: EventQuery, places: dict[str, _Place], equalities: list[Equality]) -> None:
        self.query = query
        self.places = places
        self.equalities = equalities
        self.mandatory = [name for name, place in places.items() if place.is_mandatory]
        self.first: set[str] = set()
        self.whole: set[str] = set()
        if self.mandatory:
            self.first.add(self.mandatory[0])
            while self._grows(self._of(_BEGIN)):
                pass

    def refusal(self) -> str | None:
        """The condition that fails, None if none does."""
        if not self.mandatory:
            return "(a) no variable is in every match"
        for name in self.mandatory[1:]:
            if name not in self.first:
                return f"(a) {name} and {self.mandatory[0]} are not connected by variables that every match has"
        for name in positive_variables(self.query.pattern):
            if name not in self.first:
                return f"(a) {name}, which not every match has, is not equal to a variable that every match has"
            if name not in self.whole:
                return f"(b) {name}[i] is not equal to {name}[i-1], {name}[1] or a connected variable"
        for event in absences(self.query.pattern):
            if not any(one.variable == event.variable for one in self._of(_ABSENT)):
                return f"(c) the negated {event.variable} is not equal to a positive variable"
        if self.query.strategy is Strategy.NEXT:
            return self._refusal_of_next()
        return None

    def _refusal_of_next(self) -> str | None:
        compared = {(one.role, one.variable) for one in self.equalities}
        for name, place in self.places.items():
            if place.can_follow and (_BEGIN, name) not in compared:
                what = f"{name}[1]" if place.is_repeated else name
                return f"skip_till_next_match selects {what} without comparing it with an earlier event"
        return None

    def _of(self, role: str) -> list[Equality]:
        return [one for one in self.equalities if one.role == role]

    def _grows(self, begins: Iterable[Equality]) -> bool:
        before = len(self.first) + len(self.whole)
        for one in begins:
            # Between two variables of which at least one is in every match, and which says that for both.
            is_edge = self._is_first_event(one) and (self._is_mandatory(one.variable) or self._is_mandatory(one.other))
            for known, new in ((one.variable, one.other), (one.other, one.variable)):
                if is_edge and known in self.first and self._is_mandatory(known) and new in self.places:
                    self.first.add(new)
        self.whole |= {name for name in self.first if self._is_whole(name)}
        return len(self.first) + len(self.whole) > before

    def _is_mandatory(self, name: str) -> bool:
        return name in self.places and self.places[name].is_mandatory

    def _is_first_event(self, one: Equality) -> bool:
        """Whether the event of `other` has the value of its first."""
        if one.other not in self.places:
            return False
        is_single = not self.places[one.other].is_repeated
        return is_single or one.end is End.FIRST or one.other in self.whole or self._is_uniform(one.other)

    def _is_uniform(self, name: str) -> bool:
        """Whether all events of a variable are equal, whatever the others are."""
        return any(one.variable == one.other == name for one in self._of(_TAKE))

    def _is_whole(self, name: str) -> bool:
        if not self.places[name].is_repeated or self._is_uniform(name):
            return True
        return any(
            one.variable == name and (one.other in self.whole or (one.other in self.first and one.end is End.FIRST))
            for one in self._of(_TAKE)
        )


# -- text --------------------------------------------------------------------------------------------------------------


def key_text(key: Expression, event: str = "") -> str:
    """A key as it is written, of an event if one is given."""
    match key:
        case ColumnAt(column=column):
            return f"{event}.{column}" if event else column
        case Call():
            return written(key, [key_text(part, event) for part in key.operands])
        case _:
            return str(key)


def _text(equality: Equality, places: dict[str, _Place]) -> str:
    repeated = {name for name, place in places.items() if place.is_repeated}
    own, other = equality.variable, equality.other
    here, there = own, other
    if own in repeated:
        here = f"{own}[1]" if equality.role == _BEGIN else f"{own}[i]"
    if other in repeated:
        last = f"{other}[i-1]" if other == own else f"{other}[{other}.LEN]"
        there = f"{other}[1]" if equality.end is End.FIRST else last
    if equality.is_swapped:
        here, there = there, here
    return f"{key_text(equality.key, here)} = {key_text(equality.key, there)}"
