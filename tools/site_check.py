"""`python tools/site_check.py FOLDER`: every link in a built site leads somewhere, and no page asks another host.

Links that a reader clicks may lead to other hosts; what a browser loads by itself (scripts, styles, pictures, fonts,
frames) may not. Needs the standard library only.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {
    "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src", "embed": "src",
    "object": "data", "link": "href", "image": "href",
}
_STYLE_URL = re.compile(r"(?:url\(|@import)\s*['\"]?([^'\")\s]+)")


@dataclass
class Page:
    """What a page has: its anchors, what it links to, what it loads."""

    anchors: set[str] = field(default_factory=set)
    linked: list[str] = field(default_factory=list)
    loaded: list[str] = field(default_factory=list)


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.page = Page()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        for name in ("id", "name"):
            if tag != "meta" and name in given:
                self.page.anchors.add(given[name])
        if tag == "a" and "href" in given:
            self.page.linked.append(given["href"])
        # A canonical address and the next page are told, not loaded.
        if tag in _LOADED and given.get("rel") not in ("canonical", "next", "prev") and given.get(_LOADED[tag]):
            self.page.loaded.append(given[_LOADED[tag]])
        self.page.loaded += _STYLE_URL.findall(given.get("style", ""))


def read(path: Path) -> Page:
    """The links and anchors of an HTML file."""
    reader = _Reader()
    reader.feed(path.read_text(encoding="utf-8"))
    return reader.page


def problems(site: Path) -> list[str]:
    """Everything that is wrong, with the file it is in."""
    site = site.resolve()
    pages = {path: read(path) for path in sorted(site.rglob("*.html"))}
    found = [] if pages else ["there are no pages"]
    for path, page in pages.items():
        name = path.relative_to(site)
        found += [f"{name} loads {url}" for url in page.loaded if _is_elsewhere(url)]
        for url in [*page.linked, *page.loaded]:
            if not _is_elsewhere(url):
                found += [f"{name}: {problem}" for problem in _broken(site, path, url, pages)]
    for path in sorted(site.rglob("*.css")):
        urls = _STYLE_URL.findall(path.read_text(encoding="utf-8"))
        found += [f"{path.relative_to(site)} loads {url}" for url in urls if _is_elsewhere(url)]
    return found


def _is_elsewhere(url: str) -> bool:
    """Whether another host is asked, or a program that is not the browser."""
    parts = urlsplit(url)
    return bool(parts.netloc) or parts.scheme not in ("", "data")


def _broken(site: Path, path: Path, url: str, pages: dict[Path, Page]) -> list[str]:
    """What is wrong with an address of this site."""
    parts = urlsplit(url)
    if parts.scheme == "data":
        return []
    # The page for addresses that do not exist is shown at any depth, so its own begin at the root.
    start = site if parts.path.startswith("/") else path.parent
    target = (start / unquote(parts.path).lstrip("/")).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists():
        return [f"{url} does not exist"]
    anchor = unquote(parts.fragment)
    if anchor and target in pages and not anchor.startswith("__") and anchor not in pages[target].anchors:
        return [f"{url} has no such anchor"]
    return []


def main(arguments: list[str]) -> int:
    """Prints the problems of a site; 1 if there are any."""
    found = problems(Path(arguments[0]))
    for problem in found:
        print(problem)
    print(f"{arguments[0]}: {len(found)} problems")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
