"""A query read from its tokens: what both cutting it out of its statement and translating it start from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.languages.sqlts.conjuncts import Assignment, Conjuncts
from sparkrex.languages.sqlts.elements import is_name, read_elements
from sparkrex.languages.sqlts.outline import Outline, read_outline, split_at_commas
from sparkrex.languages.sqlts.references import References
from sparkrex.languages.sqlts.selected import Selected, Selection
from sparkrex.languages.sqlts.writing import Writer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.dialects.dialect import Dialect

    from sparkrex.languages.sqlts.syntax import Element
    from sparkrex.source import Source


@dataclass(frozen=True, slots=True)
class Query:
    """The parts of a query, with every name that is an element's found."""

    tokens: Sequence[Token]
    outline: Outline
    elements: tuple[Element, ...]
    cluster_columns: frozenset[str]
    input_name: str | None
    writer: Writer
    conjuncts: Conjuncts
    selected: Selected


def read_query(tokens: Sequence[Token], source: Source, dialect: Dialect) -> Query:
    """The query that all tokens make up."""
    outline = read_outline(tokens, source)
    elements = read_elements(tokens, outline, source)
    references = References(tokens, elements, source)
    writer = Writer(tokens, references, source, dialect)
    cluster_columns = _cluster_columns(tokens, outline, source)
    input_name = _input_name(tokens, outline, source)
    assignment = Assignment(
        tokens, elements, references, writer, cluster_columns, input_name, source, dialect
    )
    conjuncts = assignment.assign(outline.where)
    selection = Selection(tokens, outline, references, writer, cluster_columns, source, dialect)
    return Query(
        tokens, outline, elements, cluster_columns, input_name, writer, conjuncts, selection.select()
    )


def _cluster_columns(tokens: Sequence[Token], outline: Outline, source: Source) -> frozenset[str]:
    """The keys of CLUSTER BY that are columns, in lower case and without the input's name."""
    found = set()
    for item in split_at_commas(tokens, outline.cluster) if outline.cluster else []:
        dots = [tokens[index].token_type is TokenType.DOT for index in item[1::2]]
        names = [is_name(tokens[index], source) for index in item[::2]]
        if item and all(dots) and all(names) and len(names) == len(dots) + 1:
            found.add(tokens[item[-1]].text.lower())
    return frozenset(found)


def _input_name(tokens: Sequence[Token], outline: Outline, source: Source) -> str | None:
    """What the input may be called in the query, in lower case: its alias, or the table's own name."""
    if not outline.input:
        return None
    last = tokens[outline.input[-1]]
    return last.text.lower() if is_name(last, source) else None
