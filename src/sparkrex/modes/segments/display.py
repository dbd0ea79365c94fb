"""Segment patterns as text, for EXPLAIN, errors and test failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from sparkrex.modes.segments import pattern as sp
from sparkrex.syntax.names import quote_name

if TYPE_CHECKING:
    from types import UnionType

    from sparkrex.modes.segments.pattern import SegmentPattern


def segment_pattern_text(pattern: SegmentPattern) -> str:
    """The pattern as it could stand in PATTERN (...).

    A junction of another kind than its neighbours would have when written so (a rewriting made it) is spelt out: `>`
    between adjacent rows, `=` on a shared row. The same sign follows such a quantifier.
    """
    return _text(pattern)[0]


def _text(pattern: SegmentPattern) -> tuple[str, bool]:
    """The text, and whether a segment variable occurs in it."""
    match pattern:
        case sp.PointVariable(name):
            return quote_name(name), False
        case sp.SegmentVariable(name):
            return quote_name(name), True
        case sp.Concatenation(items, shares):
            parts = [_operand(item, _LOOSE) for item in items]
            text = parts[0][0]
            for (_, left), (written, right), is_shared in zip(parts, parts[1:], shares, strict=False):
                text += f"{_junction(left or right, is_shared)} {written}"
            return text, any(holds for _, holds in parts)
        case sp.Alternation(options):
            parts = [_operand(option, sp.Alternation) for option in options]
            return " | ".join(text for text, _ in parts), any(holds for _, holds in parts)
        case sp.And(items):
            parts = [_operand(item, _LOOSE) for item in items]
            return " & ".join(text for text, _ in parts), any(holds for _, holds in parts)
        case sp.Not(body):
            text, holds = _operand(body, _LOOSE)
            return f"~{text}", holds
        case sp.Kleene(body):
            text, holds = _operand(body, _LOOSE | sp.Kleene | sp.Not)
            return text + _quantifier(pattern) + _junction(holds, pattern.shares).strip(), holds
        case _:
            assert_never(pattern)


def _operand(pattern: SegmentPattern, loose: type | UnionType) -> tuple[str, bool]:
    text, holds = _text(pattern)
    return (f"({text})" if isinstance(pattern, loose) else text), holds


def _junction(is_shared_as_written: bool, is_shared: bool) -> str:
    if is_shared == is_shared_as_written:
        return ""
    return " =" if is_shared else " >"


def _quantifier(pattern: sp.Kleene) -> str:
    if (pattern.minimum, pattern.maximum) == (1, None):
        return "+"
    if pattern.minimum == pattern.maximum:
        return f"{{{pattern.minimum}}}"
    return f"{{{pattern.minimum},{'' if pattern.maximum is None else pattern.maximum}}}"


# What binds more loosely than quantifiers and ~. In a concatenation an And could do without parentheses, a reader not.
_LOOSE = sp.Concatenation | sp.Alternation | sp.And
