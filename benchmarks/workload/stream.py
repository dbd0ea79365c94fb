"""A stream of events as a table, and how it is read by the engine."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa

from benchmarks.data import generator

if TYPE_CHECKING:
    from numpy.typing import NDArray

MINUTE = 60_000_000
"""In microseconds."""
N_PERMUTED = 5


class OfType(NamedTuple):
    """Times and values of the events of one type, in order of time."""

    times: NDArray[np.int64]
    values: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Stream:
    """Events in order: `ts`, `kind` (dictionary-encoded), `id` (the number of the row) and attributes.

    `reading` is what the engine is told of it beside the names of these columns.
    """

    table: pa.Table
    reading: dict[str, Any] = field(default_factory=dict)
    _rows: dict[str, NDArray[np.int64]] = field(default_factory=dict)

    @property
    def n_events(self) -> int:
        """How long it is."""
        return int(self.table.num_rows)

    @property
    def times(self) -> NDArray[np.int64]:
        """Microseconds."""
        times: NDArray[np.int64] = self.table.column("ts").combine_chunks().cast(pa.int64()).to_numpy()
        return times

    @property
    def minutes(self) -> float:
        """From the first event to the last."""
        times = self.times
        return float(times[-1] - times[0]) / MINUTE

    def counts(self) -> dict[str, int]:
        """How many events each type has."""
        return {name: len(rows) for name, rows in self._by_type().items()}

    def events(self, name: str, attribute: str) -> OfType:
        """The events of a type."""
        rows = self._by_type()[name]
        return OfType(self.times[rows], self.table.column(attribute).to_numpy()[rows])

    def reshuffled(self, n_between: int, seed: int = 0) -> Stream:
        """The same events, 5 types of them renamed after every so many."""
        kinds = self.table.column("kind").combine_chunks()
        codes = permuted(kinds.indices.to_numpy(), len(kinds.dictionary), n_between, generator(1630 + seed))
        column = pa.DictionaryArray.from_arrays(pa.array(codes), kinds.dictionary)
        return Stream(self.table.set_column(self.table.column_names.index("kind"), "kind", column), self.reading)

    def first(self, n_events: int) -> Stream:
        """Its beginning."""
        return Stream(self.table.slice(0, n_events), self.reading)

    def _by_type(self) -> dict[str, NDArray[np.int64]]:
        if not self._rows:
            kinds = self.table.column("kind").combine_chunks()
            codes = kinds.indices.to_numpy()
            order = np.argsort(codes, kind="stable")
            ends = np.searchsorted(codes[order], np.arange(len(kinds.dictionary) + 1))
            for code, name in enumerate(kinds.dictionary.to_pylist()):
                if ends[code] < ends[code + 1]:
                    self._rows[name] = order[ends[code] : ends[code + 1]]
        return self._rows


def permuted(
    codes: NDArray[np.int32], n_types: int, n_between: int, random: np.random.Generator
) -> NDArray[np.int32]:
    """Types of which 5 exchange their names after every so many events; a change stays until others change it again."""
    changed = codes.copy()
    names = np.arange(n_types, dtype=np.int32)
    for first in range(n_between, len(codes), n_between):
        chosen = random.choice(n_types, min(N_PERMUTED, n_types), replace=False)
        names[chosen] = names[np.roll(chosen, 1)]
        changed[first : first + n_between] = names[codes[first : first + n_between]]
    return changed
