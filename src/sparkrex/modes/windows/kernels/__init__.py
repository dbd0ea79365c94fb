"""Kernels of searches in frames. They may call those of `modes.rows`."""
