"""The clauses of an event query.

    [TIME column ...]  PATTERN pattern  [WHERE strategy(variables) [{ conjuncts }]]  [WITHIN window]
    [OUTPUT ALL | [OUTPUT] NON-OVERLAPPING]  [RETURN [EVENTS | expressions]]

`parse_events` reads the inside of MATCH_EVENTS ( ... ), which has the options that begin with TIME, and the text of
`rex.events`, which gets them as arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import ParseError
from sparkrex.languages.events.options import parse_options
from sparkrex.languages.events.returned import parse_item, text_of
from sparkrex.languages.events.rewriting import refuse_bracket_names
from sparkrex.languages.events.sizes import parse_size
from sparkrex.modes.events.language.clauses import CLAUSES
from sparkrex.modes.events.language.pattern import parse_event_pattern
from sparkrex.modes.events.language.references import Variables, rewrite_references
from sparkrex.modes.events.language.syntax import EventText, PatternText, reference_index
from sparkrex.modes.events.language.where import every_match, parse_where
from sparkrex.source import Source, Span
from sparkrex.syntax.items import MeasureItem
from sparkrex.syntax.tokens import span_of, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.dialects.dialect import Dialect

    from sparkrex.languages.events.clauses import Part
    from sparkrex.syntax.names import NameRules


def parse_events(
    tokens: Sequence[Token], span: Span, source: Source, dialect: Dialect, rules: NameRules
) -> EventText:
    """The query whose tokens are given: those inside MATCH_EVENTS ( ... ), or a whole text."""
    given = [token for token in tokens if token.token_type is not TokenType.SEMICOLON]
    refuse_bracket_names(given, source, "event queries")
    parts = CLAUSES.cut(given, span, source)
    if "PATTERN" not in parts:
        raise ParseError(
            "REX107", "PATTERN is missing", source, next(iter(parts.values())).span,
            hint="PATTERN SEQ(Alert a, Shipment+ b[])",
        )
    pattern = _pattern(parts["PATTERN"], source, rules)
    variables = Variables({part.key: part for part in pattern.components}, rules)
    where = parts.get("WHERE")
    strategy, equivalences, conjuncts = (
        (every_match(parts["PATTERN"].span, variables), (), ()) if where is None
        else parse_where(where.tokens, where.span, source, dialect, variables)
    )
    return EventText(
        pattern=pattern,
        strategy=strategy,
        equivalences=equivalences,
        conjuncts=conjuncts,
        within=parse_size(parts["WITHIN"], source) if "WITHIN" in parts else None,
        is_non_overlapping=_is_non_overlapping(parts.get("OUTPUT"), source),
        returned=_read_return(parts.get("RETURN"), source, dialect, variables),
        options=parse_options(parts, source, dialect),
        span=span,
    )


def _pattern(part: Part, source: Source, rules: NameRules) -> PatternText:
    if not part.tokens:
        raise ParseError("REX108", "PATTERN holds no pattern", source, part.span, hint="PATTERN SEQ(Alert a, Exit b)")
    return parse_event_pattern(source, Span(part.tokens[0].start, part.tokens[-1].end + 1), rules)


def _is_non_overlapping(part: Part | None, source: Source) -> bool:
    if part is None:
        return False
    words = [word(token) for token in part.tokens]
    if words not in (["ALL"], ["NON", "-", "OVERLAPPING"]):
        at = span_of(part.tokens[-1]) if part.tokens else part.span
        raise ParseError("REX107", "OUTPUT is ALL or NON-OVERLAPPING", source, at, hint="OUTPUT NON-OVERLAPPING")
    return words != ["ALL"]


def _read_return(
    part: Part | None, source: Source, dialect: Dialect, variables: Variables
) -> tuple[MeasureItem, ...] | None:
    if part is None or [word(token) for token in part.tokens] in ([], ["EVENTS"]):
        return None
    return tuple(_returned_item(tokens, source, dialect, variables) for tokens in part.items(source))


def _returned_item(tokens: list[Token], source: Source, dialect: Dialect, variables: Variables) -> MeasureItem:
    if [word(token) for token in tokens] == ["*"]:
        raise ParseError(
            "REX104", "RETURN * has no meaning: a match is several events", source, span_of(tokens[0]),
            hint="RETURN EVENTS gives all events of every match, and is the default",
        )
    text, alias = parse_item(tokens, source, dialect, lambda body: rewrite_references(body, source, variables))
    if alias is not None:
        return MeasureItem(text, alias.text, alias.span)
    tree = text.tree.expressions[0] if reference_index(text.tree) is not None else text.tree
    name = tree.name if isinstance(tree, exp.Column | exp.Dot) else text_of(text, source)
    return MeasureItem(text, name, text.span)
