"""Kernels of workloads against plain Python."""
