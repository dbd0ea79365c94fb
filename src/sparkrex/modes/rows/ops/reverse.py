"""Reverse search: the same tables for the reversed pattern, over rows from a partition's last to its first.

It finds all occurrences, overlapping ones too, and takes those that the forward search gives. That is right without
stars, and where every star excludes both of its neighbours:

- In an occurrence found forward a star's rows end where the element behind it begins. The star takes exactly those rows
  in reverse as well, because the row before its first one, which is the element before it, is none of its own. The
  other way round, a star found in reverse would not have gone on forward, because the row behind it is none of its own.
- A star at the pattern's end takes all rows that it can forward. In reverse it is the first element, and an attempt
  from inside its run comes to the same occurrence, so only the one from the run's last row is tried, or proven to fail.
- A star at the pattern's beginning takes in reverse all rows before it that it can. Forward the match begins at the
   first of them at which an attempt is made. That is the run's first row, or the row behind the previous match if that
   lies inside the run: so the star is clipped there. If no row of it is left the occurrence overlaps and is none.

A later start never leads to an earlier end (see `elements.find_final`). So in order of their starts occurrences are in
order of their ends, and going through them from the first one, taking each that begins behind the last one taken, is
what the forward search does.

Nothing is known of the row behind an occurrence: after one the pattern moves on as after a failure of one element more,
which says nothing.

*Which direction.* A search that moves further at each failure makes fewer attempts (section 8 of the paper). How often
element j is the one that fails depends on the data; taken that any element fails on every second row, it is j with
probability 2^-j, and the mean of shift(j) so weighted is how far a failure moves the pattern.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.rows.ops.matrices import Matrices, U
from sparkrex.modes.rows.ops.shifts import Shifts, find_shifts

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from sparkrex.modes.rows.ops.elements import Element
    from sparkrex.modes.rows.ops.proofs import Proofs


@dataclass(frozen=True, eq=False, slots=True)
class Reverse:
    """The reversed pattern; its shifts have an entry more, for after an occurrence."""

    elements: tuple[Element, ...]
    shifts: Shifts

    @staticmethod
    def of(elements: tuple[Element, ...], proofs: Proofs) -> Reverse | str:
        """The reverse of a pattern, or why it does not give the same matches."""
        for element in elements:
            if element.context is not None:
                return f"the condition of {element.variables[0]} reads the match so far"
        for left, right in pairwise(elements):
            for star, other in ((left, right), (right, left)):
                if star.is_star and proofs.exclude(star, other) is None:
                    return f"a row may be both {star.variables[0]} and {other.variables[0]}"
        backwards = elements[::-1]
        return Reverse(backwards, reverse_shifts(proofs.matrices(backwards), [e.is_star for e in backwards]))


def reverse_shifts(matrices: Matrices, is_star: list[bool]) -> Shifts:
    """The shifts of a reversed pattern, given its matrices, with the entry for after an occurrence."""
    theta = np.pad(matrices.theta, (0, 1), constant_values=U)
    phi = np.pad(matrices.phi, (0, 1), constant_values=U)
    return find_shifts(Matrices(theta, phi), [*is_star, False])


def estimated_shift(shift: NDArray[np.int64]) -> float:
    """The mean of shift(j), entries from 1, if element j fails with probability 2^-j."""
    weights = 0.5 ** np.arange(1, len(shift))
    return float((shift[1:] * weights).sum() / weights.sum())
