"""Row patterns over letters, which Python's regular expressions search as well: the definition for both searches.

A row is a letter, and a variable holds for some letters. No iteration of the patterns can be empty, because there the
two differ.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.languages.match_recognize.parse_pattern import parse_pattern
from sparkrex.modes.rows.kernels.automaton import NEXT_ROW, PAST_LAST_ROW, TO_FIRST
from sparkrex.modes.rows.program import compile_pattern
from sparkrex.source import Source, Span
from sparkrex.syntax.names import name_rules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from sparkrex.modes.rows.program import Program

ALPHABET = "abc"
HOLDS = {"A": "a", "B": "b", "C": "c", "D": "[ab]", "X": ".", "N": "(?:a(?=b))", "M": "(?:[ab](?=.a))"}
"""When a variable's condition holds; N and M read the rows behind, one and two of them."""

PATTERNS = [
    "A", "A B", "A* B", "A*? B", "A B* C", "A X*? C", "A X* C", "D+ C", "D+? A", "(A | B)+ C", "(D | A)* B?",
    "A? B? C?", "(A B)* C?", "(A X)+? B", "D{2}", "D{1,3} A", "D{2,}? C", "(A | A B)(C | B C)", "((A | B) C)* A", "A*",
    "A*?", "X", "^ A B*", "(^ A | B) X", "A X* $", "A (B | $)", "(A $ | D C)", "^ X* $", "A+ (B+ A+)* C", "()",
    "(A | ^ X) B*? C", "{- A -} B+ {- C -}", "PERMUTE(A, B)", "(A B? | A C)+",
]
LOOKING_AHEAD = ["N", "A* N", "N X*? C", "(N B | A)+ C?", "D+ N", "M", "M* B", "(A | M)+ C", "X*? M", "N | X X"]
"""These need rows behind those that they map."""


@dataclass(frozen=True)
class Skip:
    """AFTER MATCH SKIP: the kernels' mode, and for SKIP TO the variable."""

    mode: int
    variable: str = ""


SKIPS = [Skip(PAST_LAST_ROW), Skip(NEXT_ROW)]


@dataclass
class Found:
    """Start, end and number of matches, their labels as names, and why it stopped: 0 if it did not."""

    matches: list[tuple[int, int, int]] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    status: int = 0
    row: int = -1
    start: int = 0
    number: int = 1


@cache
def program_of(pattern: str) -> Program:
    source = Source(pattern)
    return compile_pattern(parse_pattern(source, Span(0, len(pattern)), name_rules("duckdb")), source)


@cache
def regex(pattern: str, *, begins: bool = True) -> re.Pattern[str]:
    """The pattern as a regular expression over letters."""
    text = re.sub(r"PERMUTE\((\w), (\w)\)", r"(\1 \2 | \2 \1)", pattern).replace("{-", "(").replace("-}", ")")
    text = text.replace("^", r"\A" if begins else "(?!)").replace("$", r"\Z").replace(" ", "")
    return re.compile(re.sub(r"(?<!\\)[A-Z]", lambda name: HOLDS[name[0]], text))


@cache
def names_regex(pattern: str) -> re.Pattern[str]:
    """The pattern as one over the names of variables; what anchors say is left out."""
    text = re.sub(r"PERMUTE\((\w), (\w)\)", r"(\1 \2 | \2 \1)", pattern).replace("{-", "(").replace("-}", ")")
    return re.compile(text.replace("^", "").replace("$", "").replace(" ", ""))


def bitmaps_of(pattern: str, text: str) -> tuple[dict[str, int], NDArray[np.uint8]]:
    """Which bitmap a variable has (X has none, since it always holds), and bitmaps by row."""
    names = [name for name in program_of(pattern).variables if name != "X"]
    rows = [[re.compile(HOLDS[name]).match(text, row) is not None for row in range(len(text))] for name in names]
    return {name: k for k, name in enumerate(names)}, np.array(rows, np.uint8).reshape(len(names), len(text))


def by_definition(
    pattern: str, text: str, skip: Skip, *, begins: bool = True, start: int = 0, number: int = 1
) -> list[tuple[int, int, int]]:
    """The matches of one partition that is all there, searched for one start after the other."""
    found = []
    while start < len(text):
        match = regex(pattern, begins=begins).match(text, start)
        following = start + 1
        if match is not None:
            found.append((start, match.end(), number))
            number += 1
            if match.end() > start and skip.mode == PAST_LAST_ROW:
                following = match.end()
            elif match.end() > start and skip.mode >= TO_FIRST:
                # Only for variables of one letter each, which tell where they are mapped.
                rows = [row for row in range(start, match.end()) if text[row] == HOLDS[skip.variable]]
                following = rows[0] if skip.mode == TO_FIRST else rows[-1]
        start = following
    return found


def check_labels(pattern: str, text: str, found: Found) -> None:
    """Every row is mapped to a variable that holds there, and together they are an instance of the pattern."""
    for (start, end, _), labels in zip(found.matches, found.labels, strict=True):
        assert len(labels) == end - start
        assert all(re.compile(HOLDS[name]).match(text, start + k) for k, name in enumerate(labels)), (text, labels)
        assert names_regex(pattern).fullmatch(labels), (text, labels)


DECIDED = [
    ("A B", "abab", [(0, 2), (2, 4)], 4), ("A B", "abcba", [(0, 2)], 4), ("A B*", "abba", [(0, 3)], 3),
    ("A B*?", "abba", [(0, 1), (3, 4)], 4), ("A X*? C", "abca", [(0, 3)], 3), ("A X* C", "abca", [], 0),
    ("A B* C", "abba", [], 3), ("A $", "aba", [], 2), ("D+ C", "abcab", [(0, 3)], 3), ("X", "", [], 0),
    ("^ A B", "abab", [(0, 2)], 4), ("A X $ | A", "aab", [(0, 1)], 1), ("(A | A B) C", "aab", [], 1),
]
"""A pattern, the rows so far, the matches that they decide, and the start that rows to come decide."""


def words(longest: int) -> Iterator[str]:
    """All words of up to so many letters."""
    for length in range(longest + 1):
        yield from ("".join(letters) for letters in product(ALPHABET, repeat=length))


def drawn_text(seed: int, longest: int = 14) -> str:
    generator = np.random.default_rng(seed)
    return "".join(generator.choice(list(ALPHABET), generator.integers(0, longest), p=[0.45, 0.35, 0.2]))
