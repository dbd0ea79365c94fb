"""The conjuncts of WHERE, and the element that each belongs to.

A conjunct belongs to the last element, in pattern order, that it names. One that speaks of CLUSTER BY columns only is
the same for all rows of a cluster: it says which clusters are searched. One that names no element is an error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError
from sparkrex.languages.sqlts.outline import depths
from sparkrex.source import Span
from sparkrex.syntax.scalar_text import parse_expression
from sparkrex.syntax.tokens import closing, span_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlglot.dialects.dialect import Dialect

    from sparkrex.languages.sqlts.references import References
    from sparkrex.languages.sqlts.syntax import Element, Reference
    from sparkrex.languages.sqlts.writing import Writer
    from sparkrex.source import Source


@dataclass(frozen=True, slots=True)
class Conjuncts:
    """The conjuncts of each element, in the order of elements, and those that are filters of clusters."""

    by_element: dict[str, list[range]]
    filters: list[range]


def split_conjuncts(tokens: Sequence[Token], places: range, source: Source) -> Iterator[range]:
    """The parts of a condition that AND joins, in order; parentheses around several of them make no difference."""
    while len(places) > 2 and tokens[places.start].token_type is TokenType.L_PAREN:
        if closing(tokens, places.start, source) != places.stop - 1:
            break
        inner = range(places.start + 1, places.stop - 1)
        if len(_cut(tokens, inner)) < 2 and tokens[inner.start].token_type is not TokenType.L_PAREN:
            break  # a subquery, or one condition
        places = inner
    parts = _cut(tokens, places)
    if len(parts) < 2:
        yield places
        return
    for part in parts:
        yield from split_conjuncts(tokens, part, source)


def _cut(tokens: Sequence[Token], places: range) -> list[range]:
    """The parts between the ANDs outside parentheses; all in one where OR binds them together."""
    cuts: list[int] = []
    n_cases = n_between = 0
    for index, depth in depths(tokens, places):
        follows_dot = index > places.start and tokens[index - 1].token_type is TokenType.DOT
        if depth or follows_dot:
            continue
        kind = tokens[index].token_type
        n_cases += (kind is TokenType.CASE) - (kind is TokenType.END)
        if n_cases:
            continue
        if kind in (TokenType.OR, TokenType.XOR, TokenType.SELECT):
            return [places]
        if kind is TokenType.BETWEEN:
            n_between += 1
        elif kind is TokenType.AND and n_between:
            n_between -= 1
        elif kind is TokenType.AND:
            cuts.append(index)
    starts = [places.start, *(cut + 1 for cut in cuts)]
    return [range(start, end) for start, end in zip(starts, [*cuts, places.stop], strict=True)]


class Assignment:
    """Assigns the conjuncts of one query."""

    def __init__(
        self, tokens: Sequence[Token], elements: Sequence[Element], references: References, writer: Writer,
        cluster_columns: frozenset[str], input_name: str | None, source: Source, dialect: Dialect,
    ) -> None:
        self.tokens = tokens
        self.elements = elements
        self.references = references
        self.writer = writer
        self.cluster_columns = cluster_columns
        self.input_name = input_name
        self.source = source
        self.dialect = dialect

    def assign(self, places: range) -> Conjuncts:
        """All conjuncts of a condition."""
        result = Conjuncts({element.name: [] for element in self.elements}, [])
        if not places:
            return result
        for conjunct in split_conjuncts(self.tokens, places, self.source):
            if not conjunct:
                at = self.tokens[min(conjunct.start, len(self.tokens) - 1)]
                raise AnalysisError("REX104", "a condition is missing here", self.source, span_of(at))
            if self._is_filter(conjunct):
                result.filters.append(conjunct)
            else:
                result.by_element[self._last_element(conjunct)].append(conjunct)
        return result

    def _named(self, places: range) -> set[str]:
        """The elements that a conjunct names."""
        found = {name for at in places if (name := self.references.counted_at(at)) is not None}
        found |= {reference.element for reference in self._references_in(places)}
        for at in places:  # X.* in an aggregate
            kinds = [token.token_type for token in self.tokens[at + 1 : at + 3]]
            if kinds == [TokenType.DOT, TokenType.STAR] and (name := self.references.element_at(at)) is not None:
                found.add(name)
        return found

    def _references_in(self, places: range) -> list[Reference]:
        return [found for at in places if (found := self.references.starting_at(at)) is not None]

    def _last_element(self, places: range) -> str:
        named = self._named(places)
        for element in reversed(self.elements):
            if element.name in named:
                return element.name
        span = Span(self.tokens[places.start].start, self.tokens[places.stop - 1].end + 1)
        self._refuse_unknown_elements(places)
        names = ", ".join(element.name for element in self.elements)
        raise AnalysisError(
            "REX228", "this condition names no element of the pattern", self.source, span,
            hint=f"columns are read from an element: {self.elements[-1].name}.price; the elements are {names}",
        )

    def _refuse_unknown_elements(self, places: range) -> None:
        """Fail at a name with a dot after it that no element has."""
        for at in places:
            is_qualifier = at + 1 < places.stop and self.tokens[at + 1].token_type is TokenType.DOT
            follows_dot = at > places.start and self.tokens[at - 1].token_type is TokenType.DOT
            name = self.tokens[at].text
            if is_qualifier and not follows_dot and name[:1].isalpha() and name.lower() != (self.input_name or ""):
                self.references.fail_unknown(name, span_of(self.tokens[at]))

    def _is_filter(self, places: range) -> bool:
        """Whether the conjunct speaks of CLUSTER BY columns only."""
        if not self.cluster_columns or any(self.references.counted_at(at) for at in places):
            return False
        found = self._references_in(places)
        names = [self.tokens[reference.column.start].text.lower() for reference in found]
        if any(reference.shift for reference in found) or not set(names) <= self.cluster_columns:
            return False
        written = self.writer.write_condition(places, {element.name: element.name for element in self.elements})
        tree = parse_expression(written.tokens, self.source, self.dialect, span_of(self.tokens[places.start])).tree
        if tree.find(exp.AggFunc) is not None:
            return False
        others = [
            column for column in tree.find_all(exp.Column)
            if column.find_ancestor(exp.Query) is None and column.table.upper() not in self.references.names
        ]
        return bool(found or others) and all(self._is_cluster_column(column) for column in others)

    def _is_cluster_column(self, column: exp.Column) -> bool:
        """Whether a column without an element is one of CLUSTER BY."""
        first = column.parts[0].name.lower()
        name = column.parts[1].name.lower() if first == self.input_name and len(column.parts) > 1 else first
        return name in self.cluster_columns
