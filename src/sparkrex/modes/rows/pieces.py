"""Pieces of a frame that threads search at the same time, cut inside partitions too, and what they found put together.

A search gives the same matches wherever it begins, as long as it begins at a row that the whole search *attempts*: a
match from s to e after which AFTER MATCH SKIP goes to row n leaves out the rows s + 1 to n - 1, and every other row is
attempted. What a search finds from an attempted row on depends on nothing before it. So each piece is searched as if no
match reached into it. Then, from the first piece to the last, the true search comes to the piece at some row, its
*entry*: the piece's first row, or where the skip after a match of an earlier piece goes to, which may lie pieces ahead.
If the piece's own search attempted the entry, all that it found from there on is right. Else the search is made again
from the entry, up to the first row that both attempt; in the worst case through the whole piece.

This holds for every skip, since matches come in order of their first rows. It needs that no condition reads the match's
number, which is counted afterwards, and that all rows are there: then a search never has to wait for more.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from sparkrex.matching.matches import Matches
from sparkrex.modes.rows.kernels.backtrack import DONE, NEXT_ROW, PAST_LAST_ROW, TO_FIRST
from sparkrex.threads import ranges, spread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.rows.matcher import Partitions
    from sparkrex.modes.rows.problem import Problem

    Stopper = Callable[[], None] | None

Result = TypeVar("Result")
Part = TypeVar("Part")

LEAST_ROWS = 1 << 16
"""A partition is not cut into pieces with fewer rows than this."""
_NEAR = 8
"""A cut moves to where a partition ends if that is nearer than this part of a piece."""
_FIRST_ROWS = 1 << 10
"""So many rows are searched again at first, then twice as many, and so on."""


@dataclass(frozen=True, eq=False, slots=True)
class Piece:
    """The partitions from `first` up to `last`, or the rows of them from which on matches may start here.

    `begin` is its first row. By partition: matches start from `start` up to `until`, and are counted from `number`.
    Searches change `start` and `number` to where they stand afterwards.
    """

    begin: int
    first: int
    last: int
    start: NDArray[np.int64]
    until: NDArray[np.int64]
    number: NDArray[np.int64]


@dataclass(frozen=True, eq=False, slots=True)
class Outcome:
    """What a search came to: DONE, or an error and the row where the match starts; and its matches so far."""

    status: int
    row: int
    matches: Matches


@dataclass(frozen=True, eq=False, slots=True)
class Joined:
    """The matches of all pieces. `n_again`: from so many rows a match was searched for a second time."""

    matches: Matches
    n_again: int


@dataclass(frozen=True, slots=True)
class CutNotes:
    """What EXPLAIN ANALYZE tells of a search in pieces: from how many rows a match was searched for again, and of how
    many rows it was found out again what can follow them."""

    n_pieces: int
    n_again: int
    n_looked: int = 0

    def __str__(self) -> str:
        again = [f"{self.n_again:,} rows searched again"]
        again += [f"{self.n_looked:,} looked at again"] if self.n_looked else []
        return f"{self.n_pieces} pieces at the same time, cut inside partitions; {', '.join(again)}"


def why_whole(partitions: Partitions) -> str | None:
    """Why these partitions cannot be cut into pieces, if they cannot."""
    if not partitions.ends.all() or partitions.asked is not None:
        return "rows are still to come"
    if partitions.failures is not None or partitions.given_up:
        return "it goes on after errors"
    return None


def each_piece(search: Callable[[Piece], Result], pieces: Sequence[Piece], stop: Stopper) -> list[Result]:
    """What a search of every piece comes to, each on a thread of its own."""
    return spread(lambda n, _: search(pieces[n]), [(n, n + 1) for n in range(len(pieces))], stop)


def several_pieces(
    search: Callable[[Sequence[Part]], list[Result]], pieces: Sequence[Part], threads: int, stop: Stopper
) -> list[Result]:
    """What a search of pieces comes to that takes several at a time, neighbours, each time on a thread of its own."""
    each = -(-len(pieces) // threads)
    groups = [(begin, min(begin + each, len(pieces))) for begin in range(0, len(pieces), each)]
    return [found for group in spread(lambda a, b: search(pieces[a:b]), groups, stop) for found in group]


def row_cuts(offsets: NDArray[np.int64], threads: int, each: int = 1) -> list[int]:
    """Where pieces begin and end, so many for each thread, about equally long; at a partition's end if one is near."""
    origin, n_rows = int(offsets[0]), int(offsets[-1] - offsets[0])
    n_pieces = each * len(ranges(n_rows, threads, LEAST_ROWS))
    near = n_rows // n_pieces // _NEAR
    cuts = [origin]
    for number in range(1, n_pieces):
        cut = origin + n_rows * number // n_pieces
        at = int(np.searchsorted(offsets, cut))
        nearest = min((int(offsets[n]) for n in (at - 1, at)), key=lambda row: abs(row - cut))
        cuts.append(nearest if abs(nearest - cut) <= near else cut)
    return sorted({*cuts, int(offsets[-1])})


