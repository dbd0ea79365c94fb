"""The clause grammar: which sub-clauses stand where, and what each holds.

PARTITION BY, ORDER BY, MEASURES, rows per match, AFTER MATCH SKIP or ALL MATCHES, PATTERN, WITHIN, SUBSET, DEFINE: in
this order, each at most once, PATTERN required.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError, ParseError, UnsupportedError
from sparkrex.languages.match_recognize.parse_pattern import parse_pattern
from sparkrex.languages.match_recognize.syntax import Clause, DefinitionItem, SkipItem, SubsetItem
from sparkrex.languages.match_recognize.traverse import speaks_of_segments
from sparkrex.modes.plan import RowsPerMatch, SkipTo
from sparkrex.source import Source, Span
from sparkrex.syntax.items import MeasureItem, Name, OrderItem, PartitionItem, ScalarText
from sparkrex.syntax.mistakes import (
    empty_item,
    find_timeouts,
    misplaced_pattern,
    missing_comma,
    missing_comma_in_subset,
    other_clause,
)
from sparkrex.syntax.scalar_text import parse_expression
from sparkrex.syntax.tokens import closing, is_flink, is_quoted, span_of, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlglot.dialects.dialect import Dialect

    from sparkrex.syntax.names import NameRules

_ORDER = (
    "PARTITION BY", "ORDER BY", "MEASURES", "ROWS PER MATCH", "AFTER MATCH", "PATTERN", "WITHIN", "SUBSET", "DEFINE",
)


@dataclass(frozen=True, slots=True)
class Part:
    head: str
    span: Span
    tokens: list[Token]

    def after(self) -> Span:
        return Span(self.span.end, self.span.end) if not self.tokens else span_of(self.tokens[-1])


def parse_clause(
    tokens: Sequence[Token], span: Span, source: Source, dialect: Dialect, rules: NameRules
) -> Clause:
    """The clause whose tokens, without the outer parentheses, are given."""
    return ClauseParser(source, dialect, rules, span).parse(list(tokens))


def parse_keys(
    partition: Sequence[Token], order: Sequence[Token], span: Span, source: Source, dialect: Dialect, rules: NameRules
) -> tuple[tuple[PartitionItem, ...], tuple[OrderItem, ...]]:
    """The keys of partitions and of their order, for languages that write them elsewhere; none without tokens."""
    parser = ClauseParser(source, dialect, rules, span)
    return (
        parser._partition_by(Part("PARTITION BY", span, list(partition)) if partition else None),
        parser._order_by(Part("ORDER BY", span, list(order)) if order else None),
    )


class ClauseParser:
    """Reads the clauses of MATCH_RECOGNIZE; other languages have some of the same. `order` is theirs."""

    order: ClassVar[tuple[str, ...]] = _ORDER
    place: ClassVar[str] = "MATCH_RECOGNIZE"
    code: ClassVar[str] = "REX102"

    def __init__(self, source: Source, dialect: Dialect, rules: NameRules, span: Span) -> None:
        self.source = source
        self.dialect = dialect
        self.rules = rules
        self.span = span
        self.in_segments = False

    def parse(self, tokens: list[Token]) -> Clause:
        parts = {part.head: part for part in self._parts(tokens)}
        self._check_timeouts(tokens, parts.get("ROWS PER MATCH"))
        if "PATTERN" not in parts:
            if (error := misplaced_pattern(tokens, self.source)) is not None:
                raise error
            at = Span(max(0, self.span.start - 1), self.span.start)
            raise ParseError("REX102", "PATTERN is missing", self.source, at, hint="PATTERN (A B+ C)")
        rows, rows_span, timeouts = self._rows_per_match(parts.get("ROWS PER MATCH"))
        pattern_span = self._pattern_span(parts["PATTERN"])
        # Quoted names first: they say how the variable is spelt, wherever in the pattern they stand.
        quoted = [token.text for token in parts["PATTERN"].tokens if is_quoted(token, self.source)]
        self.rules = self.rules.spelling(quoted)
        pattern = parse_pattern(self.source, pattern_span, self.rules)
        all_matches = self._all_matches(parts.get("ALL MATCHES"))
        definitions = parts.get("DEFINE")
        self.in_segments = (
            all_matches is not None
            or speaks_of_segments(pattern)
            or (definitions is not None and any(map(is_segment_definition, self._items(definitions))))
        )
        return Clause(
            partition_by=self._partition_by(parts.get("PARTITION BY")),
            order_by=self._order_by(parts.get("ORDER BY")),
            measures=self._measures(parts.get("MEASURES")),
            rows_per_match=rows,
            rows_span=rows_span,
            skip=self._skip(parts.get("AFTER MATCH")) or self._default_skip(pattern_span, all_matches),
            pattern=pattern,
            pattern_span=pattern_span,
            within=self._within(parts.get("WITHIN")),
            subsets=self._subsets(parts.get("SUBSET")),
            definitions=self._definitions(definitions),
            span=self.span,
            all_matches=all_matches,
            timeouts=timeouts,
        )

    def _check_timeouts(self, tokens: list[Token], rows: Part | None) -> None:
        found = find_timeouts(tokens)
        if found is not None and (rows is None or not rows.span.start < found.start <= rows.after().end):
            raise ParseError(
                "REX102", "SHOW TIMEOUT MATCHES must come directly after ONE ROW PER MATCH", self.source, found,
                hint=_WITH_TIMEOUTS,
            )

    def _parts(self, tokens: list[Token]) -> list[Part]:
        """Cut at the clause heads that stand outside parentheses, and check their order."""
        heads: list[tuple[int, int, str]] = []  # first token, first token of the body, head
        depth = 0
        for index, token in enumerate(tokens):
            kind = token.token_type
            depth += kind in (TokenType.L_PAREN, TokenType.L_BRACKET)
            depth -= kind in (TokenType.R_PAREN, TokenType.R_BRACKET)
            if depth == 0 and (found := self._head(tokens, index)) is not None:
                heads.append((index, index + found[1], found[0]))
        if not heads or heads[0][0] > 0:
            at = span_of(tokens[0]) if tokens else self.span
            if (error := other_clause(tokens[: heads[0][0] if heads else None], self.source)) is not None:
                raise error
            raise ParseError(
                self.code, f"expected a clause of {self.place}", self.source, at, hint=", ".join(self.order)
            )
        parts: list[Part] = []
        for number, (first, body, head) in enumerate(heads):
            end = heads[number + 1][0] if number + 1 < len(heads) else len(tokens)
            part = Part(head, span_of(tokens[first]).to(span_of(tokens[body - 1])), tokens[body:end])
            self._check_order(parts, part)
            parts.append(part)
        return parts

    def _check_order(self, parts: list[Part], part: Part) -> None:
        if any(earlier.head == part.head for earlier in parts):
            raise ParseError(self.code, f"{part.head} is given twice", self.source, part.span)
        if {"ALL MATCHES", "AFTER MATCH"} == {part.head, *(p.head for p in parts)} & {"ALL MATCHES", "AFTER MATCH"}:
            raise ParseError(
                "REX102", "ALL MATCHES and AFTER MATCH SKIP exclude each other", self.source, part.span,
                hint="ALL MATCHES leaves nothing out, so there is nothing to skip",
            )
        if parts and self._rank(part.head) < self._rank(parts[-1].head):
            raise ParseError(
                self.code, f"{part.head} must come before {parts[-1].head}", self.source, part.span,
                hint="the order is " + ", ".join(self.order),
            )

    def _rank(self, head: str) -> int:
        """Where in the order of clauses a head stands."""
        return self.order.index("AFTER MATCH" if head == "ALL MATCHES" else head)

    def _head(self, tokens: list[Token], index: int) -> tuple[str, int] | None:
        """Name and token count of the clause head at this token, if one starts here."""
        if index > 0 and word(tokens[index - 1]) in ("AS", ".", ","):
            return None
        words = [word(token) for token in tokens[index : index + 4]] + [""] * 4
        before = " ".join(word(token) for token in tokens[max(0, index - 3) : index])
        is_target = before.endswith(("SKIP TO", "SKIP TO FIRST", "SKIP TO LAST")) and words[:2] != ["PATTERN", "("]
        if words[1] == "AS" or is_target:
            return None  # a variable of that name
        if words[0] in ("PARTITION BY", "ORDER BY"):
            return words[0], 1
        if words[:2] in (["PARTITION", "BY"], ["ORDER", "BY"]):
            return " ".join(words[:2]), 2
        if words[0] in ("ONE", "ALL") and words[1] in ("ROW", "ROWS") and words[2] == "PER":
            return "ROWS PER MATCH", 1
        if words[:2] in (["AFTER", "MATCH"], ["ALL", "MATCHES"]):
            return " ".join(words[:2]), 2
        if words[0] in ("INITIAL", "SEEK") and words[1] == "PATTERN":
            raise UnsupportedError(
                "REX301", f"{words[0]} belongs to row patterns in windows: MATCH_RECOGNIZE has none",
                self.source, span_of(tokens[index]), hint=f"leave {words[0]} out",
            )
        if words[0] == "PATTERN" and words[1] == "(":
            return "PATTERN", 1
        is_word_in_expression = words[1] in ("", ",", ".", ")", "(", "=") and words[0] != "MEASURES"
        if words[0] == "MEASURES" and words[1] not in (",", ".", "=") and index + 1 < len(tokens):
            return words[0], 1
        if words[0] == "WITHIN" and words[1] not in ("GROUP", ",", ".", "="):
            return words[0], 1
        if words[0] in ("SUBSET", "DEFINE") and (index + 1 >= len(tokens) or not is_word_in_expression or is_quoted(
            tokens[index + 1], self.source
        )):
            return words[0], 1
        return None

    def _items(self, part: Part) -> list[list[Token]]:
        """The body cut at commas outside parentheses."""
        items: list[list[Token]] = [[]]
        depth = 0
        openers = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
        closers = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)
        for token in part.tokens:
            depth += (token.token_type in openers) - (token.token_type in closers)
            if depth == 0 and token.token_type is TokenType.COMMA:
                items.append([])
            else:
                items[-1].append(token)
        if any(not item for item in items):
            if not part.tokens:
                raise ParseError("REX102", f"{part.head} is empty", self.source, part.span)
            raise empty_item(part.head, part.tokens, self.source)
        return items

    def _expression(self, tokens: Sequence[Token], after: Span, head: str) -> ScalarText:
        try:
            return parse_expression(tokens, self.source, self.dialect, after, in_segments=self.in_segments)
        except ParseError as error:
            likelier = other_clause(tokens, self.source) or missing_comma(head, tokens, self.source)
            raise (likelier or error) from error.__cause__

    def _partition_by(self, part: Part | None) -> tuple[PartitionItem, ...]:
        if part is None:
            return ()
        items = []
        for tokens in self._items(part):
            parsed = self._expression(tokens, part.span, part.head)
            alias = None
            # `PARTITION BY a b`: a second key rather than a new name for the first.
            if len(tokens) == 2 and (error := missing_comma(part.head, tokens, self.source)) is not None:
                raise error
            if isinstance(parsed.tree, exp.Alias):
                alias = parsed.tree.alias
                parsed = ScalarText(parsed.tree.this, parsed.span)
            items.append(PartitionItem(parsed, alias))
        return tuple(items)

    def _order_by(self, part: Part | None) -> tuple[OrderItem, ...]:
        if part is None:
            return ()
        return tuple(self._order_item(tokens, part.span) for tokens in self._items(part))

    def _order_item(self, tokens: list[Token], after: Span) -> OrderItem:
        nulls_first: bool | None = None
        words = [word(token) for token in tokens]
        if len(words) >= 2 and words[-2] == "NULLS" and words[-1] in ("FIRST", "LAST"):
            nulls_first = words[-1] == "FIRST"
            tokens, words = tokens[:-2], words[:-2]
        is_descending = bool(words) and words[-1] == "DESC"
        if words and words[-1] in ("ASC", "DESC"):
            tokens = tokens[:-1]
        parsed = self._expression(tokens, after, "ORDER BY")
        if isinstance(parsed.tree, exp.Alias):
            error = missing_comma("ORDER BY", tokens, self.source)
            raise error or ParseError("REX102", "an item of ORDER BY has no alias", self.source, parsed.span)
        return OrderItem(parsed, is_descending, nulls_first)

    def _measures(self, part: Part | None) -> tuple[MeasureItem, ...]:
        if part is None:
            return ()
        measures = []
        for tokens in self._items(part):
            parsed = self._expression(tokens, part.span, part.head)
            if not isinstance(parsed.tree, exp.Alias):
                raise ParseError(
                    "REX102", "a measure needs a name", self.source, parsed.span,
                    hint=f"{self.source.text[parsed.span.start : parsed.span.end]} AS name",
                )
            inner = ScalarText(parsed.tree.this, parsed.span)
            measures.append(MeasureItem(inner, parsed.tree.alias, span_of(tokens[-1])))
        return tuple(measures)

    def _rows_per_match(self, part: Part | None) -> tuple[RowsPerMatch, Span | None, Span | None]:
        """Which rows a match gives, where that is said, and where SHOW TIMEOUT MATCHES stands behind it."""
        if part is None:
            return RowsPerMatch.ONE, None, None
        timeouts = None
        if [word(token) for token in part.tokens[-3:]] == ["SHOW", "TIMEOUT", "MATCHES"]:
            timeouts = span_of(part.tokens[-3]).to(span_of(part.tokens[-1]))
            part = Part(part.head, part.span, part.tokens[:-3])
        span = part.span.to(part.after())
        text = " ".join([self.source.text[part.span.start : part.span.end].upper(), *map(word, part.tokens)])
        mode = _ROWS_PER_MATCH.get(text)
        if mode is None:
            raise ParseError(
                "REX102", "rows per match cannot be read", self.source, span,
                hint="one of " + "; ".join(mode.value for mode in RowsPerMatch) + "; " + _WITH_TIMEOUTS,
            )
        if timeouts is not None and mode is not RowsPerMatch.ONE:
            raise AnalysisError(
                "REX212", "SHOW TIMEOUT MATCHES gives one row per timeout: it goes with ONE ROW PER MATCH", self.source,
                timeouts, hint=_WITH_TIMEOUTS,
            )
        return mode, span, timeouts

    def _skip(self, part: Part | None) -> SkipItem | None:
        if part is None:
            return None
        words = [word(token) for token in part.tokens]
        span = part.span.to(part.after())
        if words == ["SKIP", "PAST", "LAST", "ROW"]:
            return SkipItem(SkipTo.PAST_LAST_ROW, None, span)
        if words == ["SKIP", "TO", "NEXT", "ROW"]:
            return SkipItem(SkipTo.NEXT_ROW, None, span)
        if words[:2] == ["SKIP", "TO"]:
            to = SkipTo.FIRST if words[2:3] == ["FIRST"] and len(words) == 4 else SkipTo.LAST
            rest = part.tokens[3:] if words[2:3] in (["FIRST"], ["LAST"]) and len(words) == 4 else part.tokens[2:]
            if len(rest) == 1 and self._is_name(rest[0]):
                return SkipItem(to, self._name(rest[0]), span)
        raise ParseError(
            "REX102", "AFTER MATCH SKIP cannot be read", self.source, span,
            hint="SKIP PAST LAST ROW, SKIP TO NEXT ROW, SKIP TO FIRST variable, SKIP TO LAST variable, "
            "SKIP TO variable",
        )

    def _default_skip(self, span: Span, all_matches: Span | None) -> SkipItem | None:
        """What AFTER MATCH is where it is left out; None is the standard's SKIP PAST LAST ROW."""
        return SkipItem(SkipTo.NEXT_ROW, None, span) if is_flink(self.dialect) and all_matches is None else None

    def _all_matches(self, part: Part | None) -> Span | None:
        if part is not None and part.tokens:
            token = part.tokens[0]
            raise ParseError("REX102", f"unexpected {token.text} after ALL MATCHES", self.source, span_of(token))
        return None if part is None else part.span

    def _pattern_span(self, part: Part) -> Span:
        end = closing(part.tokens, 0, self.source)
        if end + 1 < len(part.tokens):
            if (error := other_clause(part.tokens[end + 1 :], self.source)) is not None:
                raise error
            raise ParseError(
                "REX102", f"unexpected {part.tokens[end + 1].text} after PATTERN (...)", self.source,
                span_of(part.tokens[end + 1]), hint="WITHIN, SUBSET or DEFINE may follow",
            )
        return Span(part.tokens[0].end + 1, part.tokens[end].start)

    def _within(self, part: Part | None) -> ScalarText | None:
        return None if part is None else self._expression(part.tokens, part.span, part.head)

    def _subsets(self, part: Part | None) -> tuple[SubsetItem, ...]:
        if part is None:
            return ()
        subsets = []
        for tokens in self._items(part):
            members = tokens[3:-1]
            fits = (
                len(tokens) >= 5
                and self._is_name(tokens[0])
                and tokens[1].token_type is TokenType.EQ
                and tokens[2].token_type is TokenType.L_PAREN
                and tokens[-1].token_type is TokenType.R_PAREN
                and all(self._is_name(token) for token in members[::2])
                and all(token.token_type is TokenType.COMMA for token in members[1::2])
                and len(members) % 2 == 1
            )
            if not fits:
                if (error := other_clause(tokens, self.source) or missing_comma_in_subset(tokens, self.source)):
                    raise error
                raise ParseError(
                    "REX102", "SUBSET cannot be read", self.source, span_of(tokens[0]).to(span_of(tokens[-1])),
                    hint="SUBSET U = (A, B)",
                )
            subsets.append(SubsetItem(self._name(tokens[0]), tuple(self._name(token) for token in members[::2])))
        return tuple(subsets)

    def _definitions(self, part: Part | None) -> tuple[DefinitionItem, ...]:
        if part is None:
            return ()
        definitions = []
        for item in self._items(part):
            is_segment = is_segment_definition(item)
            tokens = item[1:] if is_segment else item
            if len(tokens) < 2 or not self._is_name(tokens[0]) or word(tokens[1]) != "AS":
                raise ParseError(
                    "REX102", "DEFINE needs: variable AS condition", self.source, span_of(item[0]),
                    hint="DEFINE A AS price > 10, B AS price < PREV(price)",
                )
            condition = self._expression(tokens[2:], span_of(tokens[1]), "DEFINE")
            if isinstance(condition.tree, exp.Alias):
                raise ParseError("REX104", "a condition has no alias", self.source, condition.span)
            definitions.append(DefinitionItem(self._name(tokens[0]), condition, is_segment))
        return tuple(definitions)

    def _is_name(self, token: Token) -> bool:
        if is_quoted(token, self.source):
            return True
        return bool(token.text) and (token.text[0].isalpha() or token.text[0] == "_") and bool(word(token))

    def _name(self, token: Token) -> Name:
        return Name(self.rules.fold(token.text, is_quoted=is_quoted(token, self.source)), span_of(token))


def is_segment_definition(tokens: list[Token]) -> bool:
    """Whether a definition starts with the word SEGMENT, rather than defining a variable of that name."""
    return len(tokens) > 1 and word(tokens[0]) in ("SEGMENT", "SEG") and word(tokens[1]) != "AS"


_WITH_TIMEOUTS = f"{RowsPerMatch.ONE.value} SHOW TIMEOUT MATCHES"
_ROWS_PER_MATCH = {
    "ONE ROW PER MATCH": RowsPerMatch.ONE,
    "ALL ROWS PER MATCH": RowsPerMatch.ALL_SHOW_EMPTY,
    "ALL ROWS PER MATCH SHOW EMPTY MATCHES": RowsPerMatch.ALL_SHOW_EMPTY,
    "ALL ROWS PER MATCH OMIT EMPTY MATCHES": RowsPerMatch.ALL_OMIT_EMPTY,
    "ALL ROWS PER MATCH WITH UNMATCHED ROWS": RowsPerMatch.ALL_WITH_UNMATCHED,
}
