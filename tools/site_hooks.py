"""What mkdocs is told beside mkdocs.yml: pages outside of docs/, and where our Markdown is GitHub's and not Python's.

Pages are written for GitHub, where most people read them first. `mkdocs.yml` names this module under `hooks`; mkdocs
calls the functions by their names.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[1]
OUTSIDE = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
"""Pages at the root of the repository, at the root of the site too."""

_FENCE = re.compile(r"^(?P<fence>```\w+) \w+$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^ *\|.*\|$", re.MULTILINE)
_CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<target>[^)#\s]+)(?P<anchor>#[^)\s]*)?\)")


def on_files(files: Files, config: Any) -> Files:
    """Adds the pages at the root of the repository."""
    for name in OUTSIDE:
        files.append(File.generated(config, name, abs_src_path=str(ROOT / name)))
    return files


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """A page as Python-Markdown reads it."""
    # ```sql oracle: tests read the second word, highlighting does not.
    markdown = _FENCE.sub(lambda found: found["fence"], markdown)
    # GitHub needs `a \| b` in a table; here a bar in code separates nothing, and the backslash would be seen.
    markdown = _TABLE_ROW.sub(
        lambda row: _CODE.sub(lambda code: code[0].replace("\\|", "|"), row[0]), markdown
    )
    return _LINK.sub(lambda link: _in_site(link, page.file.src_uri), markdown)


def _in_site(link: re.Match[str], source: str) -> str:
    """A link of the repository as one of the site: what the site does not have is shown without a link."""
    target = link["target"]
    if "://" in target:
        return link[0]
    here = ROOT / source if source in OUTSIDE else ROOT / "docs" / source
    path = (here.parent / target).resolve().relative_to(ROOT)
    if path.parts[0] == "docs":
        inside = path.relative_to("docs").as_posix()
    elif path.as_posix() in OUTSIDE:
        inside = path.as_posix()
    else:
        return link["text"]
    up = "../" * (len(Path(source).parts) - 1)
    return f"[{link['text']}]({up}{inside}{link['anchor'] or ''})"
