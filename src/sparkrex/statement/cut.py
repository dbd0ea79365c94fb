"""Cut a statement into MATCH_RECOGNIZE relations and the SQL around them.

Every relation `input MATCH_RECOGNIZE (...) [AS alias (columns)]` is replaced in the text by a placeholder table, inner
ones first, so that the host sees plain SQL. A relation's input is a `FROM` item of its own query, in front of which
the common table expressions visible at that place are repeated.

The cut works on tokens alone: the SQL around the pattern stays the user's own text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.tokens import Token, TokenType

from sparkrex.errors import ParseError, UnsupportedError
from sparkrex.source import Source, Span
from sparkrex.statement.tokens import closing, is_quoted, span_of, tokenize, word

if TYPE_CHECKING:
    from sqlglot.dialects.dialect import Dialect

_BEFORE_A_RELATION = {"FROM", "JOIN", ",", "(", "LATERAL"}
_NOT_AN_ALIAS = {
    "WHERE", "GROUP", "GROUP BY", "ORDER", "ORDER BY", "HAVING", "JOIN", "INNER", "LEFT", "RIGHT", "FULL", "CROSS",
    "NATURAL", "ON", "USING", "UNION", "INTERSECT", "EXCEPT", "MINUS", "LIMIT", "OFFSET", "FETCH", "WINDOW", "QUALIFY",
    "LATERAL", "MATCH_RECOGNIZE", "TABLESAMPLE", "PIVOT", "UNPIVOT", "ASOF", "SEMI", "ANTI", "FOR", "SORT BY",
    "CLUSTER BY", "DISTRIBUTE BY", "CONNECT BY", "START WITH",
}


@dataclass(frozen=True, slots=True)
class Relation:
    """One MATCH_RECOGNIZE relation.

    `input_sql` is a FROM item in the query's dialect; `input_table` is set if it is simply that table. `clause` is the
    span between the parentheses. `prefix` is the WITH clause visible here, with a blank behind it, or empty.
    `outer_names` are the words of the queries around this one, in lower case: what a correlated reference could name.
    """

    placeholder: str
    input_sql: str
    input_table: str | None
    input_alias: str | None
    prefix: str
    clause: Span
    tokens: tuple[Token, ...]
    span: Span
    column_aliases: tuple[str, ...] | None
    columns_span: Span | None
    outer_names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Statement:
    """The relations in an order in which they can be evaluated, and the SQL that uses their placeholders.

    `bare_relation` is set when the statement is `SELECT * FROM <relation>` and nothing else: then the relation's own
    table is the answer.
    """

    source: Source
    dialect: Dialect
    relations: tuple[Relation, ...]
    host_sql: str
    bare_relation: int | None


def cut(source: Source, dialect: Dialect, suffix: str) -> Statement:
    """Cut the statement. `suffix` makes the placeholders' names unique."""
    tokens = tokenize(source, dialect)
    while tokens and tokens[-1].token_type is TokenType.SEMICOLON:
        tokens.pop()
    if not tokens:
        raise ParseError("REX101", "the statement is empty", source, Span(0, 0))
    _refuse_row_pattern_windows(tokens, source)
    return _Cutter(source, dialect, tokens, suffix).run()


@dataclass(slots=True)
class _Place:
    """A MATCH_RECOGNIZE as token indices, both ends included."""

    input_first: int
    input_last: int
    keyword: int
    opening: int
    closing: int
    last: int
    input_alias: str | None
    input_table: str | None
    alias_tokens: tuple[int, int] | None
    column_aliases: tuple[str, ...] | None
    columns_span: Span | None


