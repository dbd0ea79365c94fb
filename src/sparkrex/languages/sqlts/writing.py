"""Text and tokens of the equivalent MATCH_RECOGNIZE, written together: what is printed is what is run.

Tokens keep the places of what they were made from, so that errors point into the user's text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.syntax.names import quote_name
from sparkrex.syntax.tokens import word

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sqlglot.dialects.dialect import Dialect

    from sparkrex.languages.sqlts.references import References
    from sparkrex.languages.sqlts.syntax import Reference
    from sparkrex.source import Source

_TEXTS = (TokenType.STRING, TokenType.NATIONAL_STRING, TokenType.RAW_STRING)


@dataclass(frozen=True, slots=True)
class Written:
    """An expression as tokens, for sqlglot, and as text."""

    tokens: tuple[Token, ...]
    text: str


class Writer:
    """Writes expressions of one query with its references put another way."""

    def __init__(self, tokens: Sequence[Token], references: References, source: Source, dialect: Dialect) -> None:
        self.tokens = tokens
        self.references = references
        self.source = source
        self.dialect = dialect

    def write_condition(self, places: range, variables: Mapping[str, str]) -> Written:
        """An expression with every reference in the words of MATCH_RECOGNIZE; `variables` are those of the elements."""
        return self.write(places, lambda found: self.write_reference(found, variables), variables)

    def write(
        self, places: range, replacement: Callable[[Reference], Written], variables: Mapping[str, str] | None = None
    ) -> Written:
        """An expression with something else in the place of every reference; COUNT(X) counts rows of `variables`."""
        tokens: list[Token] = []
        text = ""
        index = places.start
        end = -1
        while index < places.stop:
            found = self.references.starting_at(index)
            counted = self.references.counted_at(index) if variables is not None and found is None else None
            if found is not None:
                piece, last = replacement(found), found.last
            elif counted is not None and variables is not None:
                piece, last = self._count(index, variables[counted]), index + 3
            elif (starred := self._starred(index)) is not None and variables is not None:
                piece, last = self._variable(index, variables[starred]), index
            else:
                piece, last = Written((self.tokens[index],), self.token_text(self.tokens[index])), index
            touches = not text or end + 1 == self.tokens[index].start
            text += piece.text if touches else f" {piece.text}"
            tokens += piece.tokens
            end = self.tokens[last].end
            index = last + 1
        return Written(tuple(tokens), text)

    def write_reference(self, found: Reference, variables: Mapping[str, str]) -> Written:
        """`X.previous.price` as `PREV(X.price)`."""
        name = variables[found.element]
        first, last = self.tokens[found.first], self.tokens[found.last]
        inner = [_token(TokenType.IDENTIFIER, name, first), _token(TokenType.DOT, ".", first)]
        inner += [self._column_token(self.tokens[index]) for index in found.column]
        text = f"{quoted(name, self.dialect)}.{self.column_text(found)}"
        if found.is_first:
            inner, text = _call("FIRST", inner, first, last), f"FIRST({text})"
        if found.shift:
            function, distance = "PREV" if found.shift < 0 else "NEXT", abs(found.shift)
            if distance > 1:
                inner += [_token(TokenType.COMMA, ",", last), _token(TokenType.NUMBER, str(distance), last)]
                text += f", {distance}"
            inner, text = _call(function, inner, first, last), f"{function}({text})"
        return Written(tuple(inner), text)

    def plain_text(self, places: range) -> str:
        """Tokens as they are written, on one line and without comments."""
        text = ""
        for index in places:
            touches = index == places.start or self.tokens[index - 1].end + 1 == self.tokens[index].start
            text += ("" if touches else " ") + self.token_text(self.tokens[index])
        return text

    def literal_false(self, place: Token) -> Written:
        """FALSE."""
        return Written((_token(TokenType.FALSE, "FALSE", place),), "FALSE")

    def column_text(self, found: Reference) -> str:
        """The column of a reference, with its fields, as it is written."""
        return "".join(self.token_text(self.tokens[index]) for index in found.column)

    def token_text(self, token: Token) -> str:
        """The token as it is written; of a literal that stands for a parameter, the literal."""
        written = self.source.text[token.start : token.end + 1]
        if written[:1] not in (":", "?") or written == token.text:
            return written
        if token.token_type in _TEXTS:
            return exp.Literal.string(token.text).sql(dialect=self.dialect)
        if token.token_type is TokenType.HEX_STRING:
            return f"X'{token.text}'"
        return token.text

    def _count(self, at: int, name: str) -> Written:
        """COUNT(X) as COUNT(X.*)."""
        call, opening, element, end = self.tokens[at : at + 4]
        star = (_token(TokenType.DOT, ".", element), _token(TokenType.STAR, "*", element))
        inner = (_token(TokenType.IDENTIFIER, name, element), *star)
        return Written((call, opening, *inner, end), f"{call.text}({quoted(name, self.dialect)}.*)")

    def _starred(self, at: int) -> str | None:
        """The element of `X.*`."""
        kinds = [token.token_type for token in self.tokens[at + 1 : at + 3]]
        follows_dot = at > 0 and self.tokens[at - 1].token_type is TokenType.DOT
        fits = kinds == [TokenType.DOT, TokenType.STAR] and not follows_dot
        return self.references.element_at(at) if fits else None

    def _variable(self, at: int, name: str) -> Written:
        token = _token(TokenType.IDENTIFIER, name, self.tokens[at])
        return Written((token,), quoted(name, self.dialect))

    def _column_token(self, token: Token) -> Token:
        """Quoted, so that words of SQL may be names of columns."""
        return token if token.token_type is TokenType.DOT else _token(TokenType.IDENTIFIER, token.text, token)


def join_all(pieces: Sequence[Written], at: Token) -> Written:
    """The conditions under AND, each in parentheses if it needs them."""
    tokens: list[Token] = []
    for number, piece in enumerate(pieces):
        tokens += [_token(TokenType.AND, "AND", at)] if number else []
        tokens += enclose(piece, at).tokens
    return Written(tuple(tokens), " AND ".join(_bracketed(piece) for piece in pieces))


def is_not_true(piece: Written, at: Token) -> Written:
    """`(condition) IS NOT TRUE`."""
    inner = enclose(piece, at)
    words = (
        _token(TokenType.IS, "IS", at), _token(TokenType.NOT, "NOT", at), _token(TokenType.TRUE, "TRUE", at),
    )
    return Written(inner.tokens + words, f"{inner.text} IS NOT TRUE")


def enclose(piece: Written, at: Token) -> Written:
    """In parentheses."""
    return Written(
        (_token(TokenType.L_PAREN, "(", at), *piece.tokens, _token(TokenType.R_PAREN, ")", at)), f"({piece.text})"
    )


def quoted(name: str, dialect: Dialect) -> str:
    """A name of ours as it must be written to mean itself, plain where that is enough."""
    if quote_name(name) == name:
        return name
    return exp.to_identifier(name, quoted=True).sql(dialect=dialect)


def _bracketed(piece: Written) -> str:
    """In parentheses if AND would take it apart."""
    return f"({piece.text})" if any(word(token) in ("OR", "XOR", "||") for token in piece.tokens) else piece.text


def _call(name: str, inner: Sequence[Token], first: Token, last: Token) -> list[Token]:
    return [
        Token(TokenType.VAR, name, first.line, last.col, first.start, last.end), _token(TokenType.L_PAREN, "(", first),
        *inner, _token(TokenType.R_PAREN, ")", last),
    ]


def _token(kind: TokenType, text: str, place: Token) -> Token:
    return Token(kind, text, place.line, place.col, place.start, place.end)
