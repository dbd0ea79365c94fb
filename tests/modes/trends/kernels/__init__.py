"""The kernels of trend queries, against Python's own numbers and against each other."""
