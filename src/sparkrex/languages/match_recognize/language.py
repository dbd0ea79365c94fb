"""MATCH_RECOGNIZE as a language: its clauses are row patterns, or searches for segments."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sparkrex.languages.match_recognize import traverse
from sparkrex.languages.match_recognize.parse import parse_clause
from sparkrex.modes.rows.analyze import analyze_clause
from sparkrex.modes.segments.analyze.clause import analyze_segments, is_segment_clause
from sparkrex.modes.sub_clauses import union_variables
from sparkrex.syntax.parentheses import check_parentheses

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token

    from sparkrex.languages.match_recognize.syntax import Clause
    from sparkrex.modes.plan import Plan
    from sparkrex.modes.sub_clauses import Relation
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Source, Span
    from sparkrex.syntax.names import NameRules


class MatchRecognizeLanguage:
    """See `modes.protocol.Language`."""

    def parse(
        self, tokens: Sequence[Token], span: Span, source: Source, dialect: Dialect, rules: NameRules
    ) -> Clause:
        """The clause between the parentheses; one of its own has none, and may lack others."""
        check_parentheses(tokens, source)
        return parse_clause(tokens, span, source, dialect, rules)

    def mode(self, clause: Clause) -> str:
        """Segments where the clause has them or asks for all matches."""
        return "segments" if is_segment_clause(clause) else "rows"

    def analyze(self, clause: Clause, scope: Scope, relation: Relation, options: Any) -> Plan:
        """The plan of a clause; there are no options."""
        scope = replace(scope, unions=union_variables(clause, scope))
        if not is_segment_clause(clause):
            return analyze_clause(clause, scope, relation)
        from sparkrex.modes.segments.aggregates.registry import user_defined

        return analyze_segments(clause, scope, relation, user_defined())

    def variables(self, clause: Clause) -> tuple[str, ...]:
        """The primary variables of the pattern."""
        return traverse.variables(clause.pattern)

    def pattern_text(self, clause: Clause) -> str:
        """PATTERN as it could be written."""
        return f"PATTERN ({clause.pattern})"

    def key_trees(self, clause: Clause) -> list[Any]:
        """The expressions of PARTITION BY."""
        return [item.expression.tree for item in clause.partition_by]


LANGUAGE = MatchRecognizeLanguage()
