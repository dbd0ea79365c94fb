"""EXPLAIN of a relation over a stream: as in batch, and what is kept of keys whose rows come no more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sparkrex.matching.silent import silent_lines
from sparkrex.syntax.units import whole_units

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from sparkrex.matching.silent import Lasting
    from sparkrex.modes.protocol import Explained


@dataclass(frozen=True, slots=True)
class StreamExplained:
    """How the relation is answered; `schema` is that of the rows that travel, `keys` its columns with the keys.

    `known` are these columns as the user knows them. `time` is the watermarked one, by the user's name, and `delay` the
    milliseconds that its watermark is behind.
    """

    relation: Explained
    lasting: Sequence[Lasting]
    schema: pa.Schema
    keys: Sequence[str]
    has_gap: bool
    known: Mapping[str, str]
    time: str
    delay: int
    n_buckets: int

    def lines(self, host: str, *given: int) -> list[str]:
        """The text, as a tree; `given` is what the relation's mode is told beside the host."""
        relation: Any = self.relation
        columns = "; ".join(f"{name} is {text}" for name, text in self.known.items())
        return [
            *relation.lines(host, *given), f"Columns that Spark computes: {columns}",
            f"Rows wait for the watermark of {self.time}, {whole_units(self.delay * 1000)} behind the latest row; "
            f"states are in {self.n_buckets} buckets",
            *silent_lines(self.lasting, self.schema, self.keys, has_gap=self.has_gap),
        ]
