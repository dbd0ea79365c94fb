"""What is said of a stream and of windows, by a call or in the text, with positions for the latter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

    from sparkrex.source import Span
    from sparkrex.syntax.items import Name, ScalarText


@dataclass(frozen=True, slots=True)
class StreamOptions:
    """What a call says of its stream: names of columns, and conditions of types as text.

    `type` is the column whose value is an event's type; `types` are conditions by name, which come first. Without both
    all events are of one type.
    """

    time: str
    tie_break: tuple[str, ...] = ()
    type: str | None = None
    types: Mapping[str, str] | None = None
    has_strict_ties: bool = False


@dataclass(frozen=True, slots=True)
class TypeItem:
    """`name AS condition`."""

    name: Name
    condition: ScalarText


@dataclass(frozen=True, slots=True)
class OptionsText:
    """What a relation says of its stream: TIME, TIE BREAK, TYPE, TYPES, TIES."""

    time: Name
    tie_break: tuple[Name, ...]
    type: Name | None
    types: tuple[TypeItem, ...]
    has_strict_ties: bool


@dataclass(frozen=True, slots=True)
class SizeText:
    """WITHIN or the like: numbers with their units, in upper case; None where there is none."""

    head: str
    amounts: tuple[tuple[Decimal, str | None], ...]
    span: Span
