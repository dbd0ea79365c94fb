"""Tests of the in-memory host: what a statement's connection shares with others, and what is known without DuckDB."""
