"""Expressions of a trend query: whatever they refer to, they read events one at a time.

A reference becomes a column of the event under test; which event that is, the mentions of an expression say.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import UnsupportedError, nearest
from sparkrex.languages.events.rewriting import EQUIVALENCE, referred_name
from sparkrex.modes.trends.language.syntax import Reference, reference_of
from sparkrex.scalar.analyze.aggregate_names import is_aggregate
from sparkrex.scalar.analyze.expressions import Converter
from sparkrex.scalar.analyze.place import Place
from sparkrex.scalar.analyze.references import convert_column
from sparkrex.scalar.expression import EACH_ROW
from sparkrex.scalar.targets import with_targets
from sparkrex.syntax.names import NameRules
from sparkrex.syntax.scalar_text import row_pattern_function

if TYPE_CHECKING:
    from sparkrex.errors import AnalysisError
    from sparkrex.modes.trends.language.syntax import PatternText
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.scalar.expression import Expression
    from sparkrex.source import Span
    from sparkrex.syntax.items import ScalarText


@dataclass(frozen=True, slots=True)
class Mention:
    """A reference to events: the name that it uses, and where it stands."""

    name: str
    reference: Reference
    span: Span


class TrendConverter(Converter):
    """Converts one expression of a trend query."""

    def __init__(self, scope: Scope, text: ScalarText, pattern: PatternText) -> None:
        # References already have the pattern's own spelling of names, as quoted names.
        own = replace(scope, variables=tuple(pattern.names), rules=NameRules(quoted_fold=False))
        super().__init__(own, text, in_define=True)
        self.pattern = pattern
        self.tree = self.strict_tree()

    def mentions(self, node: exp.Expr) -> list[Mention]:
        """The references under a node, itself included, as they are written."""
        found = [
            Mention(referred_name(part), reference, self.span(part))
            for part in node.walk() if (reference := reference_of(part)) is not None
        ]
        return sorted(found, key=lambda mention: mention.span.start)

    def convert_node(self, node: exp.Expr, place: Place) -> Expression:
        """One node of the expression and everything under it."""
        reference = reference_of(node)
        if reference is not None:
            return self._convert_reference(node, reference)
        self._refuse_foreign(node)
        if isinstance(node, exp.Column | exp.Dot) and node.find(exp.Func) is None:
            raise self._without_event(node)
        return super().convert_node(node, place)

    def _convert_reference(self, node: exp.Expr, reference: Reference) -> Expression:
        if reference is Reference.COUNTED:
            name = referred_name(node)
            raise self.error("REX224", "an attribute of the event is missing", self.span(node), hint=f"{name}.x")
        column = convert_column(self, node.expressions[0], Place(each_row=True))
        return with_targets(column, lambda *_: EACH_ROW)

    def _refuse_foreign(self, node: exp.Expr) -> None:
        """Refuse what a trend query does not have."""
        name = row_pattern_function(node)
        if name == EQUIVALENCE:
            raise self.error(
                "REX224", "an equivalence test belongs in WHERE", self.span(node), hint="WHERE [attribute] AND ..."
            )
        if name == "MATCH_ROWTIME":
            raise self.error("REX207", "MATCH_ROWTIME() stands in RETURN, and nothing is around it", self.span(node))
        if name is not None:
            raise self.error(
                "REX207", f"a trend query has no {name}", self.span(node),
                hint="A.x < NEXT(B).x compares an event with the one that directly follows it",
            )
        if isinstance(node, exp.Query | exp.Subquery | exp.Exists | exp.Window) or node.args.get("query") is not None:
            raise UnsupportedError(
                "REX301", "subqueries and window functions in a trend query are not supported yet",
                self.scope.source, self.span(node), hint="compute them in the input of the trend query",
            )
        if is_aggregate(node, self.scope):
            raise self.error(
                "REX210", "aggregates stand in RETURN, and nothing is around them or inside them", self.span(node),
                hint="a condition in WHERE reads one event, or two that follow each other",
            )

    def _without_event(self, node: exp.Expr) -> AnalysisError:
        """The error of a column that is not one of an event of the pattern."""
        span = self.span(node)
        names = [part.name for part in node.find_all(exp.Identifier)]
        qualifier = node.args.get("table") if isinstance(node, exp.Column) else None
        known = tuple(self.pattern.names)
        if qualifier is not None and not self.scope.is_alias(qualifier.name):
            return self.error(
                "REX206", f"{qualifier.name} is not in the pattern", self.span(qualifier),
                hint=nearest(qualifier.name, known) or f"the pattern has {', '.join(known)}",
            )
        written = names[-1] if names else ""
        if written in known:
            return self.error("REX224", "an attribute of the event is missing", span, hint=f"{written}.x")
        if isinstance(node, exp.Column) and qualifier is None and self.scope.find_column(written, span) is None:
            meant = nearest(written, [column.name for column in self.scope.columns])
            return self.error(
                "REX201", f"column {written} does not exist in the input", span,
                hint=meant or f"text is written in quotes: '{written}'",
            )
        return self.error("REX224", f"whose {written} is meant?", span, hint=f"{known[0]}.{written}")
