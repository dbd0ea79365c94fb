"""The elements of a pattern: `(X, *Y, Z)`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError, ParseError
from sparkrex.languages.sqlts.outline import Outline, split_at_commas
from sparkrex.languages.sqlts.syntax import Element
from sparkrex.source import Span
from sparkrex.syntax.tokens import is_quoted, span_of, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.source import Source


def read_elements(tokens: Sequence[Token], outline: Outline, source: Source) -> tuple[Element, ...]:
    """The elements in order. Their names have no case, whether quoted or not."""
    opening = tokens[outline.elements.start - 1]
    if not outline.elements:
        raise ParseError(
            "REX109", "the pattern has no elements", source, Span(opening.start, tokens[outline.pattern_end].end + 1),
            hint="AS (X, *Y, Z)",
        )
    elements: list[Element] = []
    for places in split_at_commas(tokens, outline.elements):
        if not places:
            at = min(places.start, outline.pattern_end - 1)
            raise ParseError(
                "REX109", "an element is missing here", source, span_of(tokens[at]), hint="leave the comma out"
            )
        element = _read_element([tokens[index] for index in places], source)
        if any(earlier.name == element.name for earlier in elements):
            raise AnalysisError(
                "REX205", f"element {element.name} is named twice", source, element.span,
                hint=f"every element has a name of its own, such as {element.name}2",
            )
        elements.append(element)
    return tuple(elements)


def is_name(token: Token, source: Source) -> bool:
    """Whether the token can be a name, words of SQL among them."""
    return is_quoted(token, source) or (bool(word(token)) and (token.text[0].isalpha() or token.text[0] == "_"))


def _read_element(tokens: Sequence[Token], source: Source) -> Element:
    is_star = tokens[0].token_type is TokenType.STAR
    names = tokens[1:] if is_star else tokens
    if not names:
        raise ParseError(
            "REX109", "a star without an element", source, span_of(tokens[0]), hint="the star stands before a name: *Y"
        )
    if not is_name(names[0], source):
        raise ParseError(
            "REX109", f"{names[0].text} is not the name of an element", source, span_of(names[0]), hint="AS (X, *Y, Z)"
        )
    if len(names) > 1:
        after_star = names[1].token_type in (TokenType.STAR, TokenType.PLUS)
        hint = f"the star stands before the name, and means one row or more: *{names[0].text}"
        raise ParseError(
            "REX109", f"unexpected {names[1].text} in the elements", source, span_of(names[1]),
            hint=hint if after_star else "elements have commas between them: AS (X, *Y, Z)",
        )
    return Element(names[0].text.upper(), is_star, span_of(tokens[0]).to(span_of(names[0])))
