"""Values as text in one line of a terminal, and how wide that is."""

from __future__ import annotations

import json
import unicodedata
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sparkrex.cli.json_lines import json_value

if TYPE_CHECKING:
    import pyarrow as pa

CUT = "…"
_JOINERS = "\u200c\u200d"
"""They make one character of several, and move nothing."""


def cells_of(column: pa.ChunkedArray) -> list[str]:
    """All values of a column as cells."""
    return [cell_text(value) for value in column.to_pylist()]


def cell_text(value: Any) -> str:
    """A value in one line; a time as Spark shows it, in the zone of the session."""
    match value:
        case None:
            return "NULL"
        case datetime():
            return str(value.replace(tzinfo=None))
        case bytes():
            return f"X'{value.hex().upper()}'"
        case dict() | list():
            return visible(json.dumps(json_value(value), ensure_ascii=False))
    return visible(str(value))


def visible(text: str) -> str:
    r"""The text with whatever moves a terminal's cursor or changes its colours escaped as in Python: `\n`, `\x1b`."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in _JOINERS else character.encode("unicode_escape").decode()
        for character in text.replace("\\", "\\\\")
    )


def width_of(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return len(text) if text.isascii() else sum(map(_width, text))


def padded(text: str, width: int, *, is_right: bool = False) -> str:
    """The text with blanks up to a width, behind it or before it."""
    blanks = " " * (width - width_of(text))
    return blanks + text if is_right else text + blanks


def shortened(text: str, width: int) -> str:
    """The text cut to a width, with a mark at the end if something is missing."""
    if width_of(text) <= width:
        return text
    taken, room = 0, width - 1
    for character in text:
        room -= _width(character)
        if room < 0:
            break
        taken += 1
    return text[:taken] + CUT


def _width(character: str) -> int:
    """Two columns for wide characters, none for those that are drawn over the one before."""
    if unicodedata.east_asian_width(character) in "WF":
        return 2
    return 0 if unicodedata.combining(character) or unicodedata.category(character) in ("Mn", "Me", "Cf") else 1
