"""The clauses of one SELECT, as ranges of the statement's tokens.

Only what stands outside parentheses counts, and only in SQL's order: a column that is called `window` or `offset` is
no clause.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.syntax.tokens import word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

OPENERS = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
CLOSERS = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)
_SET_OPERATIONS = ("UNION", "INTERSECT", "EXCEPT", "MINUS", "UNION ALL")
_RANKS = {
    "FROM": 1, "WHERE": 2, "GROUP BY": 3, "HAVING": 4, "WINDOW": 5, "QUALIFY": 5, "ORDER BY": 6, "SORT BY": 6,
    "DISTRIBUTE BY": 6, "CLUSTER BY": 6, "LIMIT": 7, "OFFSET": 7, "FETCH": 7,
}
_RESERVED = ("WHERE", "GROUP BY", "HAVING")
"""Words that no column goes by, wherever they stand."""


@dataclass(frozen=True, slots=True)
class Query:
    """A query from SELECT to its last token.

    `clauses` are, by name, the ranges behind the words, `heads` the indices of the words. `select` is what stands
    behind SELECT, with DISTINCT; `items` are the ranges of its items. `is_operand`: a set operation combines its rows
    with others, so that ORDER BY is not its own.
    """

    first: int
    last: int
    select: range
    items: tuple[range, ...]
    clauses: dict[str, range]
    heads: dict[str, int]
    is_operand: bool
    misplaced: int | None
    """The first clause that stands behind one it belongs before, or is there twice."""
    late_window: tuple[int, str] | None
    """A WINDOW that stands behind a clause it belongs before, and that clause."""

    def clause(self, name: str) -> range:
        """The tokens of a clause; none if it is not there."""
        return self.clauses.get(name, range(self.last + 1, self.last + 1))

    def clause_of(self, index: int) -> str:
        """The name of the clause that a token of the query stands in."""
        return next((name for name, places in self.clauses.items() if index in places), "SELECT")


def find_select(tokens: Sequence[Token], inside: int) -> int | None:
    """The SELECT of the innermost query around a token, None if there is none."""
    depth = 0
    for index in range(inside - 1, -1, -1):
        kind = tokens[index].token_type
        if kind in CLOSERS:
            depth += 1
        elif kind in OPENERS:
            depth = max(0, depth - 1)
        elif depth == 0 and word(tokens[index]) == "SELECT" and word(tokens[index - 1]) != ".":
            return index
    return None


def depths(tokens: Sequence[Token], places: range) -> Iterator[tuple[int, int]]:
    """The places with their depth in parentheses; a parenthesis itself is outside of its own."""
    depth = 0
    for index in places:
        kind = tokens[index].token_type
        depth -= kind in CLOSERS
        yield index, depth
        depth += kind in OPENERS


def split_at_commas(tokens: Sequence[Token], places: range) -> tuple[range, ...]:
    """The places cut at commas outside parentheses; none without places."""
    if not places:
        return ()
    commas = [i for i, depth in depths(tokens, places) if depth == 0 and tokens[i].token_type is TokenType.COMMA]
    starts = [places.start, *(comma + 1 for comma in commas)]
    return tuple(range(start, end) for start, end in zip(starts, [*commas, places.stop], strict=True))


def read_query(tokens: Sequence[Token], first: int) -> Query:
    """The query that begins with the SELECT at `first`."""
    last = len(tokens) - 1
    misplaced: int | None = None
    late_window: tuple[int, str] | None = None
    heads: dict[str, int] = {}
    bodies: dict[str, int] = {}
    rank = 0
    is_operand = first > 0 and word(tokens[first - 1]) in (*_SET_OPERATIONS, "ALL", "DISTINCT", "NAME")
    for index, depth in depths(tokens, range(first, len(tokens))):
        if depth < 0:
            last = index - 1
            break
        name, length = _head(tokens, index)
        if depth or index == first:
            continue
        before = word(tokens[index - 1])
        if name in _SET_OPERATIONS and _is_set_operation(tokens, index):
            is_operand, last = True, index - 1
            break
        if before in (".", "AS") or tokens[index - 1].token_type is TokenType.DOT or name not in _RANKS:
            continue
        if name == "FROM" and before == "DISTINCT" and index > first + 2:
            continue  # IS DISTINCT FROM
        new_rank = _RANKS[name]
        if name in _RESERVED and misplaced is None and (new_rank < rank or name in heads):
            misplaced = index
        if name == "WINDOW" and late_window is None and new_rank < rank and _defines_window(tokens, index + 1):
            late_window = index, next(head for head in heads if _RANKS[head] > new_rank)
        if new_rank < rank or (rank == 0 and name != "FROM" and new_rank < 5) or name in heads:
            continue
        if name == "WINDOW" and not _defines_window(tokens, index + 1):
            continue
        heads[name], bodies[name], rank = index, index + length, new_rank
    ends = [*list(heads.values())[1:], last + 1] if heads else []
    clauses = {name: range(bodies[name], end) for name, end in zip(heads, ends, strict=True)}
    select = range(first + 1, next(iter(heads.values()), last + 1))
    items = split_at_commas(tokens, _items(tokens, select))
    return Query(first, last, select, items, clauses, heads, is_operand, misplaced, late_window)


def _head(tokens: Sequence[Token], index: int) -> tuple[str, int]:
    """The word at a token, with BY if that is a token of its own, and how many tokens that are."""
    name = word(tokens[index])
    if name in ("GROUP", "ORDER", "SORT", "DISTRIBUTE", "CLUSTER") and index + 1 < len(tokens) and word(
        tokens[index + 1]
    ) == "BY":
        return f"{name} BY", 2
    return name, 1


def _is_set_operation(tokens: Sequence[Token], index: int) -> bool:
    """Whether EXCEPT and the like combine queries, rather than being columns that `*` leaves out."""
    following = [word(token) for token in tokens[index + 1 : index + 5]]
    return any(name in ("SELECT", "VALUES", "FROM", "WITH", "TABLE") for name in following[:3] if name != "(") and (
        following[:1] != ["("] or following[1] in ("SELECT", "VALUES", "FROM", "WITH", "(")
    )


def _defines_window(tokens: Sequence[Token], index: int) -> bool:
    return index + 2 < len(tokens) and word(tokens[index + 1]) == "AS" and word(tokens[index + 2]) == "("


def _items(tokens: Sequence[Token], select: range) -> range:
    """The SELECT list without DISTINCT [ON (...)] and ALL."""
    start = select.start
    if select and word(tokens[start]) in ("DISTINCT", "ALL"):
        start += 1
        if start + 1 < select.stop and word(tokens[start]) == "ON" and word(tokens[start + 1]) == "(":
            start = next(
                index for index, depth in depths(tokens, range(start + 1, select.stop))
                if depth == 0 and tokens[index].token_type is TokenType.R_PAREN
            ) + 1
    return range(start, select.stop)
