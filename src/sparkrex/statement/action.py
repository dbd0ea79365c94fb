"""Statements that do something with the rows of a query: CREATE VIEW, CREATE TABLE AS, INSERT and others.

Takes tokens; says what is done, and at which token the query starts that gives the rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.modes.tables import LANGUAGES
from sparkrex.syntax.tokens import word

if TYPE_CHECKING:
    from collections.abc import Sequence

_QUERY_WORDS = {"SELECT", "WITH", "FROM", "VALUES", "TABLE", "("}
_ACTIONS = {
    "CREATE", "REPLACE", "INSERT", "MERGE", "UPDATE", "DELETE", "COPY", "CACHE", "EXPLAIN", "DESCRIBE", "DESC", "ALTER",
    "DECLARE", "EXECUTE", "CALL", "BEGIN", "SET", "EXPORT", "REFRESH", "TRUNCATE",
}
# Through these the rows of a query reach a table on Spark, with our common table expressions in front of the query.
_WRITING = {"CREATE TABLE", "INSERT"}


@dataclass(frozen=True, slots=True)
class Action:
    """What a statement does. `query` is the first token of its query, None if it has none that can be told.

    `head` is what stands before the query, word by word.
    """

    kind: str
    query: int | None
    head: tuple[Token, ...]

    @property
    def is_view(self) -> bool:
        """Whether a view is defined."""
        return self.kind == "CREATE VIEW"

    @property
    def is_temporary(self) -> bool:
        """Whether what is created goes with the session."""
        return any(word(token) in ("TEMP", "TEMPORARY") for token in self.head)

    @property
    def hides_matches(self) -> bool:
        """Whether a pattern stands where the cut does not see it: some commands are one token to the tokenizer."""
        return any(name in token.text.upper() for token in self.head for name in LANGUAGES)

    @property
    def changes(self) -> bool:
        """Whether tables or views are created or changed."""
        return self.kind.split()[0] in ("CREATE", "REPLACE", "INSERT", "MERGE", "UPDATE", "DELETE")

    @property
    def writes(self) -> bool:
        """Whether the rows go into a table."""
        return self.kind in _WRITING and not self.is_temporary


def find_action(tokens: Sequence[Token]) -> Action | None:
    """What a statement does with its query, None if it is a query and nothing else."""
    first = word(tokens[0])
    if first == "WITH":
        return _behind_with(tokens)
    if first not in _ACTIONS:
        return None
    query = _query_start(tokens, 1) if first in ("CREATE", "REPLACE", "INSERT") else None
    head = tuple(tokens[: len(tokens) if query is None else query])
    words = [word(token) for token in head]
    kind = first
    if first in ("CREATE", "REPLACE"):
        kind = next((f"CREATE {name}" for name in words if name in ("VIEW", "TABLE")), first)
    return Action(kind, query, head)


def query_start(tokens: Sequence[Token]) -> int:
    """The first token of the statement's query."""
    found = find_action(tokens) if tokens else None
    return 0 if found is None or found.query is None else found.query


def _behind_with(tokens: Sequence[Token]) -> Action | None:
    """`WITH ... INSERT ...`: the common table expressions come first, so that the query starts with the statement."""
    depth = 0
    for token in tokens:
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and word(token) in ("INSERT", "MERGE", "UPDATE", "DELETE"):
            return Action(word(token), 0, ())
        if depth == 0 and word(token) == "SELECT":
            return None
    return None


def _query_start(tokens: Sequence[Token], start: int) -> int | None:
    depth = 0
    for index in range(start, len(tokens) - 1):
        kind = tokens[index].token_type
        following = word(tokens[index + 1])
        if depth == 0 and kind is TokenType.L_PAREN and following in _QUERY_WORDS - {"TABLE"}:
            return index
        # `CREATE TABLE t WITH (...)` and `WITH SCHEMA ...` are properties; TABLE is a query after AS only.
        is_query = word(tokens[index]) in _QUERY_WORDS - {"(", "TABLE"}
        is_property = word(tokens[index]) == "WITH" and following in ("(", "SCHEMA", "NO")
        if depth == 0 and is_query and not is_property:
            return index
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
    return None
