"""Operators, CASE, casts and functions: everything that computes a value from values.

Each becomes a `Call` with a canonical name that engines may know. The known operators are listed one by one; any other
function is kept as syntax that sqlglot translates for the host, any other syntax is taken whole.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import ParseError
from sparkrex.scalar.analyze import meanings
from sparkrex.scalar.analyze.comparable import refuse_text_with_numbers
from sparkrex.scalar.analyze.failing import can_fail
from sparkrex.scalar.analyze.opaque import convert_opaque, is_volatile_call
from sparkrex.scalar.analyze.sqlglot_types import are_both_dates, are_both_integers, is_to_integer
from sparkrex.scalar.expression import Call, Expression, Literal
from sparkrex.scalar.host_syntax import stand_in

if TYPE_CHECKING:
    from sparkrex.scalar.analyze.expressions import Converter
    from sparkrex.scalar.analyze.place import Place
    from sparkrex.source import Span

# Arguments that are words of the syntax rather than values.
_WORDS = ("unit", "zone", "kind")


def convert_call(converter: Converter, node: exp.Expr, place: Place) -> Expression:
    """An operator, function or other syntax over values."""
    refuse_text_with_numbers(converter, node)
    span = converter.span(node)
    scope = converter.scope

    def call(name: str, *parts: exp.Expr) -> Call:
        operands = tuple(converter.convert_node(part, place) for part in parts)
        return Call(name, operands, can_fail=can_fail(node, converter.types), span=span)

    if isinstance(node, exp.Sub) and are_both_dates(node, converter.types):
        return replace(call("subtract", node.this, node.expression), difference=meanings.date_difference(scope))
    if type(node) in meanings.BINARY:
        return call(meanings.BINARY[type(node)], node.this, node.expression)
    match node:
        case exp.Div() | exp.Mod() if scope.zero_gives_null:
            divisor = Call("nullif", (converter.convert_node(node.expression, place), Literal(0)))
            dividend = converter.convert_node(node.this, place)
            return Call("divide" if isinstance(node, exp.Div) else "modulo", (dividend, divisor), span=span)
        case exp.Div():
            name, on_zero = meanings.division(scope, are_both_integers(node, converter.types))
            return replace(call(name, node.this, node.expression), on_zero=on_zero)
        case exp.IntDiv():
            return call("integer_divide", node.this, node.expression)
        case exp.Mod():
            return replace(call("modulo", node.this, node.expression), on_zero=meanings.modulo(scope))
        case exp.Not():
            return call("not", node.this)
        case exp.Neg():
            return call("negate", node.this)
        case exp.Abs():
            return call("abs", node.this)
        case exp.Is(expression=exp.Null()):
            return call("is_null", node.this)
        case exp.Is(expression=exp.Boolean() as truth):
            return call("is_true" if truth.this else "is_false", node.this)
        case exp.Between() if not node.args.get("symmetric"):
            return call("between", node.this, node.args["low"], node.args["high"])
        case exp.In() if not (node.expressions or node.args.get("query") or node.args.get("unnest")):
            return call("array_contains", node.this, _list_of(node, converter, span))
        case exp.In() if node.expressions:
            return call("in", node.this, *node.expressions)
        case exp.Escape(this=exp.Like() as like):
            return call("like", like.this, like.expression, node.expression)
        case exp.Case() | exp.If():
            return _case(converter, node, place, span)
        case exp.Cast():
            return _cast(converter, node, place, span)
        case exp.Interval(this=exp.Literal() as amount) if node.unit is not None:
            literals = (Literal(amount.name), Literal(node.unit.name.upper()))
            return Call("interval", literals, meanings.syntax_of(node.copy(), scope, 0, span), span=span)
        case exp.TimestampDiff() | exp.DateDiff() if (units := meanings.units_between(node, scope)) is not None:
            # sqlglot wraps the operands of Spark's DATEDIFF as dates, with a unit or without.
            ends = [part.this if isinstance(part, exp.TsOrDsToDate) else part for part in (node.expression, node.this)]
            return replace(call("timestampdiff", *ends), unit=node.args["unit"].name.upper(), units=units)
        case exp.Coalesce():
            return call("coalesce", node.this, *node.expressions)
        case exp.Nvl2():
            # CASE evaluates the branch that is taken; a call of the host would evaluate both.
            is_null = Call("is_null", (converter.convert_node(node.this, place),), span=span)
            taken = [converter.convert_node(node.args[key], place) for key in ("true", "false") if node.args.get(key)]
            return Call("case", (is_null, taken[1] if len(taken) > 1 else Literal(None), taken[0]), span=span)
        case exp.Greatest() | exp.Least():
            # In some dialects a NULL argument makes the result NULL.
            strict = "" if node.args.get("ignore_nulls", True) else "_strict"
            return call(f"{node.key}{strict}", node.this, *node.expressions)
        case exp.DPipe() if scope.dialect_name == "oracle":
            # Oracle's NULL is the empty string.
            return call("concat", node.this, node.expression)
        case exp.DPipe():
            return call("dpipe", node.this, node.expression)
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
    operands = tuple(converter.convert_node(part, place) for part in parts)
    return Call("and" if kind is exp.And else "or", operands, span=converter.span(node))


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
            condition = Call("eq", (converter.convert_node(node.this, place), condition), span=span)
        operands += [condition, converter.convert_node(branch.args["true"], place)]
    default = node.args.get("false" if isinstance(node, exp.If) else "default")
    if default is not None:
        operands.append(converter.convert_node(default, place))
    return Call("case", tuple(operands), span=span)


def _cast(converter: Converter, node: exp.Cast, place: Place, span: Span) -> Expression:
    """CAST and TRY_CAST: the type as the engine names types, and as the dialect does."""
    return Call(
        "try_cast" if isinstance(node, exp.TryCast) else "cast",
        (converter.convert_node(node.this, place), Literal(node.to.sql(dialect="duckdb"))),
        to=meanings.syntax_of(node.to, converter.scope, 0, span),
        fraction=meanings.fraction(converter.scope) if is_to_integer(node, converter.types) else None,
        can_fail=can_fail(node, converter.types), span=span,
    )


def _function(converter: Converter, node: exp.Func, place: Place, span: Span) -> Expression:
    """A function all of whose arguments are scalars: operands one by one, the rest is syntax."""
    operands: list[Expression] = []

    def replaced(value: object) -> object:
        if isinstance(value, list):
            return [replaced(item) for item in value]
        if not isinstance(value, exp.Expr):
            return value
        operands.append(converter.convert_node(value, place))
        if isinstance(value, exp.Literal | exp.Boolean | exp.Null):
            return value.copy()  # translations look at literal arguments
        return stand_in(len(operands) - 1, converter.types.get(id(value)))

    shell = type(node)(**{key: replaced(value) for key, value in node.args.items()})
    return Call(
        meanings.host_name(node), tuple(operands), meanings.syntax_of(shell, converter.scope, len(operands), span),
        is_deterministic=not is_volatile_call(node), can_fail=can_fail(node, converter.types), span=span,
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
