"""What a plan computes, as a short text that stays the same from run to run and from machine to machine.

Two plans with the same fingerprint mean the same: it is taken of everything in a plan but where that was written. A
saved state carries it, so that only the plan that wrote a state reads it; later, plans that share work are found by it.
"""

from __future__ import annotations

import hashlib
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

from sparkrex.source import Source, Span

if TYPE_CHECKING:
    from sparkrex.modes.plan import Plan

_LENGTH = 16
"""Hexadecimal digits: one collision in 2^32 plans or so."""

_LATER = "later"
"""Marks in a field's metadata that it came after states had been saved: where it has its default it says nothing."""


def fingerprint(plan: Plan) -> str:
    """The fingerprint of a plan. Spaces, comments and the case of keywords do not change it; names do."""
    return hashlib.sha256(_text(plan).encode()).hexdigest()[:_LENGTH]


def _text(value: Any) -> str:
    """A value as text, equal exactly for values that mean the same."""
    if is_dataclass(value) and not isinstance(value, type):
        parts = [
            f"{field.name}={_text(getattr(value, field.name))}" for field in fields(value)
            if field.compare and not isinstance(getattr(value, field.name), Source | Span)
            and not (field.metadata.get(_LATER) and getattr(value, field.name) == field.default)
        ]
        return f"{type(value).__qualname__}({', '.join(parts)})"
    if isinstance(value, Enum):
        return f"{type(value).__qualname__}.{value.name}"
    if isinstance(value, tuple | list):
        return f"[{', '.join(map(_text, value))}]"
    if isinstance(value, frozenset | set):
        return f"{{{', '.join(sorted(map(_text, value)))}}}"
    if isinstance(value, dict):
        return f"{{{', '.join(sorted(f'{_text(key)}: {_text(item)}' for key, item in value.items()))}}}"
    return f"{type(value).__name__} {value!r}"  # 1, 1.0 and true are different
