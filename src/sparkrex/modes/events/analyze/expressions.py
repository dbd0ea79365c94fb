"""Expressions of an event query: conjuncts of WHERE, and RETURN.

References say which events they mean: a conjunct has targets that name them (`plan.Conjunct`). Once it is known which
event is under test, they become those of a condition (`at_placement`). In RETURN everything sees the whole match.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import UnsupportedError
from sparkrex.languages.events.rewriting import EQUIVALENCE
from sparkrex.modes.events.analyze.placement import Role, find_mentions, place_conjunct
from sparkrex.modes.events.language.syntax import Index, reference_index
from sparkrex.modes.events.plan import Conjunct
from sparkrex.scalar.analyze.expressions import Converter
from sparkrex.scalar.analyze.place import Place
from sparkrex.scalar.analyze.references import convert_column
from sparkrex.scalar.expression import Aggregate, Call, ColumnAt, End, Expression, Semantics, Target
from sparkrex.scalar.targets import with_targets
from sparkrex.syntax.scalar_text import row_pattern_function

if TYPE_CHECKING:
    from sparkrex.modes.events.analyze.placement import Mention, Placement
    from sparkrex.modes.events.analyze.shape import PatternShape
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Span
    from sparkrex.syntax.items import ScalarText

_NO_CONDITIONS = (*exp.DataType.NUMERIC_TYPES, *exp.DataType.TEXT_TYPES, *exp.DataType.TEMPORAL_TYPES)
_MANY = (Index.ALL, Index.BEFORE)
_TARGETS = {
    Index.FIRST: Target(end=End.FIRST), Index.PREVIOUS: Target(offset=1), Index.LAST: Target(semantics=Semantics.FINAL),
}
"""Without the variable; the other identifiers are its running last event."""
_INSTEAD = {"FIRST": "v[1].x is the first event of v", "LAST": "v[v.LEN].x is the last event of v"}


class EventConverter(Converter):
    """Converts one expression of an event query."""

    def __init__(self, scope: Scope, text: ScalarText, shape: PatternShape, *, is_condition: bool) -> None:
        super().__init__(scope, text, in_define=is_condition)
        self.shape = shape
        self.is_condition = is_condition
        self.whole: frozenset[str] = frozenset()
        self.shared: frozenset[str] = frozenset()

    def convert_condition(self) -> tuple[Placement | None, Conjunct]:
        """A conjunct and where it is tested; None if it mentions no event."""
        tree = self.strict_tree()
        kind = self.types.get(id(tree))
        if kind is not None and kind.is_type(*_NO_CONDITIONS):
            hint = f"an equivalence test is written [{tree.name}]" if isinstance(tree, exp.Column) else None
            raise self.error("REX214", f"a condition is a boolean, not {kind.sql()}", self.text.span, hint=hint)
        mentions = find_mentions(tree, self.span, self.shape, self.scope.source)
        placement = place_conjunct(mentions, self.shape, self.scope.source) if mentions else None
        self.whole = frozenset(mention.variable for mention in mentions if mention.index is Index.ALL)
        references = tuple((mention.variable, mention.index) for mention in mentions)
        return placement, Conjunct(self._convert_tree(tree), references, self._last_bound(placement, mentions))

    def _last_bound(self, placement: Placement | None, mentions: list[Mention]) -> str | None:
        if placement is None or placement.role is not Role.ABSENT:
            return None if placement is None else placement.variable
        names = {mention.variable for mention in mentions}
        return next((name for name in reversed(self.shape.positive) if name in names), None)

    def convert_returned(self, shared: frozenset[str]) -> Expression:
        """An expression of RETURN. `shared` are the columns in which all events of a match are equal."""
        self.shared = shared
        tree = self.strict_tree()
        for mention in find_mentions(tree, self.span, self.shape, self.scope.source):
            name, index = mention.variable, mention.index
            if self.shape.components[name].is_negated:
                raise self.error(
                    "REX225", f"{name} is negated: a match has no such event to return", mention.span,
                    hint=f"the events of a match are {', '.join(self.shape.positive)}",
                )
            if index in (Index.CURRENT, Index.PREVIOUS, Index.BEFORE):
                raise self.error(
                    "REX224", f"{index.of(name)} is for the predicates of WHERE", mention.span,
                    hint=f"{name}[1], {name}[{name}.LEN], or an aggregate such as count({name}[])",
                )
        return with_targets(self._convert_tree(tree), lambda target, _: _final(target))

    def convert_node(self, node: exp.Expr, place: Place) -> Expression:
        """One node of the expression and everything under it."""
        index = reference_index(node)
        if index is not None:
            return self._reference(node, index, place)
        name = row_pattern_function(node)
        if name == EQUIVALENCE:
            raise self.error("REX224", "an equivalence test belongs in WHERE", self.span(node))
        if name is not None and name != "MATCH_ROWTIME":
            raise self.error(
                "REX207", f"an event query has no {name}", self.span(node),
                hint=_INSTEAD.get(name, "v[i-1].x is the event of v before v[i]"),
            )
        if isinstance(node, exp.Query | exp.Subquery | exp.Exists | exp.Window) or node.args.get("query") is not None:
            raise UnsupportedError(
                "REX301", "subqueries and window functions in an event query are not supported yet",
                self.scope.source, self.span(node), hint="compute them in the input of the event query",
            )
        self._check_attribute(node)
        result = super().convert_node(node, place)
        if isinstance(node, exp.Column | exp.Dot) and (base := _base(result)) is not None:
            return self._resolve_unqualified(result, base, place)
        is_star = isinstance(node, exp.Count) and isinstance(node.this, exp.Star)
        if is_star and self.is_condition:
            raise self.error("REX210", "say which events are counted", self.span(node), hint="count(v[])")
        if isinstance(result, Aggregate) and result.variables is not None and result.variables <= self.whole:
            # A conjunct has either all events of a variable or those before the one under test, not both.
            return replace(result, semantics=Semantics.FINAL)
        return result

    def _check_attribute(self, node: exp.Expr) -> None:
        """A variable alone is an event, not a value."""
        if not isinstance(node, exp.Column) or node.args.get("table") is not None:
            return
        span = self.span(node)
        component = next((c for c in self.shape.components.values() if c.key.lower() == node.name.lower()), None)
        if component is not None and self.scope.find_column(node.name, span) is None:
            written = component.variable.text + ("[i]" if component.is_repeated else "")
            raise self.error("REX224", "an attribute of the event is missing", span, hint=f"{written}.attribute")

    def _convert_tree(self, tree: exp.Expr) -> Expression:
        counts = [(count, count.this) for count in tree.find_all(exp.Count)]
        for count, _ in counts:
            _count_events(count)
        try:
            return self.convert_node(tree, Place())
        finally:
            # The tree is read once more where Spark and its workers each have a query of their own.
            for count, argument in counts:
                count.set("this", argument)

    def _reference(self, node: exp.Expr, index: Index, place: Place) -> Expression:
        argument = node.expressions[0]
        span = self.span(node)
        column = convert_column(self, argument, Place(each_row=True))
        base = _base(column)
        assert base is not None and base.target.variables is not None  # the reference begins with a variable
        (variable,) = base.target.variables
        if place.each_row:
            self._check_aggregated(variable, index, span)
            return column
        if index in _MANY:
            raise self.error(
                "REX224", f"{index.of(variable)} is many events: aggregate them", span,
                hint=f"max({index.of(variable)}.x), or {variable}{'[i]' if self.is_condition else '[1]'}.x for one",
            )
        target = self._target(variable, index)
        return with_targets(column, lambda *_: target)

    def _check_aggregated(self, variable: str, index: Index, span: Span) -> None:
        if index in _MANY:
            return
        if not self.shape.components[variable].is_array:
            raise self.error(
                "REX210", f"{variable} is a single event: there is nothing to aggregate", span,
                hint=f"{variable}.attribute",
            )
        all_of_them = Index.BEFORE if index in (Index.CURRENT, Index.PREVIOUS) else Index.ALL
        raise self.error(
            "REX210", f"an aggregate is over many events, and {index.of(variable)} is one", span,
            hint=f"{all_of_them.of(variable)} inside the aggregate",
        )

    def _target(self, variable: str, index: Index) -> Target:
        if index is Index.LAST and not self.shape.components[variable].is_repeated:
            index = Index.SINGLE
        return replace(_TARGETS.get(index, Target()), variables=frozenset((variable,)))

    def _resolve_unqualified(self, result: Expression, base: ColumnAt, place: Place) -> Expression:
        """A column without a variable: one of all events in an aggregate, or one that all of them share."""
        if not self.is_condition and place.each_row:
            return result
        if base.column in self.shared:
            target = Target(end=End.FIRST, semantics=Semantics.FINAL)
            return with_targets(result, lambda *_: target)
        first = self.shape.components[self.shape.positive[0]]
        raise self.error(
            "REX224", f"whose {base.column} is meant?", base.span or self.text.span,
            hint=f"{first.variable.text}{'[1]' if first.is_repeated else ''}.{base.column}",
        )


def _base(expression: Expression) -> ColumnAt | None:
    """The column that an expression is, or a field of; None if it is something else."""
    while isinstance(expression, Call) and expression.function == "struct_field":
        expression = expression.operands[0]
    return expression if isinstance(expression, ColumnAt) else None


def _count_events(count: exp.Count) -> None:
    """`count(v[])` becomes `count(v.*)`, which the aggregates know."""
    argument = count.this
    if argument is None or reference_index(argument) not in _MANY:
        return
    variable = argument.expressions[0]
    if isinstance(variable, exp.Column) and variable.args.get("table") is None:
        count.set("this", exp.Column(this=exp.Star(), table=variable.this.copy()))


def at_placement(conjunct: Conjunct, placement: Placement) -> Expression:
    """The condition that a conjunct is where it is tested: see `plan`."""
    own = frozenset((placement.variable,))
    is_begin, is_leave = placement.role is Role.BEGIN, placement.role is Role.LEAVE

    def placed(target: Target, _: Span | None) -> Target:
        is_own = target.variables == own and not is_leave
        if is_own and target.offset == 0 and (is_begin or target.end is End.LAST):
            return Target()
        return Target(target.variables, end=target.end)

    return with_targets(conjunct.expression, placed)


def _final(target: Target) -> Target:
    return target if target.is_row_time else Target(target.variables, Semantics.FINAL, target.end)
