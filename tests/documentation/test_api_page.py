"""docs/api.md shows the docstrings as they are, and every public name."""

from __future__ import annotations

from tests.documentation import api_page

import sparkrex


def test_the_page_is_what_the_docstrings_say() -> None:
    assert api_page.PAGE.read_text(encoding="utf-8") == api_page.page(), "make docs writes it"


def test_every_public_name_is_on_the_page_once() -> None:
    shown = [name for _, names in api_page.SECTIONS for name in names]
    assert sorted(shown) == sorted(sparkrex.__all__)


def test_every_entry_has_a_text() -> None:
    entries = api_page.page().split("\n### ")[1:]
    assert [entry.split("\n")[0] for entry in entries if len(entry.split("\n\n", 2)[1]) < 10] == []
