"""DuckDB, which runs SQL in memory and inside Spark's workers. Nobody else knows it."""
