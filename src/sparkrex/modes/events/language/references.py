"""References to events, rewritten token by token so that sqlglot's parser can read the rest.

    a.site            __REX_EVENT_SINGLE(`a`.`site`)        b[..i-1].x      __REX_EVENT_BEFORE(`b`.`x`)
    b[i-1].to         __REX_EVENT_PREVIOUS(`b`.`to`)        count(b[])      count(__REX_EVENT_ALL(`b`))
    b[b.LEN].to       __REX_EVENT_LAST(`b`.`to`)            b.LEN           count(__REX_EVENT_ALL(`b`))

Attributes become quoted names, so that words of SQL (`from`, `to`) may be some. The rest is `languages.events`'.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError, ParseError, nearest
from sparkrex.languages.events.rewriting import Rewriter, quote_token
from sparkrex.modes.events.language.syntax import REFERENCE, Index
from sparkrex.syntax.tokens import is_quoted, span_of, word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.modes.events.language.syntax import Component
    from sparkrex.source import Source
    from sparkrex.syntax.names import NameRules

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


class _Rewriter(Rewriter):
    def __init__(self, tokens: list[Token], source: Source, variables: Variables) -> None:
        super().__init__(tokens, source)
        self.variables = variables

    def rewrite_reference(self) -> bool:
        """A variable with an index or an attribute."""
        at = self.position
        if not self.is_name(at) or self.kind(at - 1) is TokenType.DOT:
            return False
        component = self.variables.find(self.tokens[at], self.source)
        if self.kind(at + 1) is TokenType.L_BRACKET:
            if component is None:
                self._check_no_event(at)
                return False
            end = self.closing_bracket(at + 1)
            return self._write(component, self._index(component, at, end), at, end)
        if component is None or self.kind(at + 1) is not TokenType.DOT:
            return False
        is_length = self.word(at + 2) == "LEN" and self.kind(at + 3) is not TokenType.DOT
        if is_length and component.is_repeated:
            last = self.tokens[at + 2]
            self.append(TokenType.VAR, "count", self.tokens[at], last)
            self.append(TokenType.L_PAREN, "(", last, last)
            self.open_call(REFERENCE + Index.ALL.name, self.tokens[at], last)
            self.result.append(quote_token(self.tokens[at], component.variable.text))
            self.close_call(last)
            self.close_call(last)
            self.position = at + 3
            return True
        return self._write(component, Index.SINGLE, at, at)

    def _write(self, component: Component, index: Index, at: int, end: int) -> bool:
        """The reference from token `at`, whose index ends at `end`, and the attribute after it."""
        self.open_call(REFERENCE + index.name, self.tokens[at], self.tokens[end])
        self.result.append(quote_token(self.tokens[at], component.variable.text))
        position = self.append_attributes(end + 1)
        if position == end + 1:
            self._check_counted(component, index, at, end)
        self.close_call(self.tokens[position - 1])
        self.position = position
        return True

    def _check_counted(self, component: Component, index: Index, at: int, end: int) -> None:
        """Without an attribute there is nothing to do with events but to count them."""
        is_counted = (
            index in (Index.ALL, Index.BEFORE)
            and self.kind(at - 1) is TokenType.L_PAREN
            and self.word(at - 2) == "COUNT"
            and self.kind(end + 1) is TokenType.R_PAREN
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
        following = self.word(at + 2)
        if following in ("I", ".") or self.kind(at + 2) is TokenType.R_BRACKET:
            names = self.variables.names()
            token = self.tokens[at]
            raise AnalysisError(
                "REX206", f"{token.text} is not a variable of the pattern", self.source, span_of(token),
                hint=nearest(token.text, names) or f"variables: {', '.join(names)}",
            )
