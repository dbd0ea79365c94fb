"""The grammar of event patterns.

    pattern   = element                                          a single one stands for SEQ of it
    element   = component | negation | group [ quantifier ]
    group     = SEQ "(" element { "," element } ")"
              | AND "(" element { "," element } ")"              in any order
              | "(" element { "," element } ")"                  as in the paper's PATTERN(Stock+ a[], Stock b)
              | "(" element { "|" element } ")"                  alternation
              | OR "(" element "," element { "," element } ")"   the same
    component = type [ quantifier ] variable [ "[" "]" ]
              | KL "(" type variable [ "[" "]" ] ")"             type "+" variable "[" "]"
    negation  = "~" "(" type variable ")" | "~" type variable | NOT "(" type variable ")"
    quantifier = "+" | "*" | "?" | "{" [n] [ "," [m] ] "}"
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sparkrex.errors import AnalysisError
from sparkrex.modes.events.language.elements import ElementReader
from sparkrex.modes.events.language.syntax import PatternText
from sparkrex.modes.events.pattern import AllOf, Kleene, Sequence, children, events

if TYPE_CHECKING:
    from collections.abc import Callable

    from sparkrex.modes.events.language.syntax import Component
    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.source import Source, Span
    from sparkrex.syntax.names import NameRules


def parse_event_pattern(source: Source, span: Span, rules: NameRules) -> PatternText:
    """The pattern whose text is given."""
    reader = ElementReader(source, span, rules)
    pattern = reader.element(0)
    if reader.kind != "end":
        raise reader.error(
            f"unexpected {reader.text!r}", hint="components that follow each other belong in one SEQ( ... )"
        )
    if not isinstance(pattern, Sequence | AllOf):
        pattern = Sequence((pattern,), span=pattern.span)
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
