"""Kernels of segment searches against plain Python."""
