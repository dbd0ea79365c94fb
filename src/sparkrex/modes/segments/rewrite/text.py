"""Logical trees on one line, for the steps that EXPLAIN prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from sparkrex.modes.segments.planner.logical import Both, Concat, Either, Leaf, Neither, Repeat
from sparkrex.syntax.names import quote_name

if TYPE_CHECKING:
    from sparkrex.modes.segments.pattern import Window
    from sparkrex.modes.segments.planner.logical import Logical


def logical_text(node: Logical) -> str:
    """The tree as a pattern: `*` is any segment, `=` a shared row, `>` neighbouring rows, windows in brackets."""
    return _text(node) + _windows(node.windows)


def window_text(window: Window) -> str:
    """A window as `25..30 rows` or `tstamp 0..5`."""
    low, high = (
        "" if bound is None else str(bound) if isinstance(bound, int) else f"{bound:.9g}"
        for bound in (window.low, window.high)
    )
    return f"{low}..{high} rows" if window.column is None else f"{window.column} {low}..{high}"


def _text(node: Logical) -> str:
    match node:
        case Leaf(variables=variables, condition=condition):
            if variables:
                return "=".join(quote_name(name) for name in variables)
            return "*" if condition is None else f"({condition})"
        case Concat(parts=inside, shares=shares):
            text = _operand(inside[0])
            for part, is_shared in zip(inside[1:], shares, strict=True):
                text += f" {'=' if is_shared else '>'} {_operand(part)}"
            return f"({text})"
        case Both(parts=inside):
            return "(" + " & ".join(map(_operand, inside)) + ")"
        case Either(parts=inside):
            return "(" + " | ".join(map(_operand, inside)) + ")"
        case Repeat(part=part, minimum=minimum, maximum=maximum, shares=shares):
            most = "" if maximum is None else maximum
            return f"{_operand(part)}{{{minimum},{most}}}{'=' if shares else '>'}"
        case Neither(part=part):
            return f"~{_operand(part)}"
        case _:
            assert_never(node)


def _operand(node: Logical) -> str:
    windows = () if isinstance(node, Leaf) and node.is_point else node.windows
    return _text(node) + _windows(windows)


def _windows(windows: tuple[Window, ...]) -> str:
    return "[" + ", ".join(map(window_text, windows)) + "]" if windows else ""
