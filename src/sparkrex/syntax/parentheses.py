"""Parentheses that are missing or too many, told by the clauses that stand inside or behind them.

Everything here is asked only where a text cannot be meant as it is written, so that no valid one is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import ParseError
from sparkrex.syntax.tokens import span_of, word

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from sparkrex.source import Source

# Words behind which a parenthesis of an earlier clause cannot still be open.
_HEADS = ("MEASURES", "PATTERN", "SUBSET", "DEFINE", "AFTER MATCH", "ONE ROW PER", "ALL ROWS PER")


def check_parentheses(tokens: Sequence[Token], source: Source) -> None:
    """Refuse a clause, without parentheses around it, in which one is missing or too many."""
    if (error := unclosed(tokens, source, is_clause=True)) is not None:
        raise error
    depth = 0
    for token in tokens:
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth < 0:
            raise ParseError(
                "REX101", "this parenthesis closes nothing", source, span_of(token), hint="there is one ) too many"
            )


def unclosed(
    tokens: Sequence[Token], source: Source, keywords: Container[str] = (), *, is_clause: bool = False
) -> ParseError | None:
    """The error of a text with a parenthesis that is never closed, None if all are.

    A clause, or the next definition, begins outside the parentheses of the one before: where that shows which
    parenthesis is meant, it is the innermost one open there. Clauses stand in the parentheses behind one of the
    `keywords`, or outside of all if the text is itself a clause.
    """
    depths = [(t.token_type is TokenType.L_PAREN) - (t.token_type is TokenType.R_PAREN) for t in tokens]
    if sum(depths) <= 0:
        return None
    opened: list[int] = []
    bases = [0] if is_clause else []  # depth inside each keyword's parenthesis
    last_pair: tuple[int, int] | None = None
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.L_PAREN:
            if index and word(tokens[index - 1]) in keywords:
                bases.append(len(opened) + 1)
            opened.append(index)
        elif token.token_type is TokenType.R_PAREN and opened:
            last_pair = (opened.pop(), index)
            if bases and len(opened) < bases[-1]:
                bases.pop()
        elif bases and len(opened) > bases[-1] and (what := _begins(tokens, index)) is not None:
            return ParseError(
                "REX101", f"this parenthesis is never closed: {what} follows inside it", source,
                span_of(tokens[opened[-1]]),
            )
    if not opened:
        return None
    notes = []
    if last_pair is not None and last_pair[1] == len(tokens) - 1:
        line, column = source.position(tokens[last_pair[0]].start)
        notes.append(f"the last ) of the text closes the ( at {line}:{column}")
    return ParseError(
        "REX101", "this parenthesis is never closed", source, span_of(tokens[opened[-1]]), notes=notes
    )


def refuse_early_end(tokens: Sequence[Token], close: int, source: Source) -> None:
    """Refuse a clause behind the parenthesis that closes MATCH_RECOGNIZE."""
    if close + 1 < len(tokens) and (what := _begins(tokens, close + 1)) is not None:
        raise ParseError(
            "REX101", f"this parenthesis closes MATCH_RECOGNIZE too early: {what} follows", source,
            span_of(tokens[close]), hint="there is one ) too many",
        )


def _begins(tokens: Sequence[Token], index: int) -> str | None:
    """The clause, or the definition behind a comma, that begins here."""
    words = [word(token) for token in tokens[index : index + 4]] + [""] * 4
    before = word(tokens[index - 1]) if index else ""
    if before == "," and _is_name(tokens[index]) and words[1] == "AS" and _is_name_or_more(words[2:4]):
        return f"{tokens[index].text} AS"
    if before in ("AS", "."):
        return None
    for head in _HEADS:
        size = head.count(" ") + 1
        if " ".join(words[:size]) != head:
            continue
        if head == "PATTERN" and words[1] != "(":
            continue
        if head in ("MEASURES", "SUBSET", "DEFINE") and (words[1] in ("", ",", ".", ")", "=", "(")):
            continue
        return head
    return None


def _is_name(token: Token) -> bool:
    return bool(word(token)) and (token.text[0].isalpha() or token.text[0] == "_")


def _is_name_or_more(words: Sequence[str]) -> bool:
    """Whether what stands behind AS goes on: a condition, not the name or type that ends an item."""
    return words[0] not in ("", ",", ")") and words[1] not in ("", ",", ")")
