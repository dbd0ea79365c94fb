"""Aggregates over the rows of the match.

An aggregate that the engine knows by name is taken apart: arguments, DISTINCT, FILTER, ORDER BY. Of one that only the
host knows, the references are taken out and the rest is syntax. Either way all its parts must read the rows of
one variable, which the `Aggregate` node then holds; inside it references mean the aggregated row.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.scalar.analyze.aggregate_names import aggregate_name, is_aggregate
from sparkrex.scalar.analyze.comparable import refuse_text_in_numbers
from sparkrex.scalar.analyze.opaque import cut_operands, is_volatile_call
from sparkrex.scalar.analyze.place import Place
from sparkrex.scalar.analyze.references import named_variables, required_variables
from sparkrex.scalar.expression import (
    EACH_ROW,
    Aggregate,
    Call,
    ClassifierAt,
    ColumnAt,
    Expression,
    Literal,
    Semantics,
    SortItem,
    is_volatile,
    references,
)
from sparkrex.syntax.scalar_text import row_pattern_function

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sparkrex.scalar.analyze.expressions import Converter
    from sparkrex.source import Span

_INSIDE = Place(each_row=True)
# Dialects whose array_agg leaves NULLs out, and is an empty array over no rows.
_SKIPS_NULLS = {"spark", "spark2", "databricks", "snowflake"}
# Dialects in which strings are joined with nothing between them unless the query says otherwise.
_JOINS_PLAINLY = {"spark", "spark2", "databricks", "snowflake", "oracle", "redshift"}
# Dialects whose percentile lies between two values where no value stands there.
_INTERPOLATES = {"spark", "spark2", "databricks"}


def convert_aggregate(converter: Converter, node: exp.Expr, place: Place) -> Expression:
    """An aggregate, with FILTER, WITHIN GROUP or IGNORE NULLS around it or without."""
    result = _convert_aggregate(converter, node, place)
    if not is_volatile(result):
        return result
    occurrence = converter.span(node).start
    match result:
        case Call(operands=(Aggregate() as aggregate,)):  # made an empty array where there are no rows
            return replace(result, operands=(replace(aggregate, occurrence=occurrence),))
        case Aggregate():
            return replace(result, occurrence=occurrence)
        case _:
            return result


def _convert_aggregate(converter: Converter, node: exp.Expr, place: Place) -> Expression:
    span = converter.span(node)
    _check_place(converter, place, span)
    semantics = place.semantics or Semantics.RUNNING
    call, condition = node, None
    while isinstance(call, exp.Filter | exp.RespectNulls):
        if isinstance(call, exp.Filter):
            condition = converter.convert_node(call.expression.this, _INSIDE)
        call = call.this
    if isinstance(call, exp.Count) and is_star(call.this):
        return _count_rows(counted_variables(converter, call.this), converter, condition, semantics, span)
    name = aggregate_name(call)
    if type(call) is exp.Quantile and converter.scope.dialect_name in _INTERPOLATES:  # not the approximate ones
        name = "percentile"
    if name is None:
        return _host_aggregate(converter, call, condition, semantics, span)
    refuse_text_in_numbers(converter, call, name)
    arguments, is_distinct, order = _arguments(converter, call)
    if not arguments and name == "count":  # Trino's count()
        return _count_rows(None, converter, condition, semantics, span)
    if not arguments:
        raise converter.error("REX213", f"{name} needs an argument", span)
    if name == "count" and is_distinct and len(arguments) > 1:
        return _host_aggregate(converter, call, condition, semantics, span)
    if name == "string_agg" and len(arguments) == 1 and converter.scope.dialect_name in _JOINS_PLAINLY:
        arguments = (*arguments, Literal(""))
    skips_nulls = name == "array_agg" and converter.scope.dialect_name in _SKIPS_NULLS
    if skips_nulls:
        present = Call("not", (Call("is_null", arguments[:1]),))
        condition = present if condition is None else Call("and", (condition, present))
    variables = _one_variable(converter, [*arguments, *(item.expression for item in order)], condition, span)
    result = Aggregate(
        name, tuple(map(each_row, arguments)), variables, semantics,
        is_distinct=is_distinct or isinstance(call, exp.ArrayUniqueAgg), filter=_each_row_of(condition),
        order_by=tuple(replace(item, expression=each_row(item.expression)) for item in order), span=span,
    )
    if not skips_nulls:
        return result
    return Call("or_empty", (result,), can_fail=False, span=span)


def _check_place(converter: Converter, place: Place, span: Span) -> None:
    if converter.row_only:
        raise converter.error("REX210", f"an aggregate is not allowed in {converter.row_only}", span)
    if place.each_row:
        raise converter.error("REX210", "aggregates cannot be nested", span)
    if place.navigation is not None:
        raise converter.error("REX210", "an aggregate cannot be inside FIRST, LAST, PREV or NEXT", span)


def is_star(node: exp.Expr | None) -> bool:
    """Whether the argument of COUNT is `*` or `name.*`."""
    return isinstance(node, exp.Star) or (isinstance(node, exp.Column) and isinstance(node.this, exp.Star))


def counted_variables(converter: Converter, star: exp.Expr) -> frozenset[str] | None:
    """The variables whose rows COUNT(*) or COUNT(name.*) counts; None, all rows, also for the input's own name."""
    if isinstance(star, exp.Star):
        return None
    qualifier = star.args["table"]
    if named_variables(converter, qualifier) is None and converter.scope.is_alias(qualifier.name):
        return None
    return required_variables(converter, qualifier, converter.span(qualifier))


