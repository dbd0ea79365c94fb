"""A parsed window and its input's columns become a `plan.PatternWindow`.

What MATCH_RECOGNIZE has too is analysed as there. Here are the frame's end, and the calls: which measure is meant, and
what a function over the rows of a match is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import AnalysisError, UnsupportedError, nearest
from sparkrex.modes.plan import Measure, RowsPerMatch, Subset
from sparkrex.modes.rows.analyze import analyze_definitions, analyze_measures
from sparkrex.modes.rows.plan import MatchRecognize
from sparkrex.modes.sub_clauses import check_names, order_keys, partition_keys, row_time_column, skip_mode
from sparkrex.modes.windows.plan import PatternWindow, RowValue, WindowCall
from sparkrex.scalar.analyze.aggregate_names import is_aggregate
from sparkrex.scalar.analyze.expressions import Converter
from sparkrex.scalar.expression import (
    Call,
    ClassifierAt,
    Expression,
    Literal,
    MatchNumber,
    MatchStatus,
    walk,
)

if TYPE_CHECKING:
    from sparkrex.languages.windows.syntax import CallItem
    from sparkrex.languages.windows.syntax import PatternWindow as Parsed
    from sparkrex.modes.sub_clauses import Relation
    from sparkrex.scalar.analyze.scope import Scope

_VALUES = (exp.FirstValue, exp.LastValue, exp.NthValue)


def analyze_window(parsed: Parsed, scope: Scope, relation: Relation) -> PatternWindow:
    """The plan of a window. `scope` must already know the pattern's variables and unions."""
    clause = replace(parsed.rows, measures=())
    check_names(clause, scope)  # measures of one name are wrong only if they are called
    order_by = order_keys(clause, scope)
    scope = replace(scope, row_time=row_time_column(order_by))
    measures = analyze_measures(parsed.rows, scope)
    used: dict[int, int] = {}
    functions: list[Measure] = []
    calls = []
    for item in parsed.calls:
        if item.measure is not None:
            number = _measure_number(item, measures, scope)
            calls.append(WindowCall(item.column, item.span, measure=used.setdefault(number, len(used))))
        else:
            calls.append(_function(item, replace(scope, variables=(), unions={}), functions, measures))
    search = MatchRecognize(
        input_columns=tuple(column.name for column in scope.columns), partition_by=partition_keys(clause, scope),
        order_by=order_by, measures=tuple(measures[number] for number in used), dialect=scope.dialect_name,
        source=scope.source, span=relation.span, rows_per_match=RowsPerMatch.ONE, skip=skip_mode(clause, scope),
        pattern=clause.pattern, subsets=tuple(Subset(name, members) for name, members in scope.unions.items()),
        definitions=analyze_definitions(clause, scope, None),
    )
    return PatternWindow(
        input_columns=search.input_columns, partition_by=search.partition_by, order_by=order_by,
        measures=search.measures, dialect=search.dialect, source=search.source, span=search.span,
        search=search, functions=tuple(functions), calls=tuple(calls), is_seek=parsed.is_seek,
        frame_end=_frame_end(parsed, scope), frame_span=parsed.frame_span,
    )


def _measure_number(item: CallItem, measures: tuple[Measure, ...], scope: Scope) -> int:
    """Which of the window's measures is called."""
    assert item.measure is not None
    name = item.measure
    found = [number for number, measure in enumerate(measures) if measure.name.lower() == name.text.lower()]
    if not found:
        names = [measure.name for measure in measures]
        raise AnalysisError(
            "REX234", f"the window has no measure {name.text}", scope.source, name.span,
            hint=nearest(name.text, names) or (
                f"it has {', '.join(names)}" if names else f"MEASURES LAST(A.x) AS {name.text} defines one"
            ),
        )
    if len(found) > 1:
        raise AnalysisError(
            "REX234", f"measure {name.text} is defined twice, so it cannot be called", scope.source, name.span,
            hint="give one of them another name in MEASURES",
        )
    return found[0]


