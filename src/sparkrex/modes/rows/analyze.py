"""A parsed clause and its input's columns become a `plan.MatchRecognize`.

The checks that concern a whole sub-clause are here and in `sub_clauses` (names given twice, SUBSET, AFTER MATCH SKIP,
WITHIN, output columns); those inside one expression are in `expressions` and the modules it calls.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import AnalysisError
from sparkrex.languages.match_recognize import traverse
from sparkrex.modes.plan import Definition, Measure, OrderKey, RowsPerMatch, Subset
from sparkrex.modes.rows.plan import MatchRecognize
from sparkrex.modes.rows.program import compile_pattern
from sparkrex.modes.rows.runs import first_variables
from sparkrex.modes.sub_clauses import (
    check_names,
    check_output,
    order_keys,
    partition_keys,
    row_time_column,
    skip_mode,
)
from sparkrex.scalar.analyze.expressions import Converter
from sparkrex.scalar.analyze.lateral import written_out
from sparkrex.scalar.analyze.nanoseconds import keep_nanoseconds
from sparkrex.scalar.current_row import name_current_row
from sparkrex.scalar.expression import Call, ColumnAt, End, Expression, Target
from sparkrex.warn import warn_user

if TYPE_CHECKING:
    from sparkrex.languages.match_recognize.syntax import Clause
    from sparkrex.modes.sub_clauses import Relation
    from sparkrex.scalar.analyze.scope import Scope

_TIMES_AND_NUMBERS = (*exp.DataType.NUMERIC_TYPES, *exp.DataType.TEMPORAL_TYPES)


def analyze_clause(clause: Clause, scope: Scope, relation: Relation) -> MatchRecognize:
    """The plan of a clause that is no segment query. `scope` must already know the pattern's variables and unions."""
    check_names(clause, scope)
    order_by = order_keys(clause, scope)
    scope = replace(scope, row_time=row_time_column(order_by))
    within = _within(clause, scope, order_by)
    definitions = analyze_definitions(clause, scope, within)
    _check_timeouts(clause, scope)
    plan = MatchRecognize(
        input_columns=tuple(column.name for column in scope.columns),
        partition_by=partition_keys(clause, scope),
        order_by=order_by,
        measures=analyze_measures(clause, scope),
        rows_per_match=clause.rows_per_match,
        skip=skip_mode(clause, scope),
        pattern=clause.pattern,
        subsets=tuple(Subset(name, members) for name, members in scope.unions.items()),
        definitions=definitions,
        timeout=None if clause.timeouts is None else within,
        dialect=scope.dialect_name,
        source=scope.source,
        span=relation.span,
    )
    _check_row_mode(clause, scope)
    names = check_output(plan.output_columns(), plan.measures, relation, scope)
    return plan if names is None else replace(plan, output_names=names)


def analyze_measures(clause: Clause, scope: Scope) -> tuple[Measure, ...]:
    """The measures of a clause."""
    return tuple(
        Measure(item.name, Converter(scope, item.expression, in_define=False).convert(), item.expression.span)
        for item in written_out(clause, scope)
    )


def analyze_definitions(clause: Clause, scope: Scope, within: Expression | None) -> tuple[Definition, ...]:
    """The conditions of its variables, each with the bound of WITHIN."""
    given = {item.variable.text: item.condition for item in clause.definitions}
    definitions = []
    for variable in scope.variables:
        condition: Expression | None = None
        if variable in given:
            text = given[variable]
            condition = name_current_row(Converter(scope, text, in_define=True).convert(), variable)
            _check_condition(condition, scope)
        if within is not None:
            condition = within if condition is None else Call("and", (condition, within))
        if condition is not None:
            definitions.append(Definition(variable, condition))
    return tuple(definitions)


def _check_condition(condition: Expression, scope: Scope) -> None:
    """Subqueries and window functions in DEFINE must be about one row that the input alone fixes."""
    pending = [condition]
    while pending:
        node = pending.pop()
        if not isinstance(node, Call):
            continue
        pending.extend(node.operands)
        if node.reads_relation:
            targets = {part.target for part in node.operands if isinstance(part, ColumnAt)}
            others = [part for part in node.operands if not isinstance(part, ColumnAt)]
            if len(targets) > 1 or others:
                what = "a window function" if node.function == "window" else "a subquery"
                raise AnalysisError(
                    "REX211", f"{what} in DEFINE must speak of one row", scope.source, node.span,
                    hint="in MEASURES a subquery may refer to any rows of the match",
                )


