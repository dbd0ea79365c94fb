"""Compare functions in Spark and in the workers' DuckDB, and write the table of those that are equal.

`renderings` lists Spark's functions with DuckDB's SQL for each, `samples` the values that they are tried with,
`compare` evaluates both sides. `python -m tests.spark.worker_functions` writes
`src/sparkrex/spark/proven_functions.txt`.
"""
