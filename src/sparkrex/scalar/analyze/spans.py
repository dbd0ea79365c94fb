"""Where nodes of a sqlglot tree stand in the source.

sqlglot keeps offsets on identifiers, literals and the names of most functions, not on operators, NULL or signs. A
node's span is therefore gathered from its parts; offsets of sqlglot are inclusive, ours are half open.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.source import Span

if TYPE_CHECKING:
    from sparkrex.source import Source
    from sparkrex.syntax.items import ScalarText


def span_of_node(node: exp.Expr, text: ScalarText, source: Source) -> Span:
    """Where the node stands; the whole expression's span if no part of it knows."""
    offsets = [
        (part.meta["start"], part.meta["end"] + 1)
        for part in node.walk() if "start" in part.meta and part.meta.get("end") is not None
    ]
    if not offsets:
        return text.span
    span = Span(min(start for start, _ in offsets), max(end for _, end in offsets))
    if isinstance(node, exp.Func) and "start" not in node.meta:
        # Of some functions sqlglot forgets where their name stands: it is in front of the arguments.
        before = re.search(r"(\w+)\s*\(\s*(?:DISTINCT\s+)?\Z", source.text[: span.start], re.IGNORECASE)
        if before is not None and before.start() >= text.span.start:
            span = Span(before.start(), span.end)
    return _with_parentheses(span, text, source)


def _with_parentheses(span: Span, text: ScalarText, source: Source) -> Span:
    """The span with the parentheses and brackets that close what is opened in it: sqlglot keeps no place of them."""
    # Inside strings and quoted names a parenthesis is a letter.
    written = re.sub(r"'[^']*'|\"[^\"]*\"|`[^`]*`", "", source.text[span.start : span.end])
    is_open: list[str] = []
    for letter in written:
        if letter in _CLOSES:
            is_open.append(_CLOSES[letter])
        elif is_open and letter == is_open[-1]:
            is_open.pop()
    end = span.end
    for closing in reversed(is_open):
        found = re.compile(rf"\s*{re.escape(closing)}").match(source.text, end, max(end, text.span.end))
        if found is None:
            break
        end = found.end()
    return Span(span.start, end)


_CLOSES = {"(": ")", "[": "]"}


def span_after_comma(argument: Span, source: Source) -> Span:
    """Where the function argument after this one stands: sqlglot keeps no position of NULL and of signs."""
    comma = source.text.find(",", argument.end)
    end = source.text.find(")", comma)
    written = source.text[comma + 1 : end]
    start = comma + 1 + len(written) - len(written.lstrip())
    return Span(start, max(start + 1, end))
