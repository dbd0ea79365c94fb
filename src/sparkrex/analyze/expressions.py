"""Scalar expressions: sqlglot trees to `ir.scalar`, with every reference resolved to a target row.

One `Converter` serves one expression. The rules of the standard that live here: what a qualified and an unqualified
column mean, which functions may stand in which, and that everything under one navigation or aggregate must speak of the
rows of one variable.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import TYPE_CHECKING, NoReturn

from sqlglot import exp
from sqlglot.optimizer.annotate_types import annotate_types

from sparkrex.analyze import templates
from sparkrex.analyze.subqueries import outer_columns
from sparkrex.errors import AnalysisError, UnsupportedError, nearest
from sparkrex.ir.scalar import (
    EACH_ROW,
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    End,
    Expression,
    Literal,
    MatchNumber,
    Semantics,
    SortItem,
    Target,
)
from sparkrex.languages.match_recognize.expression import PREFIX
from sparkrex.source import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.analyze.scope import Scope
    from sparkrex.languages.match_recognize.syntax import ScalarText

_INTEGERS = {
    exp.DataType.Type.TINYINT, exp.DataType.Type.SMALLINT, exp.DataType.Type.INT, exp.DataType.Type.BIGINT,
    exp.DataType.Type.UTINYINT, exp.DataType.Type.USMALLINT, exp.DataType.Type.UINT, exp.DataType.Type.UBIGINT,
    exp.DataType.Type.INT128,
}
# Aggregates that the engine knows by name, from sqlglot's classes.
_AGGREGATES: dict[type[exp.Expression], str] = {
    exp.Count: "count", exp.Sum: "sum", exp.Avg: "avg", exp.Min: "min", exp.Max: "max",
    exp.Stddev: "stddev_samp", exp.StddevSamp: "stddev_samp", exp.StddevPop: "stddev_pop",
    exp.Variance: "var_samp", exp.VariancePop: "var_pop", exp.ArrayAgg: "array_agg", exp.GroupConcat: "string_agg",
    exp.ArgMax: "max_by", exp.ArgMin: "min_by", exp.LogicalAnd: "bool_and", exp.LogicalOr: "bool_or",
    exp.CountIf: "count_if",
}
_NAMED_AGGREGATES = {
    "map_agg", "string_agg", "min_by", "max_by", "arg_min", "arg_max", "bool_and", "bool_or", "count_if", "list",
}
_SPELLINGS = {"arg_min": "min_by", "arg_max": "max_by", "list": "array_agg"}
# Dialects whose array_agg leaves NULLs out.
_SKIPS_NULLS = {"spark", "spark2", "databricks", "snowflake"}
_NOT_DETERMINISTIC = (exp.Rand, exp.Randn, exp.Uuid)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in an expression a node stands.

    `navigation` is the target that FIRST, LAST, PREV or NEXT around it fixes. `each_row` is set inside aggregates,
    `in_relation` inside window functions and subqueries, where aggregates are the host's own.
    """

    navigation: Target | None = None
    each_row: bool = False
    in_relation: bool = False
    semantics: Semantics | None = None


