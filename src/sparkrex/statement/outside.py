"""Row pattern functions and pattern variables in the SQL around a MATCH_RECOGNIZE, where they have no meaning.

FIRST and LAST are aggregates of some hosts, and a user may have a function PREV: so the host is asked first, and its
complaint is put into words that help. Only FIRST and LAST with a number of rows are refused before, because a host may
read the number as something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError, RexError
from sparkrex.syntax.tokens import span_of, tokenize, word

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sparkrex.source import Source
    from sparkrex.statement.cut import Statement

_WINDOW_TWINS = {"PREV": "LAG", "NEXT": "LEAD"}
_OF_MATCHES = ("CLASSIFIER", "MATCH_NUMBER", "MATCH_SEQUENCE_NUMBER", "MATCH_STATUS", "MATCH_ROWTIME")


def refuse_offsets_outside(
    tokens: Sequence[Token], inside: Collection[tuple[int, int]], source: Source
) -> None:
    """Refuse FIRST(x, 1) and LAST(x, 1) outside the relations, given as ranges of token indices."""
    for index in range(len(tokens) - 3):
        name = word(tokens[index])
        if name not in ("FIRST", "LAST") or any(first <= index <= last for first, last in inside):
            continue
        if tokens[index + 1].token_type is not TokenType.L_PAREN:
            continue
        call = tokens[index + 2 : index + 8]
        for place, token in enumerate(call[:-2]):
            if token.token_type is TokenType.R_PAREN:
                break
            kinds = [part.token_type for part in call[place : place + 3]]
            if kinds == [TokenType.COMMA, TokenType.NUMBER, TokenType.R_PAREN]:
                raise AnalysisError(
                    "REX207", f"{name} with a number of rows counts rows of a match: use it inside MATCH_RECOGNIZE",
                    source, span_of(tokens[index]), hint=f"MEASURES {name}(A.x, 1) AS name, then select name",
                )


def explained(error: RexError, statement: Statement, variables: Collection[str]) -> RexError:
    """The host's complaint about a row pattern function, a pattern variable or a lost column, in words that help.

    Any other error as it is.
    """
    if error.span is None or error.code not in ("REX201", "REX206", "REX213", "REX214"):
        return error
    place = error.span
    if any(relation.span.start <= place.start < relation.span.end for relation in statement.relations):
        return error
    source = statement.source
    tokens = tokenize(source, statement.dialect)
    index = next((i for i, token in enumerate(tokens) if span_of(token) == place), None)
    if index is None:
        return error
    name = word(tokens[index])
    is_call = index + 1 < len(tokens) and tokens[index + 1].token_type is TokenType.L_PAREN
    if error.code == "REX213" and is_call and name in _WINDOW_TWINS:
        return AnalysisError(
            "REX207", f"{name} is a function of row patterns: use it inside MATCH_RECOGNIZE, in MEASURES or DEFINE",
            source, place, hint=f"in plain SQL write {_WINDOW_TWINS[name]}(x) OVER (PARTITION BY ... ORDER BY ...)",
        )
    if error.code == "REX213" and is_call and name in _OF_MATCHES:
        return AnalysisError(
            "REX207", f"{name} is a function of row patterns: use it inside MATCH_RECOGNIZE, in MEASURES or DEFINE",
            source, place, hint=f"MEASURES {name}() AS name, then select name",
        )
    # A qualifier may be reported by its column: x of A.x.
    for at in (index, index - 2):
        is_qualifier = 0 <= at < len(tokens) - 1 and tokens[at + 1].token_type is TokenType.DOT
        if is_qualifier and not is_call and word(tokens[at]) in variables:
            return AnalysisError(
                "REX207", f"{tokens[at].text} is a pattern variable: outside MATCH_RECOGNIZE there are only the "
                "columns of its result", source, span_of(tokens[at]),
                hint=f"MEASURES LAST({tokens[at].text}.x) AS name, then select name",
            )
    if error.code == "REX201" and any(relation.keyword == "MATCH_RECOGNIZE" for relation in statement.relations):
        error.hint = "of a match there are the partition columns and the measures; ALL ROWS PER MATCH has all columns"
    return error
