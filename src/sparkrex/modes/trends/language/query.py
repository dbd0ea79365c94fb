"""The clauses of a trend query.

    [TIME column ... [ORIGIN literal] [COUNTS EXACT | LOG | TEXT]]  RETURN items  PATTERN pattern  SEMANTICS semantics
    [WHERE conjuncts]  [GROUP-BY columns]  [WITHIN size [SLIDE size]]

`parse_trends` reads the inside of MATCH_TRENDS ( ... ), which has the options that begin with TIME, and the text of
`rex.trends`, which gets them as arguments.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError, ParseError, nearest
from sparkrex.languages.events.conjuncts import refuse_commas, take_apart
from sparkrex.languages.events.options import column_names, parse_options
from sparkrex.languages.events.rewriting import refuse_bracket_names
from sparkrex.languages.events.sizes import parse_size
from sparkrex.modes.trends.language.clauses import CLAUSES, GROUP_BY
from sparkrex.modes.trends.language.pattern import parse_trend_pattern
from sparkrex.modes.trends.language.references import names_of, rewrite_references
from sparkrex.modes.trends.language.returned import parse_returned
from sparkrex.modes.trends.language.syntax import OriginText, TrendText
from sparkrex.modes.trends.plan import Counts, Semantics
from sparkrex.source import Source, Span
from sparkrex.syntax.parentheses import check_parentheses
from sparkrex.syntax.scalar_text import parse_expression
from sparkrex.syntax.tokens import span_of, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot.dialects.dialect import Dialect

    from sparkrex.languages.events.clauses import Part
    from sparkrex.modes.trends.language.references import Names
    from sparkrex.modes.trends.language.syntax import PatternText
    from sparkrex.syntax.items import Name, ScalarText
    from sparkrex.syntax.names import NameRules

_SEMANTICS = {semantics.value: semantics for semantics in Semantics}
_ANY_OF_THEM = f"SEMANTICS {', or '.join(_SEMANTICS)}"
_REQUIRED = {
    "RETURN": "RETURN COUNT(*)", "PATTERN": "PATTERN Stock S+, or PATTERN SEQ(Pickup P, Trip T+, Dropoff D)",
}
_ORIGINS = "ORIGIN TIMESTAMP '2024-01-01 00:00:00', or ORIGIN 100 on a numeric time column"


def parse_trends(
    tokens: Sequence[Token], span: Span, source: Source, dialect: Dialect, rules: NameRules
) -> TrendText:
    """The query whose tokens are given: those inside MATCH_TRENDS ( ... ), or a whole text."""
    given = [token for token in tokens if token.token_type is not TokenType.SEMICOLON]
    refuse_bracket_names(given, source, "trend queries")
    check_parentheses(given, source)
    parts = CLAUSES.cut(given, span, source)
    for head, usage in _REQUIRED.items():
        if head not in parts:
            raise ParseError("REX107", f"{head} is missing", source, next(iter(parts.values())).span, hint=usage)
    if "SLIDE" in parts and "WITHIN" not in parts:
        raise ParseError(
            "REX107", "SLIDE needs WITHIN with it", source, parts["SLIDE"].span, hint="WITHIN 10 minutes SLIDE 1 minute"
        )
    pattern = _pattern(parts["PATTERN"], source, rules)
    names = names_of(pattern, rules)
    equivalences, conjuncts = _where(parts.get("WHERE"), source, dialect, names)
    _check_options(parts, source)
    return TrendText(
        returned=parse_returned(parts["RETURN"], source, dialect, names),
        pattern=pattern,
        semantics=_semantics(parts, source),
        equivalences=equivalences,
        conjuncts=conjuncts,
        group_by=column_names(parts[GROUP_BY], source) if GROUP_BY in parts else (),
        within=parse_size(parts["WITHIN"], source) if "WITHIN" in parts else None,
        slide=parse_size(parts["SLIDE"], source) if "SLIDE" in parts else None,
        options=parse_options(parts, source, dialect, is_strict=True),
        origin=_origin(parts["ORIGIN"], source) if "ORIGIN" in parts else None,
        counts=_counts(parts["COUNTS"], source) if "COUNTS" in parts else Counts.EXACT,
        span=span,
    )


def _pattern(part: Part, source: Source, rules: NameRules) -> PatternText:
    if not part.tokens:
        raise ParseError("REX108", "PATTERN holds no pattern", source, part.span, hint=_REQUIRED["PATTERN"])
    return parse_trend_pattern(source, Span(part.tokens[0].start, part.tokens[-1].end + 1), rules)


def _semantics(parts: Mapping[str, Part], source: Source) -> Semantics:
    part = parts.get("SEMANTICS")
    if part is None or not part.tokens:
        at = parts["PATTERN"].span if part is None else part.span
        raise AnalysisError("REX223", "SEMANTICS is missing: which events may a trend pass over?", source, at,
                            hint=_ANY_OF_THEM)
    written = "".join(token.text for token in part.tokens).lower().replace("_", "-")
    if written not in _SEMANTICS:
        span = span_of(part.tokens[0]).to(span_of(part.tokens[-1]))
        raise AnalysisError(
            "REX223", f"{source.text[span.start : span.end]} is not a semantics of trends", source, span,
            hint=nearest(written, _SEMANTICS) or _ANY_OF_THEM,
        )
    return _SEMANTICS[written]


def _where(
    part: Part | None, source: Source, dialect: Dialect, names: Names
) -> tuple[tuple[Name, ...], tuple[ScalarText, ...]]:
    if part is None:
        return (), ()
    refuse_commas(part.tokens, source)
    text = parse_expression(rewrite_references(part.tokens, source, names), source, dialect, part.span)
    return take_apart(text, source, "trend")


def _check_options(parts: Mapping[str, Part], source: Source) -> None:
    for head in ("ORIGIN", "COUNTS"):
        if head in parts and "TIME" not in parts:
            raise ParseError(
                "REX107", f"{head} needs TIME with it", source, parts[head].span,
                hint=f"inside MATCH_TRENDS ( ... ) TIME comes first; rex.trends has {head.lower()}= instead",
                command_hint="TIME comes first: TIME ts",
            )


def _origin(part: Part, source: Source) -> OriginText:
    """A number with a sign or without, or a string with the name of its type or without."""
    tokens = part.tokens
    span = span_of(tokens[0]).to(span_of(tokens[-1])) if tokens else part.span
    signs = [token for token in tokens if token.token_type is TokenType.DASH]
    last = tokens[-1] if tokens else None
    if last is not None and last.token_type is TokenType.NUMBER and tokens[:-1] == signs[:1]:
        return OriginText(Decimal(last.text) * (-1) ** len(signs), span)
    is_typed = len(tokens) == 2 and word(tokens[0]).startswith(("TIMESTAMP", "DATE"))
    if last is not None and last.token_type is TokenType.STRING and (is_typed or len(tokens) == 1):
        return OriginText(last.text, span)
    raise AnalysisError("REX226", "ORIGIN is a number or a time", source, span, hint=_ORIGINS)


def _counts(part: Part, source: Source) -> Counts:
    known = {counts.value: counts for counts in Counts}
    written = part.tokens[0].text.lower() if len(part.tokens) == 1 else ""
    if written not in known:
        raise ParseError("REX107", "COUNTS is EXACT, LOG or TEXT", source, part.span, hint="COUNTS LOG")
    return known[written]
