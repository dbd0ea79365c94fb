"""Copies between arrays, written as loops: an assignment to a slice runs no faster and takes seconds to compile.

Numba compiles such an assignment for arrays that may overlap or be broadcast, anew for every kernel that has one.
"""

from __future__ import annotations

from sparkrex.kernels.inlined import inlined


@inlined
def copy_values(source, begin, end, target, place):
    """Put `source[begin:end]` into `target` at `place`. They share no memory."""
    for i in range(end - begin):
        target[place + i] = source[begin + i]


@inlined
def copy_table(source, target):
    """Put all rows of `source` at the beginning of `target`, which has as many columns. They share no memory."""
    for i in range(source.shape[0]):
        for j in range(source.shape[1]):
            target[i, j] = source[i, j]
