"""Parts of answers in words, for all modes: numbers, shares, and conditions with values under their places."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkrex.reasons.answer import Blocker, Compared, Share, Why
    from sparkrex.source import Source


def compared_lines(blocker: Blocker, source: Source) -> list[str]:
    """The conditions that were not TRUE, each line of the query once."""
    lines: list[str] = []
    shown = ""
    for part in blocker.compared:
        for line in _carets(part, source):
            if line == shown:
                continue
            if not line.lstrip().startswith("^"):
                shown = line
            lines.append(f"    {line}")
    return lines


def _carets(part: Compared, source: Source) -> list[str]:
    """The line of the query, and under each value's place the value."""
    result = "NULL" if part.result is None else str(part.result).lower()
    lines: list[str] = []
    places = [(value.span, value_text(value.value)) for value in part.values if value.span is not None]
    if not places and part.span is not None:
        places = [(part.span, result)]
    for span, shown in places:
        text, caret = source.excerpt(span).split("\n")
        if text not in lines:
            lines.append(text)
        lines.append(f"{caret} {shown}")
    if not places:
        lines.append(f"{part.text} is {result}")
    return lines


def value_text(value: object) -> str:
    """A value as Python writes it, doubles to six digits."""
    if isinstance(value, float):
        return number_text(value)
    if value is None:
        return "NULL"
    return repr(value) if isinstance(value, str) else str(value)


def number_text(number: float) -> str:
    """A double to six digits."""
    return f"{number:.6g}"


def share_text(share: Share, why: Why) -> str:
    """How many of the starts a variable blocked."""
    percent = 100 * share.n_starts / why.n_blocked
    shown = f"{percent:.0f}%" if percent >= 1 else f"{percent:.2g}%"
    text = f"{share.variable} blocked {shown} of the starts"
    return text if share.missed_by is None else f"{text}; the closest missed by {number_text(share.missed_by)}"


def count_text(number: int, what: str, several: str = "") -> str:
    """A number of things."""
    return f"{number:,} {what if number == 1 else several or what + 's'}"
