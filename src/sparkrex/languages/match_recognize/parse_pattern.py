"""The row pattern grammar.

    pattern       = concatenation { "|" concatenation }
    concatenation = { conjunction }                   none: the empty pattern, only inside parentheses
    conjunction   = term { "&" term }
    term          = "~" term | primary [ quantifier ]
    primary       = name | "^" | "$" | "(" [ pattern ] ")" | "{-" pattern "-}" | PERMUTE "(" pattern { "," pattern } ")"
    quantifier    = ( "*" | "+" | "?" | "{" [n] [ "," [m] ] "}" ) [ "?" ]

So a quantifier binds before `~` (`~A+` is `~(A+)`), `~` before `&`, `&` before concatenation, concatenation before `|`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.errors import ParseError
from sparkrex.languages.match_recognize.row_pattern import (
    Alternation,
    Anchor,
    AnchorKind,
    Concatenation,
    Conjunction,
    Empty,
    Exclusion,
    Negation,
    Permutation,
    Quantified,
    RowPattern,
    Variable,
)
from sparkrex.source import Source, Span
from sparkrex.syntax.pattern_reader import PatternReader, lexemes, unquote
from sparkrex.syntax.quantifiers import ROW_PATTERN, read_quantifier, stands_at_quantifier

if TYPE_CHECKING:
    from sparkrex.syntax.names import NameRules

_LEXEME = lexemes(r"\{-|-\}|[|*+?(){},^$&~]")
_ANY = "a variable that DEFINE gives no condition is any row: PATTERN (A X* B), where X is not defined"
_BLANK = "variables that follow each other have a blank between them: PATTERN (A B)"
_OPPOSITE = "define a variable by the opposite condition: DEFINE B AS NOT (...); of segments, ~(B) is the rest"
_FOREIGN = {
    ".*": _ANY, ".+": _ANY, ".": _ANY, "->": _BLANK, ">": _BLANK, ";": _BLANK, "[": "alternatives are written (A | B)",
    "!": _OPPOSITE, ":": "a pattern has no parameters; write the number itself",
    "'": "write the pattern without quotes",
}
_OPERATORS = {
    "OR": "alternatives are written A | B", "AND": f"{_BLANK}; segments that are both, A & B", "NOT": _OPPOSITE,
}
"""Words that are reserved in SQL, so that as variables they are quoted, and mean something to most readers."""
# Far above any written pattern; keeps the recursive readers within Python's stack.
_DEEPEST = 150


def parse_pattern(source: Source, span: Span, rules: NameRules) -> RowPattern:
    """The pattern between PATTERN's parentheses."""
    reader = _Reader(source, span, rules)
    pattern = reader.alternation(0)
    if reader.kind != "end":
        raise reader.error(f"unexpected {reader.text!r} in a pattern", hint=_BLANK if reader.text == "," else None)
    if isinstance(pattern, Empty) and not source.text[span.start : span.end].strip():
        raise ParseError(
            "REX103", "PATTERN () holds no pattern", source, Span(max(0, span.start - 1), span.end + 1),
            hint="name at least one pattern variable; (()) is the pattern that matches nothing",
        )
    return pattern


class _Reader(PatternReader):
    def __init__(self, source: Source, span: Span, rules: NameRules) -> None:
        super().__init__(source, span, _LEXEME, "REX103", _FOREIGN)
        self.rules = rules

    def alternation(self, depth: int) -> RowPattern:
        start = self.span
        if depth > _DEEPEST:
            raise ParseError("REX106", "the pattern is nested too deeply", self.source, self.span)
        options = [self._concatenation(depth)]
        while self.accept("|"):
            options.append(self._concatenation(depth, is_option=True))
        return options[0] if len(options) == 1 else Alternation(tuple(options), span=self.since(start))

    def _concatenation(self, depth: int, *, is_option: bool = False) -> RowPattern:
        start = self.span
        items: list[RowPattern] = []
        while self.kind != "end" and self.text not in ("|", ")", ",", "-}"):
            items.append(self._conjunction(depth))
        if not items:
            if is_option or self.text == "|":
                hint = "alternatives have one | between them; () is the empty pattern"
                raise self.error("a pattern is missing here", hint=hint)
            return Empty(span=Span(start.start, start.start))
        return items[0] if len(items) == 1 else Concatenation(tuple(items), span=self.since(start))

    def _conjunction(self, depth: int) -> RowPattern:
        start = self.span
        items = [self._term(depth)]
        while self.accept("&"):
            items.append(self._term(depth))
        return items[0] if len(items) == 1 else Conjunction(tuple(items), span=self.since(start))

    def _term(self, depth: int) -> RowPattern:
        start = self.span
        if depth > _DEEPEST:
            raise ParseError("REX106", "the pattern is nested too deeply", self.source, self.span)
        if self.accept("~"):
            negated = self._term(depth + 1)
            return Negation(negated, span=self.since(start))
        body = self._primary(depth)
        if not stands_at_quantifier(self):
            return body
        minimum, maximum = read_quantifier(self, ROW_PATTERN)
        is_greedy = not self.accept("?")
        if stands_at_quantifier(self):
            raise self.error("a quantifier follows a quantifier", hint="put the inner pattern in parentheses")
        return Quantified(body, minimum, maximum, is_greedy, span=self.since(start))

    def _primary(self, depth: int) -> RowPattern:
        start = self.span
        if self.kind == "name" and self.text.upper() == "PERMUTE" and self.is_before("("):
            self.advance()
            self.advance()
            items = [self._read_permute(depth)]
            while self.accept(","):
                items.append(self._read_permute(depth))
            self._expect(")", "PERMUTE (")
            return Permutation(tuple(items), span=self.since(start))
        if self.kind == "name" and self.text.upper() in _OPERATORS:
            word = self.text.upper()
            hint = f'{_OPERATORS[word]}; a variable of that name is written "{word}"'
            raise self.error(f"{word} is not an operator of patterns", hint=hint)
        if self.kind in ("name", "quoted"):
            name = unquote(self.text) if self.kind == "quoted" else self.text
            folded = self.rules.fold(name, is_quoted=self.kind == "quoted")
            self.advance()
            return Variable(folded, span=start)
        if self.accept("^"):
            return Anchor(AnchorKind.START, span=start)
        if self.accept("$"):
            return Anchor(AnchorKind.END, span=start)
        if self.accept("("):
            if self.accept(")"):
                return Empty(span=self.since(start))
            body = self.alternation(depth + 1)
            self._expect(")", "(")
            return body
        if self.accept("{-"):
            body = self.alternation(depth + 1)
            self._expect("-}", "{-")
            if isinstance(body, Empty) and body.span is not None and body.span.start == body.span.end:
                raise ParseError("REX103", "an exclusion holds no pattern", self.source, self.since(start))
            return Exclusion(body, span=self.since(start))
        raise self.error(
            f"unexpected {self.text!r}", hint="a pattern is made of variables, ( ), |, &, ~, quantifiers, ^ and $"
        )

    def _read_permute(self, depth: int) -> RowPattern:
        if self.text in (",", ")"):
            raise self.error("PERMUTE needs a pattern here")
        return self.alternation(depth + 1)

    def _expect(self, symbol: str, opener: str) -> None:
        if not self.accept(symbol):
            raise self.error(f"expected {symbol} to close {opener}, found {self.text!r}")