def _count_rows(
    variables: frozenset[str] | None, converter: Converter, condition: Expression | None, semantics: Semantics,
    span: Span,
) -> Expression:
    agreed = _one_variable(converter, [], condition, span, star=variables)
    return Aggregate("count", (), agreed, semantics, filter=_each_row_of(condition), span=span)


def _arguments(
    converter: Converter, call: exp.Expr
) -> tuple[tuple[Expression, ...], bool, tuple[SortItem, ...]]:
    """Arguments, whether they are DISTINCT, and ORDER BY; sqlglot wraps the last two around an argument."""
    is_distinct = False
    order: list[SortItem] = []
    arguments: list[Expression] = []
    for node in argument_nodes(call):
        current: exp.Expr | None = node
        while isinstance(current, exp.Order | exp.Distinct):
            if isinstance(current, exp.Order):
                order += [_sort_item(converter, item) for item in current.expressions]
                current = current.this
            else:
                is_distinct = True
                arguments += [converter.convert_node(item, _INSIDE) for item in current.expressions[:-1]]
                current = current.expressions[-1] if current.expressions else None
        if current is None:
            is_known = isinstance(call, exp.Func) and not isinstance(call, exp.Anonymous)
            name = call.key if is_known else call.name
            raise converter.error("REX213", f"{name} lacks an argument", converter.span(call))
        arguments.append(converter.convert_node(current, _INSIDE))
    return tuple(arguments), is_distinct, tuple(order)


def argument_nodes(call: exp.Expr) -> list[exp.Expr]:
    """The arguments of an aggregate as written."""
    # The `this` of a function that sqlglot does not know is its name.
    keys = ("expression", "separator", "count") if isinstance(call, exp.Anonymous) else (
        "this", "expression", "separator", "count", "quantile",
    )
    values = [*(call.args.get(key) for key in keys), *(call.args.get("expressions") or [])]
    return [value for value in values if isinstance(value, exp.Expr)]


def _sort_item(converter: Converter, item: exp.Expr) -> SortItem:
    if not isinstance(item, exp.Ordered):
        nulls_first = converter.scope.nulls_come_first(is_descending=False)
        return SortItem(converter.convert_node(item, _INSIDE), False, nulls_first)
    is_descending = bool(item.args.get("desc"))
    return SortItem(converter.convert_node(item.this, _INSIDE), is_descending, bool(item.args.get("nulls_first")))


def _host_aggregate(
    converter: Converter, node: exp.Expr, condition: Expression | None, semantics: Semantics, span: Span
) -> Expression:
    """An aggregate that only the host knows: references become operands, the rest is syntax."""
    call = node
    wrappers = [node]
    while isinstance(call, exp.WithinGroup | exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
        call = call.this
        wrappers.append(call)

    def is_operand(part: exp.Expr) -> bool:
        if isinstance(part, exp.Column) or row_pattern_function(part) is not None or is_volatile_call(part):
            return True  # a volatile call too: the host takes aggregates with the same text for one
        is_own_call = any(part is wrapper for wrapper in wrappers)
        if not is_own_call and is_aggregate(part, converter.scope):
            raise converter.error("REX210", "aggregates cannot be nested", converter.span(part))
        return False

    operands, syntax = cut_operands(converter, node, _INSIDE, span, is_operand)
    name = call.name.lower() if isinstance(call, exp.Anonymous) else call.key
    variables = _one_variable(converter, operands, condition, span)
    return Aggregate(
        name, tuple(map(each_row, operands)), variables, semantics, syntax, filter=_each_row_of(condition),
        span=span,
    )


def _one_variable(
    converter: Converter, parts: Iterable[Expression], condition: Expression | None, span: Span,
    *, star: frozenset[str] | None = None,
) -> frozenset[str] | None:
    """The one set of variables whose rows all parts of an aggregate read, None for the rows of all."""
    everything = [*parts] if condition is None else [*parts, condition]
    sets = {reference.target.variables for part in everything for reference in references(part)}
    if star is not None:
        sets.add(star)
    if len(sets) > 1:
        raise converter.error(
            "REX211", "an aggregate mixes rows of different variables", span,
            hint="qualify every column with the same variable, or with a union variable (SUBSET)",
        )
    return next(iter(sets), None)


def each_row(expression: Expression) -> Expression:
    """References with their target set to the aggregated row; the aggregate itself knows the variables."""
    match expression:
        case ColumnAt() | ClassifierAt():
            return replace(expression, target=EACH_ROW)
        case Call():
            return replace(expression, operands=tuple(map(each_row, expression.operands)))
        case _:
            return expression


def _each_row_of(condition: Expression | None) -> Expression | None:
    return None if condition is None else each_row(condition)
