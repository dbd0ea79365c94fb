"""What the SQL around a pattern reads of a match: measures, and the text that reads them.

Every reference, and every aggregate over rows of the match, in the SELECT list and in the clauses after WHERE becomes a
measure. With GROUP BY or HAVING an aggregate is the host's, over the matches of a group, and so is one that
contains another: the inner one is over the rows of a match.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError
from sparkrex.languages.sqlts.outline import Outline, depths, split_at_commas
from sparkrex.source import Span
from sparkrex.syntax.tokens import closing, span_of, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.dialects.dialect import Dialect

    from sparkrex.languages.sqlts.references import References
    from sparkrex.languages.sqlts.writing import Writer, Written
    from sparkrex.source import Source

_NO_AGGREGATES = {"FIRST", "LAST"}
_WRITTEN_NAMES = {
    "STRING_AGG", "MIN_BY", "MAX_BY", "ARG_MIN", "ARG_MAX", "BOOL_AND", "BOOL_OR", "COUNT_IF", "LIST", "EVERY",
    "MEAN", "STD", "VAR", "MAP_AGG",
}
"""Aggregates that sqlglot does not know by these names."""


@dataclass(frozen=True, slots=True)
class Place:
    """Tokens of the query that read a measure."""

    first: int
    last: int
    measure: str


@dataclass(frozen=True, slots=True)
class Selected:
    """Measures by name, where they are read, and the names that items of the SELECT list get, by their last token."""

    measures: dict[str, Written]
    places: tuple[Place, ...]
    names: dict[int, str]
    ordered: dict[str, str]
    """Of SELECT DISTINCT, the names of the result's columns by their measures: hosts order by those only."""
    alias: str
    """What the table of matches is called."""
    tree: exp.Select | None
    """The SELECT as sqlglot reads it, None if it cannot."""


