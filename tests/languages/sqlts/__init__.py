"""SQL-TS, against a naive evaluator of its definition."""
