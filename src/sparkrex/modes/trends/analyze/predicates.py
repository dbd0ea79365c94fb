"""The conjuncts of WHERE, sorted by the events that they read.

A conjunct over one event is *local*: it decides whether the event can be bound to a variable. One that compares an
event with the next is *adjacent*: it holds wherever an event of the one name directly follows one of the other. A name
is a variable, or a type that stands for several; which of them can be adjacent, the patterns' automata say.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.modes.trends.analyze.expressions import Mention, TrendConverter
from sparkrex.modes.trends.automaton import adjacent_variables
from sparkrex.modes.trends.language.syntax import Reference
from sparkrex.modes.trends.pattern import absences, events
from sparkrex.modes.trends.plan import Adjacent
from sparkrex.scalar.analyze.place import Place
from sparkrex.scalar.expression import Call, Literal
from sparkrex.syntax.items import ScalarText

if TYPE_CHECKING:
    from sparkrex.modes.trends.language.syntax import PatternText
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Span

_OPERATORS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">=", "eq": "=", "ne": "<>"}
_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
_COMPARISONS = (exp.LT, exp.LTE, exp.GT, exp.GTE, exp.EQ, exp.NEQ)
_NO_CONDITIONS = (*exp.DataType.NUMERIC_TYPES, *exp.DataType.TEXT_TYPES, *exp.DataType.TEMPORAL_TYPES)
_LENGTH = "length"


@dataclass(slots=True)
class Predicates:
    """What WHERE asks: conditions on single events by variable, comparisons of adjacent ones, the least length."""

    local: dict[str, list[Expression]] = field(default_factory=dict)
    adjacent: list[Adjacent] = field(default_factory=list)
    minimum_length: int = 1


def sort_conjuncts(conjuncts: tuple[ScalarText, ...], pattern: PatternText, scope: Scope) -> Predicates:
    """Every conjunct in its place."""
    sorter = _Sorter(pattern, scope)
    for conjunct in conjuncts:
        sorter.add(conjunct)
    return sorter.found


@dataclass(frozen=True, slots=True)
class _Side:
    """A side of a comparison: the events that it reads and what it computes of one."""

    mentions: tuple[Mention, ...]
    value: Expression

    @property
    def is_next(self) -> bool:
        return any(mention.reference is Reference.NEXT for mention in self.mentions)

    def events(self) -> set[tuple[str, Reference]]:
        return {(mention.name, mention.reference) for mention in self.mentions}


class _Sorter:
    def __init__(self, pattern: PatternText, scope: Scope) -> None:
        self.pattern = pattern
        self.scope = scope
        self.edges = frozenset(pair for side in pattern.patterns for pair in adjacent_variables(side))
        self.found = Predicates()

    def add(self, conjunct: ScalarText) -> None:
        converter = TrendConverter(self.scope, conjunct, self.pattern)
        tree = converter.tree
        length = self._length(tree, converter)
        if length is not None:
            self.found.minimum_length = max(self.found.minimum_length, length)
            return
        if isinstance(tree, exp.Array):
            raise converter.error(
                "REX224", "an equivalence test lists names of columns", conjunct.span, hint="[company, sector]"
            )
        kind = converter.types.get(id(tree))
        if kind is not None and kind.is_type(*_NO_CONDITIONS):
            raise converter.error(
                "REX214", f"a condition is a boolean, not {kind.sql()}", conjunct.span,
                hint="compare it with something, or write [attribute] for what all events agree in",
            )
        mentions = converter.mentions(tree)
        has_next = any(mention.reference is Reference.NEXT for mention in mentions)
        if not has_next and len({self.pattern.names[mention.name] for mention in mentions}) < 2:
            self._add_local(mentions, converter.convert_node(tree, Place()))
        elif isinstance(tree, exp.Between) and not tree.args.get("symmetric"):
            low, high = tree.args["low"], tree.args["high"]
            for half in (exp.GTE(this=tree.this.copy(), expression=low.copy()),
                         exp.LTE(this=tree.this.copy(), expression=high.copy())):
                self.add(ScalarText(half, conjunct.span))
        else:
            self._add_comparison(tree, converter)

    # -- conditions on one event --

    def _add_local(self, mentions: list[Mention], condition: Expression) -> None:
        if isinstance(condition, Literal) and condition.value is True:
            return
        everything = tuple(dict.fromkeys(part.variable.text for part in self.pattern.components))
        for variable in self.pattern.names[mentions[0].name] if mentions else everything:
            self.found.local.setdefault(variable, []).append(condition)

    def _length(self, tree: exp.Expr, converter: TrendConverter) -> int | None:
        """The least length that `length >= n` asks for, None if the conjunct does not speak of the length."""
        words = [node for node in tree.find_all(exp.Column) if _is_length(node)]
        if not words:
            return None
        if isinstance(tree, exp.GTE | exp.GT | exp.LTE | exp.LT):
            has_length_first = _is_length(tree.this.unnest())
            number = (tree.expression if has_length_first else tree.this).unnest()
            is_lower = isinstance(tree, exp.GTE | exp.GT) == has_length_first
            if is_lower and len(words) == 1 and isinstance(number, exp.Literal) and number.name.isdigit():
                return max(1, int(number.name) + isinstance(tree, exp.GT | exp.LT))
        raise UnsupportedError(
            "REX301", "of the length of a trend only a lower bound can be asked for", self.scope.source,
            converter.span(words[0]),
            hint="length >= 3, with a whole number, as a conjunct of its own; at most 3 is {1,3} in the pattern",
        )

    # -- comparisons of two events --

    def _add_comparison(self, tree: exp.Expr, converter: TrendConverter) -> None:
        if not isinstance(tree, _COMPARISONS):
            raise self._not_one_comparison(converter.span(tree), converter)
        compared = converter.convert_node(tree, Place())
        assert isinstance(compared, Call) and compared.function in _OPERATORS  # what comparisons are converted to
        left, right = (
            _Side(tuple(converter.mentions(node)), value)
            for node, value in zip((tree.this, tree.expression), compared.operands, strict=True)
        )
        self._check_sides(left, right, converter)
        operator = _OPERATORS[compared.function]
        if self._is_reversed(left, right, converter):
            left, right, operator = right, left, _FLIPPED[operator]
        pairs = self._edges_between(left, right)
        if not pairs:
            raise self._never_adjacent(left, right, converter)
        span = converter.span(tree)
        self.found.adjacent += [
            Adjacent(before, after, left.value, operator, right.value, span) for before, after in pairs
        ]

    def _check_sides(self, left: _Side, right: _Side, converter: TrendConverter) -> None:
        """Each side reads one event, and not both the later one."""
        for side in (left, right):
            if len(side.events()) > 1:
                raise self._not_one_comparison(side.mentions[-1].span, converter)
        later = next((side for side in (left, right) if side.is_next), None)
        earlier = right if later is left else left
        if later is not None and (earlier.is_next or not earlier.mentions):
            name = later.mentions[0].name
            raise converter.error(
                "REX224", f"NEXT({name}) is compared with the event before it", later.mentions[0].span,
                hint=f"a condition on one event alone is written without NEXT: {name}.x",
            )

    def _is_reversed(self, left: _Side, right: _Side, converter: TrendConverter) -> bool:
        """Whether the left side reads the later event. Without NEXT only one order may be possible."""
        if left.is_next or right.is_next:
            return left.is_next
        forward, backward = self._edges_between(left, right), self._edges_between(right, left)
        if forward and backward:
            one, other = left.mentions[0].name, right.mentions[0].name
            raise converter.error(
                "REX224", f"{one} can come directly before {other} and directly after it: say which is meant",
                right.mentions[0].span,
                hint=f"NEXT({other}).x where {other} follows {one}, NEXT({one}).x where {one} follows {other}",
            )
        return bool(backward)

    def _edges_between(self, earlier: _Side, later: _Side) -> list[tuple[str, str]]:
        names = self.pattern.names
        return [
            (before, after) for before in names[earlier.mentions[0].name] for after in names[later.mentions[0].name]
            if (before, after) in self.edges
        ]

    # -- errors --

    def _not_one_comparison(self, span: Span, converter: TrendConverter) -> UnsupportedError:
        return UnsupportedError(
            "REX301", "a condition on two events is one comparison, each side of which reads one of them",
            converter.scope.source, span,
            hint="NEXT(S).price - S.price > 5 is NEXT(S).price > S.price + 5; several conditions have AND between them",
        )

    def _never_adjacent(self, earlier: _Side, later: _Side, converter: TrendConverter) -> AnalysisError:
        """The error of a comparison of events that no trend has next to each other."""
        one, other = earlier.mentions[0], later.mentions[0]
        parts = self._negated_parts()
        one_part, other_part = (
            {parts.get(variable) for variable in self.pattern.names[mention.name]} for mention in (one, other)
        )
        if one_part.isdisjoint(other_part):
            both = "two negated parts" if None not in one_part | other_part else "a negated part and the trend itself"
            return converter.error(
                "REX225", f"{one.name} and {other.name} are of {both}, which no condition can link", other.span,
                hint="what all events agree in is an equivalence test: [attribute]; other conditions on what is absent "
                "are for event queries",
            )
        return converter.error(
            "REX224", f"{other.name} never comes directly after {one.name}: a condition is on adjacent events",
            other.span, hint=self._neighbours(one.name, other.name),
        )

    def _negated_parts(self) -> dict[str, int]:
        """The variables of negated parts, and which part each is of."""
        parts = [absent for side in self.pattern.patterns for absent in absences(side)]
        return {event.variable: number for number, absent in enumerate(parts) for event in events(absent)}

    def _neighbours(self, one: str, other: str) -> str:
        names = self.pattern.names
        if any((after, before) in self.edges for before in names[one] for after in names[other]):
            return f"{one} comes after {other}: {other}.x < NEXT({one}).x"
        following = [
            name for name, meant in names.items()
            if any((before, after) in self.edges for before in names[one] for after in meant)
        ]
        return f"after {one} comes {' or '.join(following)}" if following else f"nothing comes after {one}"


def _is_length(node: exp.Expr) -> bool:
    return isinstance(node, exp.Column) and node.args.get("table") is None and node.name.lower() == _LENGTH
