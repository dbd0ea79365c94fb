"""The matcher contract: what every matcher takes and gives, in batch, in chunks and, later, in streams.

The matcher is immutable; what changes between feeds lives in `State`. All partitions in a feed are whole, except that
the first continues the state's open one unless `opens`, and the last stays open unless `closes`. A matcher reports a
match once nothing that may still come can change it, and holds back the rows it may need again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.columns.ordered import Columns


FORMAT_VERSION = 1


@dataclass(frozen=True, eq=False, slots=True)
class Matches:
    """Matches in order, as positions in the frame of the feed: the rows held back before it, then its own.

    `label_offsets` has one entry more than there are matches and cuts `labels` (2 * variable + excluded) into matches.
    A matcher that was told that nobody reads labels may leave `labels` empty: `n_mapped` counts the mapped rows.
    """

    start: NDArray[np.int64]
    end: NDArray[np.int64]
    number: NDArray[np.int64]
    labels: NDArray[np.int16]
    label_offsets: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.start)

    @property
    def n_mapped(self) -> int:
        """How many rows the matches map, a row of two matches counted twice."""
        return int(self.label_offsets[-1])

    @staticmethod
    def none() -> Matches:
        """No match."""
        nothing = np.empty(0, np.int64)
        return Matches(nothing, nothing, nothing, np.empty(0, np.int16), np.zeros(1, np.int64))

    @staticmethod
    def joined(parts: list[Matches]) -> Matches:
        """The matches of several feeds, one after the other."""
        if len(parts) == 1:
            return parts[0]
        lengths = np.concatenate([np.diff(part.label_offsets) for part in parts] or [np.empty(0, np.int64)])
        return Matches(
            np.concatenate([part.start for part in parts]),
            np.concatenate([part.end for part in parts]),
            np.concatenate([part.number for part in parts]),
            np.concatenate([part.labels for part in parts]),
            np.concatenate(([0], np.cumsum(lengths))),
        )

    def moved(self, distance: int) -> Matches:
        """The same matches in a frame that begins `distance` rows earlier."""
        return Matches(self.start + distance, self.end + distance, self.number, self.labels, self.label_offsets)


@dataclass(slots=True)
class State:
    """What a matcher keeps between feeds.

    `held` are the last rows of the previous frame: from the earliest undecided start on, and as many before it as PREV
    may read. `next_start` is that start's position in `held`; `begins` tells whether `held` begins with the partition's
    first row; `next_number` is the number of the partition's next match.
    """

    held: pa.Table | None = None
    next_start: int = 0
    next_number: int = 1
    begins: bool = True
    version: int = field(default=FORMAT_VERSION)

    def size(self) -> int:
        """Bytes of the rows held back."""
        return 0 if self.held is None else int(self.held.nbytes)


class Matcher(Protocol):
    """A row pattern matcher for one query."""

    name: str

    def open(self) -> State:
        """The state before the first feed."""
        ...

    def feed(self, state: State, columns: Columns, *, opens: bool, closes: bool) -> Matches:
        """The matches that this feed decides. Changes `state`."""
        ...

    def describe(self) -> list[str]:
        """What EXPLAIN prints about it."""
        ...
