"""What flows through a plan of segment operators: search spaces down, segments up, both as arrays.

An operator answers for many search spaces at once: one per partition (or block of start rows) at the root, one per
probe below a probe operator. So a probe is a line in an array, not a call.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from sparkrex.modes.segments.kernels.segments import Ranges, Triples

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Rows = NDArray[np.int64]

Binding = tuple["Rows", "Rows"]
"""First and last row of a variable's segment, -1 in both where the variable has none."""


@dataclass(frozen=True, eq=False, slots=True)
class Spaces:
    """Search spaces: segments start in [start_low, start_high] and end in [end_low, end_high], all inclusive.

    Rows are positions in the whole batch; no space reaches over its partition's edge. `bindings` are the segments of
    variables matched elsewhere that conditions below refer to, one per space.
    """

    start_low: Rows
    start_high: Rows
    end_low: Rows
    end_high: Rows
    bindings: dict[str, Binding] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.start_low)

    @property
    def ranges(self) -> Ranges:
        """The spaces as kernels take them."""
        return Ranges(self.start_low, self.start_high, self.end_low, self.end_high)


@dataclass(frozen=True, eq=False, slots=True)
class Segments:
    """Segments found, each in one of the spaces asked for, ordered by (space, start, end, bindings), no two equal.

    `bindings` has the variables that somebody above refers to or MEASURES reads, one segment (or -1) per segment found.
    """

    space: Rows
    start: Rows
    end: Rows
    bindings: dict[str, Binding] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.start)

    @property
    def triples(self) -> Triples:
        """The segments as kernels take them, without bindings."""
        return Triples(self.space, self.start, self.end)


class Operator(Protocol):
    """A physical operator, bound to its series (see `series.Series`): immutable but for caches and counters."""

    name: str

    @property
    def children(self) -> tuple[Operator, ...]:
        """Whom it asks."""
        ...

    def find(self, spaces: Spaces) -> Segments:
        """All segments of the pattern below in these spaces."""
        ...

    def describe(self) -> list[str]:
        """What EXPLAIN prints about it."""
        ...
