"""What cannot be done with a stream though patterns can be searched in it, refused before anything starts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from sparkrex.errors import UnsupportedError
from sparkrex.syntax.tokens import is_quoted, span_of, tokenize, word

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sparkrex.source import Source, Span
    from sparkrex.statement.action import Action
    from sparkrex.statement.cut import Statement


def refuse_stream(frame: DataFrame, source: Source, span: Span | None, called: str) -> None:
    """Raise REX302 if the DataFrame is streaming; `called` says how the user knows it."""
    if frame.isStreaming:
        raise stream_error(source, span, called)


def stream_error(source: Source, span: Span | None, called: str) -> UnsupportedError:
    """The error of a stream where only rows that are all there can stand."""
    return UnsupportedError(
        "REX302", f"{called} is a stream, and the input is not", source, span,
        notes=("Spark evaluates a subquery of a condition as a whole, which a stream never is",),
        hint="join the stream in the input of the pattern, or read its rows with spark.read",
        command_hint="join the stream in the input of the pattern, or give its files with --table",
    )


def refuse_limits(statement: Statement) -> None:
    """Raise REX302 where the statement asks for an order, or a number of rows: these would be the first that came."""
    depth = 0
    for token in tokenize(statement.source, statement.dialect):
        depth += (token.token_type is TokenType.L_PAREN) - (token.token_type is TokenType.R_PAREN)
        if depth == 0 and word(token) in _LIMITS and not is_quoted(token, statement.source):
            raise UnsupportedError(
                "REX302", f"{word(token)} of a stream: rows come in no order, and never end", statement.source,
                span_of(token), hint="ask for that where you read what the stream has written",
            )


_LIMITS = ("LIMIT", "OFFSET", "FETCH", "TOP", "ORDER BY", "SORT BY")


def refuse_writing(action: Action, source: Source) -> None:
    """Raise REX302 for a statement that writes the rows of a stream."""
    raise writing_error(action.kind, source, span_of(action.head[0]).to(span_of(action.head[-1])))


def writing_error(kind: str, source: Source, span: Span) -> UnsupportedError:
    """The error of a statement that would write a stream into a table."""
    return UnsupportedError(
        "REX302", f"{kind} of a stream's rows: a stream is not written by a statement, it is started", source, span,
        hint="rex.sql with the query alone, then result.writeStream.toTable(...)",
        command_hint="the query alone, with --stream",
    )
