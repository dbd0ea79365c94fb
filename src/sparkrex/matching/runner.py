"""The runner: one plan, ready to be fed. What every mode gives, in batch, in chunks, in Spark's workers and in streams.

    state = runner.open()
    for feed in feeds:
        rows = runner.feed(state, feed)

A runner is immutable; what changes lives in the state. It gives result rows once nothing that may still come can change
them, and it holds back the rows that it may need again. The result rows of one slot come in the same order, with the
same numbers, however its rows are cut into feeds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.matching.feed import Feed
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
