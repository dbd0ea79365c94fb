"""`python -m tests.documentation.api_page`: writes docs/api.md from the docstrings of the public names.

Ours, and not a generator's: docstrings have plain paragraphs and doctests, and the page is to be read on GitHub too.
"""

from __future__ import annotations

import inspect
import sys
from pathlib import Path
from typing import Any

import sparkrex as rex
from sparkrex.spark.streaming.metrics import Progress
from sparkrex.workloads.found import Found, Stopped
from sparkrex.workloads.workload import Workload

PAGE = Path(__file__).parents[2] / "docs" / "api.md"

_HEAD = """# Python

Everything public is in the package `sparkrex`, usually imported as `rex`. This page is written by `make docs` from the
docstrings, whose examples the tests run. [The command](command.md) `rex` has its own help: `rex --help`.
"""

SECTIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("Asking", ("sql", "match", "events", "trends", "workload")),
    ("Pictures", ("plot", "diff", "regions")),
    ("Why it did not match", ("why",)),
    ("Queries and plans", ("compile", "Query", "explain", "Explanation", "Settings")),
    ("Streams", ("drain", "progress", "state", "matches", "late", "failed")),
    ("On Spark", ("ship", "register_table_function")),
    ("Further", ("aggregate", "decompress", "__version__")),
    ("Errors", ("RexError", "ParseError", "AnalysisError", "UnsupportedError", "ExecutionError", "InternalError")),
)
"""The public names, in the order in which one meets them."""

METHODS: dict[type, tuple[str, ...]] = {
    rex.Query: ("tables", "columns", "reader", "explain", "buffer", "drain", "with_settings"),
    Workload: (
        "names", "detect", "explain", "plan", "open", "drain", "groups", "parse", "with_options",
    ),
}
"""What users call of a class; the rest of its names serve the package."""

RETURNED: dict[str, tuple[type, ...]] = {"workload": (Workload, Found, Stopped), "progress": (Progress,)}
"""Classes that only a function gives, shown after it."""

_SHOWN_ELSEWHERE = {
    "Settings": "What can be set for a query, by these names in a mapping or as keyword arguments of this class. "
    "[Settings](settings.md) has the table.",
    "__version__": "The version of the package, as text.",
}


def page() -> str:
    """The whole page."""
    parts = [_HEAD]
    for title, names in SECTIONS:
        parts.append(f"## {title}\n")
        for name in names:
            parts += _entry(f"rex.{name}", getattr(rex, name), name)
            for given in RETURNED.get(name, ()):
                parts += _entry(given.__name__, given, "")
    return "\n".join(parts)


def _entry(title: str, value: Any, name: str) -> list[str]:
    """Heading, signature, text and examples of a name, and the methods of a class."""
    parts = [f"### {title}\n"]
    if inspect.isfunction(value):
        parts.append(f"```python\n{_signature(title, value)}\n```\n")
    parts.append(_SHOWN_ELSEWHERE[name] + "\n" if name in _SHOWN_ELSEWHERE else _text(inspect.getdoc(value) or ""))
    for method in METHODS.get(value, ()) if isinstance(value, type) else ():
        found = inspect.getattr_static(value, method)
        called = f"{title.removeprefix('rex.').lower()}.{method}"
        parts.append(f"#### {called}\n")
        if inspect.isfunction(found):
            parts.append(f"```python\n{_signature(called, found)}\n```\n")
        parts.append(_text(inspect.getdoc(found) or ""))
    return parts


def _signature(title: str, function: Any) -> str:
    """The call with its defaults. What the arguments are is said in the text; types would hide the names."""
    given = inspect.signature(function).parameters.values()
    plain = [one.replace(annotation=inspect.Parameter.empty) for one in given if one.name != "self"]
    text = f"{title}{inspect.Signature(plain)}"
    if len(text) <= 100:
        return text
    lines, line = [], "   "
    for part in text[text.index("(") + 1 : -1].split(", "):
        if len(line) + len(part) > 96:
            lines.append(line)
            line = "   "
        line += f" {part},"
    return "\n".join([text[: text.index("(") + 1], *lines, line, ")"])


def _text(docstring: str) -> str:
    """A docstring as Markdown: its doctests in a block of their own."""
    parts, is_example = [], False
    for line in docstring.split("\n"):
        if line.startswith(">>>") and not is_example:
            parts.append("```pycon")
            is_example = True
        elif not line and is_example:
            parts.append("```")
            is_example = False
        parts.append(line)
    return "\n".join([*parts, *(["```"] if is_example else [])]) + "\n"


def main() -> int:
    """Write the page."""
    PAGE.write_text(page(), encoding="utf-8")
    print(f"{PAGE.name} written")
    return 0


if __name__ == "__main__":
    sys.exit(main())
