"""Numba over plain arrays. Mirrors `physical/`; imports NumPy and Numba only. Compiled lazily, cached on disk."""
