"""Tokens of a statement in the query's dialect, with exact offsets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import sqlglot
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError, ParseError, nearest
from sparkrex.source import Source, Span
from sparkrex.syntax.flink import Flink

if TYPE_CHECKING:
    from collections.abc import Sequence

_TEXT_TOKENS = {TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.RAW_STRING, TokenType.HEREDOC_STRING}


def find_dialect(name: str) -> Dialect:
    """The sqlglot dialect of that name, or an error that suggests one."""
    if name in ("spark", "databricks"):
        from sparkrex.syntax.spark import DIALECTS

        return DIALECTS[name]()
    try:
        return Dialect.get_or_raise(name)
    except ValueError:
        known = ["flink", "sqlts", *(dialect.value for dialect in sqlglot.Dialects if dialect.value)]
        raise AnalysisError(
            "REX217", f"unknown dialect {name!r}", None, None,
            hint=nearest(name, known) or f"one of {', '.join(sorted(known))}",
        ) from None


def is_flink(dialect: Dialect) -> bool:
    """Whether it is Flink's: names have a case there, and AFTER MATCH another default."""
    return isinstance(dialect, Flink)


def tokenize(source: Source, dialect: Dialect) -> list[Token]:
    """All tokens of the text."""
    try:
        return list(dialect.tokenize(source.text))
    except TokenError as error:
        raise ParseError(
            "REX101", "the text ends inside a string, a name or a comment", source,
            Span(0, min(1, len(source.text))), notes=(str(error).split("\n")[0],),
        ) from error


def span_of(token: Token) -> Span:
    """The token's place. sqlglot's `end` is the offset of the last character."""
    return Span(token.start, token.end + 1)


def is_quoted(token: Token, source: Source) -> bool:
    """Whether the token is a quoted name; a double-quoted one counts also where the dialect reads it as a string."""
    return token.token_type is TokenType.IDENTIFIER or (
        token.token_type is TokenType.STRING and source.text[token.start] == '"'
    )


def word(token: Token) -> str:
    """The token's text in upper case if it can be a keyword, else the empty string."""
    if token.token_type in _TEXT_TOKENS or token.token_type is TokenType.IDENTIFIER:
        return ""
    return " ".join(token.text.upper().split())


def closing(tokens: Sequence[Token], opening: int, source: Source) -> int:
    """Index of the token that closes the parenthesis at `opening`."""
    depth = 0
    for index in range(opening, len(tokens)):
        kind = tokens[index].token_type
        if kind is TokenType.L_PAREN:
            depth += 1
        elif kind is TokenType.R_PAREN:
            depth -= 1
            if depth == 0:
                return index
    raise ParseError("REX101", "this parenthesis is never closed", source, span_of(tokens[opening]))
