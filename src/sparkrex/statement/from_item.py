"""The FROM item around one MATCH_RECOGNIZE: the input before it and the alias after it.

Takes the statement's tokens; returns token indices and names. The input is read backwards from the keyword: a table, a
function call, a subquery in parentheses or a relation cut out before, each with an alias or without.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import ParseError, UnsupportedError
from sparkrex.modes.tables import LANGUAGES
from sparkrex.source import Span
from sparkrex.statement.site import Edit, Input, Site
from sparkrex.syntax.parentheses import refuse_early_end
from sparkrex.syntax.tokens import closing, is_quoted, span_of, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.source import Source

_BEFORE_A_RELATION = {"FROM", "JOIN", ",", "(", "LATERAL"}
_NOT_AN_ALIAS = {
    "WHERE", "GROUP", "GROUP BY", "ORDER", "ORDER BY", "HAVING", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS",
    "NATURAL", "ON", "USING", "UNION", "INTERSECT", "EXCEPT", "MINUS", "LIMIT", "OFFSET", "FETCH", "WINDOW", "QUALIFY",
    "LATERAL", *LANGUAGES, "TABLESAMPLE", "PIVOT", "UNPIVOT", "ASOF", "SEMI", "ANTI", "FOR",
    "SORT BY", "CLUSTER BY", "DISTRIBUTE BY", "CONNECT BY", "START WITH",
}


@dataclass(frozen=True, slots=True)
class Alias:
    """What comes after MATCH_RECOGNIZE (...).

    `last` is the relation's last token, `tokens` the first and last token of AS and the name, without the column list:
    that one is applied by us and does not go back into the text.
    """

    last: int
    tokens: tuple[int, int] | None = None
    columns: tuple[str, ...] | None = None
    columns_span: Span | None = None


def claim(
    tokens: Sequence[Token], keyword: int, source: Source, replaced: Mapping[int, tuple[int, str]], placeholder: str
) -> Site:
    """The FROM item around the keyword; see `modes.protocol.Claiming` for what is given."""
    opening = keyword + 1
    close = closing(tokens, opening, source)
    refuse_early_end(tokens, close, source)
    given = _find_input(tokens, keyword, source, replaced)
    alias = find_alias(tokens, close, source)
    text = placeholder
    if alias.tokens is not None:
        first, last = alias.tokens
        text += " " + source.text[tokens[first].start : tokens[last].end + 1]
    return Site(
        given.first, alias.last, given, range(opening + 1, close), Span(tokens[opening].end + 1, tokens[close].start),
        (Edit(given.first, alias.last, text),), alias.columns, alias.columns_span,
    )


def _find_input(
    tokens: Sequence[Token], keyword: int, source: Source, replaced: Mapping[int, tuple[int, str]]
) -> Input:
    """The input of the MATCH_RECOGNIZE at `keyword`.

    `replaced` are the relations cut out before, by first token: last token and the text that replaces them.
    """
    if keyword == 0:
        raise ParseError(
            "REX101", f"{word(tokens[keyword])} has no input", source, span_of(tokens[keyword]),
            hint=f"write SELECT * FROM t {word(tokens[keyword])} (...); a clause alone is for rex.match",
            command_hint=f"write SELECT * FROM t {word(tokens[keyword])} (...)",
        )
    found = input_ending_at(tokens, keyword - 1, source, replaced)
    before = word(tokens[found.first - 1]) if found is not None and found.first else ""
    if found is not None and "LATERAL" in (before, word(tokens[found.first])):
        at = found.first - 1 if before == "LATERAL" else found.first
        raise UnsupportedError(
            "REX301", f"LATERAL {word(tokens[keyword])} is not supported yet", source, span_of(tokens[at]),
            hint="give the pattern a plain table or subquery, and join its result",
        )
    if found is None or before not in _BEFORE_A_RELATION:
        name = word(tokens[keyword])
        raise ParseError(
            "REX101", f"{name} must follow a table, a subquery or another {name} in FROM", source,
            span_of(tokens[keyword]), hint=_where_it_stands(tokens, keyword),
        )
    return found


def _where_it_stands(tokens: Sequence[Token], keyword: int) -> str:
    name = word(tokens[keyword])
    if "WHERE" in [word(token) for token in tokens[:keyword]]:
        return f"WHERE comes after it, or into the input: FROM (SELECT * FROM t WHERE ...) {name} (...)"
    return f"SELECT ... FROM t {name} (...)"


def find_alias(tokens: Sequence[Token], close: int, source: Source) -> Alias:
    """The alias and column list after the parenthesis that closes a MATCH_RECOGNIZE."""
    index = close + 1
    if index < len(tokens) and word(tokens[index]) == "AS":
        index += 1
    if index >= len(tokens) or not _is_name(tokens[index], source) or word(tokens[index]) in _NOT_AN_ALIAS:
        return Alias(close)
    opening = index + 1
    if opening >= len(tokens) or tokens[opening].token_type is not TokenType.L_PAREN:
        return Alias(index, (close + 1, index))
    end = closing(tokens, opening, source)
    columns = tuple(token.text for token in tokens[opening + 1 : end] if token.token_type is not TokenType.COMMA)
    return Alias(end, (close + 1, index), columns, span_of(tokens[opening]).to(span_of(tokens[end])))


def input_ending_at(
    tokens: Sequence[Token], last: int, source: Source, replaced: Mapping[int, tuple[int, str]]
) -> Input | None:
    """The FROM item whose last token is given, None if that cannot be one."""
    starts = {end: start for start, (end, _) in replaced.items()}
    if last in starts:
        return Input(starts[last], last, None, _alias_in(replaced[starts[last]][1]))
    index = last
    alias: str | None = None
    is_parenthesis = tokens[last].token_type is TokenType.R_PAREN
    # `(subquery) AS alias (columns)` or `item AS alias`
    named = _find_opening(tokens, last, source) - 1 if is_parenthesis else last
    if named >= 0 and _is_name(tokens[named], source) and _is_alias(tokens, named, source):
        alias = tokens[named].text
        index = named - 2 if word(tokens[named - 1]) == "AS" else named - 1
    if index in starts:
        return Input(starts[index], last, None, alias)
    if tokens[index].token_type is TokenType.R_PAREN:
        opening = _find_opening(tokens, index, source)
        called = opening - 1
        is_call = (
            called >= 0 and _is_name(tokens[called], source) and word(tokens[called]) not in _BEFORE_A_RELATION
        )
        if is_call and alias is None:
            return _named_input(tokens, called, last)
        return Input(_dotted_first(tokens, called) if is_call else opening, last, None, alias)
    if not _is_name(tokens[index], source) and tokens[index].token_type is not TokenType.STRING:
        return None
    named_input = _named_input(tokens, index, last)
    table = tokens[index].text if named_input.first == index else None
    return replace(named_input, table=table) if alias is None else Input(named_input.first, last, table, alias)


def _named_input(tokens: Sequence[Token], index: int, last: int) -> Input:
    """The input whose dotted name ends at `index`."""
    first = _dotted_first(tokens, index)
    return Input(first, last, None, tokens[index].text, tuple(token.text for token in tokens[first:index:2]))


def _alias_in(replacement: str) -> str | None:
    """The alias in the text that replaces a relation: placeholder, AS, alias."""
    found = re.match(r"\S+\s+(?:AS\s+)?(.+)\Z", replacement, re.IGNORECASE | re.DOTALL)
    return found.group(1).strip().strip('"`') if found else None


def _is_name(token: Token, source: Source) -> bool:
    if is_quoted(token, source):
        return True
    text = token.text
    return bool(text) and (text[0].isalpha() or text[0] == "_") and token.token_type is not TokenType.STRING


def _is_alias(tokens: Sequence[Token], index: int, source: Source) -> bool:
    """Whether the name at `index` comes after the item it renames."""
    if index == 0 or word(tokens[index]) in _BEFORE_A_RELATION:
        return False
    before = tokens[index - 1]
    if word(before) == "AS":
        return True
    if word(before) in _BEFORE_A_RELATION or before.token_type is TokenType.DOT:
        return False
    return before.token_type is TokenType.R_PAREN or _is_name(before, source)


def _dotted_first(tokens: Sequence[Token], index: int) -> int:
    """The first token of the dotted name that ends at `index`."""
    while index >= 2 and tokens[index - 1].token_type is TokenType.DOT:
        index -= 2
    return index


def _find_opening(tokens: Sequence[Token], index: int, source: Source) -> int:
    """Index of the token that opens the parenthesis closed at `index`."""
    depth = 0
    for position in range(index, -1, -1):
        kind = tokens[position].token_type
        if kind is TokenType.R_PAREN:
            depth += 1
        elif kind is TokenType.L_PAREN:
            depth -= 1
            if depth == 0:
                return position
    raise ParseError("REX101", "this parenthesis was never opened", source, span_of(tokens[index]))