def _function(
    item: CallItem, scope: Scope, functions: list[Measure], measures: tuple[Measure, ...]
) -> WindowCall:
    """A function over the rows of a match."""
    text = item.function
    assert text is not None  # else it is a measure
    node = text.tree
    ignores_nulls = False
    while isinstance(node, exp.IgnoreNulls | exp.RespectNulls):
        ignores_nulls = isinstance(node, exp.IgnoreNulls)
        node = node.this
    if isinstance(node, exp.Window) or any(isinstance(part, exp.Window) for part in node.walk()):
        raise AnalysisError(
            "REX235", "a window function cannot be an argument of another one", scope.source, item.span,
            hint="compute the inner one in a subquery",
        )
    if isinstance(node, _VALUES):
        argument = node.this
        while isinstance(argument, exp.IgnoreNulls | exp.RespectNulls):  # some dialects have it inside
            ignores_nulls = isinstance(argument, exp.IgnoreNulls)
            argument = argument.this
        value = RowValue(
            Converter(scope, replace(text, tree=argument), in_define=False, row_only="a window function").convert(),
            _offset(node, item, scope), isinstance(node, exp.LastValue), ignores_nulls,
        )
        return WindowCall(item.column, item.span, value=value)
    if not is_aggregate(text.tree, scope):
        name = (node.name if isinstance(node, exp.Anonymous) else node.key).lower().removeprefix("__rex_")
        if any(measure.name.lower() == name for measure in measures):
            raise AnalysisError(
                "REX234", f"{name} is a measure, and a measure is called without parentheses", scope.source, item.span,
                hint=f"{name} OVER w",
            )
        raise AnalysisError(
            "REX233", f"{name} cannot be called over a window with a row pattern", scope.source, item.span,
            hint=f"{name}_value(x) OVER w" if name in ("first", "last") else
            "aggregates, first_value, last_value and nth_value can; other functions belong around the call",
        )
    expression = Converter(scope, text, in_define=False).convert()
    for part in walk(expression):
        if isinstance(part, ClassifierAt | MatchNumber | MatchStatus):
            raise AnalysisError(
                "REX207", "a function over a window reads rows, and nothing of how the pattern maps them", scope.source,
                part.span or item.span, hint="CLASSIFIER() and the like belong into MEASURES and DEFINE of the window",
            )
    functions.append(Measure(item.column, expression, item.span))
    return WindowCall(item.column, item.span, aggregate=len(functions) - 1)


def _offset(node: exp.Expr, item: CallItem, scope: Scope) -> int:
    """How many rows from the first or last a value is."""
    if not isinstance(node, exp.NthValue):
        return 0
    number = node.args.get("offset")
    if isinstance(number, exp.Literal) and not number.is_string and number.name.isdigit() and int(number.name):
        return int(number.name) - 1
    if isinstance(number, exp.Literal | exp.Neg | exp.Null):
        raise AnalysisError(
            "REX233", "nth_value counts rows from 1", scope.source, item.span, hint="nth_value(x, 1) is the first"
        )
    raise UnsupportedError(
        "REX301", "nth_value over a window with a row pattern needs a number", scope.source, item.span,
        hint="nth_value(x, 2)",
    )


def _frame_end(parsed: Parsed, scope: Scope) -> Expression | None:
    """How many rows behind the current one the frame ends, None without a bound."""
    if parsed.is_current:
        return Literal(0, span=parsed.frame_span)
    if parsed.frame_end is None:
        return None
    found = Converter(scope, parsed.frame_end, in_define=False, row_only="a frame").convert()
    span = parsed.frame_end.span
    value = _literal(found)
    if value is None or (isinstance(value, int) and value < 0):
        raise AnalysisError(
            "REX422", "a frame ends at the current row or behind it", scope.source, span,
            hint="give a number of rows, 0 or more: ROWS BETWEEN CURRENT ROW AND 5 FOLLOWING",
        )
    if isinstance(value, bool) or not isinstance(value, int):
        raise AnalysisError(
            "REX232", "the end of a frame is a number of rows, an integer", scope.source, span, hint="5 FOLLOWING",
        )
    return found


def _literal(expression: Expression) -> object:
    """The value of a literal, with a sign or without; 0 for what only rows say."""
    match expression:
        case Literal(value):
            return value
        case Call("negate", (operand,)):
            value = _literal(operand)
            return -value if isinstance(value, int | float) else value
        case _:
            return 0
