"""SQL text as tokens, enough of them to find clauses: words, quoted names, strings, numbers and signs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.modes.rows.oracle.errors import CannotEvaluate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?\*/)
    | (?P<string>'(?:[^']|'')*')
    | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)
    | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<word>[A-Za-z_]\w*)
    | (?P<sign>\{-|-\}|<=|>=|<>|!=|\|\||::|.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class Token:
    """One token; `text` is as written, but names are always quoted with double quotes."""

    kind: str
    text: str

    @property
    def upper(self) -> str:
        """A word to compare with keywords; what is quoted is never one."""
        return self.text.upper() if self.kind == "word" else self.text

    @property
    def is_name(self) -> bool:
        return self.kind in ("word", "quoted")

    @property
    def name(self) -> str:
        """The name meant: what is not quoted is folded to upper case."""
        return self.text[1:-1].replace('""', '"') if self.kind == "quoted" else self.text.upper()


Tokens = tuple[Token, ...]


def tokens(text: str) -> Tokens:
    """All tokens but blanks and comments."""
    found = []
    for match in _TOKEN.finditer(text):
        kind, part = str(match.lastgroup), match[0]
        if kind == "space":
            continue
        if part.startswith("`"):
            part = '"' + part[1:-1].replace("``", "`").replace('"', '""') + '"'
        found.append(Token(kind, part))
    return tuple(found)


def written(parts: Sequence[Token]) -> str:
    """The tokens as SQL text."""
    text = ""
    for part in parts:
        text += part.text if part.text in (".", ")", ",") or text.endswith((".", "(")) or not text else f" {part.text}"
    return text


def closing(parts: Sequence[Token], start: int) -> int:
    """Where the parenthesis at `start` is closed."""
    depth = 0
    for place in range(start, len(parts)):
        depth += {"(": 1, ")": -1}.get(parts[place].text, 0)
        if depth == 0:
            return place
    raise CannotEvaluate("a parenthesis is not closed")


def top_level(parts: Sequence[Token]) -> Iterator[int]:
    """The places outside all parentheses, those of opening ones included."""
    depth = 0
    for place, part in enumerate(parts):
        if part.text == ")":
            depth -= 1
        elif depth == 0:
            yield place
        if part.text == "(":
            depth += 1


def split(parts: Sequence[Token], sign: str = ",") -> list[Tokens]:
    """The parts between signs outside parentheses."""
    found, start = [], 0
    for place in top_level(parts):
        if parts[place].text == sign:
            found.append(tuple(parts[start:place]))
            start = place + 1
    return [*found, tuple(parts[start:])]


def cut(parts: Sequence[Token], heads: Sequence[str]) -> dict[str, Tokens]:
    """What follows each head (`PARTITION BY`), up to the next one; what stands before the first is under ``."""
    clauses: dict[str, Tokens] = {}
    head, start, skip_to = "", 0, 0
    for place in top_level(parts):
        if place < skip_to:
            continue
        for candidate in heads:
            words = candidate.split()
            if [part.upper for part in parts[place : place + len(words)]] == words:
                clauses[head] = tuple(parts[start:place])
                head, start, skip_to = candidate, place + len(words), place + len(words)
                break
    clauses[head] = tuple(parts[start:])
    return clauses


def words_of(parts: Sequence[Token]) -> str:
    """The tokens in capitals with single blanks, to be compared with fixed phrases."""
    return " ".join(part.upper for part in parts)
