"""Conditions under AND, taken apart: equivalence tests, and the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError, ParseError
from sparkrex.languages.events.clauses import outer_tokens
from sparkrex.languages.events.rewriting import EQUIVALENCE
from sparkrex.source import Span
from sparkrex.syntax.items import Name, ScalarText
from sparkrex.syntax.scalar_text import row_pattern_function
from sparkrex.syntax.tokens import span_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.source import Source


def refuse_commas(tokens: Sequence[Token], source: Source) -> None:
    """Fail if conditions are listed as in other languages."""
    for token in outer_tokens(tokens):
        if token.token_type is TokenType.COMMA:
            raise ParseError(
                "REX104", "conditions have AND between them, not commas", source, span_of(token), hint="write AND"
            )


def take_apart(text: ScalarText, source: Source, matched: str) -> tuple[tuple[Name, ...], tuple[ScalarText, ...]]:
    """The attributes of equivalence tests, and the other conjuncts. `matched` is what their events make up."""
    if isinstance(text.tree, exp.Alias):
        raise ParseError(
            "REX104", "conditions have AND between them, and no alias", source, text.span, hint="write AND between them"
        )
    equivalences: list[Name] = []
    conjuncts: list[ScalarText] = []
    pending: list[exp.Expr] = [text.tree]
    while pending:
        node = pending.pop()
        bare = node.unnest()
        if isinstance(bare, exp.And):
            pending += [bare.expression, bare.this]
        elif row_pattern_function(bare) == EQUIVALENCE:
            equivalences += [Name(part.name, _span(part, text)) for part in bare.expressions]
        else:
            inner = next((part for part in node.walk() if row_pattern_function(part) == EQUIVALENCE), None)
            if inner is not None:
                raise AnalysisError(
                    "REX224", "an equivalence test is a conjunct of its own", source, _span(inner, text),
                    hint=f"it holds for all events of the {matched}, or there is no {matched}",
                )
            conjunct = bare.copy()
            assert isinstance(conjunct, exp.Expression)  # like the tree that it is a part of
            conjuncts.append(ScalarText(conjunct, _span(bare, text)))
    return tuple(equivalences), tuple(conjuncts)


def _span(node: exp.Expr, text: ScalarText) -> Span:
    """Where a part of the expression stands, as far as sqlglot knows."""
    known = [part.meta for part in node.walk() if part.meta.get("end") is not None]
    if not known:
        return text.span
    return Span(min(meta["start"] for meta in known), max(meta["end"] for meta in known) + 1)
