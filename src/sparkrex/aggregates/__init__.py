"""Aggregates over segments: each by a scan and, where it pays, by lookups in an index that all segments share.

One module per family, `contract.py` for what they have in common, `registry.py` to find them by name and to register
users' own. Imports `kernels` and `errors` only; knows nothing of patterns or plans.
"""
