"""What is checked of the site after it is built, and that no page is left out of it. `make site` builds it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tools import site_check

ROOT = Path(__file__).parents[2]


def test_every_page_is_in_the_navigation() -> None:
    named = set(re.findall(r"[\w/-]+\.md$", (ROOT / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE))
    pages = {page.relative_to(ROOT / "docs").as_posix() for page in (ROOT / "docs").rglob("*.md")}
    assert named == pages | {"ARCHITECTURE.md", "CHANGELOG.md", "CONTRIBUTING.md"}


@pytest.mark.parametrize(("body", "problem"), [
    ('<a href="b.html">b</a>', "a.html: b.html does not exist"),
    ('<a href="#there">b</a>', "a.html: #there has no such anchor"),
    ('<h1 id="here"></h1><a href="a.html#here">b</a> <a href="https://example.org">c</a>', None),
    ('<script src="https://example.org/x.js"></script>', "a.html loads https://example.org/x.js"),
    ('<script src="//example.org/x.js"></script>', "a.html loads //example.org/x.js"),
    ('<link rel="preconnect" href="https://example.org">', "a.html loads https://example.org"),
    ('<p style="background: url(https://example.org/x.png)"></p>', "a.html loads https://example.org/x.png"),
    ('<img src="x.png">', "a.html: x.png does not exist"),
    ('<img src="data:image/png;base64,AA==">', None),
])
def test_what_is_wrong_with_a_page_is_found(tmp_path: Path, body: str, problem: str | None) -> None:
    (tmp_path / "a.html").write_text(f"<html><body>{body}</body></html>", encoding="utf-8")
    assert site_check.problems(tmp_path) == ([] if problem is None else [problem])


def test_styles_that_ask_another_host_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text("<html></html>", encoding="utf-8")
    (tmp_path / "a.css").write_text("@import 'https://example.org/f.css'; a { src: url(f.woff) }", encoding="utf-8")
    assert site_check.problems(tmp_path) == ["a.css loads https://example.org/f.css"]


def test_a_folder_without_pages_is_no_site(tmp_path: Path) -> None:
    assert site_check.problems(tmp_path) == ["there are no pages"]
