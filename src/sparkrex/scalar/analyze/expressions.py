"""Scalar expressions: sqlglot trees to `scalar.expression`, with every reference resolved to a target row.

One `Converter` serves one expression. It says which module converts which kind of node; those call back to it for the
nodes below, its types, positions and errors.
"""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import AnalysisError, UnsupportedError
from sparkrex.scalar.analyze.aggregate_names import is_aggregate
from sparkrex.scalar.analyze.aggregates import convert_aggregate
from sparkrex.scalar.analyze.calls import convert_call, convert_connector
from sparkrex.scalar.analyze.nanoseconds import keep_nanoseconds
from sparkrex.scalar.analyze.navigation import convert_row_pattern_function
from sparkrex.scalar.analyze.opaque import convert_subquery, convert_window
from sparkrex.scalar.analyze.place import Place
from sparkrex.scalar.analyze.references import convert_column
from sparkrex.scalar.analyze.spans import span_of_node
from sparkrex.scalar.analyze.sqlglot_types import node_types
from sparkrex.scalar.expression import Expression, Literal
from sparkrex.syntax.scalar_text import ROW_PATTERN_FUNCTIONS, row_pattern_function

if TYPE_CHECKING:
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Span
    from sparkrex.syntax.items import ScalarText


class Converter:
    """Converts one expression of a clause.

    `in_define` is set for conditions. `row_only` names the sub-clause, PARTITION BY, ORDER BY or WITHIN, whose
    expressions see the row itself and nothing of the match. `unqualified` are the variables whose rows a column
    without a qualifier means, None for all rows of the match.
    """

    unqualified: frozenset[str] | None = None

    def __init__(self, scope: Scope, text: ScalarText, *, in_define: bool, row_only: str | None = None) -> None:
        self.scope = scope
        self.text = text
        self.in_define = in_define
        self.row_only = row_only
        self.types = node_types(text.tree, scope)

    def convert(self) -> Expression:
        """The whole expression."""
        return self.convert_node(self.strict_tree(), Place())

    def convert_node(self, node: exp.Expr, place: Place) -> Expression:
        """One node of the expression and everything under it."""
        row_pattern_name = row_pattern_function(node)
        if row_pattern_name is not None:
            return convert_row_pattern_function(self, node, row_pattern_name, place)
        if self._is_processing_time(node):
            raise UnsupportedError(
                "REX301", "MATCH_PROCTIME() is not supported: what is found does not depend on when", self.scope.source,
                self.span(node), hint="MATCH_ROWTIME() is the time of the match's last row",
            )
        self._check_misplaced(node)
        match node:
            case exp.Paren():
                return self.convert_node(node.this, place)
            case exp.Column() | exp.Dot():
                return convert_column(self, node, place)
            case exp.Null():
                return Literal(None, span=self.span(node))
            case exp.Boolean():
                return Literal(bool(node.this), span=self.span(node))
            case exp.Literal():
                return Literal(node.name if node.is_string else _number(node.name), span=self.span(node))
            case exp.Neg(this=exp.Literal(is_string=False) as number):
                return Literal(-_number(number.name), span=self.span(number))
            case exp.And() | exp.Or():
                return convert_connector(self, node, place)
            case exp.Subquery() | exp.Exists() | exp.Select() | exp.SetOperation():
                return convert_subquery(self, node, place)
            case exp.In() if node.args.get("query") is not None:
                return convert_subquery(self, node, place)
            case exp.Any() | exp.All() if node.find(exp.Query) is not None:
                return convert_subquery(self, node, place)
            case exp.Window():
                return convert_window(self, node, place)
        if not place.in_relation and is_aggregate(node, self.scope):
            return convert_aggregate(self, node, place)
        return keep_nanoseconds(convert_call(self, node, place), self.scope)

    def _check_misplaced(self, node: exp.Expr) -> None:
        """Refuse calls whose meaning is clear, and which have another place."""
        if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Anonymous):
            name = node.expression.name.upper()
            if name in ROW_PATTERN_FUNCTIONS:
                variable = node.this.sql(dialect=self.scope.dialect)
                raise self.error(
                    "REX213", f"{name} is not a function of a variable", self.span(node.expression),
                    hint=f"the variable qualifies the column: {name}({variable}.x)",
                )
        if self.in_define and isinstance(node, exp.Anonymous) and node.name.lower() == "window":
            raise self.error(
                "REX213", "window(...) bounds a segment, and this variable is a row", self.span(node),
                hint="a variable for segments is defined by DEFINE SEGMENT S AS ...; WITHIN bounds a match of rows",
            )

    def _is_processing_time(self, node: exp.Expr) -> bool:
        """Whether it is Flink's function that gives the time at which a match is found."""
        is_call = isinstance(node, exp.Anonymous) and node.name.upper() == "MATCH_PROCTIME"
        return is_call and self.scope.dialect_name == "flink"

    def span(self, node: exp.Expr) -> Span:
        """Where the node stands."""
        return span_of_node(node, self.text, self.scope.source)

    def error(self, code: str, message: str, span: Span, *, hint: str | None = None) -> AnalysisError:
        """The error to raise about something at `span`."""
        return AnalysisError(code, message, self.scope.source, span, hint=hint)

    def strict_tree(self) -> exp.Expr:
        """The tree in which CAST means CAST: sqlglot reads Spark's as TRY_CAST, but since Spark 4 (ANSI) it fails."""
        tree = self.text.tree
        written = self.scope.source.text[self.text.span.start : self.text.span.end]
        is_explicit = re.search(r"\btry_cast\s*\(", written, re.IGNORECASE)
        if is_explicit or not self.scope.dialect_name.startswith(("spark", "databricks")):
            return tree
        for node in list(tree.find_all(exp.TryCast)):
            strict = exp.Cast(**node.args)
            self.types[id(strict)] = self.types.get(id(node))
            if node is tree:
                tree = strict
            else:
                node.replace(strict)
        return tree


def _number(text: str) -> int | float | Decimal:
    if text.isdigit():
        return int(text)
    return float(text) if "e" in text.lower() else Decimal(text)
