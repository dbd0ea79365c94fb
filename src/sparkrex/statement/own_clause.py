"""A clause that is not part of a statement: `rex.match` and `rex.events` take one, over a table without a name.

It may be written with its keyword and parentheses, `MATCH_RECOGNIZE (...) [AS alias (columns)]`, or as what stands
between them. Either way it becomes a statement of one relation, so that it is run as any other; positions are those in
the text as the user wrote it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import TokenType

from sparkrex.errors import ParseError
from sparkrex.source import Source, Span
from sparkrex.statement.cut import Relation, Statement
from sparkrex.statement.from_item import Alias, find_alias
from sparkrex.statement.mistakes import refuse_misspelt_keywords, unclosed
from sparkrex.statement.parameters import Literals, bind
from sparkrex.syntax.parentheses import refuse_early_end
from sparkrex.syntax.tokens import closing, span_of, tokenize, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token


def cut_clause(
    source: Source, keyword: str, dialect: Dialect, table: str, suffix: str, literals: Literals | None = None
) -> Statement:
    """The statement `SELECT * FROM table KEYWORD (clause)`; `suffix` makes its placeholder's name unique."""
    tokens = tokenize(source, dialect)
    if literals is not None:
        tokens = bind(tokens, source, dialect, literals).tokens
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    refuse_misspelt_keywords(tokens, source)
    whole = Span(0, len(source.text))
    inside, clause, alias = tokens, whole, Alias(len(tokens) - 1)
    if len(tokens) > 1 and word(tokens[0]) == keyword and tokens[1].token_type is TokenType.L_PAREN:
        alias = _find_end(tokens, source)
        close = closing(tokens, 1, source)
        inside, clause = tokens[2:close], Span(tokens[1].end + 1, tokens[close].start)
    relation = Relation(
        placeholder=f"rex_{suffix}_0", input_sql=table, input_table=table, input_alias=None, prefix="", clause=clause,
        tokens=tuple(inside), span=whole, column_aliases=alias.columns, columns_span=alias.columns_span,
        outer_names=frozenset(), keyword=keyword,
    )
    return Statement(source, dialect, (relation,), f"SELECT * FROM {relation.placeholder}", 0)


def _find_end(tokens: Sequence[Token], source: Source) -> Alias:
    """The alias behind a clause with its keyword; anything behind that is an error."""
    if (error := unclosed(tokens, source)) is not None:
        raise error
    close = closing(tokens, 1, source)
    refuse_early_end(tokens, close, source)
    alias = find_alias(tokens, close, source)
    if alias.last + 1 < len(tokens):
        raise ParseError(
            "REX101", f"nothing may follow a clause of its own: {word(tokens[0])} (...)", source,
            span_of(tokens[alias.last + 1]), hint="rex.sql runs statements: SELECT ... FROM t ...",
        )
    return alias
