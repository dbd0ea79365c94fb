"""An event query cut at the words that begin its clauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import ParseError
from sparkrex.syntax.tokens import span_of, word

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from sparkrex.source import Source, Span

ORDER = ("TIME", "TIE BREAK", "TYPE", "TYPES", "TIES", "PATTERN", "WHERE", "WITHIN", "OUTPUT", "RETURN")
_EQUIVALENCE = "events of one match that agree in a column are asked for in WHERE: strategy(...) {{ [{column}] }}"
_ELSEWHERE = {
    "GROUP BY": _EQUIVALENCE,
    "PARTITION BY": _EQUIVALENCE,
    "ORDER BY": "events are always in order of their time; results are ordered outside",
    "SELECT": "an event query is PATTERN SEQ(Alert a, Exit b) WHERE ... RETURN ...; inside SQL it stands in "
    "FROM t MATCH_EVENTS (...)",
}
_OPENERS = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSERS = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)


@dataclass(frozen=True, slots=True)
class Part:
    """One clause: the word it begins with, and what follows."""

    head: str
    span: Span
    tokens: list[Token]

    def items(self, source: Source) -> list[list[Token]]:
        """The body cut at commas outside parentheses."""
        items: list[list[Token]] = [[]]
        depth = 0
        for token in self.tokens:
            depth += (token.token_type in _OPENERS) - (token.token_type in _CLOSERS)
            if depth == 0 and token.token_type is TokenType.COMMA:
                items.append([])
            else:
                items[-1].append(token)
        if any(not item for item in items):
            raise ParseError("REX107", f"{self.head} has an empty item", source, self.span)
        return items

    def inside(self) -> Part:
        """The same clause without the parentheses around its body."""
        return Part(self.head, self.span, self.tokens[1:-1])


def cut_parts(tokens: Sequence[Token], span: Span, source: Source) -> dict[str, Part]:
    """The clauses by their heads, in order, each once."""
    heads: list[tuple[int, int, str]] = []  # first token, first token of the body, head
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.token_type in _OPENERS) - (token.token_type in _CLOSERS)
        # The word after a head belongs to it: TIME type TYPE kind.
        if depth == 0 and (not heads or heads[-1][1] <= index):
            is_body = bool(heads) and heads[-1][1] == index and heads[-1][2] in ("TIME", "TIE BREAK", "TYPE")
            found = None if is_body else _head(tokens, index)
            # RETURN is the last clause: what looks like a head after it is a word of an expression.
            is_returned = bool(heads) and heads[-1][2] == "RETURN"
            if found is not None and (not is_returned or found[0] == "OUTPUT"):
                heads.append((index, index + found[1], found[0]))
    refuse_other_clauses(tokens, {first for first, _, _ in heads}, source)
    if not heads or heads[0][0] > 0:
        at = span_of(tokens[0]) if tokens else span
        raise ParseError("REX107", "expected a clause of an event query", source, at, hint=", ".join(ORDER))
    parts: dict[str, Part] = {}
    for number, (first, body, head) in enumerate(heads):
        end = heads[number + 1][0] if number + 1 < len(heads) else len(tokens)
        part = Part(head, span_of(tokens[first]).to(span_of(tokens[max(first, body - 1)])), list(tokens[body:end]))
        _check_order(list(parts.values()), part, source)
        parts[head] = part
    return parts


def outer_tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens outside parentheses, brackets and braces."""
    depth = 0
    for token in tokens:
        depth += (token.token_type in _OPENERS) - (token.token_type in _CLOSERS)
        if depth == 0:
            yield token


def refuse_other_clauses(tokens: Sequence[Token], heads: Container[int], source: Source) -> None:
    """Refuse clauses of SELECT, where they begin a line or the query; elsewhere they may be names."""
    depth = 0
    for index, token in enumerate(tokens):
        depth += (token.token_type in _OPENERS) - (token.token_type in _CLOSERS)
        name = word(token)
        is_by = name in ("GROUP", "PARTITION", "ORDER") and index + 1 < len(tokens) and word(tokens[index + 1]) == "BY"
        name = f"{name} BY" if is_by else name
        if depth or name not in _ELSEWHERE or index in heads or (index and not name.endswith(" BY")):
            continue
        span = span_of(token).to(span_of(tokens[index + 1])) if is_by else span_of(token)
        following = tokens[index + (2 if is_by else 1) :]
        column = next((t.text for t in reversed(following[: 3 if _is_dotted(following) else 1])), "x")
        raise ParseError(
            "REX107", f"{name} is not a clause of an event query", source, span,
            hint=_ELSEWHERE[name].format(column=column),
        )


def _is_dotted(tokens: Sequence[Token]) -> bool:
    return len(tokens) > 2 and tokens[1].token_type is TokenType.DOT


def _check_order(parts: list[Part], part: Part, source: Source) -> None:
    if any(earlier.head == part.head for earlier in parts):
        raise ParseError("REX107", f"{part.head} is given twice", source, part.span)
    if parts and ORDER.index(part.head) < ORDER.index(parts[-1].head):
        raise ParseError(
            "REX107", f"{part.head} must come before {parts[-1].head}", source, part.span,
            hint="the order is " + ", ".join(ORDER),
        )


def _head(tokens: Sequence[Token], index: int) -> tuple[str, int] | None:
    """Name and token count of the clause head at this token, if one starts here."""
    before = word(tokens[index - 1]) if index else ""
    if before in (".", ",", "AS"):
        return None
    words = [word(token) for token in tokens[index : index + 3]] + [""] * 3
    if words[1] in (".", ",", "="):
        return None
    if words[:2] == ["TIE", "BREAK"]:
        return "TIE BREAK", 2
    if words[:3] == ["NON", "-", "OVERLAPPING"] and before != "OUTPUT":
        return "OUTPUT", 0
    if words[0] == "OUTPUT" and words[1] not in ("ALL", "NON"):
        return None
    return (words[0], 1) if words[0] in ORDER else None
