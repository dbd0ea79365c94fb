"""Row patterns in windows as a language: it claims windows of a query; its plans are of the mode `windows`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from sparkrex.languages.match_recognize import traverse
from sparkrex.languages.windows.claim import claim_window, find_end
from sparkrex.languages.windows.parse import parse_window
from sparkrex.modes.sub_clauses import union_variables
from sparkrex.modes.windows.analyze import analyze_window

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token

    from sparkrex.languages.windows.syntax import PatternWindow
    from sparkrex.modes.plan import Plan
    from sparkrex.modes.sub_clauses import Relation
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Source, Span
    from sparkrex.statement.site import Site
    from sparkrex.syntax.names import NameRules


class WindowLanguage:
    """See `modes.protocol.Language` and `Claiming`."""

    def site_end(self, tokens: Sequence[Token], sign: int, source: Source) -> int | None:
        """Behind the query of the window whose row pattern begins at the sign; elsewhere the words mean others."""
        return find_end(tokens, sign, source)

    def claim(
        self, tokens: Sequence[Token], sign: int, source: Source, replaced: Mapping[int, tuple[int, str]],
        placeholder: str, dialect: Dialect,
    ) -> Site:
        """The window and its calls, which become columns of the placeholder."""
        return claim_window(tokens, sign, source, replaced, placeholder, dialect)

    def parse(
        self, tokens: Sequence[Token], span: Span, source: Source, dialect: Dialect, rules: NameRules
    ) -> PatternWindow:
        """The window and its calls."""
        return parse_window(tokens, span, source, dialect, rules)

    def mode(self, clause: PatternWindow) -> str:
        """Windows."""
        return "windows"

    def analyze(self, clause: PatternWindow, scope: Scope, relation: Relation, options: Any) -> Plan:
        """The plan of a window; there are no options."""
        return analyze_window(clause, replace(scope, unions=union_variables(clause.rows, scope)), relation)

    def variables(self, clause: PatternWindow) -> tuple[str, ...]:
        """The primary variables of the pattern."""
        return traverse.variables(clause.rows.pattern)

    def pattern_text(self, clause: PatternWindow) -> str:
        """PATTERN as it could be written."""
        return f"PATTERN ({clause.rows.pattern})"

    def key_trees(self, clause: PatternWindow) -> list[Any]:
        """The expressions of PARTITION BY."""
        return [item.expression.tree for item in clause.rows.partition_by]


LANGUAGE = WindowLanguage()
