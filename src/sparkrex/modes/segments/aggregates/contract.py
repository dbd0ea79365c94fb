"""What an aggregate over segments is.

Columns are int64 or float64 arrays over all partitions of a batch, one after the other; `nulls` has for each of them 1
where NULL, or None if nothing is; `partitions` says where they are cut; segments are inclusive positions in the batch
that lie in one partition. A segment that is not there (start -1) must be left out by the caller.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.segments.kernels.pivots import Partitions

    Rows = NDArray[np.int64]
    Columns = tuple[NDArray[Any], ...]
    Nulls = tuple[NDArray[np.uint8] | None, ...]
    Values = tuple[NDArray[Any], NDArray[np.bool_]]


class CostClass(Enum):
    """How a cost grows with the number of rows: of the segment for scan and lookup, of the series for the index.

    The quadratic cost of an index is rows times the longest segment, where a window bounds it.
    """

    CONSTANT = "constant"
    LINEAR = "linear"
    QUADRATIC = "quadratic"

    def units(self, n_rows: float, longest: float | None = None) -> float:
        """What a weight is multiplied by."""
        if self is CostClass.CONSTANT:
            return 1.0
        if self is CostClass.LINEAR:
            return n_rows
        return n_rows * (n_rows if longest is None else min(n_rows, longest))


@dataclass(frozen=True, slots=True)
class Cost:
    """The cost classes of an aggregate's three ways; None where it has no index."""

    scan: CostClass
    index: CostClass | None = None
    lookup: CostClass | None = None


@dataclass(frozen=True, slots=True)
class Weights:
    """Nanoseconds per unit of the cost classes, as profiled."""

    scan: float
    index: float | None = None
    lookup: float | None = None


class SegmentAggregate(Protocol):
    """An aggregate over segments.

    `arity` columns come first among the arguments, then `n_constants` literals, for which `bound` makes the aggregate.
    With `n_segments` 2 it reads two segments, a column of each (`scan_pairs`); then there is no index. `needs_index`
    says that it reads rows outside of the segment and can be answered by lookup only. Values are float64, or int64
    where the column is and the result is a whole number, or bool where it `is_boolean`.
    """

    name: str
    arity: int
    n_constants: int
    n_segments: int
    needs_index: bool
    is_boolean: bool
    cost: Cost

    def bound(self, constants: tuple[Any, ...]) -> SegmentAggregate:
        """The aggregate with its literal arguments."""
        ...

    def scan(self, columns: Columns, start: int, end: int) -> Any:
        """The value over one segment without NULLs, None for NULL."""
        ...

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """The values over many segments and where they are NULL, each segment by itself."""
        ...

    def scan_pairs(
        self, columns: Columns, nulls: Nulls, start: Rows, end: Rows, other_start: Rows, other_end: Rows
    ) -> Values:
        """With `n_segments` 2, the values over pairs of segments; a start of -1 is a segment that is not there."""
        ...

    def index(self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None) -> Any | None:
        """What lookups need, for segments of at most `longest` rows; None if there is no index or not for these."""
        ...

    def lookup(self, index: Any, start: Rows, end: Rows) -> Values:
        """The same as `scan_many`, to the bit, from an index."""
        ...


class Aggregate:
    """The parts that most aggregates do not change."""

    name = ""
    arity = 1
    n_constants = 0
    n_segments = 1
    needs_index = False
    is_boolean = False
    cost = Cost(CostClass.LINEAR)

    def bound(self, constants: tuple[Any, ...]) -> SegmentAggregate:
        """See the protocol."""
        if constants:
            raise ValueError(f"{self.name} takes no literal")
        return self

    def scan(self, columns: Columns, start: int, end: int) -> Any:
        """See the protocol."""
        from sparkrex.modes.segments.kernels.pivots import Partitions

        partitions = Partitions.whole(np.array([0, len(columns[0])]))
        values, is_null = self.scan_many(
            columns, (None,) * len(columns), partitions, np.array([start], np.int64), np.array([end], np.int64)
        )
        return None if is_null[0] else values[0].item()

    def scan_many(
        self, columns: Columns, nulls: Nulls, partitions: Partitions, start: Rows, end: Rows
    ) -> Values:
        """See the protocol."""
        raise NotImplementedError

    def scan_pairs(
        self, columns: Columns, nulls: Nulls, start: Rows, end: Rows, other_start: Rows, other_end: Rows
    ) -> Values:
        """See the protocol."""
        raise NotImplementedError

    def index(self, columns: Columns, nulls: Nulls, partitions: Partitions, longest: int | None) -> Any | None:
        """See the protocol."""
        return None

    def lookup(self, index: Any, start: Rows, end: Rows) -> Values:
        """See the protocol."""
        raise NotImplementedError


NOTHING_NULL = np.empty(0, np.uint8)
"""What kernels take for a column without NULLs."""


def null_marks(*nulls: NDArray[np.uint8] | None) -> NDArray[np.uint8]:
    """Rows in which one of the columns is NULL; empty if there are none."""
    marked = [part for part in nulls if part is not None and len(part)]
    if not marked:
        return NOTHING_NULL
    together = marked[0]
    for part in marked[1:]:
        together = together | part
    return together


def room(n: int, kind: Any = np.float64) -> Values:
    """Space for values and NULL marks."""
    return np.zeros(n, kind), np.zeros(n, np.bool_)


def longest_of(offsets: Rows, longest: int | None) -> int:
    """Rows of the longest segment that there can be."""
    most = int(np.diff(offsets).max(initial=1))
    return most if longest is None else max(1, min(most, longest))
