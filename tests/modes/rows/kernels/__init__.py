"""Kernels of row patterns against regular expressions."""
