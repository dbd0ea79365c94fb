"""The grammar of event patterns.

    pattern   = element                                          a single one stands for SEQ of it
    element   = component | negation | group [ quantifier ]
    group     = SEQ "(" element { "," element } ")"
              | "(" element { "," element } ")"                  as in the paper's PATTERN(Stock+ a[], Stock b)
              | "(" element { "|" element } ")"                  alternation
    component = type [ quantifier ] variable [ "[" "]" ]
    negation  = "~" "(" type variable ")" | "~" type variable
    quantifier = "+" | "*" | "?" | "{" [n] [ "," [m] ] "}"

Read from the characters, not from SQL tokens: dialects tokenize `~` and `??` in their own ways.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError, ParseError
from sparkrex.ir.event_pattern import Absent, AnyOf, Event, EventPattern, Kleene, Sequence, children, events
from sparkrex.languages.events.syntax import Component, PatternText
from sparkrex.languages.match_recognize.syntax import Name
from sparkrex.source import Source, Span

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.languages.match_recognize.names import NameRules

_LEXEME = re.compile(
    r"""(?P<space>\s+|--[^\n]*|/\*.*?\*/)
      | (?P<name>[^\W\d]\w*)
      | (?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`)
      | (?P<number>\d+)
      | (?P<symbol>[|*+?(){},~\[\]])""",
    re.VERBOSE | re.DOTALL,
)
_QUANTIFIERS = ("+", "*", "?", "{")
# Far above any written pattern; keeps the recursive readers within Python's stack.
_DEEPEST = 100


def parse_event_pattern(source: Source, span: Span, rules: NameRules) -> PatternText:
    """The pattern whose text is given."""
    reader = _Reader(source, span, rules)
    pattern = reader.element(0)
    if reader.kind != "end":
        raise reader.error(
            f"unexpected {reader.text!r}", hint="components that follow each other stand in one SEQ( ... )"
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


class _Reader:
    def __init__(self, source: Source, span: Span, rules: NameRules) -> None:
        self.source = source
        self.rules = rules
        self.position = span.start
        self.end = span.end
        self.previous_end = span.start
        self.kind, self.text, self.span = "", "", Span(span.start, span.start)
        # Nothing around a component has been read yet when it is found, so none is known to be repeated.
        self.found: list[Component] = []
        self._advance()

    def element(self, depth: int) -> EventPattern:
        """A component, a negation or a group; `depth` groups are around it."""
        start = self.span
        if depth > _DEEPEST:
            raise ParseError("REX106", "the pattern is nested too deeply", self.source, self.span)
        if self._accept("~"):
            return self._negation(start)
        if self._accept("("):
            return self._group(start, depth, is_sequence=False)
        if self.kind == "name" and self.text.upper() == "SEQ" and self._peek("("):
            self._advance()
            self._advance()
            return self._group(start, depth, is_sequence=True)
        return self._component(start)

    def _group(self, start: Span, depth: int, *, is_sequence: bool) -> EventPattern:
        items = [self.element(depth + 1)]
        separator = "|" if self.text == "|" and not is_sequence else ","
        while self._accept(separator):
            items.append(self.element(depth + 1))
        if not self._accept(")"):
            what = "SEQ( ... ) has components with commas between them" if is_sequence else (
                "( ... ) has either commas, for a sequence, or |, for alternatives"
            )
            raise self.error(f"expected {separator} or ), found {self.text!r}", hint=what)
        span = self._since(start)
        if separator == "|":
            body: EventPattern = AnyOf(tuple(items), span=span)
        else:
            body = Sequence(tuple(_spread(items)), span=span)
        quantified = self._quantified(body, start)
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
        has_parenthesis = self._accept("(")
        inner = self.span
        is_group = self.text in ("(", "~") or (self.text.upper() == "SEQ" and self._peek("("))
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
        if has_parenthesis and not self._accept(")"):
            raise self.error(f"expected ) behind the negated component, found {self.text!r}", hint="~(Type variable)")
        assert isinstance(body, Event)  # without a quantifier
        self.found[-1] = replace(self.found[-1], is_negated=True)
        return Absent(body, span=self._since(start))

    def _component(self, start: Span) -> EventPattern:
        kind = self._name("a type of events", hint="a component is a type and a variable: Alert a, Shipment+ b[]")
        bounds = self._bounds()
        variable, key = self._variable(kind)
        has_brackets = self._accept("[")
        if has_brackets and not self._accept("]"):
            raise self.error("a component's brackets are empty", hint=f"{kind.text}+ {variable.text}[]")
        event = Event(kind.text, variable.text, span=self._since(start))
        self.found.append(Component(kind, variable, key, has_brackets, is_repeated=False, is_negated=False))
        if bounds is None:
            return event
        result = Kleene(event, *bounds, span=event.span)
        if not has_brackets and bounds[1] != 1:
            raise AnalysisError(
                "REX224", f"{variable.text} stands for several events: it is an array", self.source, variable.span,
                hint=str(result),
            )
        return result

    def _variable(self, kind: Name) -> tuple[Name, str]:
        is_quoted = self.kind == "quoted"
        name = self._name(f"a variable behind {kind.text}", hint=f"{kind.text} a, or {kind.text}+ a[]")
        return name, self.rules.fold(name.text, is_quoted=is_quoted)

    def _name(self, what: str, *, hint: str) -> Name:
        if self.kind not in ("name", "quoted"):
            raise self.error(f"expected {what}, found {self.text!r}", hint=hint)
        name = Name(_unquote(self.text) if self.kind == "quoted" else self.text, self.span)
        self._advance()
        return name

    def _quantified(self, body: EventPattern, start: Span) -> EventPattern:
        bounds = self._bounds()
        return body if bounds is None else Kleene(body, *bounds, span=self._since(start))

    def _bounds(self) -> tuple[int, int | None] | None:
        """Minimum and maximum of the quantifier that stands here, None if none does."""
        start = self.span
        if self.kind != "symbol" or self.text not in _QUANTIFIERS:
            return None
        if self._accept("+"):
            return 1, None
        if self._accept("*"):
            return 0, None
        if self._accept("?"):
            return 0, 1
        self._advance()
        lower = self._number()
        upper = lower
        if self._accept(","):
            upper = self._number()
        elif lower is None:
            raise self.error("a quantifier in braces needs a number", hint="{n}, {n,}, {,m} or {n,m}")
        if not self._accept("}"):
            raise self.error(f"expected }}, found {self.text!r}", hint="{n}, {n,}, {,m} or {n,m}")
        minimum = lower or 0
        if upper is not None and upper < max(1, minimum):
            reason = "the upper bound is zero" if upper == 0 else "the upper bound is below the lower one"
            raise ParseError(
                "REX105", f"this quantifier allows nothing: {reason}", self.source, self._since(start),
                hint="leave the component out" if upper == 0 else f"did you mean {{{upper},{minimum}}}?",
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
        return ParseError("REX108", message, self.source, self.span, hint=hint)

    def _accept(self, symbol: str) -> bool:
        if self.kind == "symbol" and self.text == symbol:
            self._advance()
            return True
        return False

    def _peek(self, symbol: str) -> bool:
        return self.source.text[self.position : self.end].lstrip().startswith(symbol)

    def _since(self, start: Span) -> Span:
        return Span(start.start, max(start.start, self.previous_end))

    def _advance(self) -> None:
        self.previous_end = self.span.end
        while self.position < self.end:
            found = _LEXEME.match(self.source.text, self.position, self.end)
            if found is None:
                at = Span(self.position, self.position + 1)
                raise ParseError(
                    "REX108", f"unexpected {self.source.text[self.position]!r} in a pattern", self.source, at
                )
            self.position = found.end()
            if found.lastgroup != "space":
                self.kind, self.text = found.lastgroup or "", found.group()
                self.span = Span(*found.span())
                return
        self.kind, self.text, self.span = "end", "the end of the pattern", Span(self.end, self.end)


def _spread(items: list[EventPattern]) -> list[EventPattern]:
    """A sequence inside a sequence is one: SEQ(A a, SEQ(B b, C c)) is SEQ(A a, B b, C c)."""
    return [part for item in items for part in (item.items if isinstance(item, Sequence) else (item,))]


def _unquote(text: str) -> str:
    quote = text[0]
    return text[1:-1].replace(quote * 2, quote)
