"""Slices of one partition, from a time up to a time, that tasks search on their own: what a plan needs for that."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import pyarrow as pa

    from sparkrex.hosts.host import Evaluator
    from sparkrex.settings import Settings


@dataclass(frozen=True, slots=True)
class SliceNeeds:
    """What a slice must hold beside its own rows, times as integers of the type of `column`, the order's first.

    The last row of a match is at most `length` after its first, or, where that is None, a match has at most `n_rows`
    rows. Conditions and measures read at most `n_before` rows before a match's first row, and conditions at most
    `n_behind` rows behind its last. With `scans`, where a match may start depends on the matches before it.
    """

    column: str
    length: int | None
    n_rows: int
    n_before: int
    n_behind: int
    scans: bool


@dataclass(frozen=True, eq=False, slots=True)
class Slice:
    """Rows in order; those from `begin` up to `until` are the slice's own, where its matches start.

    `is_first` says that the first row here is the partition's first. What stands after `until` is enough for every
    match that starts before, as `SliceNeeds` has it.
    """

    rows: pa.Table
    begin: int
    until: int
    is_first: bool


class SliceSearch(Protocol):
    """The search of slices, by positions in a slice's rows."""

    def entry(self, part: Slice) -> int | None:
        """A row that the search of the whole partition attempts, none of its own before it; None if the rows before the
        slice do not prove one."""
        ...

    def leave(self, part: Slice, entry: int) -> int:
        """How many rows behind `until` the search goes on that enters the slice there."""
        ...

    def answer(self, part: Slice, entry: int) -> pa.Table:
        """The result rows of the matches that start in the slice."""
        ...


@runtime_checkable
class Slicing(Protocol):
    """What a mode has beside if it can search a partition in slices."""

    def slice_needs(
        self, written: Any, plan: Any, sample: pa.Table, evaluator: Evaluator, settings: Settings
    ) -> SliceNeeds | str:
        """What slices need, or why there can be none. `written` is the user's plan, `plan` the workers' over columns
        of the sample's types."""
        ...

    def slice_search(
        self, plan: Any, sample: pa.Table, needs: SliceNeeds, evaluator: Evaluator, settings: Settings
    ) -> SliceSearch:
        """The search of a plan that has needs."""
        ...
