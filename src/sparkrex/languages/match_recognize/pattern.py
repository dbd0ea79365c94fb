"""The row pattern grammar.

    pattern       = concatenation { "|" concatenation }
    concatenation = { conjunction }                   none: the empty pattern, only inside parentheses
    conjunction   = term { "&" term }
    term          = "~" term | primary [ quantifier ]
    primary       = name | "^" | "$" | "(" [ pattern ] ")" | "{-" pattern "-}" | PERMUTE "(" pattern { "," pattern } ")"
    quantifier    = ( "*" | "+" | "?" | "{" [n] [ "," [m] ] "}" ) [ "?" ]

So a quantifier binds before `~` (`~A+` is `~(A+)`), `~` before `&`, `&` before concatenation, concatenation before `|`.

Read from the characters, not from SQL tokens: dialects tokenize `??`, `$` and `{-` in their own ways.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from sparkrex.errors import ParseError
from sparkrex.ir.row_pattern import (
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

if TYPE_CHECKING:
    from sparkrex.languages.match_recognize.names import NameRules

_LEXEME = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?\*/)
      | (?P<name>[^\W\d]\w*)
      | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)
      | (?P<number>\d+)
      | (?P<symbol>\{-|-\}|[|*+?(){},^$&~])""",
    re.VERBOSE | re.DOTALL,
)
# Far above any written pattern; keeps the recursive readers within Python's stack.
_DEEPEST = 150


def parse_pattern(source: Source, span: Span, rules: NameRules) -> RowPattern:
    """The pattern between PATTERN's parentheses."""
    reader = _Reader(source, span, rules)
    pattern = reader.alternation(0)
    if reader.kind != "end":
        raise reader.error(f"unexpected {reader.text}")
    if isinstance(pattern, Empty) and not source.text[span.start : span.end].strip():
        raise ParseError(
            "REX103", "PATTERN () holds no pattern", source, Span(max(0, span.start - 1), span.end + 1),
            hint="name at least one pattern variable; (()) is the pattern that matches nothing",
        )
    return pattern


