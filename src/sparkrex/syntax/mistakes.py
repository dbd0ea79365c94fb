"""What a clause that cannot be read was probably meant to be: asked only after reading it has failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import ParseError
from sparkrex.syntax.tokens import is_quoted, span_of, word

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sparkrex.source import Source, Span

_AFTER = "it comes after the parenthesis: FROM t MATCH_RECOGNIZE (...)"
_ELSEWHERE = {
    "WHERE": "to filter the input: FROM (SELECT * FROM t WHERE ...) MATCH_RECOGNIZE (...); to filter the matches: "
    "MATCH_RECOGNIZE (...) WHERE ...",
    "GROUP BY": "PARTITION BY says which rows belong together; matches are grouped after the parenthesis: "
    "FROM t MATCH_RECOGNIZE (...) GROUP BY ...",
    "HAVING": "matches are filtered after the parenthesis: FROM t MATCH_RECOGNIZE (...) WHERE ...",
    "LIMIT": f"{_AFTER} LIMIT ...",
    "OFFSET": f"{_AFTER} OFFSET ...",
    "FETCH": f"{_AFTER} FETCH ...",
    "QUALIFY": f"{_AFTER} QUALIFY ...",
    "UNION": f"{_AFTER} UNION ...",
    "JOIN": f"{_AFTER} JOIN ...",
    "SELECT": "MEASURES says what to read from a match: MEASURES LAST(A.x) AS x",
    "FROM": "the input stands before MATCH_RECOGNIZE: FROM t MATCH_RECOGNIZE (...)",
}


def other_clause(tokens: Sequence[Token], source: Source) -> ParseError | None:
    """The error of a clause of SELECT that stands inside MATCH_RECOGNIZE."""
    for _, token in _outer(tokens):
        name = "GROUP BY" if word(token) == "GROUP" else word(token)
        if name in _ELSEWHERE:
            return ParseError(
                "REX102", f"{name} does not belong inside MATCH_RECOGNIZE", source, span_of(token),
                hint=_ELSEWHERE[name],
            )
    return None


def find_timeouts(tokens: Sequence[Token]) -> Span | None:
    """Where SHOW TIMEOUT MATCHES stands outside parentheses, whatever is before it."""
    outer = [token for _, token in _outer(tokens)]
    words = [word(token) for token in outer]
    for index in range(len(outer) - 2):
        if words[index : index + 3] == ["SHOW", "TIMEOUT", "MATCHES"]:
            return span_of(outer[index]).to(span_of(outer[index + 2]))
    return None


def missing_comma(head: str, tokens: Sequence[Token], source: Source) -> ParseError | None:
    """The error of an item that is really two, with no comma between them."""
    outer = list(_outer(tokens))
    for place, (index, token) in enumerate(outer):
        following = outer[place + 1][1] if place + 1 < len(outer) else None
        if following is None or index == 0:
            continue
        if head == "DEFINE" and _is_name(token, source) and word(following) == "AS":
            segment = place > 1 and word(outer[place - 1][1]) in ("SEGMENT", "SEG")
            return _lacking_error(outer[place - 1][1] if segment else token, source)
        if head in ("MEASURES", "RETURN") and word(token) == "AS" and _is_name(following, source):
            if place + 2 < len(outer):
                return _lacking_error(outer[place + 2][1], source)
            continue
        is_key = head in ("PARTITION BY", "ORDER BY") and _is_name(outer[place - 1][1], source)
        if is_key and _is_name(token, source) and word(token) not in ("ASC", "DESC", "NULLS"):
            return _lacking_error(token, source)
    if head in ("PARTITION BY", "ORDER BY") and len(outer) > 1:
        before, last = outer[-2][1], outer[-1][1]
        if _is_name(last, source) and (_is_name(before, source) or before.token_type is TokenType.R_PAREN):
            return _lacking_error(last, source)
    return None


def missing_comma_in_subset(tokens: Sequence[Token], source: Source) -> ParseError | None:
    """The same for SUBSET U = (A B) and SUBSET U = (A) V = (B)."""
    for before, token, following in zip(tokens, tokens[1:], [*tokens[2:], None], strict=False):
        if not _is_name(token, source):
            continue
        begins = following is not None and following.token_type is TokenType.EQ
        if _is_name(before, source) or (before.token_type is TokenType.R_PAREN and begins):
            return _lacking_error(token, source)
    return None


def misplaced_pattern(tokens: Sequence[Token], source: Source) -> ParseError | None:
    """The error of PATTERN without parentheses, or after a comma, in a clause where none was found."""
    outer = list(_outer(tokens))
    for place, (index, token) in enumerate(outer):
        if word(token) != "PATTERN":
            continue
        opens = index + 1 < len(tokens) and tokens[index + 1].token_type is TokenType.L_PAREN
        if opens and place and outer[place - 1][1].token_type is TokenType.COMMA:
            return ParseError(
                "REX102", "there is a comma before PATTERN", source, span_of(outer[place - 1][1]), hint="leave it out"
            )
        rest = [after for after, other in outer[place + 1 :] if word(other) in ("WITHIN", "SUBSET", "DEFINE")]
        last = tokens[(rest[0] if rest else len(tokens)) - 1]
        written = " ".join(source.text[token.end + 1 : last.end + 1].split())
        if not opens and written and last is not token:
            return ParseError(
                "REX102", "the pattern stands in parentheses", source, span_of(token).to(span_of(last)),
                hint=f"PATTERN ({written})",
            )
    return None


def empty_item(head: str, tokens: Sequence[Token], source: Source) -> ParseError:
    """The error of a comma with nothing before or after it."""
    commas = [(place, token) for place, token in _outer(tokens) if token.token_type is TokenType.COMMA]
    for place, comma in commas:
        is_last = place == len(tokens) - 1
        if is_last or place == 0 or tokens[place + 1].token_type is TokenType.COMMA:
            return ParseError("REX102", f"{head} has a comma too many", source, span_of(comma), hint="leave it out")
    return ParseError("REX102", f"{head} has an empty item", source, span_of(tokens[0]))


def _lacking_error(token: Token, source: Source) -> ParseError:
    return ParseError("REX102", f"a comma is missing before {token.text}", source, span_of(token))


def _outer(tokens: Sequence[Token]) -> Iterator[tuple[int, Token]]:
    """The tokens outside parentheses and brackets, with a closing one for what is inside."""
    openers = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
    closers = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)
    depth = 0
    for index, token in enumerate(tokens):
        depth -= token.token_type in closers
        if depth == 0 and token.token_type not in openers:
            yield index, token
        depth += token.token_type in openers


def _is_name(token: Token, source: Source) -> bool:
    if is_quoted(token, source):
        return True
    return bool(word(token)) and (token.text[0].isalpha() or token.text[0] == "_")
