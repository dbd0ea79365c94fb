"""What a workload has found: one table for all patterns, and what each pattern with RETURN gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@dataclass(frozen=True, slots=True)
class Stopped:
    """A pattern that had more than `max_kleene` events of a Kleene's type in a window, and the event it stopped at."""

    pattern: str
    event: dict[str, Any]


@dataclass(frozen=True, eq=False)
class Found:
    """The matches of a workload. `table` has a row for every event: pattern, match_id, variable, the event's columns.

    It has whatever the table has: `found.num_rows`, `found.to_pylist()`, on Spark `found.show()`. `found[name]` is what
    `rex.events` gives for one pattern. `stopped` are patterns that had too many events under a Kleene; on Spark it is
    a DataFrame.

    >>> import pyarrow as pa, sparkrex as rex
    >>> stream = pa.table({"ts": [1, 2, 3], "kind": ["A", "X", "B"]})
    >>> pairs = rex.workload({"pair": "PATTERN SEQ(A a, B b) WITHIN 5 RETURN b.ts - a.ts AS took"},
    ...                      time="ts", type="kind")
    >>> found = pairs.detect(stream)
    >>> found.num_rows, found["pair"].to_pylist()
    (2, [{'took': 2}])
    """

    table: Any
    names: tuple[str, ...]
    of_pattern: Callable[[str], Any] = field(repr=False)
    stopped: Any = ()

    def __getitem__(self, name: str) -> Any:
        """What one pattern gives: its RETURN, or the events of its matches."""
        if name not in self.names:
            from sparkrex.errors import nearest

            hint = nearest(str(name), self.names)
            raise KeyError(f"the workload has no pattern {name}" + (f"; {hint}" if hint else ""))
        return self.of_pattern(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __getattr__(self, name: str) -> Any:
        """Whatever the table has."""
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.table, name)
