"""Tokens of an expression rewritten so that sqlglot's parser can read what only languages of events have.

Shared by those languages: `80%` becomes `0.8` where a remainder cannot be meant: in front of `*`, `/`, a comparison,
AND, OR, a comma, a parenthesis or the end. An equivalence test `[a, b]` becomes `__REX_EQUIVALENCE(a, b)`. How events
are referred to is each language's own. Tokens keep their offsets: positions stay exact.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import ParseError, UnsupportedError
from sparkrex.syntax.scalar_text import PREFIX
from sparkrex.syntax.tokens import is_quoted, span_of, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.source import Source

EQUIVALENCE = "EQUIVALENCE"
_AFTER_PERCENT = {"*", "/", "<", "<=", ">", ">=", "=", "<>", "!=", "==", "AND", "OR", ",", ")"}


class Rewriter:
    """Goes through tokens once; a language adds `rewrite_reference`."""

    def __init__(self, tokens: list[Token], source: Source) -> None:
        self.tokens = tokens
        self.source = source
        self.position = 0
        self.result: list[Token] = []

    def run(self) -> list[Token]:
        """All tokens, rewritten."""
        while self.position < len(self.tokens):
            if not (self._percent() or self._equivalence() or self.rewrite_reference()):
                self.result.append(self.tokens[self.position])
                self.position += 1
        return self.result

    def rewrite_reference(self) -> bool:
        """Rewrite the reference to an event that begins here, and go on behind it; false if none does."""
        raise NotImplementedError

    # -- what stands at a token --

    def kind(self, index: int) -> TokenType | None:
        """Of a token, None beyond the ends."""
        return self.tokens[index].token_type if 0 <= index < len(self.tokens) else None

    def word(self, index: int) -> str:
        """In upper case, empty beyond the ends and for what cannot be a keyword."""
        return word(self.tokens[index]) if 0 <= index < len(self.tokens) else ""

    def is_name(self, index: int) -> bool:
        """Whether the token can be a name, words of SQL among them."""
        if not 0 <= index < len(self.tokens):
            return False
        text = self.word(index)
        return is_quoted(self.tokens[index], self.source) or (bool(text) and (text[0].isalpha() or text[0] == "_"))

    def closing_bracket(self, opening: int) -> int:
        """The token that closes the bracket at `opening`."""
        depth = 0
        for index in range(opening, len(self.tokens)):
            kind = self.tokens[index].token_type
            depth += (kind is TokenType.L_BRACKET) - (kind is TokenType.R_BRACKET)
            if depth == 0:
                return index
        raise ParseError("REX104", "this bracket is never closed", self.source, span_of(self.tokens[opening]))

    # -- what is written --

    def append(self, kind: TokenType, text: str, first: Token, last: Token) -> None:
        """Write a token that stands for those from `first` to `last`."""
        self.result.append(Token(kind, text, first.line, last.col, first.start, last.end))

    def open_call(self, name: str, first: Token, last: Token) -> None:
        """Write the beginning of a call of one of our functions."""
        self.append(TokenType.VAR, PREFIX + name, first, last)
        self.append(TokenType.L_PAREN, "(", last, last)

    def close_call(self, last: Token) -> None:
        """Write the end of a call."""
        self.append(TokenType.R_PAREN, ")", last, last)

    def append_attributes(self, position: int) -> int:
        """Write `.name` as often as it stands here, quoted so that words of SQL may be names; the token behind it."""
        while self.kind(position) is TokenType.DOT and self.is_name(position + 1):
            self.result += [self.tokens[position], quote_token(self.tokens[position + 1])]
            position += 2
        return position

    # -- what all languages have --

    def _percent(self) -> bool:
        at = self.position
        if self.kind(at) is not TokenType.NUMBER or self.word(at + 1) != "%":
            return False
        if at + 2 < len(self.tokens) and self.word(at + 2) not in _AFTER_PERCENT:
            return False
        number, sign = self.tokens[at], self.tokens[at + 1]
        share = Decimal(number.text).scaleb(-2).normalize()
        self.append(TokenType.NUMBER, format(share, "f"), number, sign)
        self.position += 2
        return True

    def _equivalence(self) -> bool:
        """`[names]` where an operand may begin."""
        at = self.position
        if self.kind(at) is not TokenType.L_BRACKET or self._ends_operand(at - 1):
            return False
        end = self.closing_bracket(at)
        names = self.tokens[at + 1 : end]
        fits = bool(names) and all(
            self.is_name(at + 1 + place) if place % 2 == 0 else token.token_type is TokenType.COMMA
            for place, token in enumerate(names)
        )
        if not fits:
            return False
        self.open_call(EQUIVALENCE, self.tokens[at], self.tokens[end])
        self.result += [quote_token(token) if token.token_type is not TokenType.COMMA else token for token in names]
        self.close_call(self.tokens[end])
        self.position = end + 1
        return True

    def _ends_operand(self, index: int) -> bool:
        if index < 0:
            return False
        closes = self.kind(index) in (TokenType.R_PAREN, TokenType.R_BRACKET)
        is_operator = self.word(index) in ("AND", "OR", "NOT", "IN", "THEN", "WHEN", "ELSE", "LIKE", "BETWEEN")
        return closes or (self.is_name(index) and not is_operator)


def referred_name(call: exp.Expr) -> str:
    """The name that a reference begins with: of our call's argument, which is a name with attributes or without."""
    argument = call.expressions[0]
    while isinstance(argument, exp.Dot):
        argument = argument.this
    names = [argument.args.get(key) for key in ("catalog", "db", "table", "this")]
    return next(str(name.name) for name in names if name is not None)


def refuse_bracket_names(tokens: Sequence[Token], source: Source, queries: str) -> None:
    """Fail if brackets quote names in this dialect: in `queries` they are something else."""
    for token in tokens:
        if token.token_type is TokenType.IDENTIFIER and source.text[token.start] == "[":
            raise UnsupportedError(
                "REX301", f"{queries} in a dialect that quotes names with brackets are not supported yet", source,
                span_of(token), hint="write the query in another dialect, such as spark",
            )


def quote_token(token: Token, text: str | None = None) -> Token:
    """The token as a quoted name, with another text if one is given."""
    written = token.text if text is None else text
    return Token(TokenType.IDENTIFIER, written, token.line, token.col, token.start, token.end)
