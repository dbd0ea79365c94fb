"""Patterns of letter sets such as `*[ab] c [ad]`, whose matrices are exact because letters can be enumerated."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.modes.rows.ops.matrices import Matrices, U, make_matrices

if TYPE_CHECKING:
    from collections.abc import Sequence
    from random import Random

    from tests.modes.rows.ops.naive import Holds

Element = tuple[bool, frozenset[str]]
"""Whether it is a star, and the letters that it takes."""


def read_pattern(text: str) -> list[Element]:
    """The elements of a pattern written with spaces between them."""
    return [(part.startswith("*"), frozenset(part.strip("*[]"))) for part in text.split()]


def write_pattern(pattern: Sequence[Element]) -> str:
    """The text of a pattern."""
    return " ".join(f"{'*' if star else ''}[{''.join(sorted(letters))}]" for star, letters in pattern)


def letter_matrices(pattern: Sequence[Element], alphabet: str) -> Matrices:
    """theta and phi by enumeration, with the paper's exceptions for sets that are empty or everything."""
    sets = [frozenset[str](), *(letters for _, letters in pattern)]

    def after_success(j: int, k: int) -> int:
        if not sets[j] & sets[k]:
            return 0
        return 1 if sets[j] <= sets[k] else U

    def after_failure(j: int, k: int) -> int:
        rest = frozenset(alphabet) - sets[j]
        if rest <= sets[k]:
            return 1
        return U if rest & sets[k] else 0

    return make_matrices(len(pattern), after_success, after_failure)


def letters_hold(pattern: Sequence[Element], text: str) -> Holds:
    """The conditions of a pattern over the letters of a text."""
    return lambda element, row, _: text[row] in pattern[element - 1][1]


def draw_pattern(draw: Random, alphabet: str, longest: int = 6) -> list[Element]:
    """A random pattern; sets are small, large, or repeated, so that all entries of the matrices occur."""
    pattern: list[Element] = []
    for _ in range(draw.randint(1, longest)):
        if pattern and draw.random() < 0.3:
            letters = draw.choice(pattern)[1]
        else:
            letters = frozenset(letter for letter in alphabet if draw.random() < draw.choice((0.3, 0.6)))
        pattern.append((draw.random() < 0.4, letters or frozenset(draw.choice(alphabet))))
    return pattern


def draw_text(draw: Random, pattern: Sequence[Element], alphabet: str, longest: int = 24) -> str:
    """A random text; half of them repeat pieces that the pattern's elements take, so that attempts get far."""
    if draw.random() < 0.5:
        return "".join(draw.choice(alphabet) for _ in range(draw.randint(0, longest)))
    text = ""
    while len(text) < longest:
        for star, letters in pattern[: draw.randint(1, len(pattern))]:
            text += "".join(draw.choice(sorted(letters)) for _ in range(draw.randint(1, 3) if star else 1))
        if draw.random() < 0.4:
            text += draw.choice(alphabet)
    return text[:longest]
