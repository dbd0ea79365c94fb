"""Numba over plain arrays: the search for events."""
