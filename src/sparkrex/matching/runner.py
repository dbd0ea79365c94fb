"""The runner: one plan, ready to be fed. What every mode gives, in batch, in chunks, in Spark's workers and in streams.

    state = runner.open()
    for feed in feeds:
        rows = runner.feed(state, feed)

A runner is immutable; what changes lives in the state. It gives result rows once nothing that may still come can change
them, and it holds back the rows that it may need again. The result rows of one slot are the same, with the same
numbers, however its rows are cut into feeds. They come in the same order, too, unless feeds have a horizon, as on
streams: then a row may overtake earlier ones that are undecided, where numbers do not show the order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from sparkrex.matching.feed import Feed
    from sparkrex.matching.silent import Lasting
    from sparkrex.matching.state import State


class Runner(Protocol):
    """One plan over columns of known types."""

    @property
    def refusal(self) -> str | None:
        """Why it needs whole partitions, so that every slot must open and close in one feed; None if it does not."""
        ...

    def open(self) -> State:
        """The state before the first feed."""
        ...

    def feed(self, state: State, feed: Feed) -> pa.Table:
        """The result rows that this feed decides. Changes the state.

        An error about a partition has its `slot`. After an error the state is not to be fed again.
        """
        ...


class TakingOver(Protocol):
    """What a runner has beside if its plan has members, such as patterns, that come and go while a stream goes on."""

    def takes_over(self, state: State, stays: Collection[str], schema: pa.Schema) -> State:
        """The state that a runner with other members left, for this one's.

        Members that stay, given by name, go on. Rows that are held back get the columns of the schema. From when on
        the others give matches, who feeds says (`State.born`).
        """
        ...


@runtime_checkable
class Waking(Protocol):
    """What a runner has beside if its slots may stay open for ever, as on a stream.

    Times are integers of the first ORDER BY column's type, and so are horizons here.
    """

    def wakes(self, state: State, slots: NDArray[np.int64], horizon: int) -> NDArray[np.int64]:
        """For each slot the least horizon above this one that may decide something without rows; else `NEVER`.

        To be asked after a feed with this horizon.
        """
        ...

    def forgets(self, state: State, slots: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which slots keep nothing: from here on their answers are those of slots that begin anew."""
        ...

    def lasting(self) -> list[Lasting]:
        """What slots keep for ever if no row of them comes: what `forgets` waits for and `wakes` does not end."""
        ...


@dataclass(frozen=True, eq=False, slots=True)
class Gathered:
    """Partial results: those that get no others to be added to, and those that may, until the horizon `due`."""

    final: pa.Table
    waiting: pa.Table
    due: int


@runtime_checkable
class Gathering(Protocol):
    """What a runner has beside if results of several slots belong together."""

    @property
    def gathers(self) -> bool:
        """Whether what it gives are partial results, to be merged by somebody else."""
        ...

    def gather(self, partials: pa.Table, horizon: int | None) -> Gathered:
        """Partial results by whether rows after the horizon can add to them; None at the end of all rows."""
        ...
