"""Where a window with a row pattern stands in a statement, and the SQL that takes its place.

Every such window of a query becomes a relation: what FROM, WHERE, GROUP BY and HAVING give, and a column for each call.
The calls are then read from that column, and the window's definition is taken out; of several windows each reads the
relation of the one before. A query over one table keeps its alias and its `*`. A query that joins or groups is read
from a subquery of all that its later clauses refer to (`projected`), under names of our own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import ParseError
from sparkrex.languages.windows.calls import (
    Call,
    Window,
    base_parts,
    find_calls,
    find_windows,
    pattern_sign,
    window_around,
)
from sparkrex.languages.windows.naming import append_text, has_alias, item_name, quoted_name
from sparkrex.languages.windows.outline import depths, find_select, read_query
from sparkrex.languages.windows.parse import parse_window
from sparkrex.languages.windows.projected import Projection, is_grouped, project
from sparkrex.source import Source, Span
from sparkrex.statement.from_item import input_ending_at
from sparkrex.statement.site import Edit, Input, Site
from sparkrex.syntax.names import name_rules
from sparkrex.syntax.tokens import closing, span_of, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot.dialects.dialect import Dialect

    from sparkrex.languages.windows.outline import Query
    from sparkrex.statement.site import Piece

_ORDER_OF_CLAUSES = "FROM, WHERE, GROUP BY, HAVING, WINDOW and QUALIFY, ORDER BY, LIMIT"
_JOINS = (
    "JOIN", "LATERAL", "TABLESAMPLE", "PIVOT", "UNPIVOT", "UNNEST", "INNER", "LEFT", "RIGHT", "FULL", "CROSS",
    "NATURAL", "ASOF", "POSITIONAL", "SEMI", "ANTI", ",",
)


def find_end(tokens: Sequence[Token], sign: int, source: Source) -> int | None:
    """The token behind the query whose window the sign makes one with a row pattern; None if it is no such sign.

    Everything in the query is claimed before, also what ends with it.
    """
    if word(tokens[sign]) == "OVER":
        first = find_select(tokens, sign)
        if first is not None:
            _check_plain(tokens, sign, first, source)
        return None
    spec = window_around(tokens, sign, source)
    if spec is None or pattern_sign(tokens, spec) != sign:
        return None
    first = find_select(tokens, sign)
    if first is None:
        return None
    query = read_query(tokens, first)
    _refuse_late_window(tokens, query, source)
    own = next((window for window in find_windows(tokens, query, source) if window.sign == sign), None)
    return None if own is None or own.same is not None else query.last + 1


def _check_plain(tokens: Sequence[Token], over: int, first: int, source: Source) -> None:
    """A measure before OVER where the query has no window that could define it is an error of its own."""
    called = tokens[over - 1]
    is_alone = called.token_type is TokenType.VAR and word(called) != "NULLS"
    if not is_alone or over + 1 >= len(tokens) or not (
        word(tokens[over + 1]) == "(" or tokens[over + 1].token_type in (TokenType.VAR, TokenType.IDENTIFIER)
    ):
        return
    query = read_query(tokens, first)
    windows = find_windows(tokens, query, source)
    if all(window.sign is None for window in windows):
        _refuse_late_window(tokens, query, source)
        find_calls(tokens, query, windows, source)


def _refuse_late_window(tokens: Sequence[Token], query: Query, source: Source) -> None:
    """A row pattern in a WINDOW behind ORDER BY or LIMIT is an error of its own; hosts take plain windows there."""
    if query.late_window is None:
        return
    at, clause = query.late_window
    name = at + 1
    while name + 2 <= query.last and word(tokens[name + 1]) == "AS" and word(tokens[name + 2]) == "(":
        spec = range(name + 3, closing(tokens, name + 2, source))
        if pattern_sign(tokens, spec) is not None:
            raise ParseError(
                "REX101", f"WINDOW comes before {clause}", source, span_of(tokens[at]), hint=_ORDER_OF_CLAUSES,
            )
        name = spec.stop + 2  # behind the comma


def _check_outline(tokens: Sequence[Token], query: Query, source: Source) -> None:
    """What is written anew without its windows must be whole: a host would not see what is wrong with it."""
    if query.misplaced is not None:
        at = query.misplaced
        raise ParseError(
            "REX101", f"{word(tokens[at])} stands behind a clause that it belongs before, or is there twice", source,
            span_of(tokens[at]), hint=_ORDER_OF_CLAUSES,
        )
    for item in query.items:
        if not item:
            raise ParseError(
                "REX101", "an item of SELECT is missing at this comma", source,
                span_of(tokens[item.start - 1 if item is query.items[-1] else item.start]),
            )


class _Claim:
    """One query with windows, and which of them is claimed."""

    def __init__(self, tokens: Sequence[Token], sign: int, source: Source, placeholder: str, dialect: Dialect) -> None:
        self.tokens = tokens
        self.source = source
        self.dialect = dialect
        self.placeholder = placeholder
        first = find_select(tokens, sign)
        assert first is not None  # it was found before
        self.query = read_query(tokens, first)
        _check_outline(tokens, self.query, source)
        self.windows = find_windows(tokens, self.query, source)
        self.with_pattern = [window for window in self.windows if window.sign is not None and window.same is None]
        self.window = next(window for window in self.with_pattern if window.sign == sign)
        self.calls = find_calls(tokens, self.query, self.windows, source)
        self.prefix = f"{placeholder.rsplit('_', 1)[0]}_q{first}"
        self.columns = {call: f"{self.prefix}_v{number}" for number, call in enumerate(self.calls)}

    def own_calls(self) -> list[Call]:
        """The calls over the window that is claimed."""
        return [call for call in self.calls if call.window is self.window]

    def is_first(self) -> bool:
        """Whether it is the first one that is called: then it reads what the query reads."""
        called = [window for window in self.with_pattern if any(call.window is window for call in self.calls)]
        return not called or called[0] is self.window

    def window_tokens(self, window: Window) -> list[Token]:
        """The window with what it has of others."""
        parts = base_parts(self.tokens, window, self.windows, self.source)
        own = range(window.spec.start + (window.base is not None), window.spec.stop)
        return [self.tokens[index] for part in [*parts, own] for index in part]


def claim_window(
    tokens: Sequence[Token], sign: int, source: Source, replaced: Mapping[int, tuple[int, str]], placeholder: str,
    dialect: Dialect,
) -> Site:
    """The window whose row pattern begins at `sign`, and the calls over it."""
    claim = _Claim(tokens, sign, source, placeholder, dialect)
    query, window = claim.query, claim.window
    span = Span(tokens[window.spec.start].start, tokens[window.spec.stop].start)
    for one in claim.with_pattern:
        # The text of all of them is gone with the first, so what cannot be read is said now.
        parse_window(
            claim.window_tokens(one), Span(tokens[one.spec.start].start, tokens[one.spec.stop].start), source, dialect,
            name_rules(_dialect_name(dialect)),
        )
    edits = _definition_edits(claim)
    if not claim.own_calls():
        return Site(query.first, query.last, None, range(0), span, tuple(edits))
    source_places = query.clause("FROM")
    if not source_places:
        raise ParseError(
            "REX101", "the query has no FROM, so its window has no rows", source, span_of(tokens[query.first]),
        )
    single = _single_item(tokens, query, source, replaced)
    projection = None
    if single is None or is_grouped(tokens, query, claim.windows):
        projection = project(
            tokens, query, claim.windows, claim.calls, source, dialect, claim.prefix, claim.window_tokens
        )
    pieces, last = _input(claim, single, projection)
    alias = "" if projection is not None or single is None else _alias_text(single, dialect)
    edits += _star_edits(claim, projection)
    if projection is not None and claim.is_first():
        edits += projection.edits
    edits += [Edit(call.first, call.last, claim.columns[call]) for call in claim.own_calls()]
    edits = _named(claim, edits, projection)
    edits += _qualify_edits(claim)
    edits.append(Edit(source_places.start, last, f"{placeholder}{alias}"))
    given = single if single is not None and projection is None else Input(source_places.start, last, None, None)
    if not claim.is_first() or pieces is not None:
        given = Input(given.first, last, None, given.alias, given.schema)
    return Site(
        query.first, query.last, given, range(0), span, tuple(_outermost(edits)),
        tokens=tuple(_clause_tokens(claim, projection)), input_pieces=pieces or (), span=span,
    )


def _dialect_name(dialect: Dialect) -> str:
    return type(dialect).__name__.lower()


def _single_item(
    tokens: Sequence[Token], query: Query, source: Source, replaced: Mapping[int, tuple[int, str]]
) -> Input | None:
    """The one FROM item of a query, None if it has several."""
    places = query.clause("FROM")
    for index, depth in depths(tokens, places):
        if depth == 0 and word(tokens[index]) in _JOINS and index not in replaced:
            return None
    end = next((end for start, (end, _) in replaced.items() if start == places.start), None)
    last = places.stop - 1 if end is None or end < places.stop else end
    found = input_ending_at(tokens, last, source, replaced)
    return found if found is not None and found.first == places.start else None


def _input(
    claim: _Claim, single: Input | None, projection: Projection | None
) -> tuple[tuple[Piece, ...] | None, int]:
    """What the window reads, None for its FROM item as it is; and the last token that the relation replaces."""
    query = claim.query
    places = query.clause("FROM")
    last = places.stop - 1
    for name in ("WHERE", "GROUP BY", "HAVING"):
        if name in query.clauses:
            last = query.clauses[name].stop - 1
    if not claim.is_first():
        return (range(places.start, last + 1),), last  # all that the one before has put its result in the place of
    if projection is not None:
        return projection.input, last
    where = query.clauses.get("WHERE")
    if where is None or single is None:
        return None, last
    return ("(SELECT * FROM ", places, " WHERE ", where, f"){_alias_text(single, claim.dialect)}"), last


def _alias_text(single: Input, dialect: Dialect) -> str:
    """` AS name`, as the name is spelt; nothing for an item without one."""
    if single.alias is None:
        return ""
    return f" AS {quoted_name(single.alias, dialect)}"


def _definition_edits(claim: _Claim) -> list[Edit]:
    """Take the definitions of windows with a row pattern out of WINDOW."""
    query = claim.query
    if "WINDOW" not in query.clauses:
        return []
    named = [window for window in claim.windows if window.definition is not None]
    edits = []
    has_kept = False
    for number, window in enumerate(named):
        assert window.definition is not None
        if window.sign is None:
            has_kept = True
            continue
        first, last = window.definition.start, window.definition.stop - 1
        if has_kept:
            edits.append(Edit(first - 1, last, ""))
        elif any(one.sign is None for one in named[number:]):
            edits.append(Edit(first, last + 1, ""))
    if not has_kept:
        return [Edit(query.heads["WINDOW"], query.clauses["WINDOW"].stop - 1, "")]
    return edits


def _star_edits(claim: _Claim, projection: Projection | None) -> list[Edit]:
    """`*` without the columns that the relation has beside those of the query's input."""
    tokens = claim.tokens
    hidden = [*(() if projection is None else projection.names), *claim.columns.values()]
    edits = []
    for item in claim.query.items:
        stars = [i for i, depth in depths(tokens, item) if depth == 0 and tokens[i].token_type is TokenType.STAR]
        if not stars or (stars[0] != item.start and tokens[stars[0] - 1].token_type is not TokenType.DOT):
            continue
        star = stars[0]
        following = star + 1
        if following in item and word(tokens[following]) in ("EXCEPT", "EXCLUDE"):
            if word(tokens[following + 1]) == "(":
                edits.append(Edit(following + 1, following + 1, f"({', '.join(hidden)}, "))
            else:
                text = claim.source.text[span_of(tokens[following + 1]).start : span_of(tokens[following + 1]).end]
                edits.append(Edit(following + 1, following + 1, f"({', '.join(hidden)}, {text})"))
            continue
        first = item.start if projection is not None else star
        edits.append(Edit(first, star, f"* EXCEPT ({', '.join(hidden)})"))
    if type(claim.dialect).__name__ in ("DuckDB", "Snowflake", "Redshift"):
        edits = [Edit(edit.first, edit.last, edit.text.replace("* EXCEPT", "* EXCLUDE")) for edit in edits]
    return edits


