"""What plain queries and segment queries have in common: names, PARTITION BY, ORDER BY, AFTER MATCH SKIP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from sparkrex.errors import AnalysisError, nearest
from sparkrex.modes.plan import OrderKey, PartitionKey, Skip, SkipTo
from sparkrex.scalar.analyze.expressions import Converter
from sparkrex.scalar.expression import ColumnAt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.languages.match_recognize.syntax import Clause
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Span
    from sparkrex.syntax.items import Name, ScalarText


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


class Returned(Protocol):
    """A measure, or whatever else a clause returns by a name."""

    @property
    def name(self) -> str:
        """The name of its column."""

    @property
    def span(self) -> Span | None:
        """Where it stands."""


def require_variable(name: Name, scope: Scope, code: str, message: str) -> None:
    """Fail unless the name is a variable of the pattern."""
    if name.text not in scope.variables:
        raise AnalysisError(
            code, message, scope.source, name.span,
            hint=nearest(name.text, scope.variables) or f"PATTERN has {', '.join(scope.variables) or 'no variables'}",
        )


def check_names(clause: Clause, scope: Scope) -> None:
    """Every definition is of a variable of the pattern, once; measures have different names."""
    seen: set[str] = set()
    for definition in clause.definitions:
        name = definition.variable
        if name.text in scope.unions:
            raise AnalysisError(
                "REX205", f"union variable {name.text} cannot be defined", scope.source, name.span,
                hint="define its members",
            )
        require_variable(name, scope, "REX204", f"pattern variable {name.text} is not used in PATTERN")
        if name.text in seen:
            raise AnalysisError("REX205", f"{name.text} is defined twice", scope.source, name.span)
        seen.add(name.text)
    names: set[str] = set()
    for measure in clause.measures:
        if measure.name.lower() in names:
            raise AnalysisError("REX205", f"measure {measure.name} is given twice", scope.source, measure.name_span)
        names.add(measure.name.lower())


def partition_keys(clause: Clause, scope: Scope) -> tuple[PartitionKey, ...]:
    """PARTITION BY."""
    keys = []
    for item in clause.partition_by:
        expression = Converter(scope, item.expression, in_define=False, row_only="PARTITION BY").convert()
        written = expression.column if isinstance(expression, ColumnAt) else _text_of(item.expression, scope)
        keys.append(PartitionKey(written if item.alias is None else item.alias, expression))
    return tuple(keys)


def _text_of(text: ScalarText, scope: Scope) -> str:
    return " ".join(scope.source.text[text.span.start : text.span.end].split())


def order_keys(clause: Clause, scope: Scope) -> tuple[OrderKey, ...]:
    """ORDER BY."""
    keys = []
    for item in clause.order_by:
        expression = Converter(scope, item.expression, in_define=False, row_only="ORDER BY").convert()
        nulls_first = item.nulls_first
        if nulls_first is None:
            nulls_first = scope.nulls_come_first(is_descending=item.is_descending)
        column = expression.column if isinstance(expression, ColumnAt) else None
        keys.append(OrderKey(expression, item.is_descending, nulls_first, column))
    return tuple(keys)


def row_time_column(keys: Sequence[OrderKey]) -> str | None:
    """The column that MATCH_ROWTIME() reads, None if the first key is not a column."""
    return keys[0].column if keys else None


def skip_mode(clause: Clause, scope: Scope) -> Skip:
    """AFTER MATCH SKIP, or what is meant without it."""
    item = clause.skip
    if item is None:
        return Skip(SkipTo.PAST_LAST_ROW)
    if item.variable is None:
        return Skip(item.to, span=item.span)
    name = item.variable
    variables = scope.variable_set(name.text)
    if variables is None:
        require_variable(name, scope, "REX206", f"{name.text} is not a pattern variable")
    return Skip(item.to, variables or frozenset(), name.text, item.span)


def check_output(
    names: tuple[str, ...], measures: Sequence[Returned], relation: Relation, scope: Scope
) -> tuple[str, ...] | None:
    """The names of the relation's column list, None without one; two columns of one name are an error."""
    aliases = relation.column_aliases
    if aliases is not None:
        if len(aliases) != len(names):
            raise AnalysisError(
                "REX216", f"the column list has {len(aliases)} names for {len(names)} columns", scope.source,
                relation.columns_span, hint=f"the columns are {', '.join(names)}",
            )
        return aliases
    folded = [name.lower() for name in names]
    for position, name in enumerate(folded):
        if name in folded[:position]:
            measure = next((m for m in measures if m.name.lower() == name), None)
            raise AnalysisError(
                "REX205", f"the result would have two columns {names[position]}", scope.source,
                measure.span if measure else relation.span,
                hint=f"give one of them another name: ... AS {names[position]}_2" if measure
                else "give the relation a column list",
            )
    return None


def union_variables(clause: Clause, scope: Scope) -> dict[str, frozenset[str]]:
    """SUBSET's union variables: members are primary variables of the pattern, names are new."""
    unions: dict[str, frozenset[str]] = {}
    for subset in clause.subsets:
        name = subset.name
        if name.text in unions or name.text in scope.variables:
            what = "a union variable" if name.text in unions else "a pattern variable"
            raise AnalysisError("REX205", f"{name.text} is already {what}", scope.source, name.span)
        for member in subset.members:
            require_variable(member, scope, "REX206", f"{member.text} is not a pattern variable")
        texts = [member.text for member in subset.members]
        for position, member in enumerate(subset.members):
            if member.text in texts[:position]:
                raise AnalysisError("REX205", f"{member.text} is listed twice", scope.source, member.span)
        unions[name.text] = frozenset(texts)
    return unions
