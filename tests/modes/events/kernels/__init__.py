"""Kernels of event queries against plain Python."""
