"""A query cut at the words that begin its clauses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import ParseError
from sparkrex.syntax.mistakes import find_timeouts
from sparkrex.syntax.tokens import span_of, word

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence

    from sparkrex.source import Source, Span

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


class Clauses:
    """The clauses that a language has; every language is a subclass."""

    query: ClassVar[str]
    """What a query of the language is called, with its article."""
    order: ClassVar[tuple[str, ...]]
    """The heads of clauses as they must follow each other."""
    before_names: ClassVar[tuple[str, ...]]
    """The heads after which the next word is a name, whatever it is: TIME type TYPE kind."""
    instead_of_timeouts: ClassVar[str]
    """What to write where a row pattern has SHOW TIMEOUT MATCHES."""
    elsewhere: ClassVar[Mapping[str, str]]
    """Clauses of SELECT that the language does not have, with what to write instead of them."""

    def head_at(self, words: Sequence[str], before: str) -> tuple[str, int] | None:
        """Name and number of tokens of the head that the first of three words begins, after the word `before`."""
        if words[:2] == ["TIE", "BREAK"]:
            return "TIE BREAK", 2
        return (words[0], 1) if words[0] in self.order else None

    def ends_clause(self, head: str, clause: str) -> bool:
        """Whether a head that is found inside a clause begins another; if not, it is a word of the clause."""
        return True

    def cut(self, tokens: Sequence[Token], span: Span, source: Source) -> dict[str, Part]:
        """The clauses by their heads, in order, each once."""
        timeouts = find_timeouts(tokens)
        if timeouts is not None:
            raise ParseError(
                "REX107", f"{self.query} has no SHOW TIMEOUT MATCHES", source, timeouts, hint=self.instead_of_timeouts
            )
        heads = self._find_heads(tokens)
        self._refuse_other_clauses(tokens, {first for first, _, _ in heads}, source)
        if not heads or heads[0][0] > 0:
            at = span_of(tokens[0]) if tokens else span
            raise ParseError("REX107", f"expected a clause of {self.query}", source, at, hint=", ".join(self.order))
        parts: dict[str, Part] = {}
        for number, (first, body, head) in enumerate(heads):
            end = heads[number + 1][0] if number + 1 < len(heads) else len(tokens)
            part = Part(head, span_of(tokens[first]).to(span_of(tokens[max(first, body - 1)])), list(tokens[body:end]))
            self._check_order(list(parts.values()), part, source)
            parts[head] = part
        return parts

    def _find_heads(self, tokens: Sequence[Token]) -> list[tuple[int, int, str]]:
        """Of every clause the first token, the first token of its body, and the head."""
        heads: list[tuple[int, int, str]] = []
        depth = 0
        for index, token in enumerate(tokens):
            depth += (token.token_type in _OPENERS) - (token.token_type in _CLOSERS)
            if depth or (heads and heads[-1][1] > index):
                continue
            is_name = bool(heads) and heads[-1][1] == index and heads[-1][2] in self.before_names
            found = None if is_name else self._head(tokens, index)
            if found is not None and (not heads or self.ends_clause(found[0], heads[-1][2])):
                heads.append((index, index + found[1], found[0]))
        return heads

    def _head(self, tokens: Sequence[Token], index: int) -> tuple[str, int] | None:
        before = word(tokens[index - 1]) if index else ""
        words = [word(token) for token in tokens[index : index + 3]] + [""] * 3
        if before in (".", ",", "AS") or words[1] in (".", ",", "="):
            return None
        return self.head_at(words[:3], before)

    def _refuse_other_clauses(self, tokens: Sequence[Token], heads: Container[int], source: Source) -> None:
        """Refuse clauses of SELECT, where they begin a line or the query; elsewhere they may be names."""
        depth = 0
        for index, token in enumerate(tokens):
            depth += (token.token_type in _OPENERS) - (token.token_type in _CLOSERS)
            name = word(token)
            follows_by = index + 1 < len(tokens) and word(tokens[index + 1]) == "BY"
            is_by = name in ("GROUP", "PARTITION", "ORDER") and follows_by
            name = f"{name} BY" if is_by else name
            if depth or name not in self.elsewhere or index in heads or (index and not name.endswith(" BY")):
                continue
            span = span_of(token).to(span_of(tokens[index + 1])) if is_by else span_of(token)
            following = tokens[index + (2 if is_by else 1) :]
            column = next((t.text for t in reversed(following[: 3 if _is_dotted(following) else 1])), "x")
            raise ParseError(
                "REX107", f"{name} is not a clause of {self.query}", source, span,
                hint=self.elsewhere[name].format(column=column),
            )

    def _check_order(self, parts: list[Part], part: Part, source: Source) -> None:
        if any(earlier.head == part.head for earlier in parts):
            raise ParseError("REX107", f"{part.head} is given twice", source, part.span)
        if parts and self.order.index(part.head) < self.order.index(parts[-1].head):
            raise ParseError(
                "REX107", f"{part.head} must come before {parts[-1].head}", source, part.span,
                hint="the order is " + ", ".join(self.order),
            )


def outer_tokens(tokens: Sequence[Token]) -> Iterator[Token]:
    """The tokens outside parentheses, brackets and braces."""
    depth = 0
    for token in tokens:
        depth += (token.token_type in _OPENERS) - (token.token_type in _CLOSERS)
        if depth == 0:
            yield token


def _is_dotted(tokens: Sequence[Token]) -> bool:
    return len(tokens) > 2 and tokens[1].token_type is TokenType.DOT
