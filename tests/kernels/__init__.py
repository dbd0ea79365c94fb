"""Kernels against plain Python."""
