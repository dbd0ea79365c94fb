"""Scalar expressions: sqlglot's parser over our tokens.

Three things sqlglot cannot read as they stand. Row pattern functions (`FIRST(A.x, 1)` loses its offset in some
dialects, `NEXT` starts other syntax) are renamed to `__REX_...`, which every dialect reads as an unknown function, kept
whole. `RUNNING f(...)` and `FINAL f(...)` become `__REX_RUNNING(f(...))`. Words of SQL that name a pattern variable
(`DROP.x`) become quoted names. Tokens keep their offsets, so positions stay exact.
In segment queries `window(...)` and `range(...)` are T-ReX's, whatever the dialect knows under these names.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.errors import ParseError as SqlglotParseError
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import ParseError
from sparkrex.source import Source, Span
from sparkrex.syntax.items import ScalarText
from sparkrex.syntax.tokens import closing, is_flink, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.dialects.dialect import Dialect

PREFIX = "__REX_"
ROW_PATTERN_FUNCTIONS = {
    "FIRST", "LAST", "PREV", "NEXT", "CLASSIFIER", "MATCH_NUMBER", "MATCH_SEQUENCE_NUMBER", "MATCH_STATUS",
    "MATCH_ROWTIME",
}
_SEGMENT_FUNCTIONS = {"WINDOW", "RANGE"}
_BEFORE_A_WINDOW = ("OVER", "IGNORE", "RESPECT", "IGNORE NULLS", "RESPECT NULLS")
# Snowflake writes PREV and NEXT as LAG and LEAD; with OVER they are window functions.
_SPELLINGS = {"LAG": "PREV", "LEAD": "NEXT"}


def parse_expression(
    tokens: Sequence[Token], source: Source, dialect: Dialect, after: Span, *, in_segments: bool = False
) -> ScalarText:
    """One expression, with an alias if the text has one. `after` is pointed at when there are no tokens."""
    if not tokens:
        raise ParseError("REX104", "an expression is missing here", source, after)
    span = Span(tokens[0].start, tokens[-1].end + 1)
    _check_parentheses(tokens, source)
    # `SELECT 0, expression`: directly after SELECT some words (TOP, DISTINCT, ALL) are not names.
    head = [
        Token(TokenType.SELECT, "SELECT", 1, 1, 0, 0), Token(TokenType.NUMBER, "0", 1, 1, 0, 0),
        Token(TokenType.COMMA, ",", 1, 1, 0, 0),
    ]
    prepared = head + _prepare(list(tokens), source, in_segments, keeps_case=is_flink(dialect))
    try:
        statements = dialect.parser().parse(prepared, source.text)
    except SqlglotParseError as error:
        raise _convert_error(error, source, span) from error
    except SqlglotError as error:
        raise ParseError("REX104", "this expression cannot be read", source, span, notes=(str(error),)) from error
    select = statements[0] if len(statements) == 1 else None
    if not isinstance(select, exp.Select) or len(select.expressions) != 2 or _other_clauses(select):
        raise ParseError("REX104", "this is not one expression", source, span)
    tree = select.expressions[1]
    if not isinstance(tree, exp.Expression) or isinstance(tree, exp.Star):
        raise ParseError("REX104", "this is not a scalar expression", source, span)
    return ScalarText(tree.pop(), span)


def _check_parentheses(tokens: Sequence[Token], source: Source) -> None:
    opened: list[Token] = []
    for token in tokens:
        if token.token_type is TokenType.L_PAREN:
            opened.append(token)
        elif token.token_type is TokenType.R_PAREN and opened:
            opened.pop()
    if opened:
        at = Span(opened[-1].start, opened[-1].end + 1)
        raise ParseError("REX104", "this parenthesis is never closed", source, at)


def row_pattern_function(node: exp.Expr) -> str | None:
    """The name of a row pattern function, RUNNING or FINAL, in upper case; None if the node is not a call of one."""
    if not isinstance(node, exp.Anonymous) or not node.name.upper().startswith(PREFIX):
        return None
    return node.name.upper().removeprefix(PREFIX)


def _other_clauses(select: exp.Select) -> bool:
    return any(value for name, value in select.args.items() if name not in ("expressions", "kind", "hint"))


def _prepare(tokens: list[Token], source: Source, in_segments: bool, *, keeps_case: bool) -> list[Token]:
    result: list[Token] = []
    functions = ROW_PATTERN_FUNCTIONS | _SEGMENT_FUNCTIONS if in_segments else ROW_PATTERN_FUNCTIONS
    # Original token indices after which a wrapper's parenthesis closes.
    closers: dict[int, int] = {}
    for index, token in enumerate(tokens):
        follows_dot = index > 0 and tokens[index - 1].token_type is TokenType.DOT
        text = word(token)
        if text in functions and not follows_dot and _opens(tokens, index + 1):
            result.append(_rename_token(token, PREFIX + text))
        elif text in _SPELLINGS and not follows_dot and _is_plain_call(tokens, index, source):
            result.append(_rename_token(token, PREFIX + _SPELLINGS[text]))
        elif text in ("RUNNING", "FINAL") and not follows_dot and _is_call(tokens, index + 1):
            result.append(_rename_token(token, PREFIX + text))
            result.append(Token(TokenType.L_PAREN, "(", token.line, token.col, token.end, token.end))
            end = _call_end(tokens, index + 1, source)
            closers[end] = closers.get(end, 0) + 1
        elif not follows_dot and _is_variable(tokens, index):
            # Quoted, for sqlglot knows some words by their text; in upper case where unquoted names are folded to it.
            name = source.text[token.start : token.end + 1] if keeps_case else token.text.upper()
            result.append(Token(TokenType.IDENTIFIER, name, token.line, token.col, token.start, token.end))
        else:
            result.append(token)
        result += [Token(TokenType.R_PAREN, ")", token.line, token.col, token.end, token.end)] * closers.get(index, 0)
    return result


def _rename_token(token: Token, text: str) -> Token:
    return Token(TokenType.VAR, text, token.line, token.col, token.start, token.end)


def _is_variable(tokens: list[Token], index: int) -> bool:
    """Whether the word can only be a name, such as a pattern variable, though SQL has a use for it: `DROP.x`."""
    text = word(tokens[index])
    if tokens[index].token_type is TokenType.VAR or not text.isidentifier():
        return False
    if index + 1 < len(tokens) and tokens[index + 1].token_type is TokenType.DOT:
        return True
    is_argument = index > 1 and _opens(tokens, index - 1) and word(tokens[index - 2]) == "CLASSIFIER"
    return is_argument and index + 1 < len(tokens) and tokens[index + 1].token_type is TokenType.R_PAREN


def _opens(tokens: list[Token], index: int) -> bool:
    return index < len(tokens) and tokens[index].token_type is TokenType.L_PAREN


def _is_plain_call(tokens: list[Token], index: int, source: Source) -> bool:
    """Whether the name at `index` is called, and not as a window function."""
    if not _opens(tokens, index + 1):
        return False
    following = closing(tokens, index + 1, source) + 1
    return following == len(tokens) or word(tokens[following]) not in _BEFORE_A_WINDOW


def _is_call(tokens: list[Token], index: int) -> bool:
    if index >= len(tokens) or not _opens(tokens, index + 1):
        return False
    text = tokens[index].text
    return bool(text) and (text[0].isalpha() or text[0] == "_")


def _call_end(tokens: list[Token], index: int, source: Source) -> int:
    """Last token of the call at `index`, with FILTER (...) and WITHIN GROUP (...)."""
    end = closing(tokens, index + 1, source)
    while end + 1 < len(tokens):
        following = word(tokens[end + 1])
        opening = end + 2
        if following == "WITHIN" and opening < len(tokens) and word(tokens[opening]) == "GROUP":
            opening += 1
        elif following not in ("FILTER", "WITHIN GROUP"):
            break
        if not _opens(tokens, opening):
            break
        end = closing(tokens, opening, source)
    return end


def _convert_error(error: SqlglotParseError, source: Source, span: Span) -> ParseError:
    """sqlglot's position is the line and the column of the token's last character."""
    details = error.errors[0] if error.errors else {}
    line, column = details.get("line"), details.get("col")
    message = str(details.get("description") or "this expression cannot be read")
    if "Required keyword" in message:
        written = source.text[span.start : span.end]
        called = re.search(r"\.(\w+)'>", message)
        name = called and re.search(rf"\b{called.group(1)}\s*\(", written, re.IGNORECASE)
        if called and name:
            place = Span(span.start + name.start(), span.start + name.start() + len(called.group(1)))
            return ParseError("REX213", f"{called.group(1).lower()} lacks an argument", source, place)
        message = "an operand is missing"
    if line is None or column is None:
        return ParseError("REX104", message, source, span)
    starts = [0]
    for text in source.text.split("\n"):
        starts.append(starts[-1] + len(text) + 1)
    last = min(max(starts[min(int(line), len(starts)) - 1] + int(column) - 1, span.start), span.end - 1)
    length = len(str(details.get("highlight") or " "))
    place = Span(max(span.start, last - length + 1), last + 1)
    code = "REX213" if "number of provided arguments" in message else "REX104"
    return ParseError(code, message[0].lower() + message[1:], source, place)


def is_function(name: str) -> bool:
    """Whether SQL, or the language of row patterns, has a function of this name."""
    return name.upper() in exp.FUNCTION_BY_NAME or name.upper() in ROW_PATTERN_FUNCTIONS or name.upper() in _ALSO


# Aggregates that are known by these names too.
_ALSO = {"MEAN", "EVERY", "SOME", "STD", "VAR"}


def is_scalar_function(name: str) -> bool:
    """Whether SQL has a function of this name that is not an aggregate."""
    known = exp.FUNCTION_BY_NAME.get(name.upper())
    return known is not None and not issubclass(known, exp.AggFunc)
