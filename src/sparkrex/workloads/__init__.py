"""The face of pattern workloads: patterns from wherever they are kept, what is found, and runs that go on.

It may import what presentation may, the pipeline, and the mode `workload`.
"""
