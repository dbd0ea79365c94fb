"""Iterative walks over row patterns: generated patterns are deep."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from sparkrex.languages.match_recognize.row_pattern import (
    Alternation,
    Anchor,
    AnchorKind,
    Concatenation,
    Conjunction,
    Empty,
    Exclusion,
    Negation,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sparkrex.source import Span


def children(pattern: RowPattern) -> tuple[RowPattern, ...]:
    """The direct parts of a pattern, in order."""
    match pattern:
        case Concatenation(items) | Permutation(items) | Conjunction(items):
            return items
        case Alternation(options):
            return options
        case Quantified(body) | Exclusion(body) | Negation(body):
            return (body,)
        case Variable() | Anchor() | Empty():
            return ()
        case _:
            assert_never(pattern)


def walk(pattern: RowPattern) -> Iterator[RowPattern]:
    """The pattern and all its parts, parents first, left to right."""
    pending = [pattern]
    while pending:
        node = pending.pop()
        yield node
        pending.extend(reversed(children(node)))


def variables(pattern: RowPattern) -> tuple[str, ...]:
    """Names of the variables in the pattern, each once, in order of first appearance."""
    return tuple(dict.fromkeys(node.name for node in walk(pattern) if isinstance(node, Variable)))


def span_of(pattern: RowPattern, what: str | AnchorKind) -> Span | None:
    """Where a variable, or an anchor, first stands in the pattern."""
    for node in walk(pattern):
        if (isinstance(node, Variable) and node.name == what) or (isinstance(node, Anchor) and node.kind is what):
            return node.span
    return None


def speaks_of_segments(pattern: RowPattern) -> bool:
    """Whether `&` or `~` occurs."""
    return any(isinstance(node, Conjunction | Negation) for node in walk(pattern))


def has_exclusion(pattern: RowPattern) -> bool:
    """Whether `{- ... -}` occurs."""
    return any(isinstance(node, Exclusion) for node in walk(pattern))
