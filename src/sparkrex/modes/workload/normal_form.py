"""An event query in normal form: clauses, each with its items, links, and what is tested on whole matches.

Alternatives and optional parts become clauses of their own (disjunctive normal form); nested SEQ and AND become links
between pairs. A variable stands in one place of a pattern, so clauses with the same variables are the same clause, and
matches of different clauses differ in their variables: no match is reported twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

from sparkrex.modes.events.pattern import Absent, AllOf, AnyOf, Event, Kleene, Sequence, positive_variables
from sparkrex.modes.events.plan import Strategy
from sparkrex.modes.workload.clause import BEFORE, DIFFERENT, Clause, Item, Joint, Link
from sparkrex.modes.workload.conditions import ClauseConditions, NotSharedError
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.workload.conditions import AbsenceCondition
    from sparkrex.modes.workload.symbols import Formula, Symbols

MAX_CLAUSES = 64
"""A pattern with more is not planned with others."""


@dataclass(frozen=True, slots=True)
class Absence:
    """A negated component: the label of its events, the items before and after it, and what it is compared with.

    `is_inside` if it is looked for between the first and the last event of the match, whatever the items.
    """

    label: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    is_inside: bool
    conditions: tuple[AbsenceCondition, ...]

    @property
    def is_trailing(self) -> bool:
        """Whether it is looked for after the match's last event."""
        return not self.after and not self.is_inside


@dataclass(frozen=True, slots=True)
class ClauseForm:
    """A clause, and what is tested on its whole matches. `labels` are the numbers of its items' variables."""

    clause: Clause
    labels: tuple[int, ...]
    absences: tuple[Absence, ...]
    finals: tuple[tuple[tuple[int, ...], Formula], ...]


@dataclass(frozen=True, slots=True)
class PatternForm:
    """A pattern in normal form."""

    name: str
    query: EventQuery
    clauses: tuple[ClauseForm, ...]

    @property
    def waits(self) -> bool:
        """Whether its matches are decided only when the window of their first event is over."""
        return any(absence.is_trailing for form in self.clauses for absence in form.absences)


@dataclass(frozen=True, slots=True)
class _Way:
    """One way through a pattern: its variables in order of appearance, and which of them come before which."""

    variables: tuple[str, ...] = ()
    before: frozenset[tuple[str, str]] = frozenset()


def normal_form(name: str, query: EventQuery, symbols: Symbols) -> PatternForm | str:
    """The normal form of a query, or why it has none and is matched for itself."""
    try:
        return _normal_form(name, query, symbols)
    except NotSharedError as error:
        return str(error)


def _normal_form(name: str, query: EventQuery, symbols: Symbols) -> PatternForm:
    if query.strategy is not Strategy.ANY:
        raise NotSharedError(f"its strategy is {query.strategy.value}")
    if query.is_non_overlapping:
        raise NotSharedError("its matches must not overlap")
    kleenes: set[str] = set()
    clauses = []
    for way in {way.variables: way for way in _ways(query.pattern, kleenes)}.values():
        if way.variables:
            form = _clause(name, query, way, frozenset(kleenes), symbols)
            if form is not None:
                clauses.append(form)
    return PatternForm(name, query, tuple(clauses))


def _ways(pattern: EventPattern, kleenes: set[str]) -> list[_Way]:
    match pattern:
        case Event(variable=variable):
            return [_Way((variable,))]
        case Absent():
            return [_Way()]
        case Sequence(items=items):
            return _combined(items, kleenes, is_ordered=True)
        case AllOf(items=items):
            return _combined(items, kleenes, is_ordered=False)
        case AnyOf(options=options):
            return [way for option in options for way in _ways(option, kleenes)]
        case Kleene(body=body, minimum=minimum, maximum=maximum):
            if maximum is not None and maximum > 1:
                raise NotSharedError(f"{pattern} has bounds")
            if maximum is None:
                if not isinstance(body, Event):
                    raise NotSharedError(f"{pattern} repeats a group")
                if minimum > 1:
                    raise NotSharedError(f"{pattern} has bounds")
                kleenes.add(body.variable)
            return _ways(body, kleenes) + ([_Way()] if minimum == 0 else [])


def _combined(items: tuple[EventPattern, ...], kleenes: set[str], *, is_ordered: bool) -> list[_Way]:
    found = []
    options = [_ways(item, kleenes) for item in items]
    n_ways = 1
    for ways in options:
        n_ways *= len(ways)
    if n_ways > MAX_CLAUSES:
        raise NotSharedError(f"it has more than {MAX_CLAUSES} alternatives")
    for parts in product(*options):
        variables: tuple[str, ...] = ()
        before: set[tuple[str, str]] = set()
        for part in parts:
            if is_ordered:
                before |= {(one, other) for one in variables for other in part.variables}
            before |= part.before
            variables += part.variables
        found.append(_Way(variables, frozenset(before)))
    return found


def _clause(
    name: str, query: EventQuery, way: _Way, kleenes: frozenset[str], symbols: Symbols
) -> ClauseForm | None:
    window = query.window
    counts_events = window is not None and window.unit is WindowUnit.EVENTS
    conditions = ClauseConditions(query, way.variables, kleenes, symbols, counts_events=counts_events)
    labels = [conditions.label(variable) for variable in way.variables]
    items = tuple(
        Item(variable, label, variable in kleenes) for variable, label in zip(way.variables, labels, strict=True)
    )
    links = []
    for one in range(len(items)):
        for other in range(one + 1, len(items)):
            pair = (items[one].variable, items[other].variable)
            if pair in way.before:
                links.append(Link(one, other, BEFORE))
            elif query.has_strict_ties or conditions.may_share_events(*pair):
                links.append(Link(one, other, DIFFERENT))
    linked, joints, finals = conditions.between(labels)
    places = {variable: place for place, variable in enumerate(way.variables)}
    clause = Clause(
        name, items, (*links, *(Link(*one) for one in linked)), tuple(Joint(*one) for one in joints),
        None if window is None else float(window.size),
    )
    numbers = {variable: number for number, variable in enumerate(positive_variables(query.pattern))}
    return ClauseForm(
        clause, tuple(numbers[variable] for variable in way.variables),
        _absences(query, places, conditions), tuple(finals),
    )


def _absences(query: EventQuery, places: dict[str, int], conditions: ClauseConditions) -> tuple[Absence, ...]:
    pattern = query.pattern
    if not isinstance(pattern, Sequence | AllOf):
        return ()
    found = []
    for place, item in enumerate(pattern.items):
        if not isinstance(item, Absent):
            continue
        before, after = (
            tuple(places[name] for part in parts for name in positive_variables(part) if name in places)
            for parts in (pattern.items[:place], pattern.items[place + 1 :])
        )
        compared = conditions.absence(item.event.variable)
        if compared is not None:
            label, tests = compared
            found.append(Absence(label, before, after, isinstance(pattern, AllOf), tests))
    return tuple(found)
