"""References to events, rewritten token by token so that sqlglot's parser can read the rest.

    a.site            __REX_EVENT_SINGLE(`a`.`site`)        b[..i-1].x      __REX_EVENT_BEFORE(`b`.`x`)
    b[i-1].to         __REX_EVENT_PREVIOUS(`b`.`to`)        count(b[])      count(__REX_EVENT_ALL(`b`))
    b[b.LEN].to       __REX_EVENT_LAST(`b`.`to`)            b.LEN           count(__REX_EVENT_ALL(`b`))

Attributes become quoted names, so that words of SQL (`from`, `to`) may be some. `80%` becomes `0.8` where a remainder
cannot be meant: in front of `*`, `/`, a comparison, AND, OR, a comma, a parenthesis or the end. An equivalence test
`[a, b]` becomes `__REX_EQUIVALENCE(a, b)`. Tokens keep their offsets: positions stay exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError, ParseError, nearest
from sparkrex.modes.events.language.syntax import REFERENCE, Index
from sparkrex.syntax.scalar_text import PREFIX
from sparkrex.syntax.tokens import is_quoted, span_of, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.modes.events.language.syntax import Component
    from sparkrex.source import Source
    from sparkrex.syntax.names import NameRules

EQUIVALENCE = "EQUIVALENCE"
_AFTER_PERCENT = {"*", "/", "<", "<=", ">", ">=", "=", "<>", "!=", "==", "AND", "OR", ",", ")"}
_INDICES = "v[1] the first, v[i] each later one, v[i-1] the one before it, v[v.LEN] the last, v[..i-1] and v[] many"


@dataclass(frozen=True, slots=True)
class Variables:
    """The pattern's components by the folded names of their variables."""

    components: Mapping[str, Component]
    rules: NameRules

    def find(self, token: Token, source: Source) -> Component | None:
        """The component whose variable the token names, None if it names none."""
        return self.components.get(self.rules.fold(token.text, is_quoted=is_quoted(token, source)))

    def names(self) -> list[str]:
        """The variables, as the pattern writes them."""
        return [component.variable.text for component in self.components.values()]


def rewrite_references(tokens: Sequence[Token], source: Source, variables: Variables) -> list[Token]:
    """The tokens of an expression with references, percent literals and equivalence tests rewritten."""
    return _Rewriter(list(tokens), source, variables).run()


