"""Where nodes stand: what is opened in a node is closed in its span, though sqlglot keeps no place of that."""

from __future__ import annotations

import pytest
from sqlglot import exp
from sqlglot.dialects.dialect import Dialect

from sparkrex.scalar.analyze.spans import span_of_node
from sparkrex.source import Source, Span
from sparkrex.syntax.scalar_text import parse_expression
from sparkrex.syntax.tokens import tokenize


@pytest.mark.parametrize(("text", "kind", "written"), [
    ("n.l[0] = 'p'", exp.Bracket, "n.l[0]"),
    ("f(l[ g(1) ] ) > 2", exp.Bracket, "l[ g(1) ]"),
    ("f(l[g(1)]) > 2", exp.Anonymous, "f(l[g(1)])"),
    ("m[']'] + 1 > 2", exp.Bracket, "m[']']"),
    ("a + (b) > 2", exp.Add, "a + (b)"),
])
def test_what_is_opened_is_closed(text: str, kind: type[exp.Expr], written: str) -> None:
    source, dialect = Source(text), Dialect.get_or_raise("spark")
    parsed = parse_expression(tokenize(source, dialect), source, dialect, Span(0, 0))
    node = parsed.tree.find(kind)
    assert node is not None
    span = span_of_node(node, parsed, source)
    assert text[span.start : span.end] == written
