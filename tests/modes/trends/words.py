"""The language of a pattern: which sequences of variables it has, and where in each its negated parts stand.

Everything is by trying all ways to cut a sequence into pieces, one for every part of the pattern.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TypeAlias, assert_never

from tests.modes.trends.query import Absent, Either, Leaf, Pattern, Repeat, Seq, nodes

Word: TypeAlias = tuple[str, ...]
"""The variables of a trend's events, in order."""

Derivation: TypeAlias = tuple[frozenset[Absent], ...]
"""One way to read a word: the negated parts in every gap, from before the first event to after the last."""

NOTHING: frozenset[Absent] = frozenset()


@lru_cache(maxsize=1 << 18)
def derivations(pattern: Pattern, word: Word) -> frozenset[Derivation]:
    """All ways to read a word as one of the pattern; none if it is not one."""
    match pattern:
        case Leaf(variable=variable):
            return frozenset({(NOTHING, NOTHING)} if word == (variable,) else ())
        case Absent():
            return frozenset({(frozenset({pattern}),)} if not word else ())
        case Either(options=options):
            return frozenset(found for option in options for found in derivations(option, word))
        case Seq(items=items):
            if not items:
                return frozenset({(NOTHING,)} if not word else ())
            first, *rest = items
            return frozenset(
                (*left[:-1], left[-1] | right[0], *right[1:])
                for cut in range(len(word) + 1)
                for left in derivations(first, word[:cut])
                for right in derivations(Seq(tuple(rest)), word[cut:])
            )
        case Repeat(body=body, least=least, most=most):
            # More iterations than that have some without an event: without those the word reads the same, with no more
            # negated parts than before.
            enough = least + len(word)
            times = range(least, (enough if most is None else min(most, enough)) + 1)
            return frozenset(found for n in times for found in derivations(Seq((body,) * n), word))
        case _:
            assert_never(pattern)


def is_word(pattern: Pattern, word: Word) -> bool:
    """Whether trends may have these variables."""
    return bool(derivations(pattern, word))


@lru_cache(maxsize=1 << 18)
def is_prefix(pattern: Pattern, word: Word) -> bool:
    """Whether some word of the pattern begins like this."""
    match pattern:
        case Leaf(variable=variable):
            return word in ((), (variable,))
        case Absent():
            return not word
        case Either(options=options):
            return any(is_prefix(option, word) for option in options)
        case Seq(items=items):
            return any(
                is_word(Seq(items[:n]), word[:cut]) and is_prefix(items[n], word[cut:])
                for n in range(len(items)) for cut in range(len(word) + 1)
            )
        case Repeat(body=body, most=most):
            whole = range(len(word) + 1 if most is None else min(most, len(word) + 1))
            return any(
                is_word(Seq((body,) * n), word[:cut]) and is_prefix(body, word[cut:])
                for n in whole for cut in range(len(word) + 1)
            )
        case _:
            assert_never(pattern)


def follows(pattern: Pattern) -> frozenset[tuple[str, str]]:
    """The pairs of variables whose events can be adjacent, the earlier first; those of negated parts too.

    The pattern has each variable once, so that it is enough to look at what ends a part and what begins the next.
    """
    found: set[tuple[str, str]] = set()
    for node in nodes(pattern):
        if isinstance(node, Seq):
            for n, left in enumerate(node.items):
                for m in range(n + 1, len(node.items)):
                    if all(is_word(between, ()) for between in node.items[n + 1 : m]):
                        found |= {(one, two) for one in _ends(left, -1) for two in _ends(node.items[m], 0)}
        elif isinstance(node, Repeat) and node.most != 1:
            found |= {(one, two) for one in _ends(node.body, -1) for two in _ends(node.body, 0)}
    return frozenset(found)


def _ends(pattern: Pattern, place: int) -> set[str]:
    """The variables that a word can begin with (`place` 0) or end with (-1)."""
    match pattern:
        case Leaf(variable=variable):
            return {variable}
        case Absent():
            return set()
        case Either(options=options):
            return set().union(*(_ends(option, place) for option in options))
        case Repeat(body=body):
            return _ends(body, place)
        case Seq(items=items):
            found: set[str] = set()
            for item in items if place == 0 else reversed(items):
                found |= _ends(item, place)
                if not is_word(item, ()):
                    break
            return found
        case _:
            assert_never(pattern)

