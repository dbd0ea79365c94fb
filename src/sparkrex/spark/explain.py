"""EXPLAIN of a relation on Spark: what its mode says, and what only Spark knows beside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparkrex.modes.protocol import Explained


@dataclass(frozen=True, slots=True)
class ExplainedOnSpark:
    """How the relation is answered, and lines below: about its files, and of a run."""

    relation: Explained
    below: tuple[str, ...]

    def lines(self, host: str, *given: int) -> list[str]:
        """The text, as a tree; `given` is what the relation's mode is told beside the host."""
        relation: Any = self.relation
        return [*relation.lines(host, *given), *self.below]
