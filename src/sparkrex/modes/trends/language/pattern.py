"""The grammar of trend patterns.

    pattern    = side [ "&" side ]
    side       = element { "|" element }
    element    = component | group [ quantifier ] | "~" element
    group      = SEQ "(" element { "," element } ")"
               | "(" element { "," element } ")"                 a sequence too; ( a ) is a
               | "(" element { "|" element } ")"                 alternatives
    component  = type [ quantifier ] [ variable [ "[" "]" ] ] [ quantifier ]        one quantifier at most
    quantifier = "+" | "*" | "?" | "{" [n] [ "," [m] ] "}"

`~` binds weaker than a quantifier: `~A+` is `~(A+)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError, ParseError
from sparkrex.modes.trends.language.components import Components
from sparkrex.modes.trends.language.syntax import PatternText
from sparkrex.modes.trends.pattern import (
    Absent,
    AnyOf,
    Event,
    Kleene,
    Sequence,
    TrendPattern,
    allows_empty,
    events,
    negated_variables,
)
from sparkrex.source import Span
from sparkrex.syntax.items import Name
from sparkrex.syntax.pattern_reader import PatternReader, lexemes, unquote
from sparkrex.syntax.quantifiers import EVENT_PATTERN, read_quantifier, stands_at_quantifier

if TYPE_CHECKING:
    from sparkrex.source import Source
    from sparkrex.syntax.names import NameRules

_LEXEME = lexemes(r"[&|*+?(){},~\[\]]")
_COMMA = "components have commas between them: SEQ(Stock A+, Stock B)"
_FOREIGN = {
    "!": "a negated part is written ~Type, or ~SEQ(...)", "->": _COMMA, ";": _COMMA, ">": _COMMA,
    "'": "write a type without quotes or, if it is not a plain word, in the quotes of names",
}
_WORDS = {"OR": "alternatives have | between them: A | B", "AND": "both of two patterns is A & B, at the top only"}
# Far above any written pattern; keeps the recursive readers within Python's stack.
_DEEPEST = 100


def parse_trend_pattern(source: Source, span: Span, rules: NameRules) -> PatternText:
    """The pattern whose text is given."""
    reader = _Reader(source, span, rules)
    sides = [reader.side()]
    while reader.accept("&"):
        if len(sides) == 2:
            raise ParseError(
                "REX108", "& has two sides", source, Span(reader.previous_end - 1, reader.previous_end),
                hint="join the results of two queries in SQL for more",
            )
        reader.components.begin_side()
        sides.append(reader.side())
    if reader.kind != "end":
        raise reader.unexpected()
    return PatternText(tuple(sides), reader.components.all(), reader.components.names(), span)


class _Reader(PatternReader):
    def __init__(self, source: Source, span: Span, rules: NameRules) -> None:
        super().__init__(source, span, _LEXEME, "REX108", _FOREIGN)
        self.components = Components(source, rules)
        self.negation: Span | None = None

    def side(self) -> TrendPattern:
        """One side of `&`, which must require an event."""
        start = self.span
        options = [self._element(0)]
        while self.accept("|"):
            options.append(self._element(0))
        pattern = self._alternatives(options, start)
        if negated_variables(pattern).issuperset(event.variable for event in events(pattern)):
            raise AnalysisError(
                "REX225", "everything is negated: a trend needs an event to be a trend of", self.source, pattern.span,
                hint="SEQ(A, ~B, C) is A and C without B between them",
            )
        if allows_empty(pattern):
            raise AnalysisError(
                "REX227", "the pattern requires no event at all", self.source, pattern.span,
                hint="+ requires one event where * and ? do not",
            )
        return pattern

    def unexpected(self) -> ParseError:
        """The error of a lexeme after a complete pattern."""
        hint = "components that follow each other belong in one SEQ( ... )"
        if self.text == "&":
            hint = "& stands outside of all parentheses, between two patterns"
        return self.error(f"unexpected {self.text!r}", hint=hint)

    def _element(self, depth: int) -> TrendPattern:
        start = self.span
        if depth > _DEEPEST:
            raise ParseError(
                "REX106", "the pattern is nested too deeply", self.source, self.span,
                hint="leave parentheses out that group nothing",
            )
        if self.accept("~"):
            return self._negation(start, depth)
        if self.accept("("):
            return self._group(start, depth, is_sequence=False)
        if self.kind == "name" and self.text.upper() == "SEQ" and self.is_before("("):
            self.advance()
            self.advance()
            return self._group(start, depth, is_sequence=True)
        if self.kind == "name" and self.text.upper() == "NOT":
            raise self.error("NOT is not a word of trend patterns", hint="a negated part is written ~Type or ~SEQ(...)")
        return self._component(start)

    def _group(self, start: Span, depth: int, *, is_sequence: bool) -> TrendPattern:
        items = [self._element(depth + 1)]
        separator = "|" if self.text == "|" and not is_sequence else ","
        while self.accept(separator):
            items.append(self._element(depth + 1))
        if not self.accept(")"):
            if self.text == "&":
                raise self.unexpected()
            what = "SEQ( ... ) has components with commas between them" if is_sequence else (
                "( ... ) has either commas, for a sequence, or |, for alternatives"
            )
            raise self.error(f"expected {separator} or ), found {self.text!r}", hint=what)
        if separator == "|":
            body = self._alternatives(items, start)
        elif len(items) == 1 and not is_sequence:
            body = items[0]
        else:
            body = Sequence(tuple(_spread(items)), span=self.since(start))
        if not stands_at_quantifier(self):
            return body
        self._refuse_quantified(body)
        return self._quantified(body, start)

    def _alternatives(self, options: list[TrendPattern], start: Span) -> TrendPattern:
        if len(options) == 1:
            return options[0]
        for option in options:
            if isinstance(option, Absent):
                raise AnalysisError(
                    "REX225", "a negated part cannot be an alternative", self.source, option.span,
                    hint=f"it stands in a sequence: SEQ({option}, B)",
                )
        return AnyOf(tuple(options), span=self.since(start))

    def _refuse_quantified(self, body: TrendPattern) -> None:
        """A quantifier is over events: what has none to repeat is a mistake."""
        if isinstance(body, Absent):
            raise AnalysisError(
                "REX225", "a negated part cannot be repeated", self.source, body.span,
                hint="~(A+) is no trend of A+; without a quantifier ~A says that there is no A at all",
            )
        if isinstance(body, Sequence) and all(isinstance(item, Absent) for item in body.items):
            raise AnalysisError(
                "REX225", "all parts of this sequence are negated", self.source, body.span,
                hint="a repetition needs an event that is repeated",
            )

    def _negation(self, start: Span, depth: int) -> TrendPattern:
        if self.negation is not None:
            raise AnalysisError(
                "REX225", "a negated part has no negated part", self.source, start,
                hint="events that may be missing are written with ? or *",
            )
        self.negation = start
        self.components.is_negated = True
        body = self._element(depth + 1)
        self.components.is_negated = False
        self.negation = None
        span = self.since(start)
        if allows_empty(body):
            raise AnalysisError(
                "REX225", "a negated part requires an event: nothing at all is always there", self.source, span,
                hint="~(A+) is no A at all, which ~A says too",
            )
        return Absent(body, span=span)

    def _component(self, start: Span) -> TrendPattern:
        kind = self._name("a type of events", hint="a component is a type and, if you like, a variable: Stock S+")
        before = self._bounds()
        variable, has_brackets = self._variable(kind)
        if before is not None:
            self._refuse_second(kind.text)
        bounds = before or self._bounds()
        event = Event(kind.text, variable.text, span=self.since(start))
        if bounds is None:
            if has_brackets:
                raise AnalysisError(
                    "REX224", f"{variable.text} is a single event, not an array", self.source, variable.span,
                    hint=f"{kind.text} {variable.text}, or {kind.text}+ {variable.text}[]",
                )
            return event
        self._refuse_second(str(event))
        return Kleene(event, *bounds, span=event.span)

    def _variable(self, kind: Name) -> tuple[Name, bool]:
        """The variable of a component, which is made up where the text has none, and whether it is written `v[]`."""
        if self.kind not in ("name", "quoted"):
            return self.components.add_unnamed(kind), False
        if self.kind == "name" and self.text.upper() in _WORDS:
            raise self.error(f"{self.text} is not a word of trend patterns", hint=_WORDS[self.text.upper()])
        is_quoted = self.kind == "quoted"
        written = self._name("a variable", hint="")
        variable = self.components.add(kind, written, is_quoted=is_quoted)
        has_brackets = self.accept("[")
        if has_brackets and not self.accept("]"):
            raise self.error("a component's brackets are empty", hint=f"{kind.text}+ {variable.text}[]")
        return variable, has_brackets

    def _name(self, what: str, *, hint: str) -> Name:
        if self.kind not in ("name", "quoted"):
            raise self.error(f"expected {what}, found {self.text!r}", hint=hint)
        name = Name(unquote(self.text) if self.kind == "quoted" else self.text, self.span)
        self.advance()
        return name

    def _bounds(self) -> tuple[int, int | None] | None:
        """Minimum and maximum of the quantifier that stands here, None if none does."""
        return read_quantifier(self, EVENT_PATTERN) if stands_at_quantifier(self) else None

    def _quantified(self, body: TrendPattern, start: Span) -> TrendPattern:
        bounds = read_quantifier(self, EVENT_PATTERN)
        self._refuse_second(str(body))
        return Kleene(body, *bounds, span=self.since(start))

    def _refuse_second(self, quantified: str) -> None:
        if stands_at_quantifier(self):
            raise self.error("a second quantifier needs parentheses", hint=f"({quantified}+)+ repeats what is repeated")


def _spread(items: list[TrendPattern]) -> list[TrendPattern]:
    """A sequence inside a sequence is one: SEQ(A, SEQ(B, C)) is SEQ(A, B, C)."""
    return [part for item in items for part in (item.items if isinstance(item, Sequence) else (item,))]
