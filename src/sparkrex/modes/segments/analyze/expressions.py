"""Expressions of a segment query: conditions over a whole segment, and measures.

In a condition a column without a qualifier is one of the variable being defined, `S.x` is `last(S.x)`, and everything
sees the whole segment. In a plain query under ALL MATCHES conditions keep the standard's meaning instead: there a
column without a qualifier is one of the row under test, and FIRST, LAST and aggregates see the rows mapped so far.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import UnsupportedError
from sparkrex.modes.segments.analyze.aggregates import convert_segment_aggregate, find_signature, unknown_aggregate
from sparkrex.modes.segments.analyze.windows import read_window, window_condition
from sparkrex.scalar.analyze.aggregate_names import is_aggregate
from sparkrex.scalar.analyze.expressions import Converter
from sparkrex.scalar.analyze.place import Place
from sparkrex.scalar.analyze.sqlglot_types import are_both_integers
from sparkrex.scalar.current_row import name_current_row
from sparkrex.scalar.expression import Call, ColumnAt, Expression, Literal, Semantics, Target
from sparkrex.scalar.targets import with_targets
from sparkrex.syntax.scalar_text import row_pattern_function

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sparkrex.modes.segments.analyze.aggregates import Signature
    from sparkrex.modes.segments.pattern import Window
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Span
    from sparkrex.syntax.items import ScalarText

_INDEXES = ("start_index", "end_index")
_NO_CONDITIONS = (*exp.DataType.NUMERIC_TYPES, *exp.DataType.TEXT_TYPES, *exp.DataType.TEMPORAL_TYPES)


class SegmentConverter(Converter):
    """Converts the condition of `variable`, or a measure if that is None."""

    def __init__(
        self, scope: Scope, text: ScalarText, *, variable: str | None, is_plain: bool,
        is_segment: Callable[[str], bool], aggregates: Mapping[str, Signature], time_column: str | None,
    ) -> None:
        if variable is not None:
            scope = replace(scope, zero_gives_null=True)
        super().__init__(scope, text, in_define=is_plain and variable is not None)
        self.variable = variable
        self.is_plain = is_plain
        self.is_segment = is_segment
        self.aggregates = aggregates
        self.time_column = time_column
        self.own = None if variable is None else frozenset((variable,))
        if not is_plain:
            self.unqualified = self.own

    def convert_measure(self) -> Expression:
        """A measure: it sees the whole match."""
        return with_targets(self.convert(), lambda target, _: replace(target, semantics=Semantics.FINAL))

    def convert_condition(self) -> tuple[tuple[Window, ...], Expression | None]:
        """A condition: the windows among its conjuncts that bound the variable's segment, and the rest."""
        windows: list[Window] = []
        rest: list[Expression] = []
        for node in _conjuncts(self.strict_tree()):
            if row_pattern_function(node) == "WINDOW":
                call = read_window(self, node)
                if call.variables is None or call.variables == self.own:
                    windows.append(call.window)
                else:
                    rest.append(window_condition(self, call))
                continue
            kind = self.types.get(id(node))
            if kind is not None and kind.is_type(*_NO_CONDITIONS):
                raise self.error("REX214", f"a condition is a boolean, not {kind.sql()}", self.span(node))
            converted = self.convert_node(node, Place())
            if not (isinstance(converted, Literal) and converted.value is True):
                rest.append(self._settle_references(converted))
        if len(rest) > 1:
            return tuple(windows), Call("and", tuple(rest), span=self.text.span)
        return tuple(windows), rest[0] if rest else None

    def convert_node(self, node: exp.Expr, place: Place) -> Expression:
        """One node of the expression and everything under it."""
        name = row_pattern_function(node)
        if name is not None and name not in ("RANGE", "FIRST", "LAST", "PREV", "NEXT", "FINAL"):
            found = self._row_pattern_function(node, name)
            if found is not None:
                return found
        if isinstance(node, exp.Anonymous) and node.name.lower() in _INDEXES:
            return self._index(node)
        if not place.in_relation and (signature := find_signature(self, node)) is not None:
            return convert_segment_aggregate(self, node, signature, place)
        if self.variable is not None:
            self._check_condition_node(node, name)
            if isinstance(node, exp.IntDiv) or (isinstance(node, exp.Div) and self._is_whole_division(node)):
                return self._integer_division(node, place)
        return super().convert_node(node, place)

    def _row_pattern_function(self, node: exp.Expr, name: str) -> Expression | None:
        """What is different from plain queries about the functions of row patterns; None: nothing."""
        span = self.span(node)
        if name == "WINDOW":
            if self.variable is None:
                raise self.error("REX218", "window bounds a segment in DEFINE; it is not a measure", span)
            return window_condition(self, read_window(self, node))
        if name in ("CLASSIFIER", "MATCH_SEQUENCE_NUMBER"):
            raise self.error(
                "REX221", f"a segment query has no {name}(): a row may belong to several variables", span,
                hint="measure the variables themselves, such as first(A.x) and last(A.x)",
            )
        if name == "MATCH_STATUS":
            raise self.error(
                "REX221", "a segment query has no MATCH_STATUS(): every match of it has a row", span,
                hint="leave it out",
            )
        if name == "MATCH_NUMBER" and self.variable is not None:
            raise self.error("REX221", "a condition of a segment query cannot ask for MATCH_NUMBER()", span)
        if name == "RUNNING" and self.variable is not None and not self.is_plain:
            raise self.error(
                "REX207", "a condition sees the whole segment, never a part of it", span, hint="leave RUNNING out"
            )
        return None

    def _index(self, node: exp.Anonymous) -> Expression:
        """Where the match starts or ends: a row's position in its partition, from 0."""
        span, name = self.span(node), node.name.upper()
        if node.expressions:
            raise self.error("REX213", f"{name} takes no argument", span)
        if self.variable is not None:
            raise self.error("REX221", f"{name}() is for MEASURES", span, hint="a window bounds a segment's length")
        return Call(name.lower(), (), span=span)

    def _check_condition_node(self, node: exp.Expr, name: str | None) -> None:
        """Refuse in conditions what cannot be decided for a segment."""
        if isinstance(node, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
            what = "FILTER" if isinstance(node, exp.Filter) else "this form of an aggregate"
            raise self.error("REX213", f"{what} cannot be used in a condition over segments", self.span(node))
        if isinstance(node, exp.Query | exp.Subquery | exp.Exists | exp.Window) or node.args.get("query") is not None:
            raise UnsupportedError(
                "REX301", "subqueries and window functions in the conditions of a segment query are not supported yet",
                self.scope.source, self.span(node), hint="compute them in the input of MATCH_RECOGNIZE",
            )
        is_unknown = isinstance(node, exp.Anonymous) and name is None and self.is_segment(self.variable or "")
        if is_unknown or (name is None and is_aggregate(node, self.scope)):
            raise unknown_aggregate(self, node, self.span(node))

    def _is_whole_division(self, node: exp.Div) -> bool:
        return bool(self.scope.dialect.TYPED_DIVISION) and are_both_integers(node, self.types)

    def _integer_division(self, node: exp.IntDiv | exp.Div, place: Place) -> Expression:
        """Division of whole numbers where the dialect has it; by zero it is NULL, like every division here."""
        divisor = Call("nullif", (self.convert_node(node.expression, place), Literal(0)))
        dividend = self.convert_node(node.this, place)
        return Call("integer_divide", (dividend, divisor), span=self.span(node))

    def _settle_references(self, expression: Expression) -> Expression:
        """The condition with the targets that its references really have."""
        if self.variable is None or not self.is_plain:
            return with_targets(expression, self._segment_target)
        return _named_own(name_current_row(expression, self.variable), self.own)

    def _segment_target(self, target: Target, span: Span | None) -> Target:
        if target.shift and any(map(self.is_segment, target.variables or ())):
            raise self.error(
                "REX207", "PREV and NEXT are for point variables: a segment has a first and a last row",
                span or self.text.span, hint="first(S.x, n) and last(S.x, n) count rows inside the segment",
            )
        return replace(target, semantics=Semantics.FINAL)


def _conjuncts(tree: exp.Expr) -> list[exp.Expr]:
    """The parts of a condition that must all hold, left to right."""
    pending, found = [tree], []
    while pending:
        node = pending.pop().unnest()
        if isinstance(node, exp.And):
            pending += [node.expression, node.this]
        else:
            found.append(node)
    return found


def _named_own(expression: Expression, own: frozenset[str] | None) -> Expression:
    """A plain condition in which the row under test, which the default target means, has its variable's name."""
    match expression:
        case ColumnAt(target) if replace(target, shift=0) == Target():
            return replace(expression, target=replace(target, variables=own, semantics=Semantics.FINAL))
        case Call(operands=operands):
            return replace(expression, operands=tuple(_named_own(part, own) for part in operands))
        case _:
            return expression
