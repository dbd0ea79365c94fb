"""The page of decisions names tests of event queries that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_test_that_the_page_names_exists() -> None:
    page = (ROOT / "docs" / "semantics.md").read_text(encoding="utf-8")
    section = page.split("## Event queries\n")[1].split("\n## ")[0]
    named = set(re.findall(r"`(test_\w+)`", section))
    paths = [*Path(__file__).parent.glob("test_*.py"), ROOT / "tests" / "api" / "test_query.py"]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    defined = {name for text in texts for name in re.findall(r"^def (test_\w+)", text, re.MULTILINE)}
    assert len(named) > 40
    assert named - defined == set()
