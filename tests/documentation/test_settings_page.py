"""docs/settings.md lists the settings there are, with their defaults."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path

from sparkrex.settings import Settings

PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_page_lists_every_setting_with_its_default() -> None:
    listed = re.findall(r"^\| `(\w+)` \| `([^`]*)` \|", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    assert listed == [(field.name, repr(field.default)) for field in fields(Settings) if field.name != "functions"]
