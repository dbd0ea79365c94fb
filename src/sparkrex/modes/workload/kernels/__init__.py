"""Numba kernels of workloads: partial matches are joined, extended, rejected and written out."""
