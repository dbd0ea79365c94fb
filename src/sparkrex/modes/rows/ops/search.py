"""A search over a range of partitions: where it stands and what it has found, forward and in reverse."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

import numpy as np

from sparkrex.matching.matches import Matches
from sparkrex.modes.rows.kernels import ops as kernel

if TYPE_CHECKING:
    from sparkrex.modes.rows.kernels.arguments import Bounds, Limits


class Search(ABC):
    """Can be gone on with from any thread, one at a time."""

    def __init__(
        self, bounds: Bounds, elements: kernel.Elements, tests: kernel.ElementTests, limits: Limits
    ) -> None:
        self.bounds = bounds
        self.elements = elements
        self.tests = tests
        self.limits = limits
        n_elements = len(tests.bitmap_of) - 1
        n_rows = int(bounds.offsets[-1] - bounds.offsets[0])
        most = n_rows // n_elements + 1
        self.cursor = np.zeros(kernel.CURSOR_SIZE, np.int64)
        self.begins = np.zeros(n_elements + 3, np.int64)
        self.found = kernel.Found(
            np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64), np.empty(n_rows, np.int16)
        )
        self.status, self.row = kernel.NEEDS_BLOCK, -1

    @abstractmethod
    def go_on(self) -> None:
        """Search until a block is lacking, or to the end."""

    @property
    def lacks(self) -> tuple[int, int]:
        """The bitmap and the block that it waits for."""
        return int(self.cursor[kernel.BITMAP]), int(self.cursor[kernel.BLOCK])

    @property
    def n_tests(self) -> int:
        """How often an element was tested on a row."""
        return int(self.cursor[kernel.N_TESTS])

    def matches(self) -> Matches:
        """What it has found."""
        n_matches, n_labels = int(self.cursor[kernel.N_MATCHES]), int(self.cursor[kernel.N_LABELS])
        start, end, number = (column[:n_matches] for column in self.found[:3])
        offsets = np.concatenate(([0], np.cumsum(end - start))).astype(np.int64)
        return Matches(start, end, number, self.found.labels[:n_labels], offsets)


class ForwardSearch(Search):
    """From each partition's start; `context` is deadlines, machine, columns and path, for partitions up to `longest`.
    """

    def __init__(
        self, bounds: Bounds, elements: kernel.Elements, tests: kernel.ElementTests, limits: Limits,
        context: tuple[Any, ...], longest: int,
    ) -> None:
        super().__init__(bounds, elements, tests, limits)
        self.context = context
        self.labels = np.empty(longest + 1, np.int16)

    def go_on(self) -> None:
        """See `Search`."""
        status, row = kernel.search(
            self.bounds, self.elements, self.tests, *self.context, self.limits, self.cursor, self.begins, self.labels,
            self.found,
        )
        self.status, self.row = int(status), int(row)


class ReverseSearch(Search):
    """From each partition's end; the elements are those of the reversed pattern."""

    def __init__(
        self, bounds: Bounds, elements: kernel.Elements, tests: kernel.ElementTests, limits: Limits
    ) -> None:
        super().__init__(bounds, elements, tests, limits)
        self.occurrences = np.empty((64, len(tests.bitmap_of)), np.int64)

    def go_on(self) -> None:
        """See `Search`."""
        status, self.occurrences = kernel.search_back(
            self.bounds, self.elements, self.tests, self.limits, self.cursor, self.begins, self.occurrences, self.found
        )
        self.status = int(status)