class _Reader:
    def __init__(self, source: Source, span: Span, rules: NameRules) -> None:
        self.source = source
        self.rules = rules
        self.end = span.end
        self.position = span.start
        self.previous_end = span.start
        self.kind, self.text, self.span = "end", "", span
        self._advance()

    def alternation(self, depth: int) -> RowPattern:
        start = self.span
        if depth > _DEEPEST:
            raise ParseError("REX106", "the pattern is nested too deeply", self.source, self.span)
        options = [self._concatenation(depth)]
        while self._accept("|"):
            options.append(self._concatenation(depth, is_option=True))
        return options[0] if len(options) == 1 else Alternation(tuple(options), span=self._since(start))

    def _concatenation(self, depth: int, *, is_option: bool = False) -> RowPattern:
        start = self.span
        items: list[RowPattern] = []
        while self.kind != "end" and self.text not in ("|", ")", ",", "-}"):
            items.append(self._conjunction(depth))
        if not items:
            if is_option or self.text == "|":
                raise self.error("a pattern is missing here", hint="write () for the empty pattern")
            return Empty(span=Span(start.start, start.start))
        return items[0] if len(items) == 1 else Concatenation(tuple(items), span=self._since(start))

    def _conjunction(self, depth: int) -> RowPattern:
        start = self.span
        items = [self._term(depth)]
        while self._accept("&"):
            items.append(self._term(depth))
        return items[0] if len(items) == 1 else Conjunction(tuple(items), span=self._since(start))

    def _term(self, depth: int) -> RowPattern:
        start = self.span
        if depth > _DEEPEST:
            raise ParseError("REX106", "the pattern is nested too deeply", self.source, self.span)
        if self._accept("~"):
            negated = self._term(depth + 1)
            return Negation(negated, span=self._since(start))
        body = self._primary(depth)
        if self.text not in ("*", "+", "?", "{") or self.kind == "quoted":
            return body
        quantified = self._quantifier(body, start)
        if self.text in ("*", "+", "?", "{") and self.kind == "symbol":
            raise self.error("a quantifier follows a quantifier", hint="put the inner pattern in parentheses")
        return quantified

    def _primary(self, depth: int) -> RowPattern:
        start = self.span
        if self.kind == "name" and self.text.upper() == "PERMUTE" and self._peek_parenthesis():
            self._advance()
            self._advance()
            items = [self._permuted(depth)]
            while self._accept(","):
                items.append(self._permuted(depth))
            self._expect(")", "PERMUTE (")
            return Permutation(tuple(items), span=self._since(start))
        if self.kind in ("name", "quoted"):
            name = _unquote(self.text) if self.kind == "quoted" else self.text
            folded = self.rules.fold(name, is_quoted=self.kind == "quoted")
            self._advance()
            return Variable(folded, span=start)
        if self._accept("^"):
            return Anchor(AnchorKind.START, span=start)
        if self._accept("$"):
            return Anchor(AnchorKind.END, span=start)
        if self._accept("("):
            if self._accept(")"):
                return Empty(span=self._since(start))
            body = self.alternation(depth + 1)
            self._expect(")", "(")
            return body
        if self._accept("{-"):
            body = self.alternation(depth + 1)
            self._expect("-}", "{-")
            if isinstance(body, Empty) and body.span is not None and body.span.start == body.span.end:
                raise ParseError("REX103", "an exclusion holds no pattern", self.source, self._since(start))
            return Exclusion(body, span=self._since(start))
        raise self.error(
            f"unexpected {self.text!r}", hint="a pattern is made of variables, ( ), |, &, ~, quantifiers, ^ and $"
        )

    def _permuted(self, depth: int) -> RowPattern:
        if self.text in (",", ")"):
            raise self.error("PERMUTE needs a pattern here")
        return self.alternation(depth + 1)

    def _quantifier(self, body: RowPattern, start: Span) -> Quantified:
        quantifier = self.span
        minimum, maximum = 0, None
        if self._accept("*"):
            pass
        elif self._accept("+"):
            minimum = 1
        elif self._accept("?"):
            maximum = 1
        else:
            self._advance()
            minimum, maximum = self._bounds(quantifier)
        is_greedy = not self._accept("?")
        return Quantified(body, minimum, maximum, is_greedy, span=self._since(start))

    def _bounds(self, quantifier: Span) -> tuple[int, int | None]:
        lower = self._number()
        upper = lower
        if self._accept(","):
            upper = self._number()  # {,} is {0,}
        elif lower is None:
            raise self.error("a quantifier in braces needs a number", hint="{n}, {n,}, {,m} or {n,m}")
        self._expect("}", "{")
        minimum = lower or 0
        if upper is not None and upper < max(1, minimum):
            reason = "the upper bound is zero" if upper == 0 else "the upper bound is below the lower one"
            raise ParseError(
                "REX105", f"this quantifier allows nothing: {reason}", self.source, self._since(quantifier),
                hint="leave the element out" if upper == 0 else f"did you mean {{{upper},{minimum}}}?",
            )
        return minimum, upper

    def _number(self) -> int | None:
        if self.kind != "number":
            return None
        value = int(self.text)
        self._advance()
        return value

    def error(self, message: str, *, hint: str | None = None) -> ParseError:
        """The error to raise about the lexeme that stands here."""
        if self.kind == "end":
            message = "the pattern ends too early"
        return ParseError("REX103", message, self.source, self.span, hint=hint)

    def _accept(self, symbol: str) -> bool:
        if self.kind == "symbol" and self.text == symbol:
            self._advance()
            return True
        return False

    def _expect(self, symbol: str, opener: str) -> None:
        if not self._accept(symbol):
            raise self.error(f"expected {symbol} to close {opener}, found {self.text!r}")

    def _peek_parenthesis(self) -> bool:
        rest = self.source.text[self.position : self.end]
        return rest.lstrip().startswith("(")

    def _since(self, start: Span) -> Span:
        return Span(start.start, max(start.start, self.previous_end))

    def _advance(self) -> None:
        self.previous_end = self.span.end if self.kind != "end" else self.position
        while self.position < self.end:
            found = _LEXEME.match(self.source.text, self.position, self.end)
            if found is None:
                at = Span(self.position, self.position + 1)
                raise ParseError(
                    "REX103", f"unexpected {self.source.text[self.position]!r} in a pattern", self.source, at
                )
            self.position = found.end()
            if found.lastgroup != "space":
                self.kind, self.text = found.lastgroup or "", found.group()
                self.span = Span(*found.span())
                return
        self.kind, self.text, self.span = "end", "the end of the pattern", Span(self.end, self.end)


def _unquote(text: str) -> str:
    quote = text[0]
    return text[1:-1].replace(quote * 2, quote)
