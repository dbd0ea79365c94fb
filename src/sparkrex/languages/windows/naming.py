"""Names of columns in the SELECT list: what was written stays the name, although something else is computed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.languages.windows.outline import depths
from sparkrex.statement.site import Edit
from sparkrex.syntax.tokens import is_quoted, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.dialects.dialect import Dialect

    from sparkrex.languages.windows.calls import Call
    from sparkrex.source import Source

_ENDS = (
    TokenType.VAR, TokenType.IDENTIFIER, TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.NUMBER, TokenType.STRING,
    TokenType.END,
)


def quoted_name(name: str, dialect: Dialect) -> str:
    """A name as the dialect needs it to be written."""
    is_plain = re.fullmatch(r"[A-Za-z_]\w*", name) is not None and name.upper() not in _RESERVED
    return name if is_plain else exp.to_identifier(name, quoted=True).sql(dialect=dialect)


_RESERVED = {
    "SELECT", "FROM", "WHERE", "GROUP", "ORDER", "BY", "END", "START", "FIRST", "LAST", "LEFT", "RIGHT", "TABLE",
    "CASE", "WHEN", "THEN", "ELSE", "AND", "OR", "NOT", "NULL", "TRUE", "FALSE", "AS", "ON", "IN", "IS", "LIKE", "TO",
    "ALL", "ANY", "SOME", "UNION", "DISTINCT", "WINDOW", "LIMIT", "OFFSET", "HAVING", "DESC", "ASC", "USING", "WITH",
}


def has_alias(tokens: Sequence[Token], item: range, changed: Sequence[tuple[int, int]]) -> bool:
    """Whether an item of the SELECT list has a name of its own; `changed` are ranges of tokens that are one value."""
    if any(depth == 0 and word(tokens[index]) == "AS" for index, depth in depths(tokens, item)):
        return True
    last = item.stop - 1
    if last == item.start or any(first <= last <= end for first, end in changed):
        return False
    before = tokens[last - 1]
    is_name = tokens[last].token_type in (TokenType.VAR, TokenType.IDENTIFIER)
    follows = before.token_type in _ENDS or any(end == last - 1 for _, end in changed)
    return is_name and follows


def item_name(tokens: Sequence[Token], item: range, calls: Sequence[Call], source: Source) -> str:
    """The name of an item that has none: that of its measure or its column, else what is written."""
    for call in calls:
        if call.name is not None and (call.first, call.last) == (item.start, item.stop - 1):
            return tokens[call.name].text
    is_column = all(
        tokens[index].token_type is TokenType.DOT if place % 2 else (
            is_quoted(tokens[index], source) or word(tokens[index]).isidentifier()
        )
        for place, index in enumerate(item)
    )
    if is_column and len(item) % 2:
        return tokens[item.stop - 1].text
    written = source.text[tokens[item.start].start : tokens[item.stop - 1].end + 1]
    return " ".join(written.split())


def append_text(edits: list[Edit], tokens: Sequence[Token], last: int, text: str, source: Source) -> list[Edit]:
    """The edits with text behind a token."""
    for number, edit in enumerate(edits):
        if edit.last == last:
            return [*edits[:number], Edit(edit.first, edit.last, edit.text + text), *edits[number + 1 :]]
    written = source.text[tokens[last].start : tokens[last].end + 1]
    if written.startswith((":", "?", "$")):
        return edits  # a parameter, whose literal is put in later
    return [*edits, Edit(last, last, written + text)]
