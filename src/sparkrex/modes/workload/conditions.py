"""The conjuncts of a query, sorted by the items of a clause that they read.

What reads one item is a part of its label; what compares values of two is a link; anything else that reads several is a
formula for the host. What is said of the last event of an array, or of a negated component, is tested on whole matches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sparkrex.modes.workload.kernels.links import FIRST, LAST, LATER, SINGLE
from sparkrex.modes.workload.symbols import Comparison, Formula, Leaf, Symbols
from sparkrex.scalar.expression import EACH_ROW, Aggregate, Call, ColumnAt, End, Literal, Semantics, Target, walk
from sparkrex.scalar.guards import can_fail

if TYPE_CHECKING:
    from collections.abc import Collection

    from sparkrex.modes.events.plan import Conjunct, EventQuery
    from sparkrex.scalar.expression import Expression

_MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le", "eq": "eq", "ne": "ne"}


class NotSharedError(Exception):
    """Why a pattern is matched for itself."""


@dataclass(frozen=True, slots=True)
class AbsenceCondition:
    """A value of an item compared with one of the event that must be absent. Sides read the event itself."""

    operator: str
    item: int
    left: Expression
    right: Expression


class ClauseConditions:
    """The conjuncts that are tested on matches of some variables."""

    def __init__(
        self, query: EventQuery, variables: tuple[str, ...], kleenes: frozenset[str], symbols: Symbols, *,
        counts_events: bool,
    ) -> None:
        self.query, self.symbols, self.counts_events = query, symbols, counts_events
        self.places = {variable: place for place, variable in enumerate(variables)}
        self.kleenes = kleenes
        self.types = {definition.variable: definition.condition for definition in query.types}
        self.negated = {name for conjunct in query.conjuncts for name, _ in conjunct.references} - set(
            _positive(query)
        )
        self._own: dict[tuple[str, int], list[Expression]] = {}
        self._several: list[Expression] = []
        self._of_absent: dict[str, list[Conjunct]] = {}
        for conjunct in query.conjuncts:
            self._sort(conjunct)

    def _sort(self, conjunct: Conjunct) -> None:
        absent = next((name for name, _ in conjunct.references if name in self.negated), None)
        if absent is not None:
            self._of_absent.setdefault(absent, []).append(conjunct)
            return
        if conjunct.last is None:
            for variable in self.places:
                self._add_own(variable, FIRST if variable in self.kleenes else SINGLE, conjunct.expression)
            return
        if conjunct.last not in self.places:
            return
        expression = self._with_bound(conjunct.expression)
        read = self._reads(expression)
        if len(read) == 1 and read[0][1] != LAST:
            self._add_own(*read[0], at_event(expression))
        elif not read:
            self._add_own(conjunct.last, FIRST if conjunct.last in self.kleenes else SINGLE, expression)
        else:
            self._several.append(expression)

    def _add_own(self, variable: str, reads: int, condition: Expression) -> None:
        self._own.setdefault((variable, reads), []).append(condition)

    def _with_bound(self, expression: Expression) -> Expression:
        """What reads a variable that the clause does not have is NULL."""
        if isinstance(expression, ColumnAt) and not (expression.target.variables or set()) <= self.places.keys():
            return Literal(None)
        if isinstance(expression, Call):
            operands = tuple(self._with_bound(operand) for operand in expression.operands)
            if operands != expression.operands:
                from dataclasses import replace

                return replace(expression, operands=operands)
        return expression

    def _reads(self, expression: Expression) -> list[tuple[str, int]]:
        """Which events of which variables an expression reads, in order of appearance."""
        found: dict[tuple[str, int], None] = {}
        for node in walk(expression):
            if isinstance(node, Aggregate):
                raise NotSharedError("a condition has an aggregate")
            if isinstance(node, ColumnAt):
                if not node.target.variables:
                    raise NotSharedError("a condition reads what only Spark knows")
                (variable,) = node.target.variables
                found[variable, self._which(variable, node.target)] = None
        return list(found)

    def _which(self, variable: str, target: Target) -> int:
        if target.offset:
            raise NotSharedError("a condition compares neighbours of an array")
        if variable not in self.kleenes:
            return SINGLE
        if target.end is End.FIRST:
            return FIRST
        return LAST if target.semantics is Semantics.FINAL else LATER

    def label(self, variable: str) -> int:
        """The label of an item."""
        is_kleene = variable in self.kleenes
        own = self._own.get((variable, FIRST if is_kleene else SINGLE), [])
        return self.symbols.leaf(Leaf(
            self.types.get(variable), _sorted(own), is_kleene, _sorted(self._own.get((variable, LATER), [])),
            self.counts_events,
        ))

    def may_share_events(self, one: str, other: str) -> bool:
        """Whether an event may be of both variables' types."""
        types = [named_type(self.types.get(variable)) for variable in (one, other)]
        return types[0] is None or types[1] is None or types[0][0] != types[1][0] or types[0][1] == types[1][1]

    def between(
        self, labels: list[int]
    ) -> tuple[list[tuple[int, int, int]], list[tuple[tuple[int, ...], int]], list[tuple[tuple[int, ...], Formula]]]:
        """Links, joint conditions, and what is tested on whole matches: items and key or formula of each."""
        links, joints, finals = [], [], []
        for expression in self._several:
            comparison = self._comparison(expression, labels)
            if comparison is not None:
                first, second, found = comparison
                links.append((first, second, self.symbols.condition(found)))
                continue
            items, formula = self._formula(expression, labels)
            if len(items) < 2 or any(reads != SINGLE for reads in formula.reads):
                finals.append((items, formula))
            elif len(items) == 2:
                links.append((*items, self.symbols.condition(formula)))
            else:
                joints.append((items, self.symbols.condition(formula)))
        return links, joints, finals

    def _comparison(self, expression: Expression, labels: list[int]) -> tuple[int, int, Comparison] | None:
        """A comparison of two items, read from the first to the second: always `<`, `<=`, `=` or `<>`."""
        sides = self._sides(expression)
        if sides is None:
            return None
        operator, (left, (one, one_reads)), (right, (other, other_reads)) = sides
        places = [self.places[one], self.places[other]]
        swaps = operator in ("gt", "ge")
        if operator in ("eq", "ne"):
            ranks = [(labels[place], repr(side)) for place, side in zip(places, (left, right), strict=True)]
            swaps = ranks[1] < ranks[0]
        if swaps:
            operator, left, right = _MIRRORED[operator], right, left
            one_reads, other_reads = other_reads, one_reads
            places.reverse()
        found = Comparison(
            operator, left, right, one_reads, other_reads, (labels[places[0]], labels[places[1]]), self.query.source,
            expression.span or self.query.span,
        )
        return places[0], places[1], found

    def _sides(
        self, expression: Expression
    ) -> tuple[str, tuple[Expression, tuple[str, int]], tuple[Expression, tuple[str, int]]] | None:
        """Operator and sides of a comparison of two variables, each with what it reads; None if it is none."""
        if not isinstance(expression, Call) or expression.function not in _MIRRORED or can_fail(expression):
            return None
        if len(expression.operands) != 2 or any(not _is_plain(side) for side in expression.operands):
            return None
        (left, right), reads = expression.operands, [self._reads(side) for side in expression.operands]
        if any(len(read) != 1 for read in reads) or reads[0][0][0] == reads[1][0][0]:
            return None
        return expression.function, (at_event(left), reads[0][0]), (at_event(right), reads[1][0])

    def _formula(self, expression: Expression, labels: list[int]) -> tuple[tuple[int, ...], Formula]:
        read = self._reads(expression)
        variables = list(dict.fromkeys(variable for variable, _ in read))
        if any(reads == LATER for _, reads in read) or len(read) > len(variables):
            raise NotSharedError("a condition reads several events of an array")
        reads = dict(read)
        items = tuple(self.places[variable] for variable in variables)
        names = {variable: str(number) for number, variable in enumerate(variables)}
        return items, Formula(
            _renamed(expression, names), tuple(reads[variable] for variable in variables),
            tuple(labels[item] for item in items),
        )

    def absence(self, variable: str) -> tuple[int, tuple[AbsenceCondition, ...]] | None:
        """Label and conditions of a negated component; None if no event can be one that must be absent."""
        own: list[Expression] = []
        compared: list[AbsenceCondition] = []
        for conjunct in self._of_absent.get(variable, ()):
            names = {name for name, _ in conjunct.references}
            if names == {variable}:
                self._reads(conjunct.expression)
                own.append(at_event(conjunct.expression))
                continue
            if not names - {variable} <= self.places.keys():
                if _compares_column_of(conjunct.expression, names - {variable} - self.places.keys()):
                    return None  # a comparison with NULL does not hold
                raise NotSharedError(f"a condition of the negated {variable} reads an optional event")
            compared.append(self._absence_condition(variable, conjunct.expression))
        leaf = Leaf(self.types.get(variable), _sorted(own), counts_events=self.counts_events)
        return self.symbols.leaf(leaf), tuple(compared)

    def _absence_condition(self, variable: str, expression: Expression) -> AbsenceCondition:
        sides = self._sides(expression)
        if sides is None:
            if _is_comparison(expression) and can_fail(expression):
                raise NotSharedError(
                    f"a condition of the negated {variable} may fail, and must only be tested where a match asks"
                )
            raise NotSharedError(f"a condition of the negated {variable} is not a comparison with one event")
        operator, (left, (one, one_reads)), (right, (other, other_reads)) = sides
        if one == variable:
            operator, left, right = _MIRRORED[operator], right, left
            one, one_reads, other_reads = other, other_reads, one_reads
        if one_reads != SINGLE or other_reads != SINGLE:
            raise NotSharedError(f"a condition of the negated {variable} reads an array")
        return AbsenceCondition(operator, self.places[one], left, right)


