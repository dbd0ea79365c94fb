"""Sizes of windows: `3 hours`, `1 day 12 hours`, `500`, `500 EVENTS`."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from sparkrex.errors import AnalysisError
from sparkrex.languages.events.syntax import SizeText
from sparkrex.syntax.tokens import span_of

if TYPE_CHECKING:
    from sparkrex.languages.events.clauses import Part
    from sparkrex.source import Source


def parse_size(part: Part, source: Source) -> SizeText:
    """Numbers and units in turn, with INTERVAL in front or without; a string may hold both."""
    head = part.head
    usage = f"{head} 3 hours, {head} 500 (on a numeric time column) or {head} 500 EVENTS"
    tokens = [token for token in part.tokens if token.token_type is not TokenType.INTERVAL]
    if not tokens:
        raise AnalysisError("REX226", f"{head} needs the size of the window", source, part.span, hint=usage)
    span = span_of(part.tokens[0]).to(span_of(part.tokens[-1]))
    words = " ".join(token.text for token in tokens).upper().split()
    amounts: list[tuple[Decimal, str | None]] = []
    text = " ".join(words).replace("- ", "-")
    pieces = re.findall(r"(-?[\d.]\S*)(?:\s+([^\W\d]\w*))?", text)
    try:
        amounts = [(Decimal(number), unit or None) for number, unit in pieces]
    except InvalidOperation:
        amounts = []
    is_whole = " ".join(f"{number} {unit}".rstrip() for number, unit in pieces) == text
    if not amounts or not is_whole:
        raise AnalysisError("REX226", "this window cannot be read", source, span, hint=usage)
    return SizeText(head, tuple(amounts), span)
