"""The syntax tree of one event query: our pattern, sqlglot's expressions, positions for all of it.

References to events (`v.x`, `v[i-1].x`, `count(v[])`) are calls of functions named `__REX_EVENT_...`, one for each
`Index`, whose argument is the variable with the attribute after it, or alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from sparkrex.syntax.scalar_text import row_pattern_function

if TYPE_CHECKING:
    from sqlglot import exp

    from sparkrex.languages.events.syntax import OptionsText, SizeText
    from sparkrex.modes.events.pattern import EventPattern
    from sparkrex.modes.events.plan import Strategy
    from sparkrex.source import Span
    from sparkrex.syntax.items import MeasureItem, Name, ScalarText


class Index(Enum):
    """Which events of a variable a reference means."""

    SINGLE = "v"
    FIRST = "v[1]"
    CURRENT = "v[i]"
    PREVIOUS = "v[i-1]"
    LAST = "v[v.LEN]"
    BEFORE = "v[..i-1]"
    ALL = "v[]"

    def of(self, variable: str) -> str:
        """As it is written for a variable."""
        return self.value.replace("v", variable)


REFERENCE = "EVENT_"
"""How the names of reference functions continue after the prefix of all our functions."""


def reference_index(node: exp.Expr) -> Index | None:
    """Which events a reference means, None if the node is not a reference to events."""
    name = row_pattern_function(node)
    return Index[name.removeprefix(REFERENCE)] if name is not None and name.startswith(REFERENCE) else None


@dataclass(frozen=True, slots=True)
class Component:
    """A component of the pattern, the names as written.

    `key` is the variable's folded name, by which references find it, whatever their case. `is_repeated` is set if one
    match can bind several events to the variable, `has_brackets` if it is written `v[]`.
    """

    type: Name
    variable: Name
    key: str
    has_brackets: bool
    is_repeated: bool
    is_negated: bool

    @property
    def is_array(self) -> bool:
        """Whether references may have an index. A single optional event may be written both ways."""
        return self.is_repeated or self.has_brackets


@dataclass(frozen=True, slots=True)
class PatternText:
    """A pattern and its components in order of appearance."""

    pattern: EventPattern
    components: tuple[Component, ...]
    span: Span

    def types(self) -> tuple[Name, ...]:
        """The types of the components."""
        return tuple(component.type for component in self.components)


@dataclass(frozen=True, slots=True)
class StrategyText:
    """`strategy(variables)`: every variable by the name that the pattern gives it, if it has it."""

    strategy: Strategy
    name_span: Span
    variables: tuple[Name, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class EventText:
    """A whole event query.

    `equivalences` are the attributes of `[attr]`, `conjuncts` the other conditions. `returned` None means the events
    themselves. `options` None means that the caller has them.
    """

    pattern: PatternText
    strategy: StrategyText
    equivalences: tuple[Name, ...]
    conjuncts: tuple[ScalarText, ...]
    within: SizeText | None
    is_non_overlapping: bool
    returned: tuple[MeasureItem, ...] | None
    options: OptionsText | None
    span: Span
