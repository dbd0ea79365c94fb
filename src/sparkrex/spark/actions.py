"""Statements that do something with the rows of a query, on Spark.

A temporary view is made by the DataFrame API: a view's text would name placeholders that are gone by then. CREATE TABLE
AS and INSERT are Spark's own, with our common table expressions in front of their query.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from sparkrex.errors import UnsupportedError
from sparkrex.syntax.tokens import span_of, word

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from sparkrex.source import Source
    from sparkrex.statement.action import Action


def refuse_action(action: Action, source: Source, *, reads_ours: bool) -> None:
    """Raise REX303 for what cannot be done; `reads_ours` says that the query reads matches or DataFrames given."""
    if not reads_ours or action.writes or (action.is_view and action.is_temporary and action.query is not None):
        return
    if action.is_view:
        raise UnsupportedError(
            "REX303", "a permanent view cannot be made of matches: Spark stores its text, and would not know "
            "MATCH_RECOGNIZE when the view is read", source, span_of(action.head[0]),
            hint="CREATE TEMP VIEW for this session, or CREATE TABLE ... AS to keep the rows",
        )
    where = span_of(action.head[0]) if action.head else None
    hint, command_hint = "write the matches to a temporary view or a table first, and use that", None
    if action.kind in ("EXPLAIN", "DESCRIBE", "DESC"):
        hint, command_hint = "rex.explain(query) shows the plan", "rex explain QUERY shows the plan"
    raise UnsupportedError(
        "REX303", f"{action.kind} cannot read matches", source, where, hint=hint, command_hint=command_hint
    )


def create_view(action: Action, frame: DataFrame, source: Source) -> None:
    """CREATE [OR REPLACE] [GLOBAL] TEMP VIEW name [(columns)] AS."""
    words = [word(token) for token in action.head]
    place = words.index("VIEW") + 1
    name, rest = action.head[place], list(action.head[place + 1 :])
    if rest and rest[-1].token_type is TokenType.ALIAS:
        rest.pop()
    columns = [token.text for token in rest[1:-1] if token.token_type is not TokenType.COMMA]
    is_list = rest and rest[0].token_type is TokenType.L_PAREN and rest[-1].token_type is TokenType.R_PAREN
    if rest and (not is_list or len(rest) != 2 * len(columns) + 1 or len(columns) != len(frame.columns)):
        raise UnsupportedError(
            "REX303", "a temporary view of matches has a name and one column name for each column, nothing else",
            source, span_of(rest[0]).to(span_of(rest[-1])),
        )
    named = frame.toDF(*columns) if columns else frame
    if "GLOBAL" in words:
        (named.createOrReplaceGlobalTempView if "REPLACE" in words else named.createGlobalTempView)(name.text)
    else:
        (named.createOrReplaceTempView if "REPLACE" in words else named.createTempView)(name.text)
