"""Items of RETURN: an expression, and its name if the text gives one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import ParseError
from sparkrex.syntax.items import Name, ScalarText
from sparkrex.syntax.mistakes import missing_comma
from sparkrex.syntax.scalar_text import parse_expression
from sparkrex.syntax.tokens import span_of, word

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token

    from sparkrex.source import Source


def cut_alias(tokens: list[Token]) -> tuple[list[Token], Name | None]:
    """The item without `AS name`, and the name: after AS any word is one."""
    if len(tokens) > 2 and word(tokens[-2]) == "AS":
        return tokens[:-2], Name(tokens[-1].text, span_of(tokens[-1]))
    return tokens, None


def parse_item(
    tokens: list[Token], source: Source, dialect: Dialect, rewrite: Callable[[list[Token]], list[Token]]
) -> tuple[ScalarText, Name | None]:
    """The expression of an item, and the name that the text gives it; `rewrite` is for the references in it."""
    body, alias = cut_alias(tokens)
    try:
        text = parse_expression(rewrite(body), source, dialect, span_of(tokens[0]))
    except ParseError as error:
        lacking = missing_comma("RETURN", tokens, source)
        if lacking is None:
            raise
        raise ParseError("REX107", lacking.message, source, lacking.span) from error.__cause__
    if alias is None and isinstance(text.tree, exp.Alias):
        return ScalarText(text.tree.this, text.span), Name(text.tree.alias, span_of(tokens[-1]))
    return text, alias


def text_of(text: ScalarText, source: Source) -> str:
    """The expression as it is written, on one line: the name of an item without one."""
    return " ".join(source.text[text.span.start : text.span.end].split())
