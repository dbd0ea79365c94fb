"""Copies between arrays, against slices."""

from __future__ import annotations

import numpy as np

from sparkrex.kernels.copying import copy_table, copy_values


def test_values_are_put_at_their_place_and_nowhere_else() -> None:
    source = np.arange(10)
    for begin, end, place in [(0, 10, 0), (3, 7, 5), (4, 4, 2), (9, 10, 11)]:
        target = np.full(12, -1)
        copy_values(source, begin, end, target, place)
        expected = np.full(12, -1)
        expected[place : place + end - begin] = source[begin:end]
        assert target.tolist() == expected.tolist()


def test_tables_are_put_at_the_beginning() -> None:
    for shape in [(0, 3), (3, 0), (1, 1), (3, 2)]:
        source = np.arange(shape[0] * shape[1], dtype=np.float64).reshape(shape)
        target = np.full((5, shape[1]), -1.0)
        copy_table(source, target)
        assert target[: shape[0]].tolist() == source.tolist()
        assert (target[shape[0] :] == -1).all()