class Converter:
    """Converts the expressions of one clause; `defining` is the variable whose condition it is, if any."""

    def __init__(self, scope: Scope, text: ScalarText, *, in_define: bool, row_only: str | None = None) -> None:
        self.scope = scope
        self.text = text
        self.in_define = in_define
        # Set for PARTITION BY and ORDER BY, which see the row itself and nothing of the match.
        self.row_only = row_only
        self.types = _types(text.tree, scope)

    def convert(self) -> Expression:
        """The whole expression."""
        tree = self.text.tree
        if not self._is_explicit_try_cast():
            for node in list(tree.find_all(exp.TryCast)):
                strict = exp.Cast(**{**node.args})
                self.types[id(strict)] = self.types.get(id(node))
                if node is tree:
                    tree = strict
                else:
                    node.replace(strict)
        return self._convert(tree, _Place())

    def _is_explicit_try_cast(self) -> bool:
        # sqlglot reads Spark's CAST as TRY_CAST; since Spark 4 (ANSI) a bad cast is an error.
        written = self.scope.source.text[self.text.span.start : self.text.span.end].lower()
        return "try_cast" in written or not self.scope.dialect_name.startswith(("spark", "databricks"))

    # -- dispatch ------------------------------------------------------------------------------------------------

    def _convert(self, node: exp.Expression, place: _Place) -> Expression:
        match node:
            case exp.Paren():
                return self._convert(node.this, place)
            case exp.Column() | exp.Dot():
                return self._column(node, place)
            case exp.Literal() | exp.Boolean() | exp.Null():
                return Literal(_literal(node), span=self._span(node))
            case exp.Neg(this=exp.Literal(args={"is_string": False}) as number):
                return Literal(-_literal(number), span=self._span(number))
            case exp.And() | exp.Or():
                return self._connector(node, place)
            case exp.Anonymous() if node.name.upper().startswith(PREFIX):
                return self._row_pattern_function(node, place)
            case exp.Subquery() | exp.Exists() | exp.Select() | exp.SetOperation():
                return self._relation(node, place)
            case exp.In() if node.args.get("query") is not None:
                return self._relation(node, place)
            case exp.Any() | exp.All() if node.find(exp.Query) is not None:
                return self._relation(node, place)
            case exp.Window():
                return self._relation(node, place)
        if not place.in_relation and self._is_aggregate(node):
            return self._aggregate(node, place)
        return self._call(node, place)

    def _call(self, node: exp.Expression, place: _Place) -> Expression:
        span = self._span(node)
        host = self.scope.host_dialect
        if type(node) in templates.BINARY:
            name, template = templates.BINARY[type(node)]
            return self._structured(name, (node.this, node.expression), template, place, span)
        match node:
            case exp.Div():
                name, template = templates.division(self.scope, self._both_integers(node), host)
                return self._structured(name, (node.this, node.expression), template, place, span)
            case exp.IntDiv():
                template = "({0} // {1})" if host == "duckdb" else "({0} div {1})"
                return self._structured("integer_divide", (node.this, node.expression), template, place, span)
            case exp.Mod():
                name, template = templates.modulo(self.scope, host)
                return self._structured(name, (node.this, node.expression), template, place, span)
            case exp.Not(this=exp.Is(expression=exp.Null()) as inner):
                inner_call = self._convert(inner, place)
                return Call("not", (inner_call,), "(NOT {0})", span=span)
            case exp.Not():
                return self._structured("not", (node.this,), "(NOT {0})", place, span)
            case exp.Neg():
                return self._structured("negate", (node.this,), "(- {0})", place, span)
            case exp.Is(expression=exp.Null()):
                return self._structured("is_null", (node.this,), "({0} IS NULL)", place, span)
            case exp.Is(expression=exp.Boolean() as truth):
                name = "is_true" if truth.this else "is_false"
                return self._structured(name, (node.this,), f"({{0}} IS {str(truth.this).upper()})", place, span)
            case exp.Between() if not node.args.get("symmetric"):
                parts = (node.this, node.args["low"], node.args["high"])
                return self._structured("between", parts, "({0} BETWEEN {1} AND {2})", place, span)
            case exp.In() if node.expressions:
                listed = ", ".join(f"{{{i + 1}}}" for i in range(len(node.expressions)))
                return self._structured("in", (node.this, *node.expressions), f"({{0}} IN ({listed}))", place, span)
            case exp.Like() | exp.ILike():
                word = "LIKE" if isinstance(node, exp.Like) else "ILIKE"
                return self._structured(word.lower(), (node.this, node.expression), f"({{0}} {word} {{1}})", place, span)
            case exp.Escape(this=exp.Like() as like):
                parts = (like.this, like.expression, node.expression)
                return self._structured("like", parts, "({0} LIKE {1} ESCAPE {2})", place, span)
            case exp.Case() | exp.If():
                return self._case(node, place, span)
            case exp.Cast():
                kind = node.to.sql(dialect=host)
                word = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
                operands = (self._convert(node.this, place), Literal(kind))
                return Call(word.lower(), operands, f"{word}({{0}} AS {kind})", span=span)
            case exp.Interval() if isinstance(node.this, exp.Literal) and node.unit is not None:
                literals = (Literal(node.this.name), Literal(node.unit.name.upper()))
                return Call("interval", literals, templates.template_of(node.copy(), self.scope, 0, span), span=span)
            case exp.Coalesce():
                parts = (node.this, *node.expressions)
                return self._structured("coalesce", parts, _function("COALESCE", len(parts)), place, span)
            case exp.Nullif():
                return self._structured("nullif", (node.this, node.expression), "NULLIF({0}, {1})", place, span)
            case exp.Abs():
                return self._structured("abs", (node.this,), "ABS({0})", place, span)
            case exp.Greatest() | exp.Least():
                return self._extreme(node, place, span)
            case exp.DPipe() if self.scope.dialect_name == "oracle":
                # Oracle's NULL is the empty string.
                template = "NULLIF(CONCAT({0}, {1}), '')"
                return self._structured("concat", (node.this, node.expression), template, place, span)
            case exp.DPipe():
                return self._structured("dpipe", (node.this, node.expression), "({0} || {1})", place, span)
        if isinstance(node, exp.Func) and _has_plain_arguments(node):
            return self._function(node, place, span)
        return self._opaque(node, place, span, reads_relation=False)

    # -- operators and functions ---------------------------------------------------------------------------------

    def _structured(
        self, name: str, parts: Sequence[exp.Expression], template: str, place: _Place, span: Span
    ) -> Expression:
        return Call(name, tuple(self._convert(part, place) for part in parts), template, span=span)

    def _connector(self, node: exp.Expression, place: _Place) -> Expression:
        """AND and OR as one flat call, so that a long chain does not nest."""
        kind = type(node)
        parts: list[exp.Expression] = []
        pending = [node]
        while pending:
            current = pending.pop()
            while isinstance(current, exp.Paren) and isinstance(current.this, kind):
                current = current.this
            if isinstance(current, kind):
                pending += [current.expression, current.this]
            else:
                parts.append(current)
        word = "AND" if kind is exp.And else "OR"
        template = "(" + f" {word} ".join(f"{{{i}}}" for i in range(len(parts))) + ")"
        return self._structured(word.lower(), parts, template, place, self._span(node))

    def _case(self, node: exp.Expression, place: _Place, span: Span) -> Expression:
        branches: list[tuple[Expression, Expression]] = []
        if isinstance(node, exp.If):
            branches.append((self._convert(node.this, place), self._convert(node.args["true"], place)))
            default = node.args.get("false")
        else:
            for branch in node.args["ifs"]:
                condition = self._convert(branch.this, place)
                if node.this is not None:
                    condition = Call("eq", (self._convert(node.this, place), condition), "({0} = {1})", span=span)
                branches.append((condition, self._convert(branch.args["true"], place)))
            default = node.args.get("default")
        operands = [part for branch in branches for part in branch]
        text = " ".join(f"WHEN {{{2 * i}}} THEN {{{2 * i + 1}}}" for i in range(len(branches)))
        if default is not None:
            operands.append(self._convert(default, place))
            text += f" ELSE {{{len(operands) - 1}}}"
        return Call("case", tuple(operands), f"(CASE {text} END)", span=span)

    def _extreme(self, node: exp.Greatest | exp.Least, place: _Place, span: Span) -> Expression:
        """GREATEST and LEAST: in some dialects a NULL argument makes the result NULL, in others it is passed over."""
        parts = (node.this, *node.expressions)
        name = "greatest" if isinstance(node, exp.Greatest) else "least"
        template = _function(name.upper(), len(parts))
        if not node.args.get("ignore_nulls", True):
            name += "_strict"
            if self.scope.host_dialect == "duckdb":
                nulls = " OR ".join(f"{{{i}}} IS NULL" for i in range(len(parts)))
                template = f"(CASE WHEN {nulls} THEN NULL ELSE {template} END)"
        return self._structured(name, parts, template, place, span)

    def _function(self, node: exp.Func, place: _Place, span: Span) -> Expression:
        """A function all of whose arguments are scalars: operands one by one, the template translated by sqlglot."""
        name = node.name.lower() if isinstance(node, exp.Anonymous) else node.key
        operands: list[Expression] = []

        def stand_in(argument: exp.Expression) -> exp.Expression:
            operands.append(self._convert(argument, place))
            if isinstance(argument, exp.Literal | exp.Boolean | exp.Null):
                return argument.copy()  # translations look at literal arguments
            return templates.operand(len(operands) - 1, self.types.get(id(argument)))

        arguments: dict[str, object] = {}
        for key, value in node.args.items():
            if isinstance(value, exp.Expression):
                arguments[key] = stand_in(value)
            elif isinstance(value, list):
                arguments[key] = [stand_in(item) if isinstance(item, exp.Expression) else item for item in value]
            else:
                arguments[key] = value
        template = templates.template_of(type(node)(**arguments), self.scope, len(operands), span)
        is_deterministic = not isinstance(node, _NOT_DETERMINISTIC) and name not in ("random", "gen_random_uuid")
        return Call(name, tuple(operands), template, is_deterministic=is_deterministic, span=span)

    def _opaque(self, node: exp.Expression, place: _Place, span: Span, *, reads_relation: bool) -> Expression:
        """Syntax taken whole: only the references, navigations and aggregates in it become operands."""
        operands: list[Expression] = []

        def replace_leaf(part: exp.Expression) -> exp.Expression:
            if part is node or not self._is_leaf(part, place):
                return part
            converted = self._convert(part, place)
            operands.append(converted)
            return templates.operand(len(operands) - 1, self.types.get(id(part)))

        inner = _transformed(node, replace_leaf)
        template = templates.template_of(inner, self.scope, len(operands), span)
        return Call(node.key, tuple(operands), template, reads_relation=reads_relation, span=span)

    def _is_leaf(self, node: exp.Expression, place: _Place) -> bool:
        if isinstance(node, exp.Column):
            return not isinstance(node.this, exp.Star)
        if isinstance(node, exp.Anonymous) and node.name.upper().startswith(PREFIX):
            return True
        return not place.in_relation and self._is_aggregate(node)

    def _relation(self, node: exp.Expression, place: _Place) -> Expression:
        """Window functions and subqueries: the host evaluates them over the input, or over the match's values."""
        span = self._span(node)
        inner_place = replace(place, in_relation=True)
        if isinstance(node, exp.Window):
            if self._mentions(node.this, PREFIX) and not self._mentions(node, PREFIX):
                self._fail("REX210", "a window function cannot hold navigation", span)
            return self._opaque(node, inner_place, span, reads_relation=True)
        outer = outer_columns(node, self.scope)
        operands: list[Expression] = []

        def replace_leaf(part: exp.Expression) -> exp.Expression:
            is_ours = isinstance(part, exp.Anonymous) and part.name.upper().startswith(PREFIX)
            if not is_ours and id(part) not in outer:
                return part
            operands.append(self._convert(part, inner_place))
            return templates.operand(len(operands) - 1, self.types.get(id(part)))

        inner = _transformed(node, replace_leaf)
        template = templates.template_of(inner, self.scope, len(operands), span)
        if not template.startswith("("):
            template = f"({template})"
        return Call(node.key, tuple(operands), template, reads_relation=True, span=span)

    # -- columns -------------------------------------------------------------------------------------------------

    def _column(self, node: exp.Expression, place: _Place) -> Expression:
        span = self._span(node)
        if isinstance(node, exp.Dot) and not _is_name_chain(node):
            return self._opaque(node, place, span, reads_relation=False)
        names = _name_chain(node)
        if isinstance(names[-1], exp.Star):
            self._fail("REX210", "a star is only allowed in COUNT(*) and COUNT(variable.*)", span)
        texts = [name.name for name in names]
        variables: frozenset[str] | None = None
        column = None
        rest: list[str] = []
        if len(names) > 1:
            folded = self.scope.rules.fold(texts[0], is_quoted=bool(names[0].args.get("quoted")))
            variables = self.scope.variable_set(folded)
            if variables is not None:
                if self.row_only:
                    self._fail("REX207", f"{self.row_only} cannot refer to pattern variable {folded}", span)
                column, rest = self.scope.column(texts[1], self._span(names[1])), texts[2:]
            elif self.scope.alias is not None and texts[0].lower() == self.scope.alias.lower():
                column, rest = self.scope.column(texts[1], self._span(names[1])), texts[2:]
            else:
                column, rest = self.scope.find_column(texts[0], span), texts[1:]
                if column is None:
                    self._unknown_qualifier(texts[0], span)
        else:
            column = self.scope.column(texts[0], span)
        target = self._target(variables, place)
        result: Expression = ColumnAt(target, column.name, span=span)
        for field in rest:
            quoted = '"' + field.replace('"', '""') + '"' if self.scope.host_dialect == "duckdb" else f"`{field}`"
            escaped = quoted.replace("{", "{{").replace("}", "}}")
            result = Call("struct_field", (result, Literal(field)), f"({{0}}).{escaped}", span=span)
        return result

    def _unknown_qualifier(self, name: str, span: Span) -> NoReturn:
        known = [*self.scope.variables, *self.scope.unions, *(column.name for column in self.scope.columns)]
        if name.lower() in self.scope.outer_names:
            raise UnsupportedError(
                "REX301", f"a correlated MATCH_RECOGNIZE, here one that refers to {name}, is not supported yet",
                self.scope.source, span, hint="join the outer table in the input of MATCH_RECOGNIZE",
            )
        raise AnalysisError(
            "REX206", f"{name} is neither a pattern variable nor the input's name nor one of its columns",
            self.scope.source, span, hint=nearest(name, known) or f"variables: {', '.join(self.scope.variables)}",
        )

    def _target(self, variables: frozenset[str] | None, place: _Place) -> Target:
        if place.each_row or self.row_only:
            return EACH_ROW if variables is None else Target(variables)
        if place.navigation is not None:
            return replace(place.navigation, variables=variables)
        return Target(variables)

    # -- row pattern functions -----------------------------------------------------------------------------------

    def _row_pattern_function(self, node: exp.Anonymous, place: _Place) -> Expression:
        name = node.name.upper().removeprefix(PREFIX)
        span = self._span(node)
        if self.row_only:
            self._fail("REX207", f"{name} is not allowed in {self.row_only}", span)
        match name:
            case "CLASSIFIER":
                return self._classifier(node, place, span)
            case "MATCH_NUMBER":
                if node.expressions:
                    self._fail("REX213", "MATCH_NUMBER takes no argument", span)
                return MatchNumber(span=span)
            case "MATCH_SEQUENCE_NUMBER":
                # Snowflake: the row's number inside the match.
                return Aggregate("count", (), None, Semantics.RUNNING, "count(*)", span=span)
            case "RUNNING" | "FINAL":
                return self._semantics(node, name, place, span)
            case _:
                return self._navigation(node, name, place, span)

    def _classifier(self, node: exp.Anonymous, place: _Place, span: Span) -> Expression:
        variables = None
        if len(node.expressions) > 1:
            self._fail("REX213", "CLASSIFIER takes at most one pattern variable", span)
        if node.expressions:
            argument = node.expressions[0]
            if not isinstance(argument, exp.Column) or argument.args.get("table"):
                self._fail("REX207", "CLASSIFIER takes the name of a pattern variable", span)
            variables = self._variable_set(argument.this, self._span(argument))
        return ClassifierAt(self._target(variables, place), span=span)

    def _variable_set(self, name: exp.Expression, span: Span) -> frozenset[str]:
        folded = self.scope.rules.fold(name.name, is_quoted=bool(name.args.get("quoted")))
        variables = self.scope.variable_set(folded)
        if variables is None:
            known = [*self.scope.variables, *self.scope.unions]
            raise AnalysisError(
                "REX206", f"{folded} is not a pattern variable", self.scope.source, span,
                hint=nearest(folded, known) or f"variables: {', '.join(known)}",
            )
        return variables

    def _semantics(self, node: exp.Anonymous, name: str, place: _Place, span: Span) -> Expression:
        semantics = Semantics[name]
        if semantics is Semantics.FINAL and self.in_define:
            self._fail("REX209", "FINAL is not allowed in DEFINE: the match is not complete yet", span,
                       hint="leave FINAL out, or move the condition to a WHERE around MATCH_RECOGNIZE")
        inner = node.expressions[0]
        is_navigation = isinstance(inner, exp.Anonymous) and inner.name.upper() in (PREFIX + "FIRST", PREFIX + "LAST")
        if is_navigation or self._is_aggregate(inner):
            return self._convert(inner, replace(place, semantics=semantics))
        self._fail("REX207", f"{name} goes with FIRST, LAST and aggregates only", span,
                   hint=f"for PREV and NEXT write it inside: PREV({name} LAST(...))")

    def _navigation(self, node: exp.Anonymous, name: str, place: _Place, span: Span) -> Expression:
        if place.each_row:
            self._fail("REX210", f"{name} cannot stand inside an aggregate", span)
        arguments = node.expressions
        if not 1 <= len(arguments) <= 2:
            self._fail("REX213", f"{name} takes an expression and an optional offset", span)
        is_physical = name in ("PREV", "NEXT")
        offset = self._offset(arguments[1], name, self._after_comma(arguments[0])) if len(arguments) == 2 else int(is_physical)
        outer = place.navigation
        if outer is not None and (is_physical or outer.shift == 0 or outer.end is not End.LAST or outer.offset):
            self._fail("REX207", f"{name} cannot stand inside {'PREV or NEXT' if outer.shift else 'FIRST or LAST'}", span,
                       hint="FIRST or LAST may stand directly inside PREV or NEXT, nothing else")
        argument = arguments[0].unnest()
        if is_physical:
            target = Target(shift=-offset if name == "PREV" else offset)
            if not _is_first_or_last(argument):
                self._refuse_nested(argument, name)
            # shift 0 must still read as a physical navigation for the checks above.
            inner = replace(place, navigation=target, semantics=None)
            result = self._nested_physical(argument, inner, target) if _is_first_or_last(argument) else (
                self._convert(argument, inner)
            )
        else:
            self._refuse_nested(argument, name)
            semantics = place.semantics or Semantics.RUNNING
            shift = 0 if outer is None else outer.shift
            target = Target(None, semantics, End[name], offset, shift)
            result = self._convert(argument, replace(place, navigation=target, semantics=None))
        self._check_one_variable(result, name, span)
        return result

    def _nested_physical(self, argument: exp.Expression, place: _Place, target: Target) -> Expression:
        """PREV(FIRST(x), 2): the inner target, shifted."""
        semantics: Semantics | None = None
        if argument.name.upper() in (PREFIX + "RUNNING", PREFIX + "FINAL"):
            semantics = Semantics[argument.name.upper().removeprefix(PREFIX)]
            if semantics is Semantics.FINAL and self.in_define:
                self._fail("REX209", "FINAL is not allowed in DEFINE: the match is not complete yet", self._span(argument))
            argument = argument.expressions[0]
        inner = self._convert(argument, replace(place, navigation=None, semantics=semantics))
        return _shifted(inner, target.shift)

    def _refuse_nested(self, argument: exp.Expression, name: str) -> None:
        for inner in argument.find_all(exp.Anonymous):
            text = inner.name.upper().removeprefix(PREFIX)
            if inner.name.upper().startswith(PREFIX) and text in ("FIRST", "LAST", "PREV", "NEXT", "RUNNING", "FINAL"):
                self._fail("REX207", f"{text} cannot stand inside {name}", self._span(inner),
                           hint="FIRST or LAST may stand directly inside PREV or NEXT, nothing else")

    def _check_one_variable(self, expression: Expression, name: str, span: Span) -> None:
        """Everything under one navigation speaks of the rows of one variable, and of at least one row."""
        found = _references(expression)
        if not found:
            self._fail("REX207", f"{name} needs a column or CLASSIFIER() to navigate", span)
        sets = {reference.target.variables for reference in found}
        if len(sets) > 1:
            self._fail("REX211", f"{name} mixes rows of different variables", span,
                       hint="qualify every column with the same variable")

    def _after_comma(self, argument: exp.Expression) -> Span:
        """Where the argument after this one stands: sqlglot keeps no position of NULL and of signs."""
        text = self.scope.source.text
        comma = text.find(",", self._span(argument).end)
        end = text.find(")", comma)
        start = comma + 1 + len(text[comma + 1 : end]) - len(text[comma + 1 : end].lstrip())
        return Span(start, max(start + 1, end))

    def _offset(self, node: exp.Expression, name: str, span: Span) -> int:
        if isinstance(node, exp.Literal) and not node.is_string and node.name.isdigit():
            return int(node.name)
        if isinstance(node, exp.Neg):
            self._fail("REX208", f"the offset of {name} must not be negative", span)
        self._fail("REX208", f"the offset of {name} must be a whole number written out", span)

    # -- aggregates ----------------------------------------------------------------------------------------------

    def _is_aggregate(self, node: exp.Expression) -> bool:
        match node:
            case exp.Filter() | exp.WithinGroup() | exp.IgnoreNulls() | exp.RespectNulls():
                return self._is_aggregate(node.this)
            case exp.Anonymous():
                name = node.name.lower()
                return name in _NAMED_AGGREGATES or name in self.scope.aggregate_names
            case exp.AnonymousAggFunc() | exp.AggFunc():
                return True
            case _:
                return False

    def _aggregate(self, node: exp.Expression, place: _Place) -> Expression:
        span = self._span(node)
        if self.row_only:
            self._fail("REX210", f"an aggregate is not allowed in {self.row_only}", span)
        if place.each_row:
            self._fail("REX210", "aggregates cannot be nested", span)
        if place.navigation is not None:
            self._fail("REX210", "an aggregate cannot stand inside FIRST, LAST, PREV or NEXT", span)
        semantics = place.semantics or Semantics.RUNNING
        inside = _Place(each_row=True)
        call = node
        condition: Expression | None = None
        while isinstance(call, exp.Filter | exp.IgnoreNulls | exp.RespectNulls):
            if isinstance(call, exp.Filter):
                condition = self._convert(call.expression.this, inside)
            elif isinstance(call, exp.IgnoreNulls):
                return self._other_aggregate(call, condition, semantics, span)
            call = call.this
        star = self._counted_star(call)
        if star is not None:
            variables = self._agreed(condition, (), star[0], span)
            return Aggregate("count", (), variables, semantics, "count(*)", filter=_each_row(condition), span=span)
        name = self._aggregate_name(call)
        if name is None or isinstance(call, exp.WithinGroup):
            return self._other_aggregate(call, condition, semantics, span)
        arguments, is_distinct, order = self._aggregate_arguments(call, inside)
        if name == "count" and not arguments:  # Trino's count()
            return Aggregate("count", (), None, semantics, "count(*)", filter=_each_row(condition), span=span)
        if not arguments:
            self._fail("REX213", f"{name} needs an argument", span)
        if name == "count" and is_distinct and len(arguments) > 1:
            return self._other_aggregate(call, condition, semantics, span)
        if name == "array_agg" and self.scope.dialect_name in _SKIPS_NULLS:
            present = Call("not", (Call("is_null", arguments[:1], "({0} IS NULL)"),), "(NOT {0})")
            condition = present if condition is None else Call("and", (condition, present), "({0} AND {1})")
        variables = self._agreed(condition, (*arguments, *(item.expression for item in order)), None, span)
        return Aggregate(
            name, tuple(_each_row(argument) for argument in arguments), variables, semantics,
            _function(_HOST_NAMES.get(name, name), len(arguments)), is_distinct, _each_row(condition),
            tuple(replace(item, expression=_each_row(item.expression)) for item in order), span=span,
        )

    def _counted_star(self, call: exp.Expression) -> tuple[frozenset[str] | None] | None:
        """For COUNT(*) and COUNT(v.*): the variables counted, in a tuple."""
        if not isinstance(call, exp.Count):
            return None
        if isinstance(call.this, exp.Star):
            return (None,)
        if isinstance(call.this, exp.Column) and isinstance(call.this.this, exp.Star):
            qualifier = call.this.args["table"]
            folded = self.scope.rules.fold(qualifier.name, is_quoted=bool(qualifier.args.get("quoted")))
            if self.scope.variable_set(folded) is None and self.scope.alias is not None and (
                qualifier.name.lower() == self.scope.alias.lower()
            ):
                return (None,)
            return (self._variable_set(qualifier, self._span(qualifier)),)
        return None

    def _aggregate_name(self, call: exp.Expression) -> str | None:
        name = _AGGREGATES.get(type(call))
        if name is None and isinstance(call, exp.Anonymous) and call.name.lower() in _NAMED_AGGREGATES:
            name = call.name.lower()
        return None if name is None else _SPELLINGS.get(name, name)

    def _aggregate_arguments(
        self, call: exp.Expression, inside: _Place
    ) -> tuple[tuple[Expression, ...], bool, tuple[SortItem, ...]]:
        is_distinct = False
        order: list[SortItem] = []
        nodes: list[exp.Expression] = []
        for key in ("this", "expression", "separator", "count"):
            value = call.args.get(key)
            if isinstance(value, exp.Expression) and not (key == "this" and isinstance(call, exp.Anonymous)):
                nodes.append(value)
        nodes += [value for value in call.args.get("expressions") or [] if isinstance(value, exp.Expression)]
        arguments: list[Expression] = []
        for node in nodes:
            current = node
            while True:
                if isinstance(current, exp.Order):
                    order += [self._sort_item(item, inside) for item in current.expressions]
                    current = current.this
                elif isinstance(current, exp.Distinct):
                    is_distinct = True
                    arguments += [self._convert(item, inside) for item in current.expressions[:-1]]
                    current = current.expressions[-1]
                else:
                    break
            arguments.append(self._convert(current, inside))
        return tuple(arguments), is_distinct, tuple(order)

    def _sort_item(self, item: exp.Expression, inside: _Place) -> SortItem:
        if not isinstance(item, exp.Ordered):
            return SortItem(self._convert(item, inside), False, nulls_come_first(self.scope, is_descending=False))
        is_descending = bool(item.args.get("desc"))
        return SortItem(self._convert(item.this, inside), is_descending, bool(item.args.get("nulls_first")))

    def _other_aggregate(
        self, node: exp.Expression, condition: Expression | None, semantics: Semantics, span: Span
    ) -> Expression:
        """An aggregate that only the host knows: arguments with references become operands, the rest is template."""
        inside = _Place(each_row=True)
        operands: list[Expression] = []

        def replace_leaf(part: exp.Expression) -> exp.Expression:
            is_ours = isinstance(part, exp.Anonymous) and part.name.upper().startswith(PREFIX)
            if part is node or not (is_ours or isinstance(part, exp.Column)):
                if part is not node and self._is_nested_aggregate(node, part):
                    self._fail("REX210", "aggregates cannot be nested", self._span(part))
                return part
            operands.append(self._convert(part, inside))
            return templates.operand(len(operands) - 1, self.types.get(id(part)))

        inner = _transformed(node, replace_leaf)
        template = templates.template_of(inner, self.scope, len(operands), span)
        call = node
        while isinstance(call, exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
            call = call.this
        name = call.name.lower() if isinstance(call, exp.Anonymous) else call.key
        variables = self._agreed(condition, tuple(operands), None, span)
        return Aggregate(
            name, tuple(map(_each_row, operands)), variables, semantics, template, filter=_each_row(condition), span=span
        )

    def _is_nested_aggregate(self, outer: exp.Expression, part: exp.Expression) -> bool:
        if not self._is_aggregate(part):
            return False
        wrapped = outer
        while isinstance(wrapped, exp.Filter | exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls):
            wrapped = wrapped.this
            if wrapped is part:
                return False
        return True

    def _agreed(
        self, condition: Expression | None, arguments: tuple[Expression, ...], star: frozenset[str] | None, span: Span
    ) -> frozenset[str] | None:
        """The one set of variables that all parts of an aggregate speak of."""
        everything = arguments if condition is None else (*arguments, condition)
        sets = {reference.target.variables for part in everything for reference in _references(part)}
        if star is not None:
            sets.add(star)
        if len(sets) > 1:
            self._fail("REX211", "an aggregate mixes rows of different variables", span,
                       hint="qualify every column with the same variable, or with a union variable (SUBSET)")
        return next(iter(sets), None)

    # -- helpers -------------------------------------------------------------------------------------------------

    def _both_integers(self, node: exp.Binary) -> bool:
        kinds = [self.types.get(id(side.unnest())) for side in (node.this, node.expression)]
        return all(kind is not None and kind.this in _INTEGERS for kind in kinds)

    def _mentions(self, node: exp.Expression, prefix: str) -> bool:
        return any(call.name.upper().startswith(prefix) for call in node.find_all(exp.Anonymous))

    def _span(self, node: exp.Expression) -> Span:
        """Where the node stands, from the offsets that sqlglot keeps on some of its parts."""
        offsets = [
            (part.meta["start"], part.meta["end"] + 1)
            for part in node.walk() if "start" in part.meta and part.meta.get("end") is not None
        ]
        if not offsets:
            return self.text.span
        span = Span(min(start for start, _ in offsets), max(end for _, end in offsets))
        if isinstance(node, exp.Func) and "start" not in node.meta:
            # Of some functions sqlglot forgets where their name stands: it is in front of the arguments.
            before = re.search(r"(\w+)\s*\(\s*(?:DISTINCT\s+)?\Z", self.scope.source.text[: span.start], re.IGNORECASE)
            if before is not None and before.start() >= self.text.span.start:
                return Span(before.start(), span.end)
        return span

    def _fail(self, code: str, message: str, span: Span, *, hint: str | None = None) -> NoReturn:
        raise AnalysisError(code, message, self.scope.source, span, hint=hint)


_HOST_NAMES = {
    "stddev_samp": "stddev_samp", "map_agg": "rex_map_agg", "min_by": "min_by", "max_by": "max_by",
}


def nulls_come_first(scope: Scope, *, is_descending: bool) -> bool:
    """Where NULLs sort when the query does not say."""
    match scope.dialect.NULL_ORDERING:
        case "nulls_are_small":
            return not is_descending
        case "nulls_are_large":
            return is_descending
        case _:
            return False


def _types(tree: exp.Expression, scope: Scope) -> dict[int, exp.DataType | None]:
    """sqlglot's type of every node, by identity; references have the type of their column."""
    copy = tree.copy()
    root = exp.Paren(this=copy)  # so that the whole expression can be replaced too
    pairs = list(zip(tree.walk(), copy.walk(), strict=True))
    columns = {column.name.lower(): column.type for column in scope.columns}
    types: dict[int, exp.DataType | None] = {}
    leaves: list[tuple[exp.Expression, exp.DataType]] = []
    for original, twin in pairs:
        known: exp.DataType | None = None
        if isinstance(original, exp.Column):
            known = columns.get(original.name.lower())
        elif isinstance(original, exp.Anonymous) and original.name.upper().startswith(PREFIX):
            known = _navigation_type(original, columns)
        if known is not None:
            types[id(original)] = known
            leaves.append((twin, known))
    for twin, known in leaves:
        if twin.parent is not None:
            # The replacement remembers nothing of what stood under it, which is what is wanted.
            twin.replace(exp.Cast(this=exp.Null(), to=known.copy()))
    try:
        annotate_types(root, dialect=scope.dialect)
    except Exception:  # noqa: BLE001  types only refine the translation; without them it is what sqlglot's default gives
        return types
    for original, twin in pairs:
        if id(original) not in types and twin.type is not None:
            types[id(original)] = twin.type
    return types


def _navigation_type(node: exp.Anonymous, columns: dict[str, exp.DataType]) -> exp.DataType | None:
    name = node.name.upper().removeprefix(PREFIX)
    if name == "CLASSIFIER":
        return exp.DataType.build("VARCHAR")
    if name in ("MATCH_NUMBER", "MATCH_SEQUENCE_NUMBER"):
        return exp.DataType.build("BIGINT")
    argument = node.expressions[0] if node.expressions else None
    if isinstance(argument, exp.Column):
        return columns.get(argument.name.lower())
    if isinstance(argument, exp.Anonymous) and argument.name.upper().startswith(PREFIX):
        return _navigation_type(argument, columns)
    return None


def _transformed(node: exp.Expression, change: object) -> exp.Expression:
    """A copy of the tree in which `change` replaced nodes of the original, parents first."""
    from collections.abc import Callable
    from typing import cast

    function = cast("Callable[[exp.Expression], exp.Expression]", change)

    def rebuild(part: exp.Expression) -> exp.Expression:
        changed = function(part)
        if changed is not part:
            return changed
        arguments: dict[str, object] = {}
        for key, value in part.args.items():
            if isinstance(value, exp.Expression):
                arguments[key] = rebuild(value)
            elif isinstance(value, list):
                arguments[key] = [rebuild(item) if isinstance(item, exp.Expression) else item for item in value]
            else:
                arguments[key] = value
        result = type(part)(**arguments)
        result.type = part.type
        return result

    return rebuild(node)


def _has_plain_arguments(node: exp.Func) -> bool:
    """Whether every argument is a scalar expression of its own."""
    for key, value in node.args.items():
        items = value if isinstance(value, list) else [value]
        for item in items:
            if not isinstance(item, exp.Expression):
                continue
            is_plain = isinstance(item, exp.Condition | exp.Paren | exp.Interval) and not isinstance(
                item, exp.Lambda | exp.Star | exp.Distinct | exp.Order | exp.Var | exp.DataType | exp.Kwarg | exp.PropertyEQ
            )
            if not is_plain or key in ("unit", "zone", "kind"):
                return False
    return True


def _is_first_or_last(node: exp.Expression) -> bool:
    if not isinstance(node, exp.Anonymous):
        return False
    name = node.name.upper().removeprefix(PREFIX)
    if name in ("RUNNING", "FINAL") and node.expressions:
        return _is_first_or_last(node.expressions[0])
    return node.name.upper().startswith(PREFIX) and name in ("FIRST", "LAST")


def _is_name_chain(node: exp.Expression) -> bool:
    while isinstance(node, exp.Dot):
        if not isinstance(node.expression, exp.Identifier):
            return False
        node = node.this
    return isinstance(node, exp.Column | exp.Identifier)


def _name_chain(node: exp.Expression) -> list[exp.Expression]:
    if isinstance(node, exp.Dot):
        return [*_name_chain(node.this), node.expression]
    if isinstance(node, exp.Column):
        return [part for part in (*(node.args.get(key) for key in ("catalog", "db", "table")), node.this) if part is not None]
    return [node]


def _literal(node: exp.Expression) -> object:
    if isinstance(node, exp.Null):
        return None
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if node.is_string:
        return node.name
    text = node.name
    if text.isdigit():
        return int(text)
    return float(text) if "e" in text.lower() else Decimal(text)


def _function(name: str, n_arguments: int) -> str:
    return f"{name}({', '.join(f'{{{i}}}' for i in range(n_arguments))})"


def _references(expression: Expression) -> list[ColumnAt | ClassifierAt]:
    found: list[ColumnAt | ClassifierAt] = []
    pending = [expression]
    while pending:
        node = pending.pop()
        if isinstance(node, ColumnAt | ClassifierAt):
            found.append(node)
        elif isinstance(node, Call):
            pending.extend(node.operands)
    return found


def _each_row(expression: Expression | None) -> Expression | None:
    """References with their target set to the aggregated row; the aggregate itself knows the variables."""
    match expression:
        case ColumnAt() | ClassifierAt():
            return replace(expression, target=EACH_ROW)
        case Call():
            return replace(expression, operands=tuple(_each_row(part) for part in expression.operands))
        case _:
            return expression


def _shifted(expression: Expression, shift: int) -> Expression:
    match expression:
        case ColumnAt() | ClassifierAt():
            return replace(expression, target=replace(expression.target, shift=shift))
        case Call():
            return replace(expression, operands=tuple(_shifted(part, shift) for part in expression.operands))
        case _:
            return expression
