"""What the nodes of every pattern have."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sparkrex.source import Span


@dataclass(frozen=True, slots=True)
class Node:
    """Its place in the query, if it came from one. Equality means *same pattern*: the place takes no part."""

    span: Span | None = field(default=None, kw_only=True, compare=False, repr=False)
