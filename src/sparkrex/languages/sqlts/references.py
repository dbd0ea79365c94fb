"""References to rows of elements, found in tokens.

`X.column`, `X.previous.column`, `X.next.next.column`, with `->` for any dot; `FIRST(Y)` and `LAST(Y)` in the place of
the element, and `FIRST(Y.column)` for `FIRST(Y).column`. `previous` and `next` are columns only when they are quoted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from sqlglot.tokenizer_core import Token, TokenType

from sparkrex.errors import AnalysisError, nearest
from sparkrex.languages.sqlts.elements import is_name
from sparkrex.languages.sqlts.syntax import Element, Reference
from sparkrex.syntax.tokens import is_quoted, span_of, word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sparkrex.source import Source, Span

_STEPS = {"PREVIOUS": -1, "NEXT": 1}
_DOTS = (TokenType.DOT, TokenType.ARROW)


class References:
    """Finds the references of one query."""

    def __init__(self, tokens: Sequence[Token], elements: Sequence[Element], source: Source) -> None:
        self.tokens = tokens
        self.source = source
        self.names = [element.name for element in elements]

    def starting_at(self, at: int) -> Reference | None:
        """The reference whose first token is given, None if none begins there."""
        if at and self.tokens[at - 1].token_type in _DOTS:
            return None
        if word(self.tokens[at]) in ("FIRST", "LAST") and self._kind(at + 1) is TokenType.L_PAREN:
            return self._of_an_end(at)
        element = self.element_at(at)
        if element is None or not self._is_dot(at + 1):
            return None
        return self._path(at, at + 1, element, is_first=False)

    def counted_at(self, at: int) -> str | None:
        """The element whose rows `COUNT(X)` counts, if that begins here."""
        kinds = [self._kind(at + 1), self._kind(at + 3)]
        is_call = word(self.tokens[at]) == "COUNT" and kinds == [TokenType.L_PAREN, TokenType.R_PAREN]
        return self.element_at(at + 2) if is_call else None

    def element_at(self, at: int) -> str | None:
        """The element that the token names."""
        if at >= len(self.tokens) or not is_name(self.tokens[at], self.source):
            return None
        name = self.tokens[at].text.upper()
        return name if name in self.names else None

    def fail_unknown(self, name: str, span: Span) -> NoReturn:
        """Say that a name is no element."""
        hint = nearest(name.upper(), self.names) or f"the elements are {', '.join(self.names)}"
        raise AnalysisError("REX206", f"{name} is not an element of the pattern", self.source, span, hint=hint)

    def _of_an_end(self, at: int) -> Reference | None:
        """`FIRST(Y).column` or `FIRST(Y.column)`."""
        is_first = word(self.tokens[at]) == "FIRST"
        if self._kind(at + 2) is None or not is_name(self.tokens[at + 2], self.source):
            return None
        element = self.element_at(at + 2)
        if self._kind(at + 3) is TokenType.R_PAREN:
            if not self._is_dot(at + 4):
                if element is not None:
                    self._fail_without_column(at, at + 3)
                return None  # an aggregate of the host's
            if element is None:
                self.fail_unknown(self.tokens[at + 2].text, span_of(self.tokens[at + 2]))
            return self._path(at, at + 4, element, is_first=is_first)
        if element is None or not self._is_dot(at + 3):
            return None
        inner = self._path(at + 2, at + 3, element, is_first=is_first)
        if inner is None or self._kind(inner.last + 1) is not TokenType.R_PAREN:
            name = word(self.tokens[at])
            raise AnalysisError(
                "REX207", f"{name} takes an element, or one column of it", self.source,
                span_of(self.tokens[at]).to(span_of(self.tokens[at + 3])),
                hint=f"{name}({element}).price, and compute with that",
            )
        return Reference(at, inner.last + 1, element, is_first, inner.shift, inner.column)

    def _path(self, first: int, dot: int, element: str, *, is_first: bool) -> Reference | None:
        """The reference whose steps and column begin with the dot; None for `X.*`."""
        shift = 0
        while self._is_dot(dot) and self._step(dot + 1):
            step = self._step(dot + 1)
            if shift * step < 0:
                raise AnalysisError(
                    "REX207", "previous and next cannot be mixed in one reference", self.source,
                    span_of(self.tokens[first]).to(span_of(self.tokens[dot + 1])),
                    hint=f"{element}.column is the row itself",
                )
            shift += step
            dot += 2
        if not self._is_dot(dot):
            self._fail_without_column(first, dot - 1)
        if self._kind(dot + 1) is TokenType.STAR:
            return None
        if self._kind(dot + 1) is None or not is_name(self.tokens[dot + 1], self.source):
            self._fail_without_column(first, dot)
        last = dot + 1
        while self._kind(last + 1) is TokenType.DOT and self._is_field(last + 2):
            last += 2
        return Reference(first, last, element, is_first, shift, range(dot + 1, last + 1))

    def _is_field(self, at: int) -> bool:
        return self._kind(at) is not None and is_name(self.tokens[at], self.source)

    def _step(self, at: int) -> int:
        if self._kind(at) is None or is_quoted(self.tokens[at], self.source):
            return 0
        return _STEPS.get(word(self.tokens[at]), 0)

    def _is_dot(self, at: int) -> bool:
        if self._kind(at) is TokenType.ARROW:
            # `x -> x + 1` is a function of its parameter, and `X.doc -> 'a'` reads a document.
            follows = at + 1 < len(self.tokens) and is_name(self.tokens[at + 1], self.source)
            return follows and self.tokens[at + 1].text.upper() != self.tokens[at - 1].text.upper()
        return self._kind(at) is TokenType.DOT

    def _kind(self, at: int) -> TokenType | None:
        return self.tokens[at].token_type if at < len(self.tokens) else None

    def _fail_without_column(self, first: int, last: int) -> NoReturn:
        written = self.source.text[self.tokens[first].start : self.tokens[last].end + 1]
        quoted = last > first and word(self.tokens[last]) in _STEPS
        raise AnalysisError(
            "REX207", f"{written} is a row, and a column of it is expected", self.source,
            span_of(self.tokens[first]).to(span_of(self.tokens[last])),
            hint=f"{written.rstrip('.')}.price" + ("; a column of that name is written in quotes" if quoted else ""),
        )
