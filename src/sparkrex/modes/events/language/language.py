"""Event queries as a language, standalone or inside MATCH_EVENTS ( ... )."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sparkrex.modes.events.analyze.query import analyze_events
from sparkrex.modes.events.language.query import parse_events

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token

    from sparkrex.languages.events.syntax import StreamOptions
    from sparkrex.modes.events.language.syntax import EventText
    from sparkrex.modes.events.plan import EventQuery
    from sparkrex.modes.sub_clauses import Relation
    from sparkrex.scalar.analyze.scope import Scope
    from sparkrex.source import Source, Span
    from sparkrex.syntax.names import NameRules


class EventLanguage:
    """See `modes.protocol.Language`."""

    def parse(
        self, tokens: Sequence[Token], span: Span, source: Source, dialect: Dialect, rules: NameRules
    ) -> EventText:
        """The query whose tokens are given."""
        return parse_events(tokens, span, source, dialect, rules)

    def mode(self, clause: EventText) -> str:
        """Always the same."""
        return "events"

    def analyze(
        self, clause: EventText, scope: Scope, relation: Relation, options: StreamOptions | None
    ) -> EventQuery:
        """The query over its input's columns; without `options` the text has them."""
        return analyze_events(clause, scope, relation, options)

    def variables(self, clause: EventText) -> tuple[str, ...]:
        """None: references are rewritten before sqlglot reads them."""
        return ()

    def pattern_text(self, clause: EventText) -> str:
        """PATTERN as it could be written."""
        return f"PATTERN {clause.pattern.pattern}"

    def key_trees(self, clause: EventText) -> list[Any]:
        """None: attributes of equivalence tests are names."""
        return []


LANGUAGE = EventLanguage()
