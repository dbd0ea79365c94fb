"""Trend queries as a language, standalone or inside MATCH_TRENDS ( ... )."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparkrex.modes.trends.analyze.query import analyze_trends
from sparkrex.modes.trends.language.query import parse_trends

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token

    from sparkrex.modes.sub_clauses import Relation
    from sparkrex.modes.trends.language.syntax import TrendOptions, TrendText
    from sparkrex.modes.trends.plan import TrendQuery
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Source, Span
    from sparkrex.syntax.names import NameRules


class TrendLanguage:
    """See `modes.protocol.Language`."""

    def parse(
        self, tokens: Sequence[Token], span: Span, source: Source, dialect: Dialect, rules: NameRules
    ) -> TrendText:
        """The query whose tokens are given."""
        return parse_trends(tokens, span, source, dialect, rules)

    def mode(self, clause: TrendText) -> str:
        """Always the same."""
        return "trends"

    def analyze(
        self, clause: TrendText, scope: Scope, relation: Relation, options: TrendOptions | None
    ) -> TrendQuery:
        """The query over its input's columns; without `options` the text has them."""
        return analyze_trends(clause, scope, relation, options)

    def variables(self, clause: TrendText) -> tuple[str, ...]:
        """None: references are rewritten before sqlglot reads them."""
        return ()

    def pattern_text(self, clause: TrendText) -> str:
        """PATTERN as it could be written."""
        return f"PATTERN {' & '.join(map(str, clause.pattern.patterns))}"

    def key_trees(self, clause: TrendText) -> list[Any]:
        """None: columns of GROUP-BY and of equivalence tests are names."""
        return []


LANGUAGE = TrendLanguage()
