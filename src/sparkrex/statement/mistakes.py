"""Mistakes that are seen in a statement's tokens before anything is cut: keywords and parentheses.

Everything here is asked only where a statement cannot be meant as it is written, so that no valid statement is refused.
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import ParseError
from sparkrex.modes.tables import LANGUAGES
from sparkrex.syntax.tokens import span_of, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.source import Source

# Words after which a parenthesis of an earlier clause cannot still be open.
_HEADS = ("MEASURES", "PATTERN", "SUBSET", "DEFINE", "AFTER MATCH", "ONE ROW PER", "ALL ROWS PER")


def refuse_misspelt_keywords(tokens: Sequence[Token], source: Source) -> None:
    """MATCH_RECOGNISE (...), MATCH RECOGNIZE (...) and a keyword without parentheses."""
    for index, token in enumerate(tokens):
        text = word(token)
        if not text.startswith("MATCH"):
            continue
        if text in LANGUAGES:
            if not _opens(tokens, index + 1) and _has_pattern(tokens, index + 1):
                raise ParseError(
                    "REX101", f"the clauses of {text} are written in parentheses", source, span_of(token),
                    hint=f"FROM t {text} (ORDER BY ... PATTERN (A B+) DEFINE ...)",
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


def unclosed(tokens: Sequence[Token], source: Source) -> ParseError | None:
    """The error of a text with a parenthesis that is never closed, None if all are.

    A clause, or the next definition, begins outside the parentheses of the one before: where that shows which
    parenthesis is meant, it is the innermost one open there.
    """
    depths = [(t.token_type is TokenType.L_PAREN) - (t.token_type is TokenType.R_PAREN) for t in tokens]
    if sum(depths) <= 0:
        return None
    opened: list[int] = []
    bases: list[int] = []  # depth inside each keyword's parenthesis
    last_pair: tuple[int, int] | None = None
    for index, token in enumerate(tokens):
        if token.token_type is TokenType.L_PAREN:
            if index and word(tokens[index - 1]) in LANGUAGES:
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
    """Refuse a clause after the parenthesis that closes MATCH_RECOGNIZE."""
    if close + 1 < len(tokens) and (what := _begins(tokens, close + 1)) is not None:
        raise ParseError(
            "REX101", f"this parenthesis closes MATCH_RECOGNIZE too early: {what} follows", source,
            span_of(tokens[close]), hint="there is one ) too many",
        )


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


def _begins(tokens: Sequence[Token], index: int) -> str | None:
    """The clause, or the definition after a comma, that begins here."""
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
    """Whether what comes after AS continues: a condition, not the name or type that ends an item."""
    return words[0] not in ("", ",", ")") and words[1] not in ("", ",", ")")
