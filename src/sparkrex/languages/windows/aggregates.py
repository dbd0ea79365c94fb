"""Calls of aggregates, from tokens alone: which names aggregate, and where their calls end."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.languages.windows.outline import CLOSERS, OPENERS
from sparkrex.syntax.scalar_text import ROW_PATTERN_FUNCTIONS
from sparkrex.syntax.tokens import word

if TYPE_CHECKING:
    from collections.abc import Sequence

_MORE_AGGREGATES = {
    "ANY_VALUE", "ARG_MAX", "ARG_MIN", "ARRAY_AGG", "BIT_AND", "BIT_OR", "BIT_XOR", "BOOL_AND", "BOOL_OR", "COUNT_IF",
    "EVERY", "FAVG", "FSUM", "GEOMETRIC_MEAN", "HISTOGRAM", "KURTOSIS", "LIST", "MAD", "MAX_BY", "MIN_BY", "MEAN",
    "MEDIAN", "MODE", "PRODUCT", "QUANTILE", "QUANTILE_CONT", "QUANTILE_DISC", "SKEWNESS", "SOME", "STRING_AGG",
    "COLLECT_LIST", "COLLECT_SET", "MAP_AGG", "ENTROPY", "LISTAGG", "GROUP_CONCAT", "STD", "VAR", "GROUPING",
    "GROUPING_ID",
}
_ONLY_WINDOWS = {"FIRST_VALUE", "LAST_VALUE", "NTH_VALUE", "LAG", "LEAD", "ROW_NUMBER", "FIRST", "LAST"}


@cache
def aggregate_names() -> frozenset[str]:
    """In upper case."""
    known = {name.upper() for name, kind in exp.FUNCTION_BY_NAME.items() if issubclass(kind, exp.AggFunc)}
    return frozenset((known | _MORE_AGGREGATES) - _ONLY_WINDOWS - ROW_PATTERN_FUNCTIONS)


def is_aggregate_call(tokens: Sequence[Token], index: int) -> bool:
    """Whether an aggregate is called at a token."""
    return (
        word(tokens[index]) in aggregate_names() and index + 1 < len(tokens)
        and tokens[index + 1].token_type is TokenType.L_PAREN and tokens[index - 1].token_type is not TokenType.DOT
    )


def call_end(tokens: Sequence[Token], index: int) -> int:
    """The last token of the aggregate that is called at `index`, with FILTER and WITHIN GROUP."""
    end = _close(tokens, index + 1)
    while end + 2 < len(tokens):
        following = word(tokens[end + 1])
        if following in ("FILTER", "WITHIN GROUP") and word(tokens[end + 2]) == "(":
            end = _close(tokens, end + 2)
        elif following == "WITHIN" and word(tokens[end + 2]) == "GROUP" and word(tokens[end + 3]) == "(":
            end = _close(tokens, end + 3)
        else:
            break
    return end


def _close(tokens: Sequence[Token], opening: int) -> int:
    depth = 0
    for index in range(opening, len(tokens)):
        kind = tokens[index].token_type
        depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
        if depth == 0:
            return index
    return len(tokens) - 1


def is_windowed(tokens: Sequence[Token], index: int) -> bool:
    """Whether the aggregate that is called at a token is a window function."""
    end = call_end(tokens, index)
    following = [word(token) for token in tokens[end + 1 : end + 3]]
    return bool(following) and (following[0] in ("OVER", "IGNORE NULLS", "RESPECT NULLS") or following[1:] == ["NULLS"])


def enclosing_aggregate(tokens: Sequence[Token], inside: int) -> int | None:
    """The aggregate, of several the innermost, whose arguments a token of the same query stands in."""
    depth = 0
    for index in range(inside - 1, 0, -1):
        kind = tokens[index].token_type
        depth += (kind in CLOSERS) - (kind in OPENERS)
        if depth < 0:
            depth = 0
            if word(tokens[index + 1]) == "SELECT":
                return None
            if is_aggregate_call(tokens, index - 1):
                return index - 1
    return None
