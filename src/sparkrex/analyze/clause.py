"""A parsed clause and its input's columns become an `ir.plan.MatchRecognize`.

The checks that concern a whole sub-clause are here (names given twice, SUBSET, AFTER MATCH SKIP, WITHIN, output
columns); those inside one expression are in `expressions` and the modules it calls.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from sqlglot import exp

from sparkrex.analyze.current_row import name_current_row
from sparkrex.analyze.expressions import Converter
from sparkrex.errors import AnalysisError, nearest
from sparkrex.ir import traverse
from sparkrex.ir.plan import (
    Definition,
    MatchRecognize,
    Measure,
    OrderKey,
    PartitionKey,
    RowsPerMatch,
    Skip,
    SkipTo,
    Subset,
)
from sparkrex.ir.scalar import Call, ColumnAt, End, Expression, Target

if TYPE_CHECKING:
    from sparkrex.analyze.scope import Scope
    from sparkrex.languages.match_recognize.syntax import Clause, Name, ScalarText
    from sparkrex.source import Span

_TIMES_AND_NUMBERS = (*exp.DataType.NUMERIC_TYPES, *exp.DataType.TEMPORAL_TYPES)


class Relation(Protocol):
    """What the statement says of the relation that the clause belongs to."""

    @property
    def span(self) -> Span:
        """Where it stands."""

    @property
    def column_aliases(self) -> tuple[str, ...] | None:
        """The names of its column list, if it has one."""

    @property
    def columns_span(self) -> Span | None:
        """Where the column list stands."""


def analyze_clause(clause: Clause, scope: Scope, relation: Relation) -> MatchRecognize:
    """The plan of a clause. `scope` must already know the pattern's variables and unions."""
    _check_variables(clause, scope)
    order_by = _order_by(clause, scope)
    within = _within(clause, scope, order_by)
    definitions = _definitions(clause, scope, within)
    plan = MatchRecognize(
        input_columns=tuple(column.name for column in scope.columns),
        partition_by=_partition_by(clause, scope),
        order_by=order_by,
        measures=_measures(clause, scope),
        rows_per_match=clause.rows_per_match,
        skip=_skip(clause, scope),
        pattern=clause.pattern,
        subsets=tuple(Subset(name, members) for name, members in scope.unions.items()),
        definitions=definitions,
        dialect=scope.dialect_name,
        source=scope.source,
        span=relation.span,
    )
    _check_row_mode(clause, scope)
    return _with_output_names(plan, relation, scope)


def union_variables(clause: Clause, scope: Scope) -> dict[str, frozenset[str]]:
    """SUBSET's union variables: members are primary variables of the pattern, names are new."""
    unions: dict[str, frozenset[str]] = {}
    for subset in clause.subsets:
        name = subset.name
        if name.text in unions or name.text in scope.variables:
            what = "a union variable" if name.text in unions else "a pattern variable"
            raise AnalysisError("REX205", f"{name.text} is already {what}", scope.source, name.span)
        for member in subset.members:
            _require_variable(member, scope, "REX206", f"{member.text} is not a pattern variable")
        texts = [member.text for member in subset.members]
        for position, member in enumerate(subset.members):
            if member.text in texts[:position]:
                raise AnalysisError("REX205", f"{member.text} is listed twice", scope.source, member.span)
        unions[name.text] = frozenset(texts)
    return unions


def _require_variable(name: Name, scope: Scope, code: str, message: str) -> None:
    if name.text not in scope.variables:
        raise AnalysisError(
            code, message, scope.source, name.span,
            hint=nearest(name.text, scope.variables) or f"PATTERN has {', '.join(scope.variables) or 'no variables'}",
        )


def _check_variables(clause: Clause, scope: Scope) -> None:
    seen: set[str] = set()
    for definition in clause.definitions:
        name = definition.variable
        if name.text in scope.unions:
            raise AnalysisError(
                "REX205", f"union variable {name.text} cannot be defined", scope.source, name.span,
                hint="define its members",
            )
        _require_variable(name, scope, "REX204", f"pattern variable {name.text} is not used in PATTERN")
        if name.text in seen:
            raise AnalysisError("REX205", f"{name.text} is defined twice", scope.source, name.span)
        seen.add(name.text)
    names: set[str] = set()
    for measure in clause.measures:
        if measure.name.lower() in names:
            raise AnalysisError("REX205", f"measure {measure.name} is given twice", scope.source, measure.name_span)
        names.add(measure.name.lower())


def _partition_by(clause: Clause, scope: Scope) -> tuple[PartitionKey, ...]:
    keys = []
    for item in clause.partition_by:
        expression = Converter(scope, item.expression, in_define=False, row_only="PARTITION BY").convert()
        written = expression.column if isinstance(expression, ColumnAt) else _written(item.expression, scope)
        keys.append(PartitionKey(written if item.alias is None else item.alias, expression))
    return tuple(keys)


