"""How many matches each pattern had in each slot, and where it stopped."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from sparkrex.columns.values import numpy_of, plain
from sparkrex.columns.wrap import wrap
from sparkrex.matching.slot_table import offsets_of
from sparkrex.modes.workload.overflow import NEVER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from sparkrex.matching.feed import Feed
    from sparkrex.matching.state import State

COUNTS = "counts"
_COLUMNS = ["pattern", "n_matches", "stopped"]


class Counts:
    """By pattern that had a match, or stopped: by partition of a feed how many, and whether it has stopped."""

    def __init__(self, n_partitions: int) -> None:
        self.n_partitions = n_partitions
        self._n_matches: dict[int, NDArray[np.int64]] = {}
        self._stopped: dict[int, NDArray[np.bool_]] = {}

    @staticmethod
    def read(state: State, feed: Feed) -> Counts:
        """Those of the slots of a feed."""
        found = Counts(len(feed.slots))
        table, offsets = state.tables[COUNTS].read(feed.slots)
        if table is not None:
            place = np.repeat(np.arange(len(feed.slots)), np.diff(offsets))
            pattern, n_matches, stopped = (numpy_of(plain(column)) for column in table.columns)
            for number in np.unique(pattern).tolist():
                own = pattern == number
                found.of(number)[place[own]] = n_matches[own]
                if stopped[own].any():
                    found._stopped[number] = np.zeros(found.n_partitions, np.bool_)
                    found._stopped[number][place[own]] = stopped[own] == 1
        return found

    def of(self, pattern: int) -> NDArray[np.int64]:
        """By partition how many matches a pattern had, to be written."""
        return self._n_matches.setdefault(pattern, np.zeros(self.n_partitions, np.int64))

    def add(self, pattern: int, place: NDArray[np.int64]) -> None:
        """A pattern has more matches, in these partitions."""
        self.of(pattern)[:] += np.bincount(place, minlength=self.n_partitions)

    def stop_rows(self, patterns: list[int]) -> dict[int, NDArray[np.int64]]:
        """By partition the row at which a pattern stops: -1 if it has, or it is not known that it does."""
        nowhere = np.zeros(self.n_partitions, np.bool_)
        return {pattern: np.where(self._stopped.get(pattern, nowhere), -1, NEVER) for pattern in patterns}

    def stop(self, stop_rows: dict[int, NDArray[np.int64]]) -> list[tuple[int, int]]:
        """Note where patterns stop; returns those that had not before, with the row."""
        found = []
        for pattern, rows in stop_rows.items():
            if (rows < NEVER).any():
                self._stopped[pattern] = rows < NEVER
                found += [(pattern, int(row)) for row in rows[(rows >= 0) & (rows < NEVER)]]
        return found

    def write(self, state: State, feed: Feed) -> None:
        """Keep them; nothing of slots that close."""
        nowhere, nothing = np.zeros(self.n_partitions, np.bool_), np.zeros(self.n_partitions, np.int64)
        parts = [np.empty((4, 0), np.int64)]
        for pattern in sorted(self._n_matches.keys() | self._stopped.keys()):
            n_matches, stopped = self._n_matches.get(pattern, nothing), self._stopped.get(pattern, nowhere)
            place = np.flatnonzero(((n_matches > 0) | stopped) & ~feed.closes)
            parts.append(np.stack([np.full(len(place), pattern), n_matches[place], stopped[place], place]))
        lines = np.concatenate(parts, axis=1)
        lines = lines[:, np.argsort(lines[3], kind="stable")]
        table = pa.table([wrap(np.ascontiguousarray(line)) for line in lines[:3]], names=_COLUMNS)
        state.tables[COUNTS].write(feed.slots, table, offsets_of(np.bincount(lines[3], minlength=self.n_partitions)))


def keep_stopped(state: State, stopped: Mapping[int, Sequence[int]]) -> None:
    """Stop patterns, given by number, in some slots."""
    for number, slots in stopped.items():
        for slot in slots:
            place = np.array([slot], np.int64)
            state.reset(place[:0], up_to=slot + 1)
            table, _ = state.tables[COUNTS].read(place)
            lines = [] if table is None else [line for line in table.to_pylist() if line["pattern"] != number]
            lines.append({"pattern": number, "n_matches": 0, "stopped": 1})
            schema = pa.schema([(name, pa.int64()) for name in _COLUMNS])
            state.tables[COUNTS].write(
                place, pa.Table.from_pylist(lines, schema), np.array([0, len(lines)], np.int64)
            )
