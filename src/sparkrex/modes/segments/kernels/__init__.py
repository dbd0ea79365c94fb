"""Numba over plain arrays: segments, and aggregates over them."""