class _Cutter:
    def __init__(self, source: Source, dialect: Dialect, tokens: list[Token], suffix: str) -> None:
        self.source = source
        self.dialect = dialect
        self.tokens = tokens
        self.suffix = suffix
        # Placeholder text by the token index where a relation starts: (last token index, text).
        self.replaced: dict[int, tuple[int, str]] = {}
        self.relations: list[Relation] = []

    def run(self) -> Statement:
        tokens = self.tokens
        # Left to right by closing parenthesis: an inner relation, or one to the left in a chain, comes first.
        keywords = [
            index for index in range(len(tokens) - 1)
            if word(tokens[index]) == "MATCH_RECOGNIZE" and tokens[index + 1].token_type is TokenType.L_PAREN
        ]
        order = sorted(keywords, key=lambda index: closing(tokens, index + 1, self.source))
        for index in order:
            self._cut_one(index)
        host_sql = self._text(0, len(tokens) - 1)
        return Statement(self.source, self.dialect, tuple(self.relations), host_sql, self._bare_relation())

    def _cut_one(self, keyword: int) -> None:
        place = self._locate(keyword)
        index = len(self.relations)
        placeholder = f"rex_{self.suffix}_{index}"
        tokens = self.tokens
        span = Span(tokens[place.input_first].start, tokens[place.last].end + 1)
        first, last = place.input_first, place.input_last
        self.relations.append(
            Relation(
                placeholder=placeholder,
                input_sql=self._text(first, last),
                input_table=place.input_table,
                input_alias=place.input_alias,
                prefix=self._with_prefix(place.input_first),
                clause=Span(tokens[place.opening].end + 1, tokens[place.closing].start),
                tokens=tuple(tokens[place.opening + 1 : place.closing]),
                span=span,
                column_aliases=place.column_aliases,
                columns_span=place.columns_span,
                outer_names=self._outer_names(place.input_first),
            )
        )
        replacement = placeholder
        if place.alias_tokens is not None:
            alias_first, alias_last = place.alias_tokens
            replacement += " " + self.source.text[tokens[alias_first].start : tokens[alias_last].end + 1]
        # A placeholder that stood inside this input is part of it now.
        for start in [start for start in self.replaced if place.input_first <= start <= place.last]:
            del self.replaced[start]
        self.replaced[place.input_first] = (place.last, replacement)

    def _locate(self, keyword: int) -> _Place:
        tokens, source = self.tokens, self.source
        opening = keyword + 1
        close = closing(tokens, opening, source)
        input_last = keyword - 1
        if input_last < 0:
            raise ParseError("REX101", "MATCH_RECOGNIZE has no input", source, span_of(tokens[keyword]))
        input_first, input_table, input_alias = self._input(input_last, keyword)
        before = word(tokens[input_first - 1]) if input_first else ""
        if before == "LATERAL" or word(tokens[input_first]) == "LATERAL":
            at = input_first - 1 if before == "LATERAL" else input_first
            raise UnsupportedError(
                "REX301", "LATERAL MATCH_RECOGNIZE is not supported yet", source, span_of(tokens[at]),
                hint="give the pattern a plain table or subquery, and join its result",
            )
        if before not in _BEFORE_A_RELATION:
            raise ParseError(
                "REX101", "MATCH_RECOGNIZE must follow a table, a subquery or another MATCH_RECOGNIZE in FROM", source,
                span_of(tokens[keyword]),
            )
        last, alias_tokens, columns, columns_span = self._alias(close)
        if input_table is not None and input_table.lower() in self._common_names(input_first):
            input_table = None
        return _Place(
            input_first, input_last, keyword, opening, close, last, input_alias, input_table, alias_tokens, columns,
            columns_span,
        )

    def _input(self, last: int, keyword: int) -> tuple[int, str | None, str | None]:
        """First token of the input that ends at `last`, its table name if it is a table, and its alias."""
        tokens, source = self.tokens, self.source
        # A relation replaced before is this one's input when it ends here.
        for start, (end, _) in self.replaced.items():
            if end == last:
                alias = self._alias_of_replaced(start)
                return start, None, alias
        index = last
        alias: str | None = None
        if tokens[index].token_type is TokenType.R_PAREN:
            opening = self._opening(index)
            previous = opening - 1
            if previous >= 0 and self._is_name(previous) and self._is_alias(previous):
                # (subquery) AS alias (columns)
                alias = tokens[previous].text
                index = self._before_alias(previous)
            elif previous >= 0 and self._is_name(previous) and word(tokens[previous]) not in _BEFORE_A_RELATION:
                # function(arguments)
                return self._dotted_first(previous), None, None
            else:
                return opening, None, None
        elif self._is_name(index) and self._is_alias(index):
            alias = tokens[index].text
            index = self._before_alias(index)
        for start, (end, _) in self.replaced.items():
            if end == index:
                return start, None, alias
        if tokens[index].token_type is TokenType.R_PAREN:
            opening = self._opening(index)
            previous = opening - 1
            if previous >= 0 and self._is_name(previous) and word(tokens[previous]) not in _BEFORE_A_RELATION:
                return self._dotted_first(previous), None, alias
            return opening, None, alias
        if not self._is_name(index) and tokens[index].token_type is not TokenType.STRING:
            raise ParseError(
                "REX101", "MATCH_RECOGNIZE must follow a table, a subquery or another MATCH_RECOGNIZE in FROM", source,
                span_of(tokens[keyword]),
            )
        first = self._dotted_first(index)
        table = tokens[index].text if first == index else None
        return first, table, alias or tokens[index].text

    def _alias_of_replaced(self, start: int) -> str | None:
        words = self.replaced[start][1].split()
        names = [name for name in words[1:] if name.upper() != "AS"]
        return names[0].split("(")[0].strip('"`') if names else None

    def _is_name(self, index: int) -> bool:
        token = self.tokens[index]
        if is_quoted(token, self.source):
            return True
        text = token.text
        return bool(text) and (text[0].isalpha() or text[0] == "_") and token.token_type is not TokenType.STRING

    def _is_alias(self, index: int) -> bool:
        """Whether the name at `index` stands behind the item it renames."""
        if index == 0 or word(self.tokens[index]) in _BEFORE_A_RELATION:
            return False
        before = self.tokens[index - 1]
        if word(before) == "AS":
            return True
        if word(before) in _BEFORE_A_RELATION or before.token_type is TokenType.DOT:
            return False
        return before.token_type is TokenType.R_PAREN or self._is_name(index - 1)

    def _before_alias(self, index: int) -> int:
        return index - 2 if word(self.tokens[index - 1]) == "AS" else index - 1

    def _dotted_first(self, index: int) -> int:
        while index >= 2 and self.tokens[index - 1].token_type is TokenType.DOT:
            index -= 2
        return index

    def _opening(self, index: int) -> int:
        depth = 0
        for position in range(index, -1, -1):
            kind = self.tokens[position].token_type
            if kind is TokenType.R_PAREN:
                depth += 1
            elif kind is TokenType.L_PAREN:
                depth -= 1
                if depth == 0:
                    return position
        raise ParseError("REX101", "this parenthesis was never opened", self.source, span_of(self.tokens[index]))

    def _alias(self, close: int) -> tuple[int, tuple[int, int] | None, tuple[str, ...] | None, Span | None]:
        """Last token of the relation, token range of its alias, its column list and where that stands."""
        tokens = self.tokens
        index = close + 1
        if index < len(tokens) and word(tokens[index]) == "AS":
            index += 1
        if index >= len(tokens) or not self._is_name(index) or word(tokens[index]) in _NOT_AN_ALIAS:
            return close, None, None, None
        last, columns, span = index, None, None
        if index + 1 < len(tokens) and tokens[index + 1].token_type is TokenType.L_PAREN:
            end = closing(tokens, index + 1, self.source)
            columns = tuple(token.text for token in tokens[index + 2 : end] if token.token_type is not TokenType.COMMA)
            last = end
            span = span_of(tokens[index + 1]).to(span_of(tokens[end]))
        # The column list is applied by us, so only the alias itself goes back into the text.
        return last, (close + 1, index), columns, span

    def _text(self, first: int, last: int) -> str:
        """The user's text of these tokens, with relations replaced."""
        pieces: list[str] = []
        position = self.tokens[first].start
        for start in sorted(self.replaced):
            end, replacement = self.replaced[start]
            if start < first or end > last:
                continue
            pieces.append(self.source.text[position : self.tokens[start].start])
            pieces.append(replacement)
            position = self.tokens[end].end + 1
        pieces.append(self.source.text[position : self.tokens[last].end + 1])
        return "".join(pieces)

    def _with_prefix(self, index: int) -> str:
        """WITH and the common table expressions that are complete before this token, in its enclosing queries."""
        expressions, is_recursive = self._common_table_expressions(index)
        if not expressions:
            return ""
        texts = [self._text(first, last) for first, last in expressions]
        return f"WITH {'RECURSIVE ' if is_recursive else ''}{', '.join(texts)} "

    def _common_names(self, index: int) -> set[str]:
        return {self.tokens[first].text.lower() for first, _ in self._common_table_expressions(index)[0]}

    def _common_table_expressions(self, index: int) -> tuple[list[tuple[int, int]], bool]:
        """First and last token of each, and whether one of the WITH clauses is recursive."""
        found: list[tuple[int, int]] = []
        is_recursive = False
        for start in self._query_starts(index):
            if word(self.tokens[start]) != "WITH":
                continue
            position = start + 1
            if word(self.tokens[position]) == "RECURSIVE":
                is_recursive = True
                position += 1
            while position < index:
                opening = position + 1
                if self.tokens[opening].token_type is TokenType.L_PAREN:  # column list
                    opening = closing(self.tokens, opening, self.source) + 1
                while opening < index and self.tokens[opening].token_type is not TokenType.L_PAREN:
                    opening += 1
                if opening >= index:
                    break
                end = closing(self.tokens, opening, self.source)
                if end >= index:
                    break
                found.append((position, end))
                if self.tokens[end + 1].token_type is not TokenType.COMMA:
                    break
                position = end + 2
        return found, is_recursive

    def _query_starts(self, index: int) -> list[int]:
        """Token indices where the queries around this token start, outermost first."""
        starts = [0]
        for position in range(index):
            kind = self.tokens[position].token_type
            if kind is TokenType.L_PAREN:
                starts.append(position + 1)
            elif kind is TokenType.R_PAREN and len(starts) > 1:
                starts.pop()
        return starts

    def _outer_names(self, index: int) -> frozenset[str]:
        starts = self._query_starts(index)
        if len(starts) == 1:
            return frozenset()
        inner = range(starts[-1], closing(self.tokens, starts[-1] - 1, self.source))
        return frozenset(token.text.lower() for place, token in enumerate(self.tokens) if place not in inner)

    def _bare_relation(self) -> int | None:
        tokens = self.tokens
        if len(tokens) < 4 or len(self.replaced) != 1 or 3 not in self.replaced:
            return None
        head = [word(token) for token in tokens[:3]]
        end, _ = self.replaced[3]
        if head != ["SELECT", "*", "FROM"] or end != len(tokens) - 1:
            return None
        return len(self.relations) - 1


def _refuse_row_pattern_windows(tokens: list[Token], source: Source) -> None:
    """R020, row patterns in a WINDOW, is refused where it stands."""
    for index, token in enumerate(tokens[:-1]):
        opens = word(token) == "OVER" or (word(token) == "AS" and index >= 2 and word(tokens[index - 2]) == "WINDOW")
        if not opens or tokens[index + 1].token_type is not TokenType.L_PAREN:
            continue
        end = closing(tokens, index + 1, source)
        depth = 0
        for position in range(index + 1, end):
            kind = tokens[position].token_type
            depth += (kind is TokenType.L_PAREN) - (kind is TokenType.R_PAREN)
            is_pattern = word(tokens[position]) == "PATTERN" and tokens[position + 1].token_type is TokenType.L_PAREN
            if depth == 1 and (is_pattern or word(tokens[position]) == "MEASURES"):
                raise UnsupportedError(
                    "REX301", "row pattern recognition in a window (feature R020) is not supported yet", source,
                    span_of(tokens[position]), hint="use MATCH_RECOGNIZE in FROM",
                )
