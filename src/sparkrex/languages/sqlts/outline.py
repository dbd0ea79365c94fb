"""The parts of one SQL-TS query, as ranges of its tokens.

`SELECT items FROM input [CLUSTER BY keys] [,] SEQUENCE BY keys AS (elements) [WHERE condition] [rest]`: everything but
what stands between the input and the end of WHERE is plain SQL.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import ParseError, UnsupportedError
from sparkrex.syntax.mistakes import find_timeouts
from sparkrex.syntax.tokens import closing, span_of, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sparkrex.source import Source

_OPENERS = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSERS = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)
_SET_OPERATIONS = ("UNION", "INTERSECT", "EXCEPT", "MINUS")
_AFTER_THE_PATTERN = (
    "WHERE", "GROUP BY", "GROUP", "HAVING", "QUALIFY", "WINDOW", "ORDER BY", "ORDER", "SORT BY", "DISTRIBUTE BY",
    "CLUSTER BY", "LIMIT", "OFFSET", "FETCH",
)
_AFTER_WHERE = _AFTER_THE_PATTERN[1:]
_JOINS = (
    ",", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS", "NATURAL", "LATERAL", "SEMI", "ANTI", "ASOF",
    "MATCH_RECOGNIZE",
)
FORM = "SELECT X.a FROM t CLUSTER BY c SEQUENCE BY d AS (X, *Y) WHERE Y.a > X.a"
"""A query of the language, for hints."""


@dataclass(frozen=True, slots=True)
class Outline:
    """The parts of a query whose first token, number 0, is SELECT.

    `items` is the SELECT list without DISTINCT; `cluster`, `sequence` and `elements` are what follows their keywords,
    `where` the condition, `rest` what is left, from GROUP BY on. `sign` is the first token after the input, and
    `pattern_end` the parenthesis that closes the elements.
    """

    items: range
    input: range
    sign: int
    cluster: range
    sequence: range
    elements: range
    pattern_end: int
    where: range
    rest: range


def find_query(tokens: Sequence[Token], sign: int) -> int | None:
    """The SELECT of the query in whose FROM clause the token stands, None if it stands elsewhere."""
    depth = 0
    from_clause = None
    for index in range(sign - 1, -1, -1):
        kind = tokens[index].token_type
        depth += (kind in _CLOSERS) - (kind in _OPENERS)
        if depth < 0:
            return None
        name = word(tokens[index]) if depth == 0 else ""
        if name == "SELECT":
            return index if from_clause is not None else None
        if from_clause is None and name in _AFTER_THE_PATTERN and index != sign and name != "CLUSTER BY":
            return None
        if name == "FROM":
            from_clause = index
    return None


def query_end(tokens: Sequence[Token], first: int) -> int:
    """The last token of the query that the token belongs to."""
    for index, depth in depths(tokens, range(first, len(tokens))):
        if depth < 0 or (depth == 0 and word(tokens[index]) in _SET_OPERATIONS):
            return index - 1
    return len(tokens) - 1


def depths(tokens: Sequence[Token], places: range) -> Iterator[tuple[int, int]]:
    """The places with their depth in parentheses; a parenthesis itself, opening or closing, is outside of its own.

    One that closes what was open before the first place has a depth below 0.
    """
    depth = 0
    for index in places:
        kind = tokens[index].token_type
        depth -= kind in _CLOSERS
        yield index, depth
        depth += kind in _OPENERS


def split_at_commas(tokens: Sequence[Token], places: range) -> list[range]:
    """The places cut at commas outside parentheses."""
    commas = [i for i, depth in depths(tokens, places) if depth == 0 and tokens[i].token_type is TokenType.COMMA]
    starts = [places.start, *(comma + 1 for comma in commas)]
    return [range(start, end) for start, end in zip(starts, [*commas, places.stop], strict=True)]


def read_outline(tokens: Sequence[Token], source: Source) -> Outline:
    """The parts of the query that all tokens make up."""
    timeouts = find_timeouts(tokens)
    if timeouts is not None:
        raise ParseError(
            "REX109", "an SQL-TS query has no SHOW TIMEOUT MATCHES", source, timeouts,
            hint="EXPLAIN prints the query with MATCH_RECOGNIZE, which has it, with WITHIN",
        )
    outer = {index: word(tokens[index]) for index, depth in depths(tokens, range(len(tokens))) if depth == 0}
    from_clause = next(index for index, name in outer.items() if name == "FROM")
    pattern = {index: name for index, name in outer.items() if index > from_clause}
    sequence = next((i for i, name in pattern.items() if name == "SEQUENCE" and pattern.get(i + 1) == "BY"), None)
    cluster = next((i for i, name in pattern.items() if name == "CLUSTER BY" and i < (sequence or len(tokens))), None)
    if sequence is None:
        at = span_of(tokens[cluster if cluster is not None else from_clause])
        raise ParseError(
            "REX109", "SEQUENCE BY is missing: it says in which order the elements follow each other", source, at,
            hint="CLUSTER BY c SEQUENCE BY d AS (X, *Y)",
        )
    named = next((i for i, name in pattern.items() if i > sequence and (name == "AS" or name in _AFTER_WHERE)), None)
    if named is None or outer[named] != "AS" or named + 1 not in outer or outer[named + 1] != "(":
        place = sequence + 1 if named is None or outer[named] != "AS" else named
        raise ParseError(
            "REX109", "SEQUENCE BY is followed by its keys and the elements in parentheses", source,
            span_of(tokens[sequence]).to(span_of(tokens[place])), hint="SEQUENCE BY d AS (X, *Y)",
        )
    if named == sequence + 2:
        raise ParseError(
            "REX109", "SEQUENCE BY is empty", source, span_of(tokens[sequence]).to(span_of(tokens[sequence + 1])),
            hint="name the keys by which rows follow each other: SEQUENCE BY date AS (X, *Y)",
        )
    if cluster is not None and cluster + 1 >= (sequence - 1 if outer.get(sequence - 1) == "," else sequence):
        raise ParseError(
            "REX109", "CLUSTER BY is empty", source, span_of(tokens[cluster]),
            hint="name the columns whose rows belong together, or leave it out",
        )
    end = closing(tokens, named + 1, source)
    where, rest = _after(tokens, end, outer, source)
    before = sequence - 1 if outer.get(sequence - 1) == "," else sequence
    sign = before if cluster is None else cluster
    first = 2 if word(tokens[1]) in ("DISTINCT", "ALL") else 1
    return Outline(
        range(first, from_clause), range(from_clause + 1, sign), sign,
        range(0) if cluster is None else range(cluster + 1, before), range(sequence + 2, named), range(named + 2, end),
        end, where, rest,
    )


def _after(tokens: Sequence[Token], end: int, outer: dict[int, str], source: Source) -> tuple[range, range]:
    """WHERE, without the word, and what comes after it."""
    n_tokens = len(tokens)
    if end + 1 == n_tokens:
        return range(n_tokens, n_tokens), range(n_tokens, n_tokens)
    following = outer[end + 1]
    if following in _JOINS:
        raise UnsupportedError(
            "REX301", "a pattern beside other tables in FROM is not supported yet", source, span_of(tokens[end + 1]),
            hint="make the pattern a query of its own and join its result: FROM (SELECT X.a FROM t ...) AS m JOIN u",
        )
    if following not in _AFTER_THE_PATTERN:
        raise ParseError(
            "REX109", f"unexpected {tokens[end + 1].text} after the elements", source, span_of(tokens[end + 1]),
            hint=f"WHERE, or another clause of SELECT: {FORM}",
        )
    if following != "WHERE":
        return range(end + 1, end + 1), range(end + 1, n_tokens)
    last = next((i for i, name in outer.items() if i > end + 1 and name in _AFTER_WHERE), n_tokens)
    if last == end + 2:
        raise ParseError("REX109", "WHERE is empty", source, span_of(tokens[end + 1]), hint="leave it out")
    return range(end + 2, last), range(last, n_tokens)
