"""Runs the examples of the documentation: what a page shows is what comes out.

In a page, a ```text block that begins with `-- table NAME` gives a table to all queries below it, a ```sql block (or
```sql DIALECT) is a query, and the ```text block after it is its `-- result` or `-- error`, both as golden cases write
them. A ```python block is run, and the ```text block after it is what it prints.
`python -m tests.documentation.page_examples --fill PAGE ...` writes the blocks with answers anew; read them before you
commit.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests import golden
from tests.answers import differences, render_table

from sparkrex.errors import RexError

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md", ROOT / "docs" / "language.md", ROOT / "docs" / "segments.md", ROOT / "docs" / "events.md",
    ROOT / "docs" / "trends.md", ROOT / "docs" / "sqlts.md", ROOT / "docs" / "windows.md",
    ROOT / "docs" / "workloads.md", ROOT / "docs" / "pictures.md", ROOT / "docs" / "semantics.md",
    ROOT / "docs" / "adding-a-rule.md", ROOT / "docs" / "why.md",
    ROOT / "docs" / "index.md", ROOT / "docs" / "start.md", ROOT / "docs" / "tuning.md",
    *sorted((ROOT / "docs" / "guides").glob("*.md")), *sorted((ROOT / "docs" / "cookbook").glob("*.md")),
)

_BLOCK = re.compile(r"^```(?P<kind>\w+)(?: (?P<dialect>\w+))?\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Example:
    """One block to run, and the block that shows what comes of it, with its place in the page."""

    page: Path
    line: int
    language: str
    dialect: str
    tables: str
    body: str
    shown: str
    shown_span: tuple[int, int]

    @property
    def name(self) -> str:
        """`page:line`, as test reports show it."""
        return f"{self.page.name}:{self.line}"


def examples(page: Path) -> Iterator[Example]:
    """The examples of a page that show an answer, in order; the others show syntax only."""
    text = page.read_text(encoding="utf-8")
    blocks = list(_BLOCK.finditer(text))
    tables = ""
    for block, following in pairwise([*blocks, None]):
        assert block is not None  # only the last is, and it comes second
        if block["kind"] == "text" and block["body"].startswith("-- table"):
            tables += block["body"] + "\n"
        if block["kind"] not in ("sql", "python") or following is None or following["kind"] != "text":
            continue
        # Prose between the two means that the text block is about something else.
        if text[block.end() : following.start()].strip():
            continue
        yield Example(
            page=page,
            line=text[: block.start()].count("\n") + 1,
            language=block["kind"],
            dialect=block["dialect"] or "spark",
            tables=tables,
            body=block["body"],
            shown=following["body"],
            shown_span=following.span("body"),
        )


def problems(example: Example) -> list[str]:
    """How what comes out differs from what the page shows."""
    if example.language == "python":
        printed = run_python(example)
        return [] if printed == example.shown else [f"prints {printed!r}, the page shows {example.shown!r}"]
    if not example.shown.startswith("-- result\n") or not example.shown.removeprefix("-- result\n").strip():
        shown = answer_text(example)
        return [] if shown == example.shown else [f"gives {shown}, the page shows {example.shown}"]
    case = case_of(example, example.shown)
    assert case.result is not None  # it begins with "-- result"
    return differences(case.result, golden.run_engine(case))


def case_of(example: Example, answer: str = "") -> golden.Case:
    """The example as a golden case, with or without the answer that the page shows."""
    header = f"title: {example.name}\ntags: docs\ndialect: {example.dialect}\n\n"
    return golden.parse(f"{header}{example.tables}-- query\n{example.body}\n{answer}", example.page)


def answer_text(example: Example) -> str:
    """What the page should show after the example."""
    if example.language == "python":
        return run_python(example)
    try:
        table = golden.run_engine(case_of(example))
    except RexError as error:
        return f"-- error\n{error}\n"
    lines = render_table(table).split("\n")
    return "-- result\n" + "\n".join(_without_types(lines)) + "\n"


def _without_types(lines: list[str]) -> list[str]:
    """The table with its columns aligned again once the header's types are gone: pages are for people."""
    rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    rows[0] = [cell.rsplit(":", 1)[0] for cell in rows[0]]
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return [" | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]


def run_python(example: Example) -> str:
    """What a block of Python prints."""
    printed = io.StringIO()
    names: dict[str, Any] = {"__name__": "example"}
    with contextlib.redirect_stdout(printed):
        exec(compile(example.body, example.name, "exec"), names)  # the project's own pages
    return printed.getvalue()


def fill(page: Path) -> int:
    """Writes every answer of a page anew where it differs; returns how many did."""
    text = page.read_text(encoding="utf-8")
    n_changed = 0
    # From the end, so that the places of the others stay right.
    for example in reversed(list(examples(page))):
        start, end = example.shown_span
        answer = answer_text(example)
        if answer != example.shown:
            text = text[:start] + answer + text[end:]
            n_changed += 1
    page.write_text(text, encoding="utf-8")
    return n_changed


def main(arguments: list[str]) -> int:
    """Command line: see the module's text."""
    pages = [Path(argument).resolve() for argument in arguments if argument != "--fill"] or list(PAGES)
    for page in pages:
        if "--fill" in arguments:
            print(f"{page.name}: {fill(page)} answers written")
            continue
        for example in examples(page):
            print(f"{example.name}: {'; '.join(problems(example)) or 'ok'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
