"""The anchors of a page's headings, as GitHub makes them and the site is told to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

_FENCED = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]*)\]\([^)]*\)")


def anchors_of(page: Path) -> set[str]:
    """Every anchor that a link may name."""
    text = _FENCED.sub("", page.read_text(encoding="utf-8"))
    found: set[str] = set()
    for heading in _HEADING.findall(text):
        anchor = anchor_of(heading)
        number = 0
        while (numbered := f"{anchor}-{number}" if number else anchor) in found:
            number += 1
        found.add(numbered)
    return found


def anchor_of(heading: str) -> str:
    """Lower case, without punctuation, a hyphen for every blank."""
    text = _LINK.sub(r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")