class Selection:
    """Finds the measures of one query."""

    def __init__(
        self, tokens: Sequence[Token], outline: Outline, references: References, writer: Writer,
        cluster_columns: frozenset[str], source: Source, dialect: Dialect,
    ) -> None:
        self.tokens = tokens
        self.outline = outline
        self.references = references
        self.writer = writer
        self.source = source
        self.dialect = dialect
        self.variables = {name: name for name in references.names}
        self.measures: dict[str, Written] = {}
        self.by_text: dict[str, str] = {}
        self.taken = set(cluster_columns)
        self.places: list[Place] = []
        texts = {token.text.lower() for token in tokens}
        self.alias = next(name for name in ("matches", "matches_2", "matches_3", "matches_4") if name not in texts)

    def select(self) -> Selected:
        """Everything that the query reads of a match."""
        outline = self.outline
        items = split_at_commas(self.tokens, outline.items)
        for item in items:
            self._refuse_stars(item)
        outer = [i for i, depth in depths(self.tokens, outline.rest) if depth == 0]
        is_grouped = any(word(self.tokens[index]) in ("GROUP BY", "GROUP", "HAVING") for index in outer)
        for part in (outline.items, outline.rest):
            self._find_places(part, is_grouped=is_grouped)
        tree = self._parse()
        names = self._names(items, tree)
        ordered = self._ordered(items, names, tree) if word(self.tokens[1]) == "DISTINCT" else {}
        return Selected(self.measures, tuple(self.places), names, ordered, self.alias, tree)

    def _refuse_stars(self, item: range) -> None:
        words = [word(self.tokens[index]) for index in item[:3]]
        is_star = words[:1] == ["*"]
        is_row = words[1:3] == [".", "*"]
        if is_star or is_row:
            at = self.tokens[item[0]]
            name = self.references.names[0]
            raise AnalysisError(
                "REX228", f"{'SELECT *' if is_star else at.text + '.*'} has no meaning in a pattern query", self.source,
                span_of(at).to(span_of(self.tokens[item[min(2, len(item) - 1)] if is_row else item[0]])),
                hint=f"name the columns, each with its element: {name if is_star else at.text}.price",
            )

    def _find_places(self, places: range, *, is_grouped: bool) -> None:
        """Measures in a part of the query, left to right."""
        subqueries = self._subqueries(places)
        index = places.start
        while index < places.stop:
            last = index
            found = self.references.starting_at(index)
            end = None if found or any(index in inner for inner in subqueries) else self._aggregate_end(index)
            if found is not None:
                last = found.last
                self._add(index, last, self.writer.write_reference(found, self.variables))
            elif end is not None and not is_grouped and not self._holds_aggregate(range(index + 1, end + 1)):
                last = end
                self._add(index, last, self.writer.write_condition(range(index, last + 1), self.variables))
            elif end is not None:
                # The host's own, over matches; what it holds is over the rows of each.
                self._find_places(range(index + 1, end + 1), is_grouped=False)
                last = end
            index = last + 1

    def _subqueries(self, places: range) -> list[range]:
        """The parentheses that hold queries: aggregates in them are theirs."""
        return [
            range(index, closing(self.tokens, index, self.source))
            for index in places[:-1]
            if self.tokens[index].token_type is TokenType.L_PAREN and word(self.tokens[index + 1]) in ("SELECT", "WITH")
        ]

    def _aggregate_end(self, at: int) -> int | None:
        """The last token of the aggregate that begins here; None for anything else, a window function among them."""
        name = word(self.tokens[at])
        opens = at + 1 < len(self.tokens) and self.tokens[at + 1].token_type is TokenType.L_PAREN
        if not opens or not _is_aggregate(name) or (at and self.tokens[at - 1].token_type is TokenType.DOT):
            return None
        end = closing(self.tokens, at + 1, self.source)
        while end + 1 < len(self.tokens):
            following = word(self.tokens[end + 1])
            opening = end + (3 if following == "WITHIN" else 2)
            if following not in ("FILTER", "WITHIN", "WITHIN GROUP") or opening >= len(self.tokens):
                break
            end = closing(self.tokens, opening, self.source)
        return None if end + 1 < len(self.tokens) and word(self.tokens[end + 1]) == "OVER" else end

    def _holds_aggregate(self, places: range) -> bool:
        return any(self._aggregate_end(index) is not None for index in places)

    def _add(self, first: int, last: int, written: Written) -> None:
        key = written.text.upper()
        if key not in self.by_text:
            name = self._free_name(written.text)
            self.by_text[key] = name
            self.measures[name] = written
        self.places.append(Place(first, last, self.by_text[key]))

    def _free_name(self, text: str) -> str:
        """A plain name for a measure: `x_price`, `prev_z_date`, `count_rows`."""
        words = re.sub(r"\W+", "_", text.replace("(*)", "_rows").replace(".*)", "")).strip("_").lower()
        base = words[:40].rstrip("_")
        number = 1
        name = base
        while name in self.taken:
            number += 1
            name = f"{base}_{number}"
        self.taken.add(name)
        return name

    def _parse(self) -> exp.Select | None:
        """The SELECT over the table of matches."""
        by_first = {place.first: place for place in self.places}
        tokens: list[Token] = []
        outline = self.outline
        for part in (range(outline.input.start), outline.rest):
            index = part.start
            while index < part.stop:
                place = by_first.get(index)
                token = self.tokens[index]
                if place is None:
                    tokens.append(token)
                else:
                    tokens += [
                        Token(kind, text, token.line, token.col, token.start, self.tokens[place.last].end)
                        for kind, text in (
                            (TokenType.IDENTIFIER, self.alias), (TokenType.DOT, "."),
                            (TokenType.IDENTIFIER, place.measure),
                        )
                    ]
                    index = place.last
                index += 1
            if part.start == 0:
                tokens.append(Token(TokenType.IDENTIFIER, self.alias, 1, 1, 0, 0))
        try:
            (tree,) = self.dialect.parser().parse(tokens, self.source.text)
        except (SqlglotError, ValueError):
            return None  # the host says what is wrong
        return tree if isinstance(tree, exp.Select) else None

    def _names(self, items: Sequence[range], tree: exp.Select | None) -> dict[int, str]:
        """The name of every item that reads the match and has no alias: of a reference its column, else its text."""
        if tree is None or len(tree.expressions) != len(items):
            return {}
        names: dict[int, str] = {}
        for item, expression in zip(items, tree.expressions, strict=True):
            reads = any(item.start <= place.first < item.stop for place in self.places)
            if not reads or isinstance(expression, exp.Alias):
                continue
            found = self.references.starting_at(item.start)
            if found is not None and found.last == item.stop - 1:
                names[item.stop - 1] = self.tokens[found.column.stop - 1].text
            else:
                span = Span(self.tokens[item.start].start, self.tokens[item.stop - 1].end + 1)
                names[item.stop - 1] = " ".join(self.source.text[span.start : span.end].split())
        return names


    def _ordered(
        self, items: Sequence[range], names: dict[int, str], tree: exp.Select | None
    ) -> dict[str, str]:
        """The columns of the result that are a measure, by it; not those whose name another one has too."""
        if tree is None or len(tree.expressions) != len(items):
            return {}
        given = [names.get(item.stop - 1) or tree.expressions[n].alias_or_name for n, item in enumerate(items)]
        columns = {}
        for item, name in zip(items, given, strict=True):
            place = next((place for place in self.places if place.first == item.start), None)
            is_whole = place is not None and (
                place.last == item.stop - 1 or word(self.tokens[place.last + 1]) == "AS" or place.last == item.stop - 2
            )
            if place is not None and is_whole and given.count(name) == 1:
                columns[place.measure] = name
        return columns


def _is_aggregate(name: str) -> bool:
    known = exp.FUNCTION_BY_NAME.get(name)
    return name in _WRITTEN_NAMES or (
        known is not None and issubclass(known, exp.AggFunc) and name not in _NO_AGGREGATES
    )
