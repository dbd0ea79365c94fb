"""What the elements of a pattern say about each other: the matrices theta, phi and S of OPS, section 4.2.

Elements are numbered from 1 as in the paper, so row and column 0 of every matrix are not used. Only entries on and
below the diagonal are defined; the others are U.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

U = 2
"""Neither 0 nor 1 is known."""


@dataclass(frozen=True, eq=False, slots=True)
class Matrices:
    """theta[j, k]: what p_k is on a row where p_j holds; phi[j, k]: on a row where p_j does not hold. 0, 1 or U."""

    theta: NDArray[np.int8]
    phi: NDArray[np.int8]

    @property
    def n_elements(self) -> int:
        """How many elements the pattern has, m in the paper."""
        return len(self.theta) - 1


def make_matrices(
    n_elements: int, after_success: Callable[[int, int], int], after_failure: Callable[[int, int], int]
) -> Matrices:
    """The matrices by what is known of pairs: `after_success(j, k)` is theta_jk, `after_failure(j, k)` phi_jk."""
    theta = np.full((n_elements + 1, n_elements + 1), U, np.int8)
    phi = theta.copy()
    for j in range(1, n_elements + 1):
        for k in range(1, j + 1):
            theta[j, k] = after_success(j, k)
            phi[j, k] = after_failure(j, k)
    return Matrices(theta, phi)


def conjoin(left: int, right: int) -> int:
    """AND of the three-valued logic: U and 0 is 0, U and 1 is U."""
    if 0 in (left, right):
        return 0
    return U if U in (left, right) else 1


def whole_patterns(matrices: Matrices) -> NDArray[np.int8]:
    """S[j, k]: whether the pattern, which held up to and without element j, can hold after a shift by k elements.

    Defined for 0 < k < j, of patterns without stars.
    """
    m = matrices.n_elements
    result = np.full((m + 1, m + 1), U, np.int8)
    for j in range(2, m + 1):
        for k in range(1, j):
            value = int(matrices.phi[j, j - k])
            for t in range(1, j - k):
                value = conjoin(value, int(matrices.theta[k + t, t]))
            result[j, k] = value
    return result
