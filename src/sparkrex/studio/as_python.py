"""A query of the page as a program."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping


def as_python(query: str, dialect: str, tables: Mapping[str, str]) -> str:
    """A program that runs the query over the same files, and draws its matches in a notebook."""
    named = ", ".join(f"{name!r}: {path!r}" for name, path in tables.items())
    options = "" if dialect == "spark" else f", dialect={dialect!r}"
    return (
        f"import sparkrex as rex\n\nquery = rex.compile({_literal(query)}{options})\ntables = {{{named}}}\n\n"
        "print(query(tables))\nrex.plot(query, tables)\n"
    )


def _literal(text: str) -> str:
    """The text on lines of its own, if Python can write it so."""
    block = f'"""\n{text}\n"""'
    is_plain = '"""' not in text and "\\" not in text and not text.endswith('"') and "\r" not in text
    return block if is_plain and "\0" not in text else repr(text)
