"""Numba kernels of trend aggregates: arrays in, arrays out."""
