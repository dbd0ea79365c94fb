"""Syntax taken whole: the host computes it, and only what reads the pattern's rows becomes an operand.

So go special forms (`EXTRACT(YEAR FROM ts)`, lambdas, brackets), window functions and subqueries. The last two read the
whole input or another table, which only the host can do.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.scalar.analyze import meanings
from sparkrex.scalar.analyze.aggregate_names import is_aggregate
from sparkrex.scalar.analyze.failing import can_whole_fail
from sparkrex.scalar.analyze.subqueries import outer_columns
from sparkrex.scalar.expression import Call, Expression
from sparkrex.scalar.host_syntax import stand_in
from sparkrex.syntax.scalar_text import row_pattern_function

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.scalar.analyze.expressions import Converter
    from sparkrex.scalar.analyze.place import Place
    from sparkrex.scalar.host_syntax import HostSyntax
    from sparkrex.source import Span

_VOLATILE = (exp.Rand, exp.Randn, exp.Uuid)
# Functions with a word of syntax beside values, and what a value is computed by.
_OVER_VALUES = (exp.TsOrDsAdd, exp.Extract, exp.Bracket, exp.TimestampTrunc, exp.DateTrunc)
_VALUES = (exp.Binary, exp.Func, exp.Neg, exp.Paren, exp.Case)
_VOLATILE_NAMES = ("random", "gen_random_uuid")


def is_volatile_call(node: exp.Expr) -> bool:
    """Whether the function itself gives another value each time."""
    name = node.name.lower() if isinstance(node, exp.Anonymous) else node.key
    return isinstance(node, _VOLATILE) or name in _VOLATILE_NAMES


def is_volatile(tree: exp.Expr) -> bool:
    """Whether two evaluations of the expression may differ."""
    return any(map(is_volatile_call, tree.walk()))


def convert_opaque(
    converter: Converter, node: exp.Expr, place: Place, span: Span, *, reads_relation: bool = False
) -> Expression:
    """A call of the whole syntax: the references, navigations and aggregates in it are the operands."""

    def is_operand(part: exp.Expr) -> bool:
        if part is node:
            return False
        if isinstance(part, exp.Column):
            return not isinstance(part.this, exp.Star)
        if row_pattern_function(part) is not None or (part.parent is node and _is_value(part, node, converter)):
            return True
        return not place.in_relation and is_aggregate(part, converter.scope)

    operands, syntax = cut_operands(converter, node, place, span, is_operand)
    return Call(
        meanings.host_name(node), operands, syntax, is_deterministic=not is_volatile(node),
        reads_relation=reads_relation, can_fail=can_whole_fail(node, converter.types), span=span,
    )


def _is_value(part: exp.Expr, node: exp.Expr, converter: Converter) -> bool:
    """Whether a part is computed for itself: so Spark's workers can be asked for one function at a time.

    DuckDB gets such syntax as a whole: what it means there may depend on what stands in it.
    """
    return converter.scope.host_dialect == "spark" and isinstance(node, _OVER_VALUES) and isinstance(part, _VALUES)


def convert_window(converter: Converter, node: exp.Window, place: Place) -> Expression:
    """A window function, which the host evaluates over the input."""
    return convert_opaque(converter, node, replace(place, in_relation=True), converter.span(node), reads_relation=True)


def convert_subquery(converter: Converter, node: exp.Expr, place: Place) -> Expression:
    """A subquery, with EXISTS, IN, ANY or ALL around it: its operands are what it reads of the pattern's rows."""
    span = converter.span(node)
    outer = outer_columns(node, converter.scope)

    def is_operand(part: exp.Expr) -> bool:
        return id(part) in outer or row_pattern_function(part) is not None

    operands, syntax = cut_operands(converter, node, replace(place, in_relation=True), span, is_operand)
    fails = can_whole_fail(node, converter.types)
    return Call(meanings.host_name(node), operands, syntax, reads_relation=True, can_fail=fails, span=span)


def cut_operands(
    converter: Converter, node: exp.Expr, place: Place, span: Span, is_operand: Callable[[exp.Expr], bool]
) -> tuple[tuple[Expression, ...], HostSyntax]:
    """The outermost parts of a node that are operands, converted, and the rest as syntax."""
    operands: list[Expression] = []

    def rebuilt(part: exp.Expr) -> exp.Expr:
        if is_operand(part):
            operands.append(converter.convert_node(part, place))
            return stand_in(len(operands) - 1, converter.types.get(id(part)))
        result = type(part)(**{key: rebuilt_argument(value) for key, value in part.args.items()})
        result.type = part.type
        return result

    def rebuilt_argument(value: object) -> object:
        if isinstance(value, list):
            return [rebuilt_argument(item) for item in value]
        return rebuilt(value) if isinstance(value, exp.Expr) else value

    rest = rebuilt(node)
    return tuple(operands), meanings.syntax_of(rest, converter.scope, len(operands), span)
