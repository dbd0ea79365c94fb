"""The tables of a search as kernels take them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from sparkrex.modes.rows.kernels.ops import Elements

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sparkrex.modes.rows.ops.elements import Element
    from sparkrex.modes.rows.ops.shifts import Shifts


def element_tables(
    elements: Sequence[Element], shifts: Shifts, is_final: NDArray[np.bool_], variables: Sequence[str]
) -> Elements:
    """Elements and shifts by element from 1; entries behind the last element are there if the shifts have them."""
    n_entries = len(shifts.shift)
    is_star, first, later = np.zeros(n_entries, np.uint8), np.zeros(n_entries, np.int32), np.zeros(n_entries, np.int32)
    for number, element in enumerate(elements, 1):
        is_star[number] = element.is_star
        first[number], later[number] = (variables.index(name) for name in element.variables)
    return Elements(is_star, first, later, shifts.shift, shifts.next, is_final.astype(np.uint8), shifts.inside)