def _written(text: ScalarText, scope: Scope) -> str:
    return " ".join(scope.source.text[text.span.start : text.span.end].split())


def _order_by(clause: Clause, scope: Scope) -> tuple[OrderKey, ...]:
    keys = []
    for item in clause.order_by:
        expression = Converter(scope, item.expression, in_define=False, row_only="ORDER BY").convert()
        nulls_first = item.nulls_first
        if nulls_first is None:
            nulls_first = scope.nulls_come_first(is_descending=item.is_descending)
        column = expression.column if isinstance(expression, ColumnAt) else None
        keys.append(OrderKey(expression, item.is_descending, nulls_first, column))
    return tuple(keys)


def _measures(clause: Clause, scope: Scope) -> tuple[Measure, ...]:
    return tuple(
        Measure(item.name, Converter(scope, item.expression, in_define=False).convert(), item.expression.span)
        for item in clause.measures
    )


def _definitions(clause: Clause, scope: Scope, within: Expression | None) -> tuple[Definition, ...]:
    given = {item.variable.text: item.condition for item in clause.definitions}
    definitions = []
    for variable in scope.variables:
        condition: Expression | None = None
        if variable in given:
            text = given[variable]
            condition = name_current_row(Converter(scope, text, in_define=True).convert(), variable)
            _check_condition(condition, scope)
        if within is not None:
            condition = within if condition is None else Call("and", (condition, within), "({0} AND {1})")
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
        raise AnalysisError(
            "REX215", "WITHIN needs ORDER BY with one ascending time or numeric column", scope.source, span
        )
    tree = clause.within.tree
    is_time = column is not None and column.type.is_type(*exp.DataType.TEMPORAL_TYPES)
    if isinstance(tree, exp.Interval) != is_time:
        wanted = "an interval, such as INTERVAL '1' HOUR" if is_time else "a number"
        raise AnalysisError("REX215", f"WITHIN needs {wanted}, to fit the order key", scope.source, span)
    amount = tree.this if isinstance(tree, exp.Interval) else tree
    if isinstance(amount, exp.Neg) or (isinstance(amount, exp.Literal) and amount.name.startswith("-")):
        raise AnalysisError(
            "REX215", "WITHIN needs a bound above zero: nothing lies below a negative one", scope.source, span
        )
    bound = Converter(scope, clause.within, in_define=True, row_only="WITHIN").convert()
    assert key is not None and isinstance(key.expression, ColumnAt)  # checked above
    first = ColumnAt(Target(end=End.FIRST), key.expression.column, span=span)
    limit = Call("add", (first, bound), "({0} + {1})", span=span)
    return Call("lt", (key.expression, limit), "({0} < {1})", span=span)


def _skip(clause: Clause, scope: Scope) -> Skip:
    item = clause.skip
    if item is None:
        return Skip(SkipTo.PAST_LAST_ROW)
    if item.variable is None:
        return Skip(item.to, span=item.span)
    name = item.variable
    variables = scope.variable_set(name.text)
    if variables is None:
        _require_variable(name, scope, "REX206", f"{name.text} is not a pattern variable")
    return Skip(item.to, variables or frozenset(), name.text, item.span)


def _check_row_mode(clause: Clause, scope: Scope) -> None:
    if clause.rows_per_match is RowsPerMatch.ALL_WITH_UNMATCHED and traverse.has_exclusion(clause.pattern):
        raise AnalysisError(
            "REX212", "WITH UNMATCHED ROWS cannot be combined with exclusion {- -}", scope.source, clause.rows_span,
            hint="use SHOW EMPTY MATCHES, or drop the exclusion",
        )


def _with_output_names(plan: MatchRecognize, relation: Relation, scope: Scope) -> MatchRecognize:
    names = plan.output_columns()
    aliases = relation.column_aliases
    if aliases is not None:
        if len(aliases) != len(names):
            raise AnalysisError(
                "REX216", f"the column list has {len(aliases)} names for {len(names)} columns", scope.source,
                relation.columns_span, hint=f"the columns are {', '.join(names)}",
            )
        return replace(plan, output_names=aliases)
    folded = [name.lower() for name in names]
    for position, name in enumerate(folded):
        if name in folded[:position]:
            measure = next((m for m in plan.measures if m.name.lower() == name), None)
            raise AnalysisError(
                "REX205", f"the result would have two columns {names[position]}", scope.source,
                measure.span if measure else relation.span,
                hint="rename the measure, or give the relation a column list",
            )
    return plan
