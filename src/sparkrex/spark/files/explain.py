"""EXPLAIN of a relation over files: who reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sparkrex.modes.protocol import Explained


@dataclass(frozen=True, slots=True)
class FilesExplained:
    """How the relation is answered, and a line about its files."""

    relation: Explained
    line: str

    def lines(self, host: str, *given: int) -> list[str]:
        """The text, as a tree; `given` is what the relation's mode is told beside the host."""
        relation: Any = self.relation
        return [*relation.lines(host, *given), self.line]
