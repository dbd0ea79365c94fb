"""RETURN: every item is a column of GROUP-BY, or one aggregate over all trends."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import AnalysisError, UnsupportedError, nearest
from sparkrex.languages.events.returned import text_of
from sparkrex.modes.trends.analyze.expressions import TrendConverter
from sparkrex.modes.trends.language.syntax import Reference, reference_of
from sparkrex.modes.trends.plan import Function, Returned, RowTime, TrendAggregate
from sparkrex.scalar.analyze.aggregate_names import is_aggregate
from sparkrex.scalar.analyze.place import Place
from sparkrex.syntax.scalar_text import row_pattern_function
from sparkrex.syntax.units import WindowUnit

if TYPE_CHECKING:
    from sparkrex.modes.trends.language.syntax import TrendText
    from sparkrex.modes.trends.plan import TrendWindow
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.syntax.items import MeasureItem

_FUNCTIONS: dict[type[exp.Expr], Function] = {
    exp.Count: Function.COUNT, exp.Min: Function.MIN, exp.Max: Function.MAX, exp.Sum: Function.SUM,
    exp.Avg: Function.AVG,
}
_ALL = "COUNT(*), COUNT(E), COUNT(E.x), MIN, MAX, SUM and AVG of E.x, with E of the pattern"
_ORDERED = (*exp.DataType.NUMERIC_TYPES, *exp.DataType.TEMPORAL_TYPES, exp.DataType.Type.UNKNOWN)
_NUMBERS = (*exp.DataType.NUMERIC_TYPES, exp.DataType.Type.UNKNOWN)


def returned_items(
    text: TrendText, scope: Scope, group_by: tuple[str, ...], window: TrendWindow | None
) -> tuple[Returned, ...]:
    """The items of RETURN; `group_by` are the columns of GROUP-BY."""
    return tuple(
        Returned(item.name, _Item(text, item, scope, group_by, window).value(), item.expression.span)
        for item in text.returned
    )


@dataclass(frozen=True, slots=True)
class _Item:
    text: TrendText
    item: MeasureItem
    scope: Scope
    group_by: tuple[str, ...]
    window: TrendWindow | None

    def value(self) -> str | TrendAggregate | RowTime:
        converter = TrendConverter(self.scope, self.item.expression, self.text.pattern)
        tree = converter.tree.unnest()
        if isinstance(tree, exp.Column) and tree.args.get("table") is None:
            return self._column(tree, converter)
        if row_pattern_function(tree) == "MATCH_ROWTIME":
            return self._row_time(tree, converter)
        if type(tree) in _FUNCTIONS:
            return self._aggregate(tree, converter)
        if is_aggregate(tree, converter.scope):
            raise converter.error(
                "REX210", "this aggregate cannot be computed over trends", self.item.expression.span, hint=_ALL
            )
        if any(is_aggregate(node, converter.scope) for node in tree.walk()):
            raise UnsupportedError(
                "REX301", "expressions around aggregates are not supported yet in RETURN", self.scope.source,
                self.item.expression.span,
                hint="compute them in the SQL around: SELECT a / b FROM t MATCH_TRENDS (... RETURN ... AS a, ... AS b)",
            )
        raise self._not_aggregated(tree, converter)

    def _column(self, tree: exp.Column, converter: TrendConverter) -> str:
        span = self.item.expression.span
        name, names = tree.name, self.text.pattern.names
        column = self.scope.find_column(name, span)
        if column is not None and column.name in self.group_by:
            return column.name
        if column is None and name in names:
            raise converter.error("REX210", f"{name} is many events", span, hint=f"COUNT({name}) counts them")
        column = self.scope.column(name, span)
        first = next(iter(names))
        raise converter.error(
            "REX210", f"{column.name} is not a column of GROUP-BY", span,
            hint=f"GROUP-BY {column.name}, or an aggregate such as MIN({first}.{column.name})",
        )

    def _row_time(self, tree: exp.Expr, converter: TrendConverter) -> RowTime:
        span = converter.span(tree)
        if tree.expressions:
            raise converter.error("REX213", "MATCH_ROWTIME takes no argument", span)
        if self.window is None or self.window.unit is WindowUnit.EVENTS:
            raise converter.error(
                "REX226", "MATCH_ROWTIME() is the last time in a window, and there is no window of time", span,
                hint="add WITHIN, or leave it out",
            )
        return RowTime()

    def _not_aggregated(self, tree: exp.Expr, converter: TrendConverter) -> AnalysisError:
        mentions = converter.mentions(tree)
        written = text_of(self.item.expression, self.scope.source)
        if mentions:
            return converter.error(
                "REX210", f"{written} has a value for every event: it needs an aggregate", self.item.expression.span,
                hint=f"MIN({written}), or GROUP-BY a column and return that",
            )
        return converter.error(
            "REX210", "RETURN has columns of GROUP-BY and aggregates", self.item.expression.span, hint=_ALL
        )

    def _aggregate(self, call: exp.Expr, converter: TrendConverter) -> TrendAggregate:
        function = _FUNCTIONS[type(call)]
        argument = call.this
        if isinstance(argument, exp.Star) and function is Function.COUNT:
            return TrendAggregate(Function.TRENDS)
        if isinstance(argument, exp.Star):
            first = self._positive_names()[0]
            raise converter.error(
                "REX210", f"{function.value} is of values, and * is none", self.item.expression.span,
                hint=f"{function.value}({first}.x)",
            )
        if isinstance(argument, exp.Distinct) or argument is None or call.expressions:
            raise converter.error(
                "REX210", f"{function.value} over trends has one argument and no DISTINCT", self.item.expression.span,
                hint=_ALL,
            )
        if len(self.text.pattern.patterns) > 1:
            raise UnsupportedError(
                "REX301", "of a pattern with & only COUNT(*) is supported yet", self.scope.source,
                self.item.expression.span, hint="COUNT(*) counts the pairs of trends",
            )
        variables = self._variables(argument, converter)
        if reference_of(argument.unnest()) is Reference.COUNTED and function is Function.COUNT:
            return TrendAggregate(function, variables)
        value = converter.convert_node(argument, Place())
        self._check_type(function, argument, converter)
        return TrendAggregate(function, variables, value)

    def _variables(self, argument: exp.Expr, converter: TrendConverter) -> frozenset[str]:
        """The variables whose events are aggregated: those of the one name that the argument mentions."""
        pattern = self.text.pattern
        mentions = converter.mentions(argument)
        names = list(dict.fromkeys(mention.name for mention in mentions))
        if not names:
            raise self._of_nothing(argument, converter)
        if len(names) > 1:
            raise converter.error(
                "REX211", f"an aggregate is over events of one name, not of {names[0]} and {names[1]}",
                mentions[-1].span, hint="aggregate each of them, and combine the results outside",
            )
        later = next((mention for mention in mentions if mention.reference is Reference.NEXT), None)
        if later is not None:
            raise converter.error(
                "REX224", "NEXT is for the conditions of WHERE", later.span, hint=f"{later.name}.x is of every event"
            )
        positive = frozenset(pattern.names[names[0]]) - pattern.negated()
        if not positive:
            raise converter.error(
                "REX225", f"{names[0]} is negated: a trend has no such event", mentions[0].span,
                hint=f"the pattern has {', '.join(self._positive_names())}",
            )
        return positive

    def _positive_names(self) -> list[str]:
        pattern = self.text.pattern
        return [name for name, meant in pattern.names.items() if not pattern.negated().issuperset(meant)]

    def _of_nothing(self, argument: exp.Expr, converter: TrendConverter) -> AnalysisError:
        """The error of an argument without an event of the pattern."""
        bare = argument.unnest()
        span = converter.span(bare)
        if isinstance(bare, exp.Column) and bare.args.get("table") is None:
            known = self._positive_names()
            if self.scope.find_column(bare.name, span) is None:
                return converter.error(
                    "REX206", f"{bare.name} is not in the pattern", span,
                    hint=nearest(bare.name, known) or f"the pattern has {', '.join(known)}",
                )
            return converter.error("REX224", f"whose {bare.name} is meant?", span, hint=f"{known[0]}.{bare.name}")
        converter.convert_node(argument, Place())  # a name that is not in the pattern, and the like
        return converter.error(
            "REX224", "which events are aggregated?", self.item.expression.span,
            hint="COUNT(*) counts trends, COUNT(E) events of E",
        )

    def _check_type(self, function: Function, argument: exp.Expr, converter: TrendConverter) -> None:
        kind = converter.types.get(id(argument))
        if kind is None or function is Function.COUNT:
            return
        span = converter.span(argument)
        written = self.scope.source.text[span.start : span.end]
        if function in (Function.SUM, Function.AVG) and not kind.is_type(*_NUMBERS):
            raise converter.error(
                "REX214", f"{function.value} needs numbers, and {written} is a {kind.sql()}", span,
                hint=f"{function.value}(CAST({written} AS DOUBLE)), if it holds numbers",
            )
        if not kind.is_type(*_ORDERED):
            raise UnsupportedError(
                "REX301", f"{function.value} of a {kind.sql()} is not supported yet over trends", self.scope.source,
                span, hint="it is of numbers and times",
            )
