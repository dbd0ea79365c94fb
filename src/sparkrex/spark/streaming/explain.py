"""EXPLAIN of a relation over a stream: as in batch, and what is kept of keys whose rows come no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkrex.matching.silent import silent_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from sparkrex.matching.silent import Lasting
    from sparkrex.modes.protocol import Explained


@dataclass(frozen=True, slots=True)
class StreamExplained:
    """How the relation is answered; `schema` is that of the rows that travel, `keys` its columns with the keys."""

    relation: Explained
    lasting: Sequence[Lasting]
    schema: pa.Schema
    keys: Sequence[str]
    has_gap: bool

    def lines(self, host: str, *given: int) -> list[str]:
        """The text, as a tree; `given` is what the relation's mode is told beside the host."""
        relation: Any = self.relation
        return [
            *relation.lines(host, *given), *silent_lines(self.lasting, self.schema, self.keys, has_gap=self.has_gap)
        ]
