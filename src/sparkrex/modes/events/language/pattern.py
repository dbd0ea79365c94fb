"""The grammar of event patterns.

    pattern   = element                                          a single one stands for SEQ of it
    element   = component | negation | group [ quantifier ]
    group     = SEQ "(" element { "," element } ")"
              | "(" element { "," element } ")"                  as in the paper's PATTERN(Stock+ a[], Stock b)
              | "(" element { "|" element } ")"                  alternation
    component = type [ quantifier ] variable [ "[" "]" ]
    negation  = "~" "(" type variable ")" | "~" type variable
    quantifier = "+" | "*" | "?" | "{" [n] [ "," [m] ] "}"
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError, ParseError
from sparkrex.modes.events.language.syntax import Component, PatternText
from sparkrex.modes.events.pattern import Absent, AnyOf, Event, EventPattern, Kleene, Sequence, children, events
from sparkrex.source import Span
from sparkrex.syntax.items import Name
from sparkrex.syntax.pattern_reader import PatternReader, lexemes, unquote
from sparkrex.syntax.quantifiers import EVENT_PATTERN, read_quantifier, stands_at_quantifier

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.source import Source
    from sparkrex.syntax.names import NameRules

_LEXEME = lexemes(r"[|*+?(){},~\[\]]")
_COMMA = "components have commas between them: SEQ(Alert a, Exit b)"
_FOREIGN = {
    "!": "a negated component is written ~(Type variable)", "->": _COMMA, ";": _COMMA, ">": _COMMA,
    "'": "write a type without quotes or, if it is not a plain word, in the quotes of names",
}
# Far above any written pattern; keeps the recursive readers within Python's stack.
_DEEPEST = 100


def parse_event_pattern(source: Source, span: Span, rules: NameRules) -> PatternText:
    """The pattern whose text is given."""
    reader = _Reader(source, span, rules)
    pattern = reader.element(0)
    if reader.kind != "end":
        raise reader.error(
            f"unexpected {reader.text!r}", hint="components that follow each other belong in one SEQ( ... )"
        )
    pattern = pattern if isinstance(pattern, Sequence) else Sequence((pattern,), span=pattern.span)
    _check_once(reader.found, source)
    repeated = _under(pattern, lambda node: node.maximum != 1)
    optional = _under(pattern, lambda node: node.maximum == 1)
    components = []
    for part in reader.found:
        name = part.variable
        if part.has_brackets and name.text not in repeated | optional:
            raise AnalysisError(
                "REX224", f"{name.text} is a single event, not an array", source, name.span,
                hint=f"{part.type.text} {name.text}, or {part.type.text}+ {name.text}[]",
            )
        components.append(replace(part, is_repeated=name.text in repeated))
    return PatternText(pattern, tuple(components), span)


def _check_once(found: list[Component], source: Source) -> None:
    seen: set[str] = set()
    for part in found:
        if part.key in seen:
            raise AnalysisError(
                "REX205", f"variable {part.variable.text} is given twice", source, part.variable.span,
                hint="every component has a variable of its own",
            )
        seen.add(part.key)


def _under(pattern: EventPattern, counts: Callable[[Kleene], bool]) -> set[str]:
    """The variables under quantifiers of some kind."""
    names: set[str] = set()
    pending = [pattern]
    while pending:
        node = pending.pop()
        if isinstance(node, Kleene) and counts(node):
            names.update(event.variable for event in events(node))
        pending.extend(children(node))
    return names


class _Reader(PatternReader):
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
            return self._group(start, depth, is_sequence=False)
        if self.kind == "name" and self.text.upper() == "SEQ" and self.is_before("("):
            self.advance()
            self.advance()
            return self._group(start, depth, is_sequence=True)
        if self.kind == "name" and self.text.upper() == "NOT" and self._negates():
            raise self._written_not()
        return self._component(start)

    def _negates(self) -> bool:
        """Whether two names, or a parenthesis, follow: then NOT is not itself a type."""
        rest = self.source.text[self.position : self.end]
        return re.match(r"\s*\(|\s*\w+\s+\w", rest) is not None

    def _written_not(self) -> ParseError:
        found = re.match(r"\s*\(?\s*(\w+)\s+(\w+)", self.source.text[self.position : self.end])
        written = f"~({found[1]} {found[2]})" if found else "~(Type variable)"
        return self.error("NOT is not a word of event patterns", hint=f"a negated component is written {written}")

    def _group(self, start: Span, depth: int, *, is_sequence: bool) -> EventPattern:
        opening = Span(self.previous_end - 1, self.previous_end)
        items = [self.element(depth + 1)]
        separator = "|" if self.text == "|" and not is_sequence else ","
        while self.accept(separator):
            items.append(self.element(depth + 1))
        if not self.accept(")"):
            if self.kind == "name" and self.text.upper() == "WHERE":
                raise ParseError(
                    self.code, "this parenthesis is never closed: WHERE follows inside it", self.source, opening
                )
            what = "SEQ( ... ) has components with commas between them" if is_sequence else (
                "( ... ) has either commas, for a sequence, or |, for alternatives"
            )
            raise self.error(f"expected {separator} or ), found {self.text!r}", hint=what)
        span = self.since(start)
        if separator == "|":
            body: EventPattern = AnyOf(tuple(items), span=span)
        else:
            body = Sequence(tuple(_spread(items)), span=span)
        quantified = self._read_quantifier(body, start)
        if isinstance(quantified, Kleene | AnyOf) or depth > 0:
            self._refuse_negation(items)
        return quantified

    def _refuse_negation(self, items: list[EventPattern]) -> None:
        for item in items:
            if isinstance(item, Absent):
                raise AnalysisError(
                    "REX225", "a negated component stands in the outermost SEQ only", self.source, item.span,
                    hint=f"PATTERN SEQ( ..., {item}, ... )",
                )

    def _negation(self, start: Span) -> EventPattern:
        has_parenthesis = self.accept("(")
        inner = self.span
        is_group = self.text in ("(", "~") or (self.text.upper() == "SEQ" and self.is_before("("))
        if is_group or self.kind not in ("name", "quoted"):
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


def _spread(items: list[EventPattern]) -> list[EventPattern]:
    """A sequence inside a sequence is one: SEQ(A a, SEQ(B b, C c)) is SEQ(A a, B b, C c)."""
    return [part for item in items for part in (item.items if isinstance(item, Sequence) else (item,))]
