"""Expressions as SQL: what hosts share, and one module a host. Nobody else writes or reads SQL of expressions."""
