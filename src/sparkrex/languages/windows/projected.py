"""What a query that joins or groups reads of its input, projected under names of our own.

Later clauses of such a query (the SELECT list, windows, QUALIFY, ORDER BY) refer to columns of several tables, or to
groups. A subquery gives all that they refer to, one column each: references as they are written, aggregates of the
groups, expressions of GROUP BY. Around it stands the same query with these columns in their place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import UnsupportedError
from sparkrex.languages.match_recognize import traverse
from sparkrex.languages.windows.aggregates import call_end, is_aggregate_call, is_windowed
from sparkrex.languages.windows.naming import has_alias
from sparkrex.languages.windows.outline import depths, split_at_commas
from sparkrex.languages.windows.parse import parse_window
from sparkrex.source import Span
from sparkrex.statement.site import Edit
from sparkrex.syntax.names import name_rules
from sparkrex.syntax.scalar_text import parse_expression, row_pattern_function
from sparkrex.syntax.tokens import closing, span_of, word

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from sqlglot.dialects.dialect import Dialect

    from sparkrex.languages.windows.calls import Call, Window
    from sparkrex.languages.windows.outline import Query
    from sparkrex.source import Source
    from sparkrex.statement.site import Piece

_SUMS = {TokenType.PLUS, TokenType.DASH}
_PRODUCTS = {TokenType.STAR, TokenType.SLASH, TokenType.MOD}
_TIGHT = _SUMS | _PRODUCTS | {
    TokenType.DIV, TokenType.DPIPE, TokenType.CARET, TokenType.AMP, TokenType.PIPE, TokenType.TILDE, TokenType.DCOLON,
    TokenType.L_BRACKET, TokenType.COLON, TokenType.ARROW, TokenType.DARROW, TokenType.DOT, TokenType.COLLATE,
}
_LOOSE = {
    TokenType.EQ, TokenType.NEQ, TokenType.LT, TokenType.LTE, TokenType.GT, TokenType.GTE, TokenType.NULLSAFE_EQ,
    TokenType.LIKE, TokenType.ILIKE, TokenType.IN, TokenType.BETWEEN, TokenType.IS, TokenType.NOT, TokenType.AND,
    TokenType.OR,
}
"""Operators by how tightly they bind: beside an expression, one may take a part of it for its operand."""


@dataclass(slots=True)
class Projection:
    """`names` are the columns of the subquery, `input` its text; `edits` put the columns in the place of references.

    `replaced_tokens` does the same for tokens: by the offset at which a reference starts, where it ends and its column.
    """

    names: tuple[str, ...]
    input: tuple[Piece, ...]
    edits: list[Edit] = field(default_factory=list)
    replaced_tokens: dict[int, tuple[int, str]] = field(default_factory=dict)
def is_grouped(tokens: Sequence[Token], query: Query, windows: Sequence[Window]) -> bool:
    """Whether the query groups its rows, in so many words or by an aggregate that is not one of matches."""
    if "GROUP BY" in query.clauses or "HAVING" in query.clauses:
        return True
    regions = [*query.items, query.clause("QUALIFY"), *([] if query.is_operand else [query.clause("ORDER BY")])]
    regions += [window.spec for window in windows if window.definition is not None]
    of_patterns = [range(window.sign, window.spec.stop) for window in windows if window.sign is not None]
    for region in regions:
        for index, is_own in _own_tokens(tokens, region):
            if not is_own or any(index in places for places in of_patterns):
                continue
            if is_aggregate_call(tokens, index) and not is_windowed(tokens, index):
                return True
    return False


def _own_tokens(tokens: Sequence[Token], region: range) -> Iterable[tuple[int, bool]]:
    """The tokens of a region, and whether they are the query's own, not those of a subquery."""
    inner_end = -1
    for index in region:
        if index > inner_end and word(tokens[index]) == "(" and index + 1 < len(tokens) and word(
            tokens[index + 1]
        ) in ("SELECT", "WITH"):
            depth = 0
            for at in range(index, region.stop):
                kind = tokens[at].token_type
                depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
                if depth == 0:
                    inner_end = at
                    break
        yield index, index > inner_end