class _Rewriter:
    def __init__(self, tokens: list[Token], source: Source, variables: Variables) -> None:
        self.tokens = tokens
        self.source = source
        self.variables = variables
        self.position = 0
        self.result: list[Token] = []

    def run(self) -> list[Token]:
        while self.position < len(self.tokens):
            if not (self._percent() or self._equivalence() or self._reference()):
                self.result.append(self.tokens[self.position])
                self.position += 1
        return self.result

    def _kind(self, index: int) -> TokenType | None:
        return self.tokens[index].token_type if 0 <= index < len(self.tokens) else None

    def _word(self, index: int) -> str:
        return word(self.tokens[index]) if 0 <= index < len(self.tokens) else ""

    def _is_name(self, index: int) -> bool:
        if not 0 <= index < len(self.tokens):
            return False
        text = self._word(index)
        return is_quoted(self.tokens[index], self.source) or (bool(text) and (text[0].isalpha() or text[0] == "_"))

    def _percent(self) -> bool:
        at = self.position
        if self._kind(at) is not TokenType.NUMBER or self._word(at + 1) != "%":
            return False
        if at + 2 < len(self.tokens) and self._word(at + 2) not in _AFTER_PERCENT:
            return False
        number, sign = self.tokens[at], self.tokens[at + 1]
        share = Decimal(number.text).scaleb(-2).normalize()
        self.result.append(Token(TokenType.NUMBER, format(share, "f"), number.line, sign.col, number.start, sign.end))
        self.position += 2
        return True

    def _equivalence(self) -> bool:
        """`[names]` where an operand may begin."""
        at = self.position
        if self._kind(at) is not TokenType.L_BRACKET or self._ends_operand(at - 1):
            return False
        end = self._closing(at)
        names = self.tokens[at + 1 : end]
        fits = bool(names) and all(
            self._is_name(at + 1 + place) if place % 2 == 0 else token.token_type is TokenType.COMMA
            for place, token in enumerate(names)
        )
        if not fits:
            return False
        self._call(EQUIVALENCE, self.tokens[at], self.tokens[end])
        self.result += [
            _quote_token(token) if token.token_type is not TokenType.COMMA else token for token in names
        ]
        self._close(self.tokens[end])
        self.position = end + 1
        return True

    def _ends_operand(self, index: int) -> bool:
        if index < 0:
            return False
        closes = self._kind(index) in (TokenType.R_PAREN, TokenType.R_BRACKET)
        is_operator = self._word(index) in ("AND", "OR", "NOT", "IN", "THEN", "WHEN", "ELSE", "LIKE", "BETWEEN")
        return closes or (self._is_name(index) and not is_operator)

    def _reference(self) -> bool:
        at = self.position
        if not self._is_name(at) or self._kind(at - 1) is TokenType.DOT:
            return False
        component = self.variables.find(self.tokens[at], self.source)
        if self._kind(at + 1) is TokenType.L_BRACKET:
            if component is None:
                self._check_no_event(at)
                return False
            end = self._closing(at + 1)
            return self._write(component, self._index(component, at, end), at, end)
        if component is None or self._kind(at + 1) is not TokenType.DOT:
            return False
        is_length = self._word(at + 2) == "LEN" and self._kind(at + 3) is not TokenType.DOT
        if is_length and component.is_repeated:
            last = self.tokens[at + 2]
            self._append(TokenType.VAR, "count", self.tokens[at], last)
            self._append(TokenType.L_PAREN, "(", last, last)
            self._call(REFERENCE + Index.ALL.name, self.tokens[at], last)
            self.result.append(_quote_token(self.tokens[at], component.variable.text))
            self._close(last)
            self._close(last)
            self.position = at + 3
            return True
        return self._write(component, Index.SINGLE, at, at)

    def _write(self, component: Component, index: Index, at: int, end: int) -> bool:
        """The reference from token `at`, whose index ends at `end`, and the attribute after it."""
        self._call(REFERENCE + index.name, self.tokens[at], self.tokens[end])
        self.result.append(_quote_token(self.tokens[at], component.variable.text))
        position = end + 1
        while self._kind(position) is TokenType.DOT and self._is_name(position + 1):
            self.result += [self.tokens[position], _quote_token(self.tokens[position + 1])]
            position += 2
        if position == end + 1:
            self._check_counted(component, index, at, end)
        self._close(self.tokens[position - 1])
        self.position = position
        return True

    def _check_counted(self, component: Component, index: Index, at: int, end: int) -> None:
        """Without an attribute there is nothing to do with events but to count them."""
        is_counted = (
            index in (Index.ALL, Index.BEFORE)
            and self._kind(at - 1) is TokenType.L_PAREN
            and self._word(at - 2) == "COUNT"
            and self._kind(end + 1) is TokenType.R_PAREN
        )
        if not is_counted:
            written = index.of(component.variable.text)
            hint = f"count({written}), or {written}.attribute" if index in (Index.ALL, Index.BEFORE) else (
                f"{written}.attribute"
            )
            span = span_of(self.tokens[at]).to(span_of(self.tokens[end]))
            raise ParseError("REX104", "an attribute of the event is missing", self.source, span, hint=hint)

    def _index(self, component: Component, at: int, end: int) -> Index:
        """What stands in the brackets from token `at` + 1 to `end`."""
        inside = self.tokens[at + 2 : end]
        match [word(token) for token in inside]:
            case []:
                return Index.ALL
            case ["1"]:
                return Index.FIRST
            case ["I"]:
                return Index.CURRENT
            case ["I", "-", "1"]:
                return Index.PREVIOUS
            case [".", ".", "I", "-", "1"]:
                return Index.BEFORE
            case [_, ".", "LEN"] if self.variables.find(inside[0], self.source) is component:
                return Index.LAST
        name = component.variable.text
        span = span_of(self.tokens[at]).to(span_of(self.tokens[end]))
        raise AnalysisError(
            "REX224", f"{self.source.text[span.start : span.end]} is not a reference to an event", self.source, span,
            hint=_INDICES.replace("v[", f"{name}[").replace("v.", f"{name}."),
        )

    def _check_no_event(self, at: int) -> None:
        """A name in front of `[i`, `[]` or `[..` can only be meant for a variable."""
        following = self._word(at + 2)
        if following in ("I", ".") or self._kind(at + 2) is TokenType.R_BRACKET:
            names = self.variables.names()
            token = self.tokens[at]
            raise AnalysisError(
                "REX206", f"{token.text} is not a variable of the pattern", self.source, span_of(token),
                hint=nearest(token.text, names) or f"variables: {', '.join(names)}",
            )

    def _closing(self, opening: int) -> int:
        depth = 0
        for index in range(opening, len(self.tokens)):
            kind = self.tokens[index].token_type
            depth += (kind is TokenType.L_BRACKET) - (kind is TokenType.R_BRACKET)
            if depth == 0:
                return index
        raise ParseError("REX104", "this bracket is never closed", self.source, span_of(self.tokens[opening]))

    def _append(self, kind: TokenType, text: str, first: Token, last: Token) -> None:
        self.result.append(Token(kind, text, first.line, last.col, first.start, last.end))

    def _call(self, name: str, first: Token, last: Token) -> None:
        self._append(TokenType.VAR, PREFIX + name, first, last)
        self._append(TokenType.L_PAREN, "(", last, last)

    def _close(self, last: Token) -> None:
        self._append(TokenType.R_PAREN, ")", last, last)


def _quote_token(token: Token, text: str | None = None) -> Token:
    written = token.text if text is None else text
    return Token(TokenType.IDENTIFIER, written, token.line, token.col, token.start, token.end)
