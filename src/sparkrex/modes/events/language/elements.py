"""The reader of event patterns, lexeme by lexeme; the grammar is in `pattern`."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError, ParseError
from sparkrex.modes.events.language.syntax import Component
from sparkrex.modes.events.pattern import Absent, AllOf, AnyOf, Event, EventPattern, Kleene, Sequence
from sparkrex.source import Span
from sparkrex.syntax.items import Name
from sparkrex.syntax.pattern_reader import PatternReader, lexemes, unquote
from sparkrex.syntax.quantifiers import EVENT_PATTERN, read_quantifier, stands_at_quantifier

if TYPE_CHECKING:
    from sparkrex.source import Source
    from sparkrex.syntax.names import NameRules

_LEXEME = lexemes(r"[|*+?(){},~\[\]]")
_COMMA = "components have commas between them: SEQ(Alert a, Exit b)"
_GROUPS = ("SEQ", "AND", "OR")
_WORDS = (*_GROUPS, "NOT", "KL")
_FOREIGN = {
    "!": "a negated component is written ~(Type variable)", "->": _COMMA, ";": _COMMA, ">": _COMMA,
    "'": "write a type without quotes or, if it is not a plain word, in the quotes of names",
}
# Far above any written pattern; keeps the recursive readers within Python's stack.
_DEEPEST = 100


class ElementReader(PatternReader):
    """Reads elements of a pattern; `found` are the components so far."""

    def __init__(self, source: Source, span: Span, rules: NameRules) -> None:
        super().__init__(source, span, _LEXEME, "REX108", _FOREIGN)
        self.rules = rules
        # Nothing around a component has been read yet when it is found, so none is known to be repeated.
        self.found: list[Component] = []

    def element(self, depth: int) -> EventPattern:
        """A component, a negation or a group; `depth` groups are around it."""
        start = self.span
        if depth > _DEEPEST:
            raise ParseError("REX106", "the pattern is nested too deeply", self.source, self.span)
        if self.accept("~"):
            return self._negation(start)
        if self.accept("("):
            return self._group(start, depth, "")
        word = self._word()
        if word:
            self.advance()
        if word in _GROUPS:
            self.advance()
            return self._group(start, depth, word)
        if word:
            return self._negation(start) if word == "NOT" else self._kleene(start)
        if self.kind == "name" and self.text.upper() == "NOT":
            self._refuse_bare_not()
        return self._component(start)

    def _word(self) -> str:
        """The word of the grammar that stands here in front of a parenthesis; anywhere else it is a type."""
        is_one = self.kind == "name" and self.text.upper() in _WORDS and self.is_before("(")
        return self.text.upper() if is_one else ""

    def _refuse_bare_not(self) -> None:
        """Two names behind it: then NOT is not itself a type."""
        found = re.match(r"\s*(\w+)\s+(\w+)", self.source.text[self.position : self.end])
        if found is not None:
            raise self.error(
                "NOT has its component in parentheses", hint=f"NOT({found[1]} {found[2]}), or ~({found[1]} {found[2]})"
            )

    def _group(self, start: Span, depth: int, word: str) -> EventPattern:
        opening = Span(self.previous_end - 1, self.previous_end)
        items = [self.element(depth + 1)]
        separator = "|" if self.text == "|" and not word else ","
        while self.accept(separator):
            items.append(self.element(depth + 1))
        if not self.accept(")"):
            if self.kind == "name" and self.text.upper() == "WHERE":
                raise ParseError(
                    self.code, "this parenthesis is never closed: WHERE follows inside it", self.source, opening
                )
            what = f"{word}( ... ) has components with commas between them" if word else (
                "( ... ) has either commas, for a sequence, or |, for alternatives"
            )
            raise self.error(f"expected {separator} or ), found {self.text!r}", hint=what)
        body = self._body(word or separator, items, self.since(start))
        quantified = self._read_quantifier(body, start)
        if isinstance(quantified, Kleene | AnyOf) or depth > 0:
            self._refuse_negation(items)
        return quantified

    def _body(self, kind: str, items: list[EventPattern], span: Span) -> EventPattern:
        match kind:
            case "OR" if len(items) < 2:
                raise ParseError(
                    self.code, "OR has at least two alternatives", self.source, span,
                    hint=f"OR({items[0]}, Type variable)",
                )
            case "|" | "OR":
                return AnyOf(tuple(items), span=span)
            case "AND":
                return AllOf(tuple(_spread(items, AllOf)), span=span)
            case _:
                return Sequence(tuple(_spread(items, Sequence)), span=span)

    def _refuse_negation(self, items: list[EventPattern]) -> None:
        for item in items:
            if isinstance(item, Absent):
                raise AnalysisError(
                    "REX225", "a negated component stands in the outermost SEQ or AND only", self.source, item.span,
                    hint=f"PATTERN SEQ( ..., {item}, ... )",
                )

    def _negation(self, start: Span) -> EventPattern:
        has_parenthesis = self.accept("(")
        inner = self.span
        if self.text in ("(", "~") or self._word() or self.kind not in ("name", "quoted"):
            raise AnalysisError(
                "REX225", "a negated component is one event", self.source, self.span, hint="~(Type variable)"
            )
        body = self._component(inner)
        if isinstance(body, Kleene):
            raise AnalysisError(
                "REX225", "a negated component has no quantifier: one such event is one too many", self.source,
                body.span, hint=f"~({body.body})",
            )
        if has_parenthesis and not self.accept(")"):
            raise self.error(f"expected ) after the negated component, found {self.text!r}", hint="~(Type variable)")
        assert isinstance(body, Event)  # without a quantifier
        self.found[-1] = replace(self.found[-1], is_negated=True)
        return Absent(body, span=self.since(start))

    def _kleene(self, start: Span) -> EventPattern:
        """`KL(T v)`, from its parenthesis on."""
        self.accept("(")
        if self.text in ("(", "~") or self._word():
            raise self.error("KL repeats events of one type", hint="KL(Type variable); a group repeats as SEQ( ... )+")
        event = self._component(self.span)
        if not isinstance(event, Event):
            raise ParseError(
                self.code, "KL is itself a quantifier", self.source, event.span,
                hint=f"KL({self.found[-1].type.text} {self.found[-1].variable.text}) is "
                f"{self.found[-1].type.text}+ {self.found[-1].variable.text}[]",
            )
        if not self.accept(")"):
            raise self.error(f"expected ) after the component, found {self.text!r}", hint="KL(Type variable)")
        return Kleene(event, 1, None, span=self.since(start))

    def _component(self, start: Span) -> EventPattern:
        kind = self._name("a type of events", hint="a component is a type and a variable: Alert a, Shipment+ b[]")
        bounds = self._bounds()
        variable, key = self._variable(kind)
        has_brackets = self.accept("[")
        if has_brackets and not self.accept("]"):
            raise self.error("a component's brackets are empty", hint=f"{kind.text}+ {variable.text}[]")
        event = Event(kind.text, variable.text, span=self.since(start))
        self.found.append(Component(kind, variable, key, has_brackets, is_repeated=False, is_negated=False))
        if bounds is None:
            return event
        result = Kleene(event, *bounds, span=event.span)
        if not has_brackets and bounds[1] != 1:
            raise AnalysisError(
                "REX224", f"{variable.text} means several events: it is an array", self.source, variable.span,
                hint=str(result),
            )
        return result

    def _variable(self, kind: Name) -> tuple[Name, str]:
        is_quoted = self.kind == "quoted"
        name = self._name(f"a variable after {kind.text}", hint=f"{kind.text} a, or {kind.text}+ a[]")
        return name, self.rules.fold(name.text, is_quoted=is_quoted)

    def _name(self, what: str, *, hint: str) -> Name:
        if self.kind not in ("name", "quoted"):
            raise self.error(f"expected {what}, found {self.text!r}", hint=hint)
        name = Name(unquote(self.text) if self.kind == "quoted" else self.text, self.span)
        self.advance()
        return name

    def _read_quantifier(self, body: EventPattern, start: Span) -> EventPattern:
        bounds = self._bounds()
        return body if bounds is None else Kleene(body, *bounds, span=self.since(start))

    def _bounds(self) -> tuple[int, int | None] | None:
        """Minimum and maximum of the quantifier that stands here, None if none does."""
        return read_quantifier(self, EVENT_PATTERN) if stands_at_quantifier(self) else None


def _spread(items: list[EventPattern], group: type[Sequence | AllOf]) -> list[EventPattern]:
    """A group inside one of its kind is one: SEQ(A a, SEQ(B b, C c)) is SEQ(A a, B b, C c)."""
    return [part for item in items for part in (item.items if isinstance(item, group) else (item,))]