def project(
    tokens: Sequence[Token], query: Query, windows: Sequence[Window], calls: Sequence[Call], source: Source,
    dialect: Dialect, prefix: str, window_tokens: Callable[[Window], list[Token]],
) -> Projection:
    """The subquery, and what refers to it."""
    return _Projector(tokens, query, windows, calls, source, dialect, prefix, window_tokens).project()


class _Projector:
    def __init__(
        self, tokens: Sequence[Token], query: Query, windows: Sequence[Window], calls: Sequence[Call], source: Source,
        dialect: Dialect, prefix: str, window_tokens: Callable[[Window], list[Token]],
    ) -> None:
        self.tokens = tokens
        self.query = query
        self.windows = windows
        self.calls = calls
        self.source = source
        self.dialect = dialect
        self.prefix = prefix
        self.window_tokens = window_tokens
        self.at = {token.start: index for index, token in enumerate(tokens)}
        self.columns: dict[str, tuple[str, tuple[int, int]]] = {}
        self.groups = self._group_items()
        self.is_grouped = is_grouped(tokens, query, windows)
        self.aliases = self._item_aliases()
        self.result = Projection((), ())

    def project(self) -> Projection:
        """All references of the later clauses, and the subquery."""
        query, tokens = self.query, self.tokens
        star = self._star()
        regions = [item for item in query.items if item is not star]
        head = range(query.select.start, query.items[0].start if query.items else query.select.stop)
        distinct_on = next((i for i in head if word(tokens[i]) == "ON"), None)
        if distinct_on is not None:
            regions += split_at_commas(tokens, range(distinct_on + 2, head.stop - 1))
        for region in regions:
            self._expressions(region)
        for region in split_at_commas(tokens, query.clause("QUALIFY")):
            self._expressions(region, knows_aliases=True)
        if not query.is_operand:
            for region in split_at_commas(tokens, query.clause("ORDER BY")):
                self._expressions(_without_direction(tokens, region), knows_aliases=True)
        for window in self.windows:
            if window.sign is not None:
                self._pattern_window(window)
            elif window.definition is not None:
                self._plain_window(window)
        self.result.names = tuple(name for name, _ in self.columns.values())
        self.result.input = self._input(star)
        return self.result

    def _input(self, star: range | None) -> tuple[Piece, ...]:
        query, tokens = self.query, self.tokens
        pieces: list[Piece] = ["(SELECT "]
        if star is not None:
            pieces += [range(star.start, star.stop), ", "] if self.columns else [star]
        for number, (name, (first, last)) in enumerate(self.columns.values()):
            pieces += [", " if number else "", range(first, last + 1), f" AS {name}"]
        if star is None and not self.columns:
            pieces.append(f"1 AS {self.prefix}_c0")
        pieces += [" FROM ", query.clause("FROM")]
        if "WHERE" in query.clauses:
            pieces += [" WHERE ", query.clauses["WHERE"]]
        if "GROUP BY" in query.clauses:
            pieces.append(" GROUP BY ")
            for number, item in enumerate(split_at_commas(tokens, query.clauses["GROUP BY"])):
                pieces += [", " if number else "", self._group_expression(item)]
        if "HAVING" in query.clauses:
            pieces += [" HAVING ", query.clauses["HAVING"]]
        return (*pieces, f") AS {self.prefix}")

    def _star(self) -> range | None:
        """The `*` of the SELECT list; it may stand once where tables are joined."""
        tokens = self.tokens
        found = [
            item for item in self.query.items
            if any(depth == 0 and tokens[i].token_type is TokenType.STAR and (
                i == item.start or tokens[i - 1].token_type is TokenType.DOT
            ) for i, depth in depths(tokens, item))
        ]
        if len(found) > 1:
            raise UnsupportedError(
                "REX301", "several * in a query that joins tables and has a row pattern window", self.source,
                span_of(tokens[found[1].start]).to(span_of(tokens[found[1].stop - 1])),
                hint="name the columns, or join in a subquery: FROM (SELECT ... FROM t JOIN u ...)",
            )
        return found[0] if found else None

    def _group_items(self) -> list[range]:
        items = split_at_commas(self.tokens, self.query.clause("GROUP BY"))
        if len(items) == 1 and len(items[0]) == 1 and word(self.tokens[items[0].start]) == "ALL":
            raise UnsupportedError(
                "REX301", "GROUP BY ALL in a query with a row pattern window", self.source,
                span_of(self.tokens[items[0].start]), hint="name what to group by",
            )
        return [self._group_expression(item) for item in items]

    def _group_expression(self, item: range) -> range:
        """What an item of GROUP BY stands for: itself, or an item of the SELECT list by its number or its name."""
        tokens = self.tokens
        if len(item) != 1:
            return item
        token = tokens[item.start]
        if token.token_type is TokenType.NUMBER and token.text.isdigit() and 0 < int(token.text) <= len(
            self.query.items
        ):
            return self._without_alias(self.query.items[int(token.text) - 1])
        for selected in self.query.items:
            plain = self._without_alias(selected)
            if plain != selected and tokens[selected.stop - 1].text.lower() == token.text.lower():
                return plain
        return item

    def _without_alias(self, item: range) -> range:
        tokens = self.tokens
        for index, depth in depths(tokens, item):
            if depth == 0 and word(tokens[index]) == "AS" and index == item.stop - 2:
                return range(item.start, index)
        inside = [(call.first, call.last) for call in self.calls]
        return range(item.start, item.stop - 1) if has_alias(tokens, item, inside) else item

    def _item_aliases(self) -> set[str]:
        return {
            self.tokens[item.stop - 1].text.lower() for item in self.query.items if self._without_alias(item) != item
        }

    def _column(self, first: int, last: int) -> str:
        """The column of what these tokens say; the same for the same words."""
        key = " ".join(map(_written, self.tokens[first : last + 1]))
        if key not in self.columns:
            self.columns[key] = f"{self.prefix}_c{len(self.columns)}", (first, last)
        return self.columns[key][0]

    def _replace(self, first: int, last: int, *, in_text: bool) -> None:
        name = self._column(first, last)
        start, end = self.tokens[first].start, self.tokens[last].end + 1
        self.result.replaced_tokens[start] = end, name
        if in_text:
            self.result.edits.append(Edit(first, last, name))

    def _expressions(self, region: range, *, knows_aliases: bool = False) -> None:
        """References in an expression of the query that may have calls in it."""
        called = [call for call in self.calls if call.first in region]
        for call in called:
            if call.name is None:
                self._references(range(call.first, call.over), frozenset(), in_text=False)
        plain = self._without_alias(region) if not knows_aliases else region
        hidden = [(call.first, call.last) for call in called]
        self._references(plain, frozenset(), hidden=hidden, knows_aliases=knows_aliases)

    def _plain_window(self, window: Window) -> None:
        """References in a window of the host's."""
        tokens = self.tokens
        start = window.spec.start + (window.base is not None)
        heads = [
            index for index, depth in depths(tokens, range(start, window.spec.stop))
            if depth == 0 and word(tokens[index]) in ("PARTITION BY", "ORDER BY", "ROWS", "RANGE", "GROUPS")
        ]
        for head, end in zip(heads, [*heads[1:], window.spec.stop], strict=True):
            if word(tokens[head]) in ("PARTITION BY", "ORDER BY"):
                for item in split_at_commas(tokens, range(head + 1, end)):
                    self._references(_without_direction(tokens, item), frozenset())

    def _pattern_window(self, window: Window) -> None:
        """References in a window with a row pattern, parsed to find them."""
        spec = self.window_tokens(window)
        span = Span(self.tokens[window.spec.start].start, self.tokens[window.spec.stop].start)
        parsed = parse_window(
            spec, span, self.source, self.dialect, name_rules(type(self.dialect).__name__.lower())
        )
        rows = parsed.rows
        names = {*traverse.variables(rows.pattern), *(item.name.text for item in rows.subsets)}
        variables = frozenset(name.lower() for name in names)
        keys = [item.expression.span for item in rows.partition_by] + [item.expression.span for item in rows.order_by]
        keys += [] if parsed.frame_end is None else [parsed.frame_end.span]
        for place in keys:
            self._references(self._range(place), frozenset(), in_text=False)
        inner = [item.expression.span for item in rows.measures] + [item.condition.span for item in rows.definitions]
        for place in inner:
            places = self._range(place)
            stop = places.stop
            if stop - places.start > 2 and word(self.tokens[stop - 2]) == "AS":
                stop -= 2  # the name of a measure
            self._references(range(places.start, stop), variables, in_text=False, in_pattern=True)

    def _range(self, span: Span) -> range:
        first = self.at[span.start]
        last = next(index for index in range(first, len(self.tokens)) if self.tokens[index].end + 1 >= span.end)
        return range(first, last + 1)

    def _references(
        self, region: range, variables: frozenset[str], *, hidden: Sequence[tuple[int, int]] = (), in_text: bool = True,
        in_pattern: bool = False, knows_aliases: bool = False,
    ) -> None:
        """Give every reference of an expression its column. `variables` are qualifiers that stay."""
        if not region or (len(region) == 1 and self.tokens[region.start].token_type is TokenType.NUMBER):
            return
        taken = list(hidden)
        taken += self._group_atoms(region, taken, in_text=in_text)
        if self.is_grouped:
            taken += self._aggregate_atoms(region, taken, variables, in_text=in_text, in_pattern=in_pattern)
        for first, last in self._column_atoms(region, hidden, variables):
            if any(begin <= first <= end for begin, end in taken):
                continue
            if knows_aliases and first == last and self.tokens[first].text.lower() in self.aliases:
                continue
            self._replace(first, last, in_text=in_text)

    def _group_atoms(
        self, region: range, taken: Sequence[tuple[int, int]], *, in_text: bool
    ) -> list[tuple[int, int]]:
        """Expressions of GROUP BY, which are more than a column."""
        found: list[tuple[int, int]] = []
        words = [_written(token) for token in self.tokens]
        for group in sorted(self.groups, key=len, reverse=True):
            if len(group) < 2 or all(self.tokens[i].token_type is TokenType.DOT for i in group[1::2]):
                continue
            wanted = words[group.start : group.stop]
            for first in range(region.start, region.stop - len(group) + 1):
                last = first + len(group) - 1
                if words[first : last + 1] == wanted and self._is_whole(first, last) and not any(
                    begin <= last and first <= end for begin, end in [*taken, *found]
                ):
                    found.append((first, last))
                    self._replace(first, last, in_text=in_text)
        return found

    def _is_whole(self, first: int, last: int) -> bool:
        """Whether tokens are an expression of their own: the same ones are no part of it in `2 * x + y`."""
        opening = first + 1 if word(self.tokens[first]) not in ("(", "CASE") else first
        if word(self.tokens[first]) == "CASE" and word(self.tokens[last]) == "END":
            return True
        is_closed = self.tokens[opening].token_type is TokenType.L_PAREN
        if is_closed and closing(self.tokens, opening, self.source) == last:
            return True  # a call, or in parentheses
        kinds = {token.token_type for token in self.tokens[first : last + 1]}
        loose = _LOOSE if kinds & _LOOSE else set()
        behind = _TIGHT | loose
        if not kinds & (_TIGHT | _LOOSE) - _SUMS - _PRODUCTS:
            behind = behind - _SUMS  # what is added comes after
        before = self.tokens[first - 1].token_type if first else None
        following = self.tokens[last + 1].token_type if last + 1 < len(self.tokens) else None
        return before not in _TIGHT | loose and following not in behind

    def _aggregate_atoms(
        self, region: range, taken: Sequence[tuple[int, int]], variables: frozenset[str], *, in_text: bool,
        in_pattern: bool,
    ) -> list[tuple[int, int]]:
        """Aggregates of groups. In MEASURES and DEFINE those that read what groups lack; others are of matches."""
        found: list[tuple[int, int]] = []
        for index, is_own in _own_tokens(self.tokens, region):
            if not is_own or any(begin <= index <= end for begin, end in [*taken, *found]):
                continue
            if not is_aggregate_call(self.tokens, index) or is_windowed(self.tokens, index):
                continue
            last = call_end(self.tokens, index)
            if in_pattern and not self._reads_ungrouped(range(index + 2, closing(self.tokens, index + 1, self.source)),
                                                        variables):
                continue
            found.append((index, last))
            self._replace(index, last, in_text=in_text)
        return found

    def _reads_ungrouped(self, arguments: range, variables: frozenset[str]) -> bool:
        """Whether arguments read a column of single rows, outside of aggregates inside them."""
        if not arguments or self.tokens[arguments.start].token_type is TokenType.STAR:
            return False
        grouped = {
            " ".join(token.text.lower() for token in self.tokens[group.start : group.stop]) for group in self.groups
        }
        last_names = {self.tokens[group.stop - 1].text.lower() for group in self.groups}
        for first, last in self._column_atoms(arguments, (), frozenset()):
            if self.tokens[first].text.lower() in variables:
                return False
            if any(
                is_aggregate_call(self.tokens, index)
                and index < first <= call_end(self.tokens, index)
                for index in arguments
            ):
                continue
            text = " ".join(token.text.lower() for token in self.tokens[first : last + 1])
            if text not in grouped and self.tokens[last].text.lower() not in last_names:
                return True
        return False

    def _column_atoms(
        self, region: range, hidden: Sequence[tuple[int, int]], variables: frozenset[str]
    ) -> list[tuple[int, int]]:
        """References, as first and last token. sqlglot finds them; calls over windows are NULL to it."""
        prepared: list[Token] = []
        index = region.start
        while index < region.stop:
            token = self.tokens[index]
            call = next((one for one in hidden if one[0] == index), None)
            if call is not None:
                prepared.append(Token(TokenType.NULL, "NULL", token.line, token.col, token.start, token.end))
                index = call[1] + 1
                continue
            prepared.append(token)
            index += 1
        if not prepared or (len(prepared) == 1 and prepared[0].token_type is TokenType.STAR):
            return []
        place = span_of(prepared[0])
        while prepared and prepared[0].token_type is TokenType.DISTINCT:
            prepared = prepared[1:]
        tree = parse_expression(prepared, self.source, self.dialect, place).tree
        found = []
        for node in tree.find_all(exp.Column):
            parent = node.parent
            if isinstance(node.this, exp.Star) or (parent is not None and row_pattern_function(parent) == "CLASSIFIER"):
                continue
            if node.find_ancestor(exp.Query) is not None:
                continue  # a subquery's own
            parts = [part.meta for part in node.parts]
            if any("start" not in part for part in parts):
                continue
            names = [part.name.lower() for part in node.parts]
            starts = [self.at[part["start"]] for part in parts if part["start"] in self.at]
            if len(starts) != len(parts):
                continue
            skipped = 1 if len(starts) > 1 and names[0] in variables else 0
            found.append((starts[skipped], starts[-1]))
        return sorted(found)


def _written(token: Token) -> str:
    """A token by which words are compared: strings keep their case, and differ from names."""
    return repr(token.text) if token.token_type is TokenType.STRING else token.text.lower()


def _without_direction(tokens: Sequence[Token], item: range) -> range:
    """An item of ORDER BY without ASC, DESC and where NULLs are."""
    stop = item.stop
    if stop - item.start > 2 and word(tokens[stop - 2]) == "NULLS":
        stop -= 2
    if stop > item.start + 1 and word(tokens[stop - 1]) in ("ASC", "DESC"):
        stop -= 1
    return range(item.start, stop)
