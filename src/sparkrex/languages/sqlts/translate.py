"""A query as the clause of MATCH_RECOGNIZE that means the same.

A star of SQL-TS takes rows as long as its condition holds, and gives none back. So the row after a star *X, which is
the first one of the next element, does not meet X's condition, evaluated as if it were X's next row: with *X's
condition c and the next element Y, `DEFINE Y AS ... AND (c) IS NOT TRUE`, where c speaks of the union of X and Y
instead of X. Then X.a is the row under test, and FIRST, counts and other aggregates of X include it. If Y is a star
too, its first row needs a variable of its own: `Y1 Y2*`, with SUBSET Y = (Y1, Y2). A star at the pattern's end needs
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp

from sparkrex.languages.match_recognize.parse import parse_keys
from sparkrex.languages.match_recognize.row_pattern import RowPattern, concatenation, plus, star, variable
from sparkrex.languages.match_recognize.syntax import Clause, DefinitionItem, SkipItem, SubsetItem
from sparkrex.languages.sqlts.syntax import ElementText, SequenceQuery
from sparkrex.languages.sqlts.unqualified import find_unqualified
from sparkrex.languages.sqlts.writing import Written, is_not_true, join_all, quoted
from sparkrex.modes.plan import RowsPerMatch, SkipTo
from sparkrex.source import Span
from sparkrex.syntax.items import MeasureItem, Name, ScalarText
from sparkrex.syntax.scalar_text import parse_expression
from sparkrex.syntax.tokens import span_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sqlglot.dialects.dialect import Dialect
    from sqlglot.tokenizer_core import Token

    from sparkrex.languages.sqlts.query import Query
    from sparkrex.languages.sqlts.syntax import Element
    from sparkrex.source import Source
    from sparkrex.syntax.items import OrderItem, PartitionItem
    from sparkrex.syntax.names import NameRules


@dataclass(frozen=True, slots=True)
class _Variables:
    """The variables of an element's first and later rows."""

    first: str
    later: str

    def all(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((self.first, self.later)))


