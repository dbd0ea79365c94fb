"""Row groups of files, and how they are shared out among tasks."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@dataclass(frozen=True, slots=True)
class FileState:
    """A file as it was when the query was planned: its size, and when it was changed, in nanoseconds."""

    path: str
    size: int
    changed: int


@dataclass(frozen=True, slots=True)
class Piece:
    """Row groups of one file, and the bytes that their columns take in it.

    `names` are the file's own names of columns by ours; `values` those of partition folders, and NULL for columns that
    the file lacks. `times` are the least and the most of the column that slices are cut by, if they are.
    """

    file: FileState
    groups: tuple[int, ...]
    names: Mapping[str, str]
    values: Mapping[str, str | int | None]
    n_bytes: int
    n_rows: int
    times: tuple[int, int] | None = None


def share_out(pieces: Sequence[Piece], n_wanted: int) -> tuple[tuple[Piece, ...], ...]:
    """The pieces, of one row group each, in at most so many units of about the same size; a unit's stand in order.

    The largest first, each to the unit that has least: no unit has more than 4/3 of what the best sharing needs.
    """
    n_units = max(1, min(n_wanted, len(pieces)))
    shares: list[list[int]] = [[] for _ in range(n_units)]
    by_size = [(0, unit) for unit in range(n_units)]
    for number in sorted(range(len(pieces)), key=lambda number: -pieces[number].n_bytes):
        size, unit = by_size[0]
        shares[unit].append(number)
        heapq.heapreplace(by_size, (size + pieces[number].n_bytes + 1, unit))
    return tuple(_joined([pieces[number] for number in sorted(share)]) for share in shares)


def _joined(pieces: Sequence[Piece]) -> tuple[Piece, ...]:
    """Neighbouring row groups of one file as one piece."""
    joined: list[Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        if last is not None and last.file == piece.file:
            joined[-1] = Piece(
                last.file, last.groups + piece.groups, last.names, last.values, last.n_bytes + piece.n_bytes,
                last.n_rows + piece.n_rows,
            )
        else:
            joined.append(piece)
    return tuple(joined)