def _named(claim: _Claim, edits: Sequence[Edit], projection: Projection | None) -> list[Edit]:
    """The edits, with names for items of the SELECT list that are changed and had none of their own."""
    tokens, query = claim.tokens, claim.query
    named = list(edits)
    starred = [item for item in query.items if any(tokens[i].token_type is TokenType.STAR for i in (item[0], item[-1]))]
    changed: list[tuple[int, int, Call | None]] = [(call.first, call.last, call) for call in claim.calls]
    changed += [] if projection is None else [(edit.first, edit.last, None) for edit in projection.edits]
    for item in query.items:
        inside = [one for one in changed if one[0] in item]
        is_renamed = projection is not None and item not in starred
        if not (inside or is_renamed) or has_alias(tokens, item, [one[:2] for one in inside]):
            continue
        at_end = next((one[2] for one in inside if one[1] == item.stop - 1), None)
        is_ours = at_end.window is claim.window if at_end is not None else claim.is_first()
        if is_ours:
            name = item_name(tokens, item, claim.calls, claim.source)
            named = append_text(named, tokens, item.stop - 1, f" AS {quoted_name(name, claim.dialect)}", claim.source)
    return named


def _qualify_edits(claim: _Claim) -> list[Edit]:
    """Hosts want a window function where QUALIFY is: if none is left, one that changes nothing is added."""
    query, tokens = claim.query, claim.tokens
    places = query.clauses.get("QUALIFY")
    if places is None:
        return []
    called = {call.over for call in claim.calls}
    region = [*query.select, *places]
    if any(word(tokens[index]) == "OVER" and index not in called for index in region):
        return []
    head = query.heads["QUALIFY"]
    return [Edit(head, head, "QUALIFY COUNT(*) OVER () < 0 OR")]


