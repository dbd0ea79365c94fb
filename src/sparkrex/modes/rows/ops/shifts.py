"""How far the pattern moves after a failure, and where testing goes on: the arrays shift and next of OPS.

Suppose elements 1 to j-1 hold on their rows, and p_j fails on the row under test. `shift(j)` is how many elements the
pattern moves on: it starts again where element shift(j) + 1 began. `next(j)` is the first of its elements that is
tested then; those before it are known to hold. Where shift(j) is j, the pattern starts behind the row under test;
next(j) is 0 there, which means element 1 on the next row.

Without stars both follow from S (section 4.2). With stars they follow from the implication graph G_P^j (section 5.1):
its node (r, c) stands for a row which the attempt that failed had in element r, and which an attempt from further
behind has in element c < r. Its value is theta_rc, in row j phi_jc; nodes of value 0 do not exist. A shift by s is
possible if the last row can be reached from (s + 1, 1).

As printed the rules for `next` are unsound. They are mended here so:

a. The start node (shift + 1, 1) must itself be 1: else element 1 is only possible there.
b. Only diagonal steps are followed: element c begins where element shift + c began, so that it is known where testing
   goes on.
c. A star row r is not passed by an element c that is not a star: it takes one row, and r may have had more.
d. What is known of where elements begin is moved along with the pattern (the paper's counters); the search does that.

Where the paper stops at the last node whose successor is U, with its column, this stops at that successor: the node
itself is known to hold. That is what section 4.2 does, and the two agree on patterns without stars.

*Starts inside a star's run.* A shift leads to the first row of an element, and skips the starts inside runs before it.
For a run of element k + 1 > 1 such starts stand at the node (k + 1, 1) too, from which the last row cannot be reached.
For the run of a first element that is a star, a later start comes to the end of the same run and goes on as before. In
the graph that is the diagonal: an attempt that comes to the node (r, r) inside the run of a star r is where the failed
one was, and fails where that did. So the diagonal is left out.

This needs conditions that give the same answer in both attempts. A condition that reads FIRST of a star, an aggregate,
or rows of elements before r does not. `differs[r, k]` says that p_k may. If any of p_r to p_j may, a node (r, r) counts
as reached, and shift(j) is the shift that leads there. For r = 1 the starts are those inside the first element's run,
which no shift by elements leads to: they are tried row by row, from `inside` on, the first element that may give
another answer. Nothing is known of attempts behind a node (r, r): a star in it may end earlier or later than before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.rows.ops.matrices import U, whole_patterns

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.rows.ops.matrices import Matrices


@dataclass(frozen=True, eq=False, slots=True)
class Shifts:
    """`shift` and `next` by element from 1.

    `inside`: a failure there or behind has the starts inside the first element's run tried as well, each from element
    `inside` on; one more than there are elements if that is never needed.
    """

    shift: NDArray[np.int64]
    next: NDArray[np.int64]
    inside: int


def find_shifts(matrices: Matrices, is_star: Sequence[bool], differs: NDArray[np.bool_] | None = None) -> Shifts:
    """The arrays of a pattern. `is_star` has an entry per element; `differs` is by element from 1, None if none does.
    """
    m = matrices.n_elements
    if not any(is_star):
        return _shifts_without_stars(matrices)
    star = [False, *is_star]
    if differs is None:
        differs = np.zeros((m + 1, m + 1), np.bool_)
    shift, following = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)
    for j in range(1, m + 1):
        values = implication_values(matrices, j)
        shift[j] = _shift(values, star, differs, j)
        following[j] = _next(values, star, j, int(shift[j]))
    sensitive = [k for k in range(1, m + 1) if star[1] and differs[1, k]]
    return Shifts(shift, following, min(sensitive, default=m + 1))


def _shifts_without_stars(matrices: Matrices) -> Shifts:
    m = matrices.n_elements
    whole = whole_patterns(matrices)
    shift, following = np.zeros(m + 1, np.int64), np.zeros(m + 1, np.int64)
    for j in range(1, m + 1):
        s = next((k for k in range(1, j) if whole[j, k] != 0), j)
        shift[j] = s
        if s == j:
            following[j] = 0
        elif whole[j, s] == 1:
            following[j] = j - s + 1
        else:
            unknown = [t for t in range(1, j - s) if matrices.theta[s + t, t] == U]
            following[j] = min([*unknown, j - s])
    return Shifts(shift, following, m + 1)


def implication_values(matrices: Matrices, j: int) -> NDArray[np.int8]:
    """Values of the nodes of G_P^j: rows of theta, the last one of phi."""
    values = matrices.theta[: j + 1].copy()
    values[j] = matrices.phi[j]
    return values


def successors(values: NDArray[np.int8], star: Sequence[bool], r: int, c: int) -> list[tuple[int, int]]:
    """Where the next row can be, in the attempt that failed and in a later one, if a row is in r and c of them.

    The five cases of section 5.1, the diagonal included. A star stays or ends; a star c cannot end while r goes on if
    every row of r satisfies it.
    """
    found = []
    if star[r] and not (star[c] and values[r, c] == 1):
        found.append((r, c + 1))
    if star[c]:
        found.append((r + 1, c))
    found.append((r + 1, c + 1))
    return [node for node in found if node[0] == node[1] or values[node] != 0]


def _shift(values: NDArray[np.int8], star: Sequence[bool], differs: NDArray[np.bool_], j: int) -> int:
    """The least possible shift (Definition 1). Nodes are visited from the last row up, each once: O(m^2)."""
    leads_on = np.zeros((j + 1, j + 1), np.bool_)
    leads_on[j, 1:j] = values[j, 1:j] != 0
    for r in range(j - 1, 1, -1):
        leads_on[r, r] = star[r] and bool(differs[r, r : j + 1].any())
        for c in range(r - 1, 0, -1):
            leads_on[r, c] = values[r, c] != 0 and any(leads_on[node] for node in successors(values, star, r, c))
    return next((s for s in range(1, j) if leads_on[s + 1, 1]), j)


def _next(values: NDArray[np.int8], star: Sequence[bool], j: int, s: int) -> int:
    """The first element that must be tested after a shift by s; see the errata above."""
    if s == j:
        return 0
    c = 1
    while values[s + c, c] == 1:
        r = s + c
        if r == j:
            # The row under test is known to satisfy p_c. A star may go on behind it, so it is tested there as any
            # other.
            return c if star[c] else c + 1
        if star[r] and not star[c]:
            break
        if star[c] and values[r + 1, c] != 0:
            break
        c += 1
    return c