def cut_partitions(partitions: Partitions, cuts: Sequence[int]) -> list[Piece]:
    """The pieces between rows."""
    offsets = partitions.offsets
    pieces = []
    for begin, end in pairwise(cuts):
        first = int(np.searchsorted(offsets, begin, "right")) - 1
        last = int(np.searchsorted(offsets, end, "left"))
        start = np.maximum(partitions.start[first:last], begin)
        number = np.where(offsets[first:last] < begin, 1, partitions.number[first:last])
        pieces.append(Piece(begin, first, last, start, np.minimum(offsets[first + 1 : last + 1], end), number))
    return pieces


def whole_piece(partitions: Partitions, first: int, last: int) -> Piece:
    """Some whole partitions; a search changes where it stands in `partitions` itself."""
    offsets, own = partitions.offsets, slice(first, last)
    return Piece(
        int(offsets[first]), first, last, partitions.start[own], offsets[first + 1 : last + 1], partitions.number[own]
    )


def is_cut(partitions: Partitions, cuts: Sequence[int]) -> bool:
    """Whether a partition has rows on both sides of a cut."""
    inner = np.array(cuts[1:-1], np.int64)
    at = np.searchsorted(partitions.offsets, inner)
    return bool((partitions.offsets[at] != inner).any())


def put_together(
    problem: Problem, partitions: Partitions, pieces: Sequence[Piece], outcomes: Sequence[Outcome],
    search: Callable[[Piece], Outcome],
) -> Joined:
    """The matches that one search of all rows finds, out of what those of the pieces found. Changes `partitions`."""
    parts: list[Matches] = []
    n_again = 0
    before: Piece | None = None
    for piece, outcome in zip(pieces, outcomes, strict=True):
        if before is not None and before.last - 1 == piece.first:
            stands = int(before.start[-1]), int(before.number[-1])
            found, n_rows = _enter(problem, partitions, piece, outcome, search, *stands)
            parts += found
            n_again += n_rows
        else:
            _check(problem, outcome)
            parts.append(outcome.matches)
        partitions.start[piece.first : piece.last] = piece.start
        partitions.number[piece.first : piece.last] = piece.number
        before = piece
    return Joined(Matches.joined([part for part in parts if len(part)] or [Matches.none()]), n_again)


def _check(problem: Problem, outcome: Outcome) -> None:
    if outcome.status != DONE:
        raise problem.failure(outcome.status, outcome.row)


