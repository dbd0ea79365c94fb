"""Kernels of searches in frames, against Python's regular expressions."""
