"""The queries around a token and the common table expressions visible there, from tokens alone.

Takes the statement's tokens and an index; returns token indices and words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.statement.action import query_start
from sparkrex.syntax.tokens import closing, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.source import Source


def common_table_expressions(tokens: Sequence[Token], index: int, source: Source) -> tuple[list[tuple[int, int]], bool]:
    """Those complete before the token, in its enclosing queries, outermost first.

    Gives the first and last token of each, and whether one of the WITH clauses is recursive.
    """
    found: list[tuple[int, int]] = []
    is_recursive = False
    for start in _query_starts(tokens, index):
        if word(tokens[start]) != "WITH":
            continue
        position = start + 1
        if word(tokens[position]) == "RECURSIVE":
            is_recursive = True
            position += 1
        while position < index:
            opening = position + 1
            if tokens[opening].token_type is TokenType.L_PAREN:  # column list
                opening = closing(tokens, opening, source) + 1
            while opening < index and tokens[opening].token_type is not TokenType.L_PAREN:
                opening += 1
            if opening >= index:
                break
            end = closing(tokens, opening, source)
            if end >= index:
                break
            found.append((position, end))
            if tokens[end + 1].token_type is not TokenType.COMMA:
                break
            position = end + 2
    return found, is_recursive


def outer_names(tokens: Sequence[Token], index: int, source: Source) -> frozenset[str]:
    """The words of the statement outside the query that holds the token, in lower case."""
    starts = _query_starts(tokens, index)
    if len(starts) == 1:
        return frozenset()
    inner = range(starts[-1], closing(tokens, starts[-1] - 1, source))
    return frozenset(token.text.lower() for place, token in enumerate(tokens) if place not in inner)


def _query_starts(tokens: Sequence[Token], index: int) -> list[int]:
    """Token indices where the queries around this token start, outermost first."""
    starts = [query_start(tokens)]
    for position in range(index):
        kind = tokens[position].token_type
        if kind is TokenType.L_PAREN:
            starts.append(position + 1)
        elif kind is TokenType.R_PAREN and len(starts) > 1:
            starts.pop()
    return starts
