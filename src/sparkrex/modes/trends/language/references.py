"""References to events, rewritten token by token so that sqlglot's parser can read the rest.

    S.price          __REX_TREND_EVENT(`S`.`price`)         COUNT(S)     COUNT(__REX_TREND_COUNTED(`S`))
    NEXT(S).price    __REX_TREND_NEXT(`S`.`price`)

A name is a variable of the pattern or a type. Attributes become quoted names, so that words of SQL may be some.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError, ParseError, nearest
from sparkrex.languages.events.rewriting import Rewriter, quote_token
from sparkrex.modes.trends.language.syntax import REFERENCE, Reference
from sparkrex.syntax.scalar_text import ROW_PATTERN_FUNCTIONS
from sparkrex.syntax.tokens import is_quoted, span_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from sparkrex.modes.trends.language.syntax import PatternText
    from sparkrex.source import Source
    from sparkrex.syntax.names import NameRules

_USAGE = "A.x < NEXT(B).x compares an event with the one that directly follows it"


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a pattern's events, by their folded spellings."""

    folded: Mapping[str, str]
    known: tuple[str, ...]
    rules: NameRules

    def find(self, token: Token, source: Source) -> str | None:
        """The name that a token spells, None if it spells none."""
        if token.text in self.known:
            return token.text
        return self.folded.get(self.rules.fold(token.text, is_quoted=is_quoted(token, source)))

    def unknown(self, token: Token, source: Source) -> AnalysisError:
        """The error of a token that should spell one."""
        return AnalysisError(
            "REX206", f"{token.text} is not in the pattern", source, span_of(token),
            hint=nearest(token.text, self.known) or f"the pattern has {', '.join(self.known)}",
        )


def names_of(pattern: PatternText, rules: NameRules) -> Names:
    """The names that expressions of a query with this pattern may use; of two that fold alike a variable is meant."""
    variables = [part.variable.text for part in pattern.components if part.is_named]
    ordered = [*(name for name in pattern.names if name not in variables), *variables]
    return Names({rules.fold(name, is_quoted=False): name for name in ordered}, tuple(pattern.names), rules)


def rewrite_references(tokens: Sequence[Token], source: Source, names: Names) -> list[Token]:
    """The tokens of an expression with references, percent literals and equivalence tests rewritten."""
    return _Rewriter(list(tokens), source, names).run()


class _Rewriter(Rewriter):
    def __init__(self, tokens: list[Token], source: Source, names: Names) -> None:
        super().__init__(tokens, source)
        self.names = names

    def rewrite_reference(self) -> bool:
        """A name with an attribute, with NEXT around it, or alone in an aggregate."""
        at = self.position
        if not self.is_name(at) or self.kind(at - 1) is TokenType.DOT:
            return False
        if self.kind(at + 1) is TokenType.L_PAREN and self.word(at) in ROW_PATTERN_FUNCTIONS:
            return self._next(at)
        name = self.names.find(self.tokens[at], self.source)
        if name is None:
            return False
        if self.kind(at + 1) is TokenType.L_BRACKET:
            raise self._indexed(name, at)
        if self.kind(at + 1) is TokenType.DOT and self.kind(at + 2) is not TokenType.STAR:
            return self._write(Reference.EVENT, name, at, at, at)
        is_argument = self.kind(at - 1) is TokenType.L_PAREN and self.is_name(at - 2)
        n_tokens = 3 if self.kind(at + 1) is TokenType.DOT else 1  # COUNT(S.*) is COUNT(S)
        if not is_argument or self.kind(at + n_tokens) is not TokenType.R_PAREN:
            return False
        last = self.tokens[at + n_tokens - 1]
        self.open_call(REFERENCE + Reference.COUNTED.name, self.tokens[at], last)
        self.result.append(quote_token(self.tokens[at], name))
        self.close_call(last)
        self.position = at + n_tokens
        return True

    def _next(self, at: int) -> bool:
        """`NEXT(v).x` whose NEXT stands at `at`."""
        called = self.word(at)
        if called == "MATCH_ROWTIME":
            return False  # it refers to no event
        if called != "NEXT":
            raise AnalysisError(
                "REX207", f"a trend query has no {called}", self.source, span_of(self.tokens[at]), hint=_USAGE
            )
        if not self.is_name(at + 2):
            raise ParseError(
                "REX104", "NEXT takes a name of the pattern", self.source, span_of(self.tokens[at]), hint="NEXT(v).x"
            )
        name = self.names.find(self.tokens[at + 2], self.source)
        if name is None:
            raise self.names.unknown(self.tokens[at + 2], self.source)
        if self.kind(at + 3) is TokenType.L_BRACKET:
            raise self._indexed(name, at + 2)
        if self.kind(at + 3) is not TokenType.R_PAREN:
            is_inside = self.kind(at + 3) is TokenType.DOT and self.is_name(at + 4)
            attribute = self.tokens[at + 4].text if is_inside else "x"
            raise ParseError(
                "REX104", "NEXT is of an event, not of a value", self.source, span_of(self.tokens[at]),
                hint=f"NEXT({name}).{attribute}",
            )
        return self._write(Reference.NEXT, name, at, at + 2, at + 3)

    def _write(self, reference: Reference, name: str, first: int, named: int, last: int) -> bool:
        """The reference from token `first` to `last`, whose name is at `named`, and the attribute after it."""
        self.open_call(REFERENCE + reference.name, self.tokens[first], self.tokens[last])
        self.result.append(quote_token(self.tokens[named], name))
        position = self.append_attributes(last + 1)
        if position == last + 1:
            span = span_of(self.tokens[first]).to(span_of(self.tokens[last]))
            raise ParseError(
                "REX104", "an attribute of the event is missing", self.source, span, hint=f"{reference.of(name)}.x"
            )
        self.close_call(self.tokens[position - 1])
        self.position = position
        return True

    def _indexed(self, name: str, at: int) -> AnalysisError:
        span = span_of(self.tokens[at]).to(span_of(self.tokens[self.closing_bracket(at + 1)]))
        return AnalysisError(
            "REX224", "a trend query refers to events without an index", self.source, span,
            hint=f"{name}.x is the value of any event of {name}, NEXT({name}).x that of the one after it",
        )
