"""Handling of arrays of segments: taking, ordering, removing duplicates, and the error when there are too many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.segments.kernels.segments import SPENT, TOO_MANY
from sparkrex.modes.segments.operators.contract import Segments, Spaces

if TYPE_CHECKING:
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from sparkrex.modes.segments.operators.contract import Binding


_NUMBER_BITS = 62


class TooManySegmentsError(Exception):
    """A node of the plan has more segments than the limit."""


class StepsSpentError(Exception):
    """The search took more steps than its budget, or nobody waits for it any more."""


def check_number(n: int) -> None:
    """Raise what a kernel says in place of how many segments it found."""
    if n == TOO_MANY:
        raise TooManySegmentsError
    if n == SPENT:
        raise StepsSpentError


def roomier(arrays: list[NDArray[np.int64]], n: int) -> list[NDArray[np.int64]]:
    """Four times the room, with the first `n` of each array."""
    larger = [np.empty(4 * len(array), np.int64) for array in arrays]
    for new, array in zip(larger, arrays, strict=True):
        new[:n] = array[:n]
    return larger


def no_segments(variables: Iterable[str] = ()) -> Segments:
    """None at all."""
    nothing = np.empty(0, np.int64)
    return Segments(nothing, nothing, nothing, dict.fromkeys(variables, (nothing, nothing)))


def taken(bindings: dict[str, Binding], places: NDArray[np.int64], names: Iterable[str]) -> dict[str, Binding]:
    """The bindings of these variables at these places."""
    return {name: (bindings[name][0][places], bindings[name][1][places]) for name in names if name in bindings}


def kept(segments: Segments, is_kept: NDArray[np.bool_]) -> Segments:
    """The segments that are marked."""
    bindings = {name: (first[is_kept], last[is_kept]) for name, (first, last) in segments.bindings.items()}
    return Segments(segments.space[is_kept], segments.start[is_kept], segments.end[is_kept], bindings)


def distinct(segments: Segments) -> Segments:
    """Ordered by (space, start, end, bindings), each once."""
    if len(segments) < 2:
        return segments
    if not segments.bindings:
        numbered = _distinct_by_number(segments)
        if numbered is not None:
            return numbered
    keys = [segments.space, segments.start, segments.end]
    for name in sorted(segments.bindings):
        keys += segments.bindings[name]
    order, is_new = sorted_groups(keys)
    return at_places(segments, order[is_new])


def sorted_groups(keys: list[NDArray[np.int64]]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The order by some keys, in which equals stay as they were, and there whether one differs from that before it."""
    order = np.lexsort(keys[::-1])
    is_new = np.zeros(len(order), np.bool_)
    is_new[:1] = True
    for key in keys:
        ordered = key[order]
        is_new[1:] |= ordered[1:] != ordered[:-1]
    return order, is_new


def _distinct_by_number(segments: Segments) -> Segments | None:
    """The same by one number for each segment, which is much faster; None if the numbers are too large."""
    first_row = int(segments.start.min())
    bits = (int(segments.end.max()) - first_row).bit_length()
    if 2 * bits + int(segments.space.max()).bit_length() > _NUMBER_BITS:
        return None
    numbers = (segments.space << (2 * bits)) | ((segments.start - first_row) << bits) | (segments.end - first_row)
    steps = np.diff(numbers)
    if bool((steps > 0).all()):
        return segments
    numbers = np.sort(numbers)
    numbers = numbers[np.concatenate(([True], numbers[1:] != numbers[:-1]))]
    mask = (1 << bits) - 1
    return Segments(
        numbers >> (2 * bits), ((numbers >> bits) & mask) + first_row, (numbers & mask) + first_row
    )


def at_places(segments: Segments, places: NDArray[np.int64]) -> Segments:
    """The segments at these places."""
    return Segments(
        segments.space[places], segments.start[places], segments.end[places],
        taken(segments.bindings, places, segments.bindings),
    )


def projected(segments: Segments, names: frozenset[str]) -> Segments:
    """The segments with only these bindings, each once."""
    if segments.bindings.keys() <= names:
        return segments
    bindings = {name: binding for name, binding in segments.bindings.items() if name in names}
    return distinct(Segments(segments.space, segments.start, segments.end, bindings))


def together(parts: list[Segments]) -> Segments:
    """The segments of several answers to the same spaces, one after the other; -1 for a variable that one lacks."""
    if len(parts) == 1:
        return parts[0]
    names = sorted({name for part in parts for name in part.bindings})
    bindings = {}
    for name in names:
        sides = [part.bindings.get(name, (np.full(len(part), -1), np.full(len(part), -1))) for part in parts]
        bindings[name] = (np.concatenate([side[0] for side in sides]), np.concatenate([side[1] for side in sides]))
    return Segments(
        np.concatenate([part.space for part in parts]), np.concatenate([part.start for part in parts]),
        np.concatenate([part.end for part in parts]), bindings,
    )


def distinct_spaces(spaces: Spaces) -> tuple[Spaces, NDArray[np.int64]]:
    """Each space once, and for every given space its place among them: the cache of a probe operator.

    Two spaces are the same only if every binding that the probed side refers to is the same too.
    """
    keys = [spaces.start_low, spaces.start_high, spaces.end_low, spaces.end_high]
    for name in sorted(spaces.bindings):
        keys += spaces.bindings[name]
    if not len(spaces):
        return spaces, np.empty(0, np.int64)
    order, is_new = sorted_groups(keys)
    place = np.empty(len(order), np.int64)
    place[order] = np.cumsum(is_new) - 1
    first = order[is_new]
    return (
        Spaces(
            spaces.start_low[first], spaces.start_high[first], spaces.end_low[first], spaces.end_high[first],
            taken(spaces.bindings, first, spaces.bindings),
        ),
        place,
    )
