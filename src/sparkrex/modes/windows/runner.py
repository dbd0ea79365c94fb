"""A window as a runner: partitions that are in order and whole, as Spark's workers have them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.errors import InternalError
from sparkrex.matching.state import State
from sparkrex.modes.windows.choose import choose_search
from sparkrex.modes.windows.engine import WindowSearch

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.matching.feed import Feed
    from sparkrex.modes.windows.plan import PatternWindow
    from sparkrex.settings import Settings
    from sparkrex.stopwatch import Stopwatch

_FRESH = np.zeros((), [("nothing", np.int8)])


@dataclass(frozen=True, eq=False)
class WindowRunner:
    """See `matching.runner`. `keys` are the columns that hold the partition keys."""

    plan: PatternWindow
    sample: pa.Table
    keys: tuple[str, ...]
    evaluator: Evaluator
    settings: Settings
    watch: Stopwatch

    @property
    def refusal(self) -> str:
        """A later row may change the value of any row before it."""
        return "a row pattern in a window gives a row its value when its frame is there"

    @cached_property
    def _search(self) -> WindowSearch:
        choice = choose_search(self.plan, self.sample.slice(0, 0), self.evaluator, self.settings)
        return WindowSearch(self.plan, choice, self.evaluator, self.settings, self.watch)

    def open(self) -> State:
        """Nothing is kept."""
        return State(_FRESH)

    def feed(self, state: State, feed: Feed) -> pa.Table:
        """The rows of the feed with their values."""
        if not feed.is_whole:
            raise InternalError("REX901", "a window was fed with a part of a partition", None, None)
        table = feed.table
        values = self._search.values(table, feed.arrangement, [table.column(name) for name in self.keys])
        result = table.select(list(self.plan.input_columns))
        for call, column in zip(self.plan.calls, values, strict=True):
            result = result.append_column(call.column, column)
        return result
