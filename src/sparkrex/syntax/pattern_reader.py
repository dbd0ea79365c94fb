"""The lexemes of a pattern, one at a time: what the readers of both pattern grammars stand on.

Patterns are read from the characters, not from SQL tokens: dialects tokenize `~`, `??`, `$` and `{-` in their own ways.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sparkrex.errors import ParseError
from sparkrex.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Mapping


def lexemes(symbols: str) -> re.Pattern[str]:
    """What patterns are made of, given the symbols of a grammar as a regular expression."""
    return re.compile(
        rf"""(?P<space>\s+|--[^\n]*|/\*.*?\*/)
          | (?P<name>[^\W\d]\w*)
          | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)
          | (?P<number>\d+)
          | (?P<symbol>{symbols})""",
        re.VERBOSE | re.DOTALL,
    )


class PatternReader:
    """Stands at one lexeme of a pattern: its kind, text and span. At the end the kind is `end`.

    `code` is that of the errors about lexemes which do not fit; `foreign` has the signs of other languages, longer ones
    first, with what to write instead.
    """

    def __init__(
        self, source: Source, span: Span, lexeme: re.Pattern[str], code: str, foreign: Mapping[str, str]
    ) -> None:
        self.source = source
        self.foreign = foreign
        self.lexeme = lexeme
        self.code = code
        self.position = span.start
        self.end = span.end
        self.previous_end = span.start
        self.kind, self.text, self.span = "", "", Span(span.start, span.start)
        self.advance()

    def advance(self) -> None:
        """Go on to the next lexeme."""
        self.previous_end = self.span.end
        while self.position < self.end:
            found = self.lexeme.match(self.source.text, self.position, self.end)
            if found is None:
                rest = self.source.text[self.position : self.end]
                written = next((sign for sign in self.foreign if rest.startswith(sign)), rest[0])
                at = Span(self.position, self.position + len(written))
                raise ParseError(
                    self.code, f"unexpected {written!r} in a pattern", self.source, at, hint=self.foreign.get(written)
                )
            self.position = found.end()
            if found.lastgroup != "space":
                self.kind, self.text = found.lastgroup or "", found.group()
                self.span = Span(*found.span())
                return
        self.kind, self.text, self.span = "end", "the end of the pattern", Span(self.end, self.end)

    def accept(self, symbol: str) -> bool:
        """Pass over a symbol, if it stands here."""
        if self.kind == "symbol" and self.text == symbol:
            self.advance()
            return True
        return False

    def accept_number(self) -> int | None:
        """Pass over a number, if one stands here."""
        if self.kind != "number":
            return None
        value = int(self.text)
        self.advance()
        return value

    def is_before(self, symbol: str) -> bool:
        """Whether the lexeme after this one is a symbol."""
        return self.source.text[self.position : self.end].lstrip().startswith(symbol)

    def since(self, start: Span) -> Span:
        """From the lexeme that stood at `start` to the one before this."""
        return Span(start.start, max(start.start, self.previous_end))

    def error(self, message: str, *, hint: str | None = None) -> ParseError:
        """The error to raise about the lexeme that stands here."""
        if self.kind == "end":
            message = "the pattern ends too early"
        return ParseError(self.code, message, self.source, self.span, hint=hint)


def unquote(text: str) -> str:
    """The name in a quoted name."""
    quote = text[0]
    return text[1:-1].replace(quote * 2, quote)