def _within(clause: Clause, scope: Scope, order_by: tuple[OrderKey, ...]) -> Expression | None:
    """WITHIN bound as a condition: the row's order key is below the first row's key plus the bound."""
    if clause.within is None:
        return None
    span = clause.within.span
    key = order_by[0] if len(order_by) == 1 else None
    column = next((c for c in scope.columns if key is not None and c.name == key.column), None)
    fits = key is not None and not key.is_descending and isinstance(key.expression, ColumnAt) and column is not None
    if not fits or (column is not None and not column.type.is_type(*_TIMES_AND_NUMBERS)):
        notes: tuple[str, ...] = ()
        hint = None
        if fits and column is not None:
            notes = (f"{column.name} is a {column.type.sql(scope.host_dialect)}",)
            hint = f"make it a time in the input: CAST({column.name} AS TIMESTAMP)"
        elif len(order_by) > 1:
            hint = "the setting tie_break names columns that order rows of one time"
        raise AnalysisError(
            "REX215", "WITHIN needs ORDER BY with one ascending time or numeric column", scope.source, span,
            notes=notes, hint=hint,
        )
    tree = clause.within.tree
    is_time = column is not None and column.type.is_type(*exp.DataType.TEMPORAL_TYPES)
    if isinstance(tree, exp.Interval) != is_time:
        wanted = "an interval, such as INTERVAL '1' HOUR" if is_time else "a number"
        raise AnalysisError("REX215", f"WITHIN needs {wanted}, to fit the order key", scope.source, span)
    amount = tree.this if isinstance(tree, exp.Interval) else tree
    if isinstance(amount, exp.Neg) or (isinstance(amount, exp.Literal) and _is_zero_or_less(amount.name)):
        raise AnalysisError(
            "REX215", "WITHIN needs a bound above zero: below another one there is no row", scope.source, span
        )
    bound = Converter(scope, clause.within, in_define=True, row_only="WITHIN").convert()
    assert key is not None and isinstance(key.expression, ColumnAt)  # checked above
    first = ColumnAt(Target(end=End.FIRST), key.expression.column, span=span)
    limit = keep_nanoseconds(Call("add", (first, bound), span=span), scope)
    return keep_nanoseconds(Call("lt", (key.expression, limit), span=span), scope)


def _is_zero_or_less(amount: str) -> bool:
    """Whether a number as written in a bound cannot be above zero; intervals of several parts are not looked into."""
    return amount.startswith("-") or re.fullmatch(r"\s*0+(\.0*)?\s*", amount) is not None


def _check_timeouts(clause: Clause, scope: Scope) -> None:
    """SHOW TIMEOUT MATCHES has a window to wait for the end of, and should be of something that happens."""
    if clause.timeouts is None:
        return
    if clause.within is None:
        raise AnalysisError(
            "REX102", "SHOW TIMEOUT MATCHES needs WITHIN: without it nothing times out", scope.source, clause.timeouts,
            hint="PATTERN (...) WITHIN INTERVAL '5' MINUTE says how long to wait",
        )
    given = {item.variable.text: item.condition.tree for item in clause.definitions}
    program = compile_pattern(clause.pattern, scope.source)
    for name in [program.variables[number] for number in sorted(first_variables(program) or ())]:
        tree = given.get(name)
        if tree is None or (isinstance(tree, exp.Boolean) and tree.this):
            warn_user(
                f"SHOW TIMEOUT MATCHES: {name}, which the pattern begins with, is any row, so that every row may time "
                f"out; define {name} as what has to be followed by something"
            )
            return


def _check_row_mode(clause: Clause, scope: Scope) -> None:
    if clause.rows_per_match is RowsPerMatch.ALL_WITH_UNMATCHED and traverse.has_exclusion(clause.pattern):
        raise AnalysisError(
            "REX212", "WITH UNMATCHED ROWS cannot be combined with exclusion {- -}", scope.source, clause.rows_span,
            hint="use SHOW EMPTY MATCHES, or drop the exclusion",
        )