def _outermost(edits: Sequence[Edit]) -> list[Edit]:
    """Edits without those inside of others."""
    return [
        edit for edit in edits
        if not any(
            other.first <= edit.first and edit.last <= other.last
            and (other.first, other.last) != (edit.first, edit.last)
            for other in edits
        )
    ]


def _clause_tokens(claim: _Claim, projection: Projection | None) -> list[Token]:
    """The window, and behind semicolons the calls over it, with the names of the columns that they become."""
    spec = claim.window_tokens(claim.window)
    replacement = {} if projection is None else projection.replaced_tokens
    result = _rewritten(spec, replacement)
    for call in claim.own_calls():
        at = claim.tokens[call.first]
        result.append(Token(TokenType.SEMICOLON, ";", at.line, at.col, at.start, at.end))
        result.append(Token(TokenType.VAR, claim.columns[call], at.line, at.col, at.start, at.end))
        result += _rewritten([claim.tokens[index] for index in range(call.first, call.over)], replacement)
    return result


def _rewritten(tokens: Sequence[Token], replaced: Mapping[int, tuple[int, str]]) -> list[Token]:
    """Tokens with those of references, by where they start, as the columns that the references became."""
    result: list[Token] = []
    end = -1
    for token in tokens:
        if token.start < end:
            continue
        if token.start in replaced:
            end, name = replaced[token.start]
            result.append(Token(TokenType.VAR, name, token.line, token.col, token.start, end - 1))
        else:
            result.append(token)
    return result


