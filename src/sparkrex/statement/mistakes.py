"""Mistakes that are seen in a statement's tokens before anything is cut: keywords and parentheses.

Everything here is asked only where a statement cannot be meant as it is written, so that no valid statement is refused.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import ParseError
from sparkrex.modes.tables import LANGUAGES
from sparkrex.syntax import parentheses
from sparkrex.syntax.tokens import span_of, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.source import Source

_BEGIN_A_CLAUSE = {"PARTITION BY", "ORDER BY", "MEASURES", "PATTERN", "TIME", "TYPE", "ONE", "ALL", "RETURN"}


def refuse_misspelt_keywords(tokens: Sequence[Token], source: Source) -> None:
    """MATCH_RECOGNISE (...), MATCH RECOGNIZE (...) and a keyword without parentheses."""
    for index, token in enumerate(tokens):
        text = word(token)
        if not text.startswith("MATCH"):
            continue
        if text in LANGUAGES:
            if not _opens(tokens, index + 1) and _has_pattern(tokens, index + 1):
                begins = "ORDER BY ... PATTERN (A B+) DEFINE" if text == "MATCH_RECOGNIZE" else "TIME"
                raise ParseError(
                    "REX101", f"the clauses of {text} are written in parentheses", source, span_of(token),
                    hint=f"FROM t {text} ({begins} ...)",
                )
            continue
        last = index + 1 if text == "MATCH" and not _opens(tokens, index + 1) else index
        if last + 1 >= len(tokens) or not _opens(tokens, last + 1) or not _has_pattern(tokens, last + 2):
            continue
        written = text if last == index else f"MATCH_{word(tokens[last])}"
        meant = difflib.get_close_matches(written, LANGUAGES, n=1, cutoff=0.75)
        if meant:
            raise ParseError(
                "REX101", f"unknown keyword {source.text[token.start : tokens[last].end + 1]}", source,
                span_of(token).to(span_of(tokens[last])), hint=f"did you mean {meant[0]}?",
            )


def refuse_clauses(tokens: Sequence[Token], source: Source) -> None:
    """A clause of its own, an event query or a trend query, where a statement is expected."""
    if word(tokens[0]) in _BEGIN_A_CLAUSE and _has_pattern(tokens, 0):
        raise ParseError(
            "REX101", "this is a clause, and a statement is expected", source, span_of(tokens[0]),
            hint="rex.match takes the clause of a row pattern, rex.events an event query, rex.trends a trend query; "
            "a statement is SELECT * FROM t MATCH_RECOGNIZE (...)",
            command_hint="write SELECT * FROM t MATCH_RECOGNIZE (...)",
        )


def unclosed(tokens: Sequence[Token], source: Source) -> ParseError | None:
    """The error of a statement with a parenthesis that is never closed, None if all are."""
    return parentheses.unclosed(tokens, source, LANGUAGES)


def _opens(tokens: Sequence[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN


def _has_pattern(tokens: Sequence[Token], first: int) -> bool:
    """Whether PATTERN begins a clause after this token, in the same parentheses."""
    depth = 0
    for index in range(first, len(tokens) - 1):
        kind = tokens[index].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth < 0:
            return False
        following = tokens[index + 1]
        if depth == 0 and word(tokens[index]) == "PATTERN" and (
            following.token_type is TokenType.L_PAREN or _is_name(following)
        ):
            return True
    return False


def _is_name(token: Token) -> bool:
    return bool(word(token)) and (token.text[0].isalpha() or token.text[0] == "_")
