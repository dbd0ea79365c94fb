"""Operators, CASE, casts and functions: everything that computes a value from values.

Each becomes a `Call` with a canonical name that engines may know, and the host's SQL as a template. The known operators
are listed one by one; any other function is translated by sqlglot, any other syntax is taken whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.analyze import templates
from sparkrex.analyze.comparable import refuse_text_with_numbers
from sparkrex.analyze.failing import can_fail
from sparkrex.analyze.opaque import convert_opaque, is_volatile_call
from sparkrex.analyze.sqlglot_types import are_both_dates, are_both_integers, is_to_integer
from sparkrex.analyze.templates import function_template
from sparkrex.errors import ParseError
from sparkrex.ir.scalar import Call, Expression, Literal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.analyze.expressions import Converter
    from sparkrex.analyze.place import Place
    from sparkrex.source import Span

# Arguments that are words of the syntax rather than values.
_WORDS = ("unit", "zone", "kind")
_CONTAINS = {"duckdb": "LIST_CONTAINS({1}, {0})", "spark": "ARRAY_CONTAINS({1}, {0})"}


def convert_call(converter: Converter, node: exp.Expr, place: Place) -> Expression:
    """An operator, function or other syntax over values."""
    refuse_text_with_numbers(converter, node)
    span = converter.span(node)
    scope = converter.scope

    def call(name: str, parts: Sequence[exp.Expr], template: str) -> Expression:
        operands = tuple(converter.convert_node(part, place) for part in parts)
        return Call(name, operands, template, can_fail=can_fail(node, converter.types), span=span)

    if isinstance(node, exp.Sub) and are_both_dates(node, converter.types):
        return call("subtract", (node.this, node.expression), templates.date_difference(scope, scope.host_dialect))
    if type(node) in templates.BINARY:
        name, template = templates.BINARY[type(node)]
        return call(name, (node.this, node.expression), template)
    match node:
        case exp.Div() | exp.Mod() if scope.zero_gives_null:
            divisor = Call("nullif", (converter.convert_node(node.expression, place), Literal(0)), "NULLIF({0}, {1})")
            name, sign = ("divide", "/") if isinstance(node, exp.Div) else ("modulo", "%")
            dividend = converter.convert_node(node.this, place)
            return Call(name, (dividend, divisor), f"({{0}} {sign} {{1}})", span=span)
        case exp.Div():
            name, template = templates.division(scope, are_both_integers(node, converter.types), scope.host_dialect)
            return call(name, (node.this, node.expression), template)
        case exp.IntDiv():
            template = "({0} // {1})" if scope.host_dialect == "duckdb" else "({0} div {1})"
            return call("integer_divide", (node.this, node.expression), template)
        case exp.Mod():
            name, template = templates.modulo(scope, scope.host_dialect)
            return call(name, (node.this, node.expression), template)
        case exp.Not():
            return call("not", (node.this,), "(NOT {0})")
        case exp.Neg():
            return call("negate", (node.this,), "(- {0})")
        case exp.Is(expression=exp.Null()):
            return call("is_null", (node.this,), "({0} IS NULL)")
        case exp.Is(expression=exp.Boolean() as truth):
            word = "TRUE" if truth.this else "FALSE"
            return call(f"is_{word.lower()}", (node.this,), f"({{0}} IS {word})")
        case exp.Between() if not node.args.get("symmetric"):
            parts = (node.this, node.args["low"], node.args["high"])
            return call("between", parts, "({0} BETWEEN {1} AND {2})")
        case exp.In() if not (node.expressions or node.args.get("query") or node.args.get("unnest")):
            return call("array_contains", (node.this, _list_of(node, converter, span)), _CONTAINS[scope.host_dialect])
        case exp.In() if node.expressions:
            listed = ", ".join(f"{{{i + 1}}}" for i in range(len(node.expressions)))
            return call("in", (node.this, *node.expressions), f"({{0}} IN ({listed}))")
        case exp.Like():
            return call("like", (node.this, node.expression), "({0} LIKE {1})")
        case exp.ILike():
            return call("ilike", (node.this, node.expression), "({0} ILIKE {1})")
        case exp.Escape(this=exp.Like() as like):
            return call("like", (like.this, like.expression, node.expression), "({0} LIKE {1} ESCAPE {2})")
        case exp.Case() | exp.If():
            return _case(converter, node, place, span)
        case exp.Cast():
            kind = node.to.sql(dialect=scope.host_dialect)
            word = "TRY_CAST" if isinstance(node, exp.TryCast) else "CAST"
            operands = (converter.convert_node(node.this, place), Literal(kind))
            template = templates.cast(word, kind, scope, is_to_integer=is_to_integer(node, converter.types))
            return Call(word.lower(), operands, template, can_fail=can_fail(node, converter.types), span=span)
        case exp.Interval(this=exp.Literal() as amount) if node.unit is not None:
            literals = (Literal(amount.name), Literal(node.unit.name.upper()))
            return Call("interval", literals, templates.template_of(node.copy(), scope, 0, span), span=span)
        case exp.TimestampDiff() | exp.DateDiff() if templates.counts_whole_units(node, scope):
            # sqlglot wraps the operands of Spark's DATEDIFF as dates, with a unit or without.
            ends = [part.this if isinstance(part, exp.TsOrDsToDate) else part for part in (node.expression, node.this)]
            return call("timestampdiff", ends, templates.whole_units(node.args["unit"].name, scope.host_dialect))
        case exp.Coalesce():
            parts = (node.this, *node.expressions)
            return call("coalesce", parts, function_template("COALESCE", len(parts)))
        case exp.Nvl2():
            # CASE evaluates the branch that is taken; a call of the host would evaluate both.
            is_null = Call("is_null", (converter.convert_node(node.this, place),), "({0} IS NULL)", span=span)
            taken = [converter.convert_node(node.args[key], place) for key in ("true", "false") if node.args.get(key)]
            branches = (is_null, taken[1] if len(taken) > 1 else Literal(None), taken[0])
            return Call("case", branches, "(CASE WHEN {0} THEN {1} ELSE {2} END)", span=span)
        case exp.Nullif():
            return call("nullif", (node.this, node.expression), "NULLIF({0}, {1})")
        case exp.Abs():
            return call("abs", (node.this,), "ABS({0})")
        case exp.Greatest() | exp.Least():
            parts = (node.this, *node.expressions)
            name, template = templates.extreme(node, scope.host_dialect)
            return call(name, parts, template)
        case exp.DPipe() if scope.dialect_name == "oracle":
            # Oracle's NULL is the empty string.
            return call("concat", (node.this, node.expression), "NULLIF(CONCAT_WS('', {0}, {1}), '')")
        case exp.DPipe():
            return call("dpipe", (node.this, node.expression), "({0} || {1})")
        case exp.Func() if _has_plain_arguments(node):
            return _function(converter, node, place, span)
        case _:
            return convert_opaque(converter, node, place, span)


def convert_connector(converter: Converter, node: exp.And | exp.Or, place: Place) -> Expression:
    """AND and OR as one flat call, so that a long chain does not nest."""
    kind = type(node)
    parts: list[exp.Expr] = []
    pending: list[exp.Expr] = [node]
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
    operands = tuple(converter.convert_node(part, place) for part in parts)
    return Call(word.lower(), operands, template, span=converter.span(node))


def _list_of(node: exp.In, converter: Converter, span: Span) -> exp.Expr:
    """The list that IN names without parentheses, which only dialect duckdb allows, and of lists only."""
    field: exp.Expr | None = node.args.get("field")
    if field is None or converter.scope.dialect_name != "duckdb" or isinstance(field, exp.Literal | exp.Null):
        place = span if field is None else converter.span(field)
        written = "1, 2" if field is None else field.sql(converter.scope.dialect)
        raise ParseError(
            "REX104", "IN needs a list in parentheses", converter.scope.source, place, hint=f"IN ({written})"
        )
    return field


def _case(converter: Converter, node: exp.Case | exp.If, place: Place, span: Span) -> Expression:
    """CASE and IF as conditions and values in turn; `CASE x WHEN y` compares x with y in every condition."""
    operands: list[Expression] = []
    branches = [node] if isinstance(node, exp.If) else node.args["ifs"]
    for branch in branches:
        condition = converter.convert_node(branch.this, place)
        if isinstance(node, exp.Case) and node.this is not None:
            condition = Call("eq", (converter.convert_node(node.this, place), condition), "({0} = {1})", span=span)
        operands += [condition, converter.convert_node(branch.args["true"], place)]
    text = " ".join(f"WHEN {{{2 * i}}} THEN {{{2 * i + 1}}}" for i in range(len(branches)))
    default = node.args.get("false" if isinstance(node, exp.If) else "default")
    if default is not None:
        operands.append(converter.convert_node(default, place))
        text += f" ELSE {{{len(operands) - 1}}}"
    return Call("case", tuple(operands), f"(CASE {text} END)", span=span)


def _function(converter: Converter, node: exp.Func, place: Place, span: Span) -> Expression:
    """A function all of whose arguments are scalars: operands one by one, the template translated by sqlglot."""
    operands: list[Expression] = []

    def stand_in(value: object) -> object:
        if isinstance(value, list):
            return [stand_in(item) for item in value]
        if not isinstance(value, exp.Expr):
            return value
        operands.append(converter.convert_node(value, place))
        if isinstance(value, exp.Literal | exp.Boolean | exp.Null):
            return value.copy()  # translations look at literal arguments
        return templates.operand(len(operands) - 1, converter.types.get(id(value)))

    shell = type(node)(**{key: stand_in(value) for key, value in node.args.items()})
    template = templates.template_of(shell, converter.scope, len(operands), span)
    name = node.name.lower() if isinstance(node, exp.Anonymous) else node.key
    return Call(
        name, tuple(operands), template, not is_volatile_call(node), can_fail=can_fail(node, converter.types), span=span
    )


def _has_plain_arguments(node: exp.Func) -> bool:
    """Whether every argument is a scalar expression of its own."""
    return all(
        _is_plain(item) and key not in _WORDS
        for key, value in node.args.items()
        for item in (value if isinstance(value, list) else [value])
        if isinstance(item, exp.Expr)
    )


def _is_plain(argument: exp.Expr) -> bool:
    if isinstance(
        argument,
        exp.Lambda | exp.Star | exp.Distinct | exp.Order | exp.Var | exp.DataType | exp.Kwarg | exp.PropertyEQ,
    ):
        return False
    return isinstance(argument, exp.Condition | exp.Paren | exp.Interval)
