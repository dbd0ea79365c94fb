"""The syntax tree of one trend query: our patterns, sqlglot's expressions, positions for all of it.

References to events are calls of functions named `__REX_TREND_...`, one for each `Reference`, whose argument is a name
with the attribute after it, or alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

from sparkrex.syntax.scalar_text import row_pattern_function

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date
    from decimal import Decimal

    from sqlglot import exp

    from sparkrex.languages.events.syntax import OptionsText, SizeText, StreamOptions
    from sparkrex.modes.trends.pattern import TrendPattern
    from sparkrex.modes.trends.plan import Counts, Semantics
    from sparkrex.source import Span
    from sparkrex.syntax.items import MeasureItem, Name, ScalarText

Origin: TypeAlias = "int | float | Decimal | str | date"
"""Where windows begin to be counted, as a call or a text gives it: a number, a time, or the text of a time."""


@dataclass(frozen=True, slots=True)
class TrendOptions:
    """What a call says beside its text: of its stream, of its windows, of how it counts."""

    stream: StreamOptions
    origin: Origin | None
    counts: Counts


class Reference(Enum):
    """What a reference means: an event, the one that directly follows another, or the event itself, to be counted."""

    EVENT = "v.x"
    NEXT = "NEXT(v).x"
    COUNTED = "v"

    def of(self, name: str) -> str:
        """As it is written for a name, without an attribute."""
        return self.value.replace("v", name).removesuffix(".x")


REFERENCE = "TREND_"
"""How the names of reference functions continue after the prefix of all our functions."""


def reference_of(node: exp.Expr) -> Reference | None:
    """What a reference means, None if the node is not a reference to events."""
    name = row_pattern_function(node)
    return Reference[name.removeprefix(REFERENCE)] if name is not None and name.startswith(REFERENCE) else None


@dataclass(frozen=True, slots=True)
class Component:
    """A component of a pattern. `variable` is its name in the plan, which the text has only if it `is_named`."""

    type: Name
    variable: Name
    is_named: bool
    is_negated: bool


@dataclass(frozen=True, slots=True)
class PatternText:
    """One pattern, or the two sides of `&`, and all their components in order of appearance.

    `names` are the names by which expressions refer to components, and the variables that each stands for: a variable
    that the text gives, or a type, which stands for all components of the type.
    """

    patterns: tuple[TrendPattern, ...]
    components: tuple[Component, ...]
    names: Mapping[str, tuple[str, ...]]
    span: Span

    def types(self) -> tuple[Name, ...]:
        """The types of the components."""
        return tuple(component.type for component in self.components)

    def negated(self) -> frozenset[str]:
        """The variables of negated parts, which no trend binds."""
        return frozenset(part.variable.text for part in self.components if part.is_negated)


@dataclass(frozen=True, slots=True)
class OriginText:
    """ORIGIN: a number, or the text of a time."""

    value: Decimal | str
    span: Span


@dataclass(frozen=True, slots=True)
class TrendText:
    """A whole trend query.

    `equivalences` are the attributes of `[attr]`, `conjuncts` the other conditions. `options` None means that the
    caller has them, with `origin` and `counts`.
    """

    returned: tuple[MeasureItem, ...]
    pattern: PatternText
    semantics: Semantics
    equivalences: tuple[Name, ...]
    conjuncts: tuple[ScalarText, ...]
    group_by: tuple[Name, ...]
    within: SizeText | None
    slide: SizeText | None
    options: OptionsText | None
    origin: OriginText | None
    counts: Counts
    span: Span
