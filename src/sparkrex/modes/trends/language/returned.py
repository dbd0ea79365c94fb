"""RETURN: columns of GROUP-BY and aggregates, each with a name for its column of the result."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import ParseError
from sparkrex.languages.events.returned import cut_alias, parse_item, text_of
from sparkrex.modes.trends.language.references import rewrite_references
from sparkrex.syntax.items import MeasureItem, ScalarText
from sparkrex.syntax.tokens import is_quoted, span_of, word

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token

    from sparkrex.languages.events.clauses import Part
    from sparkrex.modes.trends.language.references import Names
    from sparkrex.source import Source

_USAGE = "RETURN sector, COUNT(*), AVG(S.price) AS average"


def parse_returned(part: Part, source: Source, dialect: Dialect, names: Names) -> tuple[MeasureItem, ...]:
    """The items."""
    if not part.tokens:
        raise ParseError("REX107", "RETURN has no items", source, part.span, hint=_USAGE)
    return tuple(_item(tokens, source, dialect, names) for tokens in part.items(source))


def _item(tokens: list[Token], source: Source, dialect: Dialect, names: Names) -> MeasureItem:
    body, alias = cut_alias(tokens)
    if [word(token) for token in body] == ["*"]:
        raise ParseError(
            "REX104", "RETURN * has no meaning: trends are aggregated, not returned", source, span_of(body[0]),
            hint=_USAGE,
        )
    column = _column(body, source)
    if column is not None:
        name = body[0].text if alias is None else alias.text
        return MeasureItem(column, name, column.span if alias is None else alias.span)
    text, alias = parse_item(tokens, source, dialect, lambda found: rewrite_references(found, source, names))
    if alias is None:
        return MeasureItem(text, text_of(text, source), text.span)
    return MeasureItem(text, alias.text, alias.span)


def _column(tokens: list[Token], source: Source) -> ScalarText | None:
    """A name alone, whatever else the word means in SQL; None if it is something else."""
    if len(tokens) != 1:
        return None
    token, text = tokens[0], word(tokens[0])
    if not (is_quoted(token, source) or text[:1].isalpha() or text.startswith("_")):
        return None
    name = exp.to_identifier(token.text, quoted=True)
    name.meta.update(start=token.start, end=token.end)
    return ScalarText(exp.Column(this=name), span_of(token))
