"""SQL-TS as a language: a query is a place of its own, and its plan is a row pattern whose stars give nothing back."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sparkrex.errors import AnalysisError
from sparkrex.languages.match_recognize import traverse
from sparkrex.languages.sqlts.claim import claim_query, find_end
from sparkrex.languages.sqlts.query import read_query
from sparkrex.languages.sqlts.translate import Translation
from sparkrex.modes.rows.analyze import analyze_clause
from sparkrex.modes.rows.plan import PossessiveElement
from sparkrex.modes.sub_clauses import union_variables
from sparkrex.scalar.analyze.expressions import Converter
from sparkrex.scalar.current_row import name_current_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token

    from sparkrex.languages.sqlts.syntax import ElementText, SequenceQuery
    from sparkrex.modes.plan import Plan
    from sparkrex.modes.sub_clauses import Relation
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Source, Span
    from sparkrex.statement.site import Site
    from sparkrex.syntax.names import NameRules


class SequenceLanguage:
    """See `modes.protocol.Language`, `Claiming` and `Rewriting`."""

    def site_end(self, tokens: Sequence[Token], sign: int, source: Source) -> int | None:
        """The end of the query with SEQUENCE BY keys AS (...) in FROM; elsewhere the words mean something else."""
        return find_end(tokens, sign, source)

    def claim(
        self, tokens: Sequence[Token], sign: int, source: Source, replaced: Mapping[int, tuple[int, str]],
        placeholder: str, dialect: Dialect,
    ) -> Site:
        """The query, with everything that it reads of a match read from the placeholder."""
        return claim_query(tokens, sign, source, replaced, placeholder, dialect)

    def parse(
        self, tokens: Sequence[Token], span: Span, source: Source, dialect: Dialect, rules: NameRules
    ) -> SequenceQuery:
        """The query, translated."""
        return Translation(read_query(tokens, source, dialect), source, dialect, rules, span).translate()

    def mode(self, clause: SequenceQuery) -> str:
        """Row patterns."""
        return "rows"

    def analyze(self, clause: SequenceQuery, scope: Scope, relation: Relation, options: Any) -> Plan:
        """The plan of the equivalent clause, with the elements as they were written."""
        _refuse_columns_without_element(clause, scope)
        scope = replace(scope, unions=union_variables(clause.clause, scope))
        plan = analyze_clause(clause.clause, scope, relation)
        return replace(plan, possessive=tuple(_analyze_element(element, scope) for element in clause.elements))

    def variables(self, clause: SequenceQuery) -> tuple[str, ...]:
        """The primary variables of the equivalent pattern."""
        return traverse.variables(clause.clause.pattern)

    def pattern_text(self, clause: SequenceQuery) -> str:
        """PATTERN as it could be written."""
        return f"PATTERN ({clause.clause.pattern})"

    def key_trees(self, clause: SequenceQuery) -> list[Any]:
        """The expressions of CLUSTER BY."""
        return [item.expression.tree for item in clause.clause.partition_by]

    def rewritten(self, clause: SequenceQuery) -> str:
        """The equivalent clause of MATCH_RECOGNIZE."""
        return f"MATCH_RECOGNIZE (\n  {clause.text})"


def _analyze_element(element: ElementText, scope: Scope) -> PossessiveElement:
    if element.condition is None:
        return PossessiveElement(element.variables, element.is_star, None)
    condition = Converter(scope, element.condition, in_define=True).convert()
    for variable in dict.fromkeys(element.variables):
        condition = name_current_row(condition, variable)
    return PossessiveElement(element.variables, element.is_star, condition)


def _refuse_columns_without_element(clause: SequenceQuery, scope: Scope) -> None:
    for name in clause.unqualified:
        if name.text.upper() in clause.names:
            raise AnalysisError(
                "REX228", f"element {name.text} is a row, and a column of it is expected", scope.source, name.span,
                hint=f"{name.text}.price, with a column of the input",
            )
        if scope.find_column(name.text, name.span) is not None:
            raise AnalysisError(
                "REX228", f"column {name.text} stands without an element", scope.source, name.span,
                hint=f"say which row: {clause.names[0]}.{name.text}; only CLUSTER BY columns are the same in all rows",
            )


LANGUAGE = SequenceLanguage()
