"""How much a request may ask for, and that its query only reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from sparkrex.errors import ParseError, UnsupportedError
from sparkrex.source import Source
from sparkrex.syntax.tokens import find_dialect, span_of, tokenize, word

if TYPE_CHECKING:
    from starlette.requests import Request

MOST_BYTES = 1 << 20
"""Of the body of a request."""
MOST_ROWS = 500
"""Of a table on the page; what there is more of is counted."""
MOST_LETTERS = 300
"""Of a value in such a table."""
MOST_TEXT = 200_000
"""Letters of an EXPLAIN."""
_READING = ("SELECT", "WITH", "FROM", "VALUES")


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds that an answer may take, and those in which an interrupted search has to end before its process does."""

    seconds: float = 30.0
    patience: float = 2.0


class TooLargeError(Exception):
    """A body has more than `MOST_BYTES`."""


async def read_body(request: Request) -> bytes:
    """The body of a request, of which no more is read than may be there."""
    announced = request.headers.get("content-length", "0")
    if not announced.isdecimal() or int(announced) > MOST_BYTES:
        raise TooLargeError
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > MOST_BYTES:
            raise TooLargeError
    return bytes(body)


def check_one_select(text: str, dialect: str) -> None:
    """Fail unless a text is one statement, and one that reads. What it reads, and how, is checked by the engine."""
    source = Source(text)
    tokens = tokenize(source, find_dialect(dialect))
    for place, token in enumerate(tokens):
        if token.token_type is TokenType.SEMICOLON and place + 1 < len(tokens):
            following = tokens[place + 1]
            if following.token_type is not TokenType.SEMICOLON:
                raise ParseError(
                    "REX101", "one statement is expected, and here another one begins", source, span_of(following),
                    hint="keep one of them",
                )
    opening = next((token for token in tokens if token.token_type is not TokenType.L_PAREN), None)
    if opening is not None and word(opening) not in _READING:
        raise UnsupportedError(
            "REX303", f"rex studio runs queries that read, and this one begins with {opening.text}", source,
            span_of(opening), hint="begin with SELECT or WITH",
        )
