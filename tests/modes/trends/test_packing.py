"""Places as bytes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sparkrex.modes.trends.layout import Layout
from sparkrex.modes.trends.packing import pack_units, unpack_units
from sparkrex.modes.trends.plan import Counts


def test_units_without_trends_have_the_type_of_others() -> None:
    layout = Layout(Counts.EXACT, (), (), (), {})
    empty, filled = layout.store(6), layout.store(6)
    filled.numbers[4, 0] = 7
    packed = [pa.table(pack_units(layout, store, 3)) for store in (empty, filled, layout.store(0))]
    together = pa.concat_tables(packed)
    assert together.column("filled").to_pylist() == [[], [], [], [1]]
    places, store = unpack_units(layout, together, np.array([3, 2, 1, 0]), 3)
    assert places.tolist() == [1]
    assert store.numbers.tolist() == [[7, 0, 0]]