class Translation:
    """Translates one query."""

    def __init__(self, query: Query, source: Source, dialect: Dialect, rules: NameRules, span: Span) -> None:
        self.query = query
        self.source = source
        self.dialect = dialect
        self.rules = rules
        self.span = span
        self.taken = {element.name for element in query.elements}
        self.subsets: list[SubsetItem] = []
        self.variables = self._name_variables()

    def translate(self) -> SequenceQuery:
        """The clause, as a tree and as text."""
        query = self.query
        definitions: list[tuple[Name, Written]] = []
        conditions: list[ScalarText | None] = []
        for number, element in enumerate(query.elements):
            own = self._own_condition(element, self._plain_names())
            conditions.append(None if own is None else self._parse(own, element.span))
            names = self.variables[element.name]
            ends = self._end_of_star(number)
            for name in names.all():
                parts = [part for part in (own, ends if name == names.first else None) if part is not None]
                if parts:
                    definitions.append((Name(name, element.span), join_all(parts, self._token(element))))
        partition_by, order_by = self._keys()
        measures = tuple(
            MeasureItem(self._parse(written, self.span), name, span_of(written.tokens[0]))
            for name, written in query.selected.measures.items()
        )
        pattern_span = Span(
            query.tokens[query.outline.elements.start - 1].start, query.tokens[query.outline.pattern_end].end + 1
        )
        clause = Clause(
            partition_by=partition_by, order_by=order_by, measures=measures, rows_per_match=RowsPerMatch.ONE,
            rows_span=None, skip=SkipItem(SkipTo.PAST_LAST_ROW, None, pattern_span), pattern=self._pattern(),
            pattern_span=pattern_span, within=None, subsets=tuple(self.subsets),
            definitions=tuple(
                DefinitionItem(name, self._parse(written, name.span)) for name, written in definitions
            ),
            span=self.span,
        )
        elements = tuple(
            ElementText((self.variables[element.name].first, self.variables[element.name].later), element.is_star, text)
            for element, text in zip(query.elements, conditions, strict=True)
        )
        texts = [text for text in conditions if text is not None]
        unqualified = find_unqualified(query, [*texts, *(item.expression for item in measures)], self.source)
        element_names = tuple(element.name for element in query.elements)
        return SequenceQuery(clause, elements, self._text(clause, definitions), unqualified, element_names)

    # -- variables --

    def _name_variables(self) -> dict[str, _Variables]:
        """The variables of every element; a star after a star has one for its first row."""
        found: dict[str, _Variables] = {}
        before: Element | None = None
        for element in self.query.elements:
            if element.is_star and before is not None and before.is_star:
                first, later = self._free(f"{element.name}1"), self._free(f"{element.name}2")
                found[element.name] = _Variables(first, later)
                members = (Name(first, element.span), Name(later, element.span))
                self.subsets.append(SubsetItem(Name(element.name, element.span), members))
            else:
                found[element.name] = _Variables(element.name, element.name)
            before = element
        return found

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        self.taken.add(name)
        return name

    def _plain_names(self) -> dict[str, str]:
        return {element.name: element.name for element in self.query.elements}

    def _pattern(self) -> RowPattern:
        items: list[RowPattern] = []
        for element in self.query.elements:
            names = self.variables[element.name]
            if not element.is_star:
                items.append(variable(names.first))
            elif names.first == names.later:
                items.append(plus(variable(names.first)))
            else:
                items += [variable(names.first), star(variable(names.later))]
        return concatenation(*items)

    # -- conditions --

    def _own_condition(self, element: Element, names: Mapping[str, str]) -> Written | None:
        """The element's conjuncts, with its variable and others under the names given; None without any."""
        conjuncts = self.query.conjuncts.by_element[element.name]
        if not conjuncts:
            return None
        return join_all(
            [self.query.writer.write_condition(places, names) for places in conjuncts], self._token(element)
        )

    def _end_of_star(self, number: int) -> Written | None:
        """What the first row of an element meets because the star before it does not take that row."""
        before = self.query.elements[number - 1] if number else None
        if before is None or not before.is_star:
            return None
        element = self.query.elements[number]
        if not self.query.conjuncts.by_element[before.name]:
            # A star that takes any row takes all: nothing comes after it.
            token = self._token(element)
            return self.query.writer.literal_false(token)
        first = self.variables[element.name].first
        union = self._free(f"{before.name}_{element.name}")
        members = (*self.variables[before.name].all(), first)
        self.subsets.append(
            SubsetItem(Name(union, before.span), tuple(Name(name, before.span) for name in members))
        )
        condition = self._own_condition(before, {**self._plain_names(), before.name: union})
        assert condition is not None  # there are conjuncts
        return is_not_true(condition, self._token(element))

    def _token(self, element: Element) -> Token:
        """The first token of an element, as the place of what is written because of it."""
        return next(token for token in self.query.tokens if token.start == element.span.start)

    def _parse(self, written: Written, after: Span) -> ScalarText:
        parsed = parse_expression(written.tokens, self.source, self.dialect, after)
        spans = [span_of(token) for token in written.tokens if token.start >= 0]
        span = Span(min(span.start for span in spans), max(span.end for span in spans))
        tree = parsed.tree.this if isinstance(parsed.tree, exp.Alias) else parsed.tree
        return ScalarText(tree, span)

    # -- keys and text --

    def _keys(self) -> tuple[tuple[PartitionItem, ...], tuple[OrderItem, ...]]:
        outline, tokens = self.query.outline, self.query.tokens
        return parse_keys(
            [tokens[index] for index in outline.cluster], [tokens[index] for index in outline.sequence],
            span_of(tokens[outline.sign]), self.source, self.dialect, self.rules,
        )

    def _text(self, clause: Clause, definitions: list[tuple[Name, Written]]) -> str:
        """The clause as it could be written."""
        write, outline = self.query.writer, self.query.outline

        def name(text: str) -> str:
            return quoted(text, self.dialect)

        lines = []
        if outline.cluster:
            lines.append(f"PARTITION BY {write.plain_text(outline.cluster)}")
        lines.append(f"ORDER BY {write.plain_text(outline.sequence)}")
        measures = [f"{written.text} AS {key}" for key, written in self.query.selected.measures.items()]
        if measures:
            lines.append("MEASURES " + ",\n    ".join(measures))
        lines += ["ONE ROW PER MATCH", "AFTER MATCH SKIP PAST LAST ROW", f"PATTERN ({clause.pattern})"]
        subsets = [
            f"{name(subset.name.text)} = ({', '.join(name(member.text) for member in subset.members)})"
            for subset in clause.subsets
        ]
        if subsets:
            lines.append("SUBSET " + ", ".join(subsets))
        if definitions:
            lines.append("DEFINE " + ",\n    ".join(f"{name(key.text)} AS {text.text}" for key, text in definitions))
        return "\n  ".join(lines)
