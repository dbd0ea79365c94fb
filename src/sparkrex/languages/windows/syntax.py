"""The syntax tree of a window with a row pattern, and of what is called over it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkrex.languages.match_recognize.syntax import Clause
    from sparkrex.source import Span
    from sparkrex.syntax.items import Name, ScalarText


@dataclass(frozen=True, slots=True)
class CallItem:
    """What is called over the window, and the column that it becomes: a measure by name, or a function call."""

    column: str
    measure: Name | None
    function: ScalarText | None
    span: Span


@dataclass(frozen=True, slots=True)
class PatternWindow:
    """A window with PATTERN.

    `rows` are the parts that MATCH_RECOGNIZE has too. `frame_end` is how many rows the frame goes on behind the current
    one, None for UNBOUNDED FOLLOWING; `is_current` for CURRENT ROW, which has no expression.
    """

    rows: Clause
    frame_end: ScalarText | None
    is_current: bool
    is_seek: bool
    frame_span: Span
    calls: tuple[CallItem, ...]
