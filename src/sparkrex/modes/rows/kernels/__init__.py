"""Numba over plain arrays: the searches of row patterns."""
