"""Expressions: the algebra, what can fail, what decides them, how they are written. SQL is in `render` only."""