def _enter(
    problem: Problem, partitions: Partitions, piece: Piece, outcome: Outcome, search: Callable[[Piece], Outcome],
    entry: int, number: int,
) -> tuple[list[Matches], int]:
    """The matches of a piece that the whole search enters at a row, and from how many rows it was made again.

    Its first partition began in an earlier piece; `number` is that of the next match there.
    """
    begin, until = piece.begin, int(piece.until[0])
    n_again = 0
    if outcome.status != DONE and entry > begin:
        # The whole search may not make the attempt that failed, and nothing is known of what is behind it.
        piece.start[:], piece.number[:] = (
            values[piece.first : piece.last] for values in (partitions.start, partitions.number)
        )
        piece.start[0] = begin = entry
        outcome = search(piece)
        n_again = max(0, until - entry)
    _check(problem, outcome)
    matches = outcome.matches
    n_first = int(np.searchsorted(matches.start, until))
    own, others = part_of(matches, 0, n_first), part_of(matches, n_first, len(matches))
    found = [own]
    if entry >= until:
        piece.start[0] = entry
        found = []
    elif entry > begin:
        found, n_rows = _synchronise(problem, piece, own, search, entry)
        n_again += n_rows
    for place, part in enumerate(found):
        found[place] = replace(part, number=np.arange(number, number + len(part)))
        number += len(part)
    piece.number[0] = number
    return [*found, others], n_again


def _synchronise(
    problem: Problem, piece: Piece, own: Matches, search: Callable[[Piece], Outcome], entry: int
) -> tuple[list[Matches], int]:
    """Search from the entry up to a row that the piece's own search attempted; from there on its own matches count.

    Returns the matches, and from how many rows it was searched.
    """
    following = next_attempts(problem, own)
    until, n_rows, begin = int(piece.until[0]), _FIRST_ROWS, entry
    found: list[Matches] = []
    while entry < until:
        if _attempted_from(own.start, following, entry) == entry:
            found.append(part_of(own, int(np.searchsorted(own.start, entry)), len(own)))
            return found, entry - begin
        bounds = np.array([entry], np.int64), np.array([min(entry + n_rows, until)], np.int64), np.ones(1, np.int64)
        again = Piece(entry, piece.first, piece.first + 1, *bounds)
        outcome = search(again)
        _check(problem, outcome)
        matches, stands = outcome.matches, int(again.start[0])
        after = next_attempts(problem, matches)
        while entry < stands:
            row = _attempted_from(matches.start, after, _attempted_from(own.start, following, entry))
            if row == entry:
                break
            entry = row
        entry = min(entry, stands)  # of what is behind that, only the piece's own search is known
        found.append(part_of(matches, 0, int(np.searchsorted(matches.start, entry))))
        n_rows *= 2
    piece.start[0] = entry
    return found, until - begin


def _attempted_from(start: NDArray[np.int64], following: NDArray[np.int64], row: int) -> int:
    """The first row from `row` on that a search attempts, by the first rows of its matches and where it goes on."""
    before = int(np.searchsorted(start, row)) - 1
    return row if before < 0 else max(row, int(following[before]))


def next_attempts(problem: Problem, matches: Matches) -> NDArray[np.int64]:
    """By match the row that is attempted after it. Where AFTER MATCH SKIP goes to a variable, labels are there."""
    start, end = matches.start, matches.end
    mode = problem.skip_mode
    if mode == NEXT_ROW:
        return start + 1
    if mode == PAST_LAST_ROW:
        return np.maximum(end, start + 1)
    targets = np.flatnonzero(problem.skip_member[matches.labels >> 1])
    first, last = matches.label_offsets[:-1], matches.label_offsets[1:]
    chosen = np.searchsorted(targets, first) if mode == TO_FIRST else np.searchsorted(targets, last) - 1
    # An empty match goes on at the next row; every other one has a target, or it would have been an error.
    at = np.append(targets, 0)[chosen]
    return np.where(last > first, start + at - first, start + 1)


def part_of(matches: Matches, begin: int, end: int) -> Matches:
    """Matches that stand together."""
    if begin == 0 and end == len(matches):
        return matches
    offsets = matches.label_offsets[begin : end + 1]
    labels = matches.labels[offsets[0] : offsets[-1]] if len(matches.labels) else matches.labels
    return Matches(
        matches.start[begin:end], matches.end[begin:end], matches.number[begin:end], labels, offsets - offsets[0]
    )
