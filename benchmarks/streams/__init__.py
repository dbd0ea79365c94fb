"""What the benchmarks of streams share: rows in files, queries on both engines, and how their runs are timed."""
