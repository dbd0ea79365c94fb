"""Query text and places in it.

A `Span` is a half-open range of character offsets into a `Source`. Everything that came from the user's text carries
one, so that an error can point at it.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """Characters `start` up to, not including, `end`."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start <= self.end:
            raise ValueError(f"not a span: {self.start}..{self.end}")

    def to(self, other: Span) -> Span:
        """The smallest span that covers both."""
        return Span(min(self.start, other.start), max(self.end, other.end))


@dataclass(frozen=True, slots=True)
class Source:
    """The text of a query, as the user wrote it."""

    text: str

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of a character, both from 1."""
        before = self.text[:offset]
        return before.count("\n") + 1, offset - (before.rfind("\n") + 1) + 1

    def excerpt(self, span: Span) -> str:
        """The line of the span's first character with a caret line under it.

        A long line is cut around the caret; wide characters count as two columns and tabs become blanks, so that the
        caret stands under what it means on a terminal.
        """
        line_number, column = self.position(span.start)
        line = self.text.split("\n")[line_number - 1].replace("\t", " ").rstrip("\r")
        start = column - 1
        length = max(1, min(span.end - span.start, len(line) - start))
        shift = 0
        if len(line) > _LONGEST_LINE:
            shift = max(0, min(start - _LONGEST_LINE // 2, len(line) - _LONGEST_LINE))
            line = ("..." if shift else "") + line[shift : shift + _LONGEST_LINE]
            start = start - shift + (3 if shift else 0)
            length = max(1, min(length, len(line) - start))
        gutter = f"{line_number} | "
        indent = " " * (len(gutter) + _columns(line[:start]))
        return f"{gutter}{line}\n{indent}{'^' * max(1, _columns(line[start : start + length]))}"

    def place_in(self, sent: str, line: int, column: int) -> Span | None:
        """The word of this text that stands at a line and column, both from 1, of a text made from it.

        What comes before its first relation, or after the last, is the same in both.
        """
        lines = sent.split("\n")
        if not 1 <= line <= len(lines):
            return None
        offset = sum(len(text) + 1 for text in lines[: line - 1]) + column - 1
        text = self.text.rstrip("; \t\r\n")
        rest = sent[offset:].rstrip("; \t\r\n") if 0 <= offset < len(sent) else ""
        if not rest:
            return None
        if text.startswith(sent[: offset + 1]):
            start = offset
        elif text.endswith(rest):
            start = len(text) - len(rest)
        else:
            return None
        end = start
        while end < len(text) and (text[end].isalnum() or text[end] == "_"):
            end += 1
        return Span(start, max(end, start + 1))


_LONGEST_LINE = 160


def _columns(text: str) -> int:
    return sum(2 if unicodedata.east_asian_width(character) in "WF" else 1 for character in text)
