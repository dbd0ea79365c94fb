"""Where the queries of the tour run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from examples.tour.stop import Scene, Stop


class Host(Protocol):
    """Answers the query of a stop, and gives the rows of the partitions that are drawn."""

    name: str

    def answer(self, name: str, stop: Stop, scene: Scene) -> tuple[pa.Table, pa.Table]: ...


class Memory:
    """Tables in this process. A stream is a table there: its answer is the same."""

    name = "in memory"

    def answer(self, name: str, stop: Stop, scene: Scene) -> tuple[pa.Table, pa.Table]:
        del name
        return stop.find(scene.table), rows_of(scene.table, stop.key, scene.shown)


def rows_of(table: pa.Table, key: str, shown: list[str]) -> pa.Table:
    """The rows of some partitions."""
    return table.filter(pc.is_in(table[key], pa.array(shown)))
