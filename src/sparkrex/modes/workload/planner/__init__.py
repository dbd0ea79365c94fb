"""The global plan of a workload: which sub-patterns are shared, and in which order each pattern is put together.

After Kolchinsky and Schuster, Real-Time Multi-Pattern Detection over Event Streams (SIGMOD 2019). Clauses and
statistics go in; a multi-pattern multitree comes out. Nothing here knows of events, columns or conditions: labels and
keys are values that are hashed and compared. It may import the foundation, `modes/workload/clause` and NumPy.
"""