def named_type(condition: Expression | None) -> tuple[str, str] | None:
    """The column and the value of a type that is told by its name, None if it is told otherwise."""
    match condition:
        case Call("eq", (ColumnAt(target, column), Literal(value))) if target == EACH_ROW and isinstance(value, str):
            return column, value
        case _:
            return None


def at_event(expression: Expression) -> Expression:
    """The expression of one item, said of the event itself."""
    return _with_target(expression, lambda _: EACH_ROW)


def _renamed(expression: Expression, names: dict[str, str]) -> Expression:
    def target(old: Target) -> Target:
        (variable,) = old.variables or ("",)
        return Target(frozenset((names[variable],)))

    return _with_target(expression, target)


def _with_target(expression: Expression, change) -> Expression:  # type: ignore[no-untyped-def]
    from sparkrex.scalar.targets import with_targets

    return with_targets(expression, lambda target, _: change(target))


def _sorted(conditions: list[Expression]) -> tuple[Expression, ...]:
    return tuple(sorted(dict.fromkeys(conditions), key=repr))


def _positive(query: EventQuery) -> tuple[str, ...]:
    from sparkrex.modes.events.pattern import positive_variables

    return positive_variables(query.pattern)


def _is_comparison(expression: Expression) -> bool:
    return isinstance(expression, Call) and expression.function in _MIRRORED


def _compares_column_of(expression: Expression, variables: Collection[str]) -> bool:
    """Whether it compares a bare column of one of these variables: then it is NULL without an event of it."""
    return isinstance(expression, Call) and expression.function in _MIRRORED and any(
        isinstance(side, ColumnAt) and bool((side.target.variables or set()) & set(variables))
        for side in expression.operands
    )


def _is_plain(expression: Expression) -> bool:
    """Whether it reads columns only, and gives the same each time."""
    return all(
        isinstance(node, ColumnAt | Literal) or (isinstance(node, Call) and node.is_deterministic)
        for node in walk(expression)
    )
