"""Matchers and what they share: skip, measures, output. Compiles plans to arrays and runs kernels over columns.

Imports the foundation, `ir`, `columns`, `kernels` and the protocol in `hosts.host`; never a host itself.
"""
