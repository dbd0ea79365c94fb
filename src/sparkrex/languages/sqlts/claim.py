"""Where an SQL-TS query stands in a statement, and the SQL that takes its place.

Everything that reads the match becomes a column of the placeholder table; the rest of the query stays the user's text.
A condition on CLUSTER BY columns becomes a condition on the input.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.errors import ParseError
from sparkrex.languages.sqlts.outline import FORM, find_query, query_end
from sparkrex.languages.sqlts.query import Query, read_query
from sparkrex.languages.sqlts.writing import Written, join_all
from sparkrex.source import Span
from sparkrex.statement.from_item import input_ending_at
from sparkrex.statement.site import Edit, Input, Site
from sparkrex.syntax.tokens import span_of, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token

    from sparkrex.languages.sqlts.syntax import Reference
    from sparkrex.source import Source


def find_end(tokens: Sequence[Token], sign: int, source: Source) -> int | None:
    """The last token of the query that SEQUENCE or CLUSTER BY at `sign` makes a pattern query, None if neither does."""
    first = find_query(tokens, sign)
    if first is None:
        return None
    last = query_end(tokens, sign)
    if word(tokens[sign]) == "SEQUENCE":
        follows = word(tokens[sign + 1]) if sign < last else ""
        return last if follows == "BY" else None
    # CLUSTER BY keys AS (...) lacks SEQUENCE BY; without the parenthesis it is Spark's.
    words = [word(token) for token in tokens[sign : last + 1]]
    has_elements = any(pair == ("AS", "(") for pair in pairwise(words))
    return last if has_elements and "SEQUENCE" not in words else None


def claim_query(
    tokens: Sequence[Token], sign: int, source: Source, replaced: Mapping[int, tuple[int, str]], placeholder: str,
    dialect: Dialect,
) -> Site:
    """The whole query around `sign`."""
    first, last = find_query(tokens, sign), find_end(tokens, sign, source)
    assert first is not None and last is not None  # it was found before
    query = read_query(tokens[first : last + 1], source, dialect)
    given = _find_input(tokens, first, query, source, replaced)
    selected = query.selected
    names = dict(selected.names)
    edits = []
    for place in selected.places:
        text = f"{selected.alias}.{place.measure}"
        if place.first >= query.outline.rest.start and place.measure in selected.ordered:
            text = _name_text(selected.ordered[place.measure], dialect)
        text += _alias_text(names.pop(place.last, None), dialect)
        edits.append(Edit(first + place.first, first + place.last, text))
    for at, name in names.items():
        text = query.writer.token_text(query.tokens[at]) + _alias_text(name, dialect)
        edits.append(Edit(first + at, first + at, text))
    end = query.outline.where[-1] if query.outline.where else query.outline.pattern_end
    edits.append(Edit(given.first, first + end, f"{placeholder} AS {selected.alias}"))
    return Site(
        first, last, given, range(first, last + 1), Span(tokens[first].start, tokens[last].end + 1), tuple(edits),
        input_condition=_filter_text(query),
    )


def _find_input(
    tokens: Sequence[Token], first: int, query: Query, source: Source, replaced: Mapping[int, tuple[int, str]]
) -> Input:
    """The one FROM item."""
    places = query.outline.input
    sign = tokens[first + query.outline.sign]
    found = input_ending_at(tokens, first + places.stop - 1, source, replaced) if places else None
    if found is None or found.first != first + places.start:
        raise ParseError(
            "REX109", f"{word(sign)} must follow the one table or subquery of FROM", source, span_of(sign),
            hint=f"join tables in a subquery: FROM (SELECT ...) AS t; {FORM}",
        )
    return found


def _filter_text(query: Query) -> str | None:
    """The conditions on clusters as one about rows of the input."""
    if not query.conjuncts.filters:
        return None

    def write_column(found: Reference) -> Written:
        return Written(tuple(query.tokens[index] for index in found.column), query.writer.column_text(found))

    pieces = [query.writer.write(places, write_column) for places in query.conjuncts.filters]
    return join_all(pieces, query.tokens[0]).text


def _alias_text(name: str | None, dialect: Dialect) -> str:
    return "" if name is None else f" AS {_name_text(name, dialect)}"


def _name_text(name: str, dialect: Dialect) -> str:
    is_plain = re.fullmatch(r"[A-Za-z_]\w*", name) is not None
    return name if is_plain else exp.to_identifier(name, quoted=True).sql(dialect=dialect)
